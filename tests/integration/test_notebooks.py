"""Estimators show themselves as HTML in notebooks."""

from immax import IMMAXClassifier, IMMAXClassifierCV


def test_estimators_have_an_html_representation():
    assert "IMMAXClassifier" in IMMAXClassifier()._repr_html_()
    assert "<style" in IMMAXClassifierCV()._repr_html_()
