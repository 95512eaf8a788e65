"""Estimators link to their pages."""

import pytest

from immax import IMMAXSVC, BaselineClassifier, IMMAXClassifier, IMMAXClassifierCV
from immax.decisions import DecidedModel, DecisionClassifierCV, fit_rule
from immax.documentation import DocumentationLink, documentation_address

PAGES = {
    IMMAXClassifier: "immax.IMMAXClassifier",
    BaselineClassifier: "immax.BaselineClassifier",
    IMMAXSVC: "immax.IMMAXSVC",
    IMMAXClassifierCV: "immax.IMMAXClassifierCV",
    DecisionClassifierCV: "immax.decisions.DecisionClassifierCV",
}


@pytest.mark.parametrize("estimator", PAGES)
def test_the_html_of_an_estimator_links_to_its_page(estimator, monkeypatch):
    monkeypatch.setenv("IMMAX_DOCS", "https://docs.example.org")
    page = f"https://docs.example.org/reference/generated/{PAGES[estimator]}.html"
    assert estimator()._get_doc_link() == page
    assert page in estimator()._repr_html_()


def test_decided_models_link_to_their_page(monkeypatch):
    monkeypatch.setenv("IMMAX_DOCS", "https://docs.example.org")
    rule = fit_rule([[0.8, 0.2], [0.3, 0.7]], [0, 1])
    model = DecidedModel(IMMAXClassifier(), rule)
    page = "https://docs.example.org/reference/generated/immax.decisions.DecidedModel.html"
    assert model._get_doc_link() == page
    assert page in model._repr_html_()


def test_boosted_models_link_to_their_pages(monkeypatch):
    boosting = pytest.importorskip("immax.boosting", reason="needs the extra boosting")
    pytest.importorskip("xgboost")
    monkeypatch.setenv("IMMAX_DOCS", "https://docs.example.org")
    model = boosting.IMMAXXGBClassifier()
    assert model._get_doc_link().endswith("/immax.boosting.IMMAXXGBClassifier.html")


def test_a_folder_is_a_file_address(monkeypatch, tmp_path):
    monkeypatch.setenv("IMMAX_DOCS", str(tmp_path))
    assert documentation_address() is None
    assert IMMAXClassifier()._get_doc_link() == ""
    (tmp_path / "index.html").write_text("")
    assert documentation_address() == tmp_path.resolve().as_uri()


def test_classes_of_others_have_no_page(monkeypatch):
    monkeypatch.setenv("IMMAX_DOCS", "https://docs.example.org")

    class Own(IMMAXClassifier):
        pass

    assert issubclass(Own, DocumentationLink)
    assert Own()._get_doc_link() == ""
