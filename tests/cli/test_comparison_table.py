"""The ranking as text."""

from types import SimpleNamespace

from immax.cli.comparison_table import format_ranking
from immax.compare import Answer, Row


def row(name, title, measures, gain=0.0, low=0.0, high=0.0):
    return Row(name, title, measures, 0.01, gain, low, high, 0.2, 1.0)


def test_the_metric_comes_first_and_missing_values_are_dashes():
    rows = (
        row("svm", "linear SVM", {"accuracy": 0.91, "macro_f1": 0.5}, 0.01, -0.005, 0.025),
        row("logistic", "logistic regression", {"accuracy": 0.9, "macro_f1": 0.4, "ece": 0.1}),
    )
    comparison = SimpleNamespace(left_out={"threshold": "for two classes only"})
    lines = format_ranking(comparison, Answer("macro_f1", rows, "logistic", "")).splitlines()
    assert lines[0].split()[:6] == ["gain", "95", "%", "interval", "macro", "f1"]
    assert lines[1].split()[:8] == [
        *("linear", "SVM", "+0.0100", "-0.0050", "to", "+0.0250"),
        *("0.5000", "0.9100"),
    ]
    assert lines[1].split()[8:] == ["–"] * 4
    assert lines[2].split()[:4] == ["logistic", "regression", "0.4000", "0.9000"]
    assert "0.1000" in lines[2]
    assert len({len(line) for line in lines[:3]}) == 1
    assert lines[3] == "not compared: threshold (for two classes only)"
