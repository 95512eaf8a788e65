"""The classes of the page."""

from immax.report import classes
from immax.report.classes import describe_classes


def test_methods_side_by_side_keep_their_order(comparison, answer, monkeypatch):
    methods = describe_classes(comparison, answer).methods
    titles = [method.title for method in methods]
    assert titles == [row.title for row in answer.rows]
    assert len(methods[0].confusion) == 2
    monkeypatch.setattr(classes, "MAX_METHODS", 2)
    assert classes._side_by_side(answer) == ["immax", "logistic"]


def test_many_classes_have_no_confusion_matrix(comparison, answer, monkeypatch):
    monkeypatch.setattr(classes, "MAX_CONFUSION_CLASSES", 1)
    section = describe_classes(comparison, answer)
    assert all(method.confusion == () for method in section.methods)
