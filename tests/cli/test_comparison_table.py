"""The ranking as text."""

from types import SimpleNamespace

import numpy as np

from immax.cli.comparison_table import format_ranking
from immax.compare import Answer, Row


def row(name, title, measures, gain=0.0, low=0.0, high=0.0):
    return Row(name, title, measures, 0.01, gain, low, high, 0.2, 1.0)


def test_the_metric_comes_first_and_missing_values_are_dashes():
    rows = (
        row("svm", "linear SVM", {"accuracy": 0.91, "macro_f1": 0.5}, 0.01, -0.005, 0.025),
        row("logistic", "logistic regression", {"accuracy": 0.9, "macro_f1": 0.4, "ece": 0.1}),
    )
    p = np.array([[0.6, 0.4], [0.8, 0.2]])
    comparison = SimpleNamespace(
        left_out={"threshold": "for two classes only"},
        counts=np.array([38, 2]),
        codes=np.zeros(40),
        class_names=["ok", "fraud"],
        pooled=lambda name: SimpleNamespace(proba=None if name == "svm" else p),
    )
    lines = format_ranking(comparison, Answer("macro_f1", rows, "logistic", "")).splitlines()
    assert lines[0].split()[:6] == ["gain", "95", "%", "interval", "macro", "f1"]
    assert lines[1].split()[:8] == [
        *("linear", "SVM", "+0.0100", "-0.0050", "to", "+0.0250"),
        *("0.5000", "0.9100"),
    ]
    assert lines[0].endswith("P(fraud), true 0.050  seconds")
    assert lines[1].split()[8:] == [*["–"] * 4, "1.0"]
    assert lines[2].split()[:4] == ["logistic", "regression", "0.4000", "0.9000"]
    assert lines[2].split()[-2:] == ["0.300", "1.0"]
    assert len({len(line) for line in lines[:3]}) == 1
    assert lines[3] == "not compared: threshold (for two classes only)"
