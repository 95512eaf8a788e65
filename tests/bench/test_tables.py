"""Tables of results, from records made by hand."""

from immax.bench.plan import Cell
from immax.bench.store import Record
from immax.bench.tables import Results, difference_table


def record(method, run, **measures):
    spec = {
        "data": {"name": "cifar10"},
        "variant": {"kind": "none"},
        "model": "linear",
        "method": method,
        "stage": "final",
        "run": run,
    }
    result = {"chosen": {}, "tests": {"imbalanced": measures}}
    return Record(Cell(spec), "done", result, {}, 1.0, 1.0, {}, None)


RECORDS = [
    *(record("immax", run, accuracy=0.9 + 0.01 * run, log_loss=0.2) for run in range(3)),
    *(record("ce", run, accuracy=0.85 + 0.01 * run, log_loss=0.2104) for run in range(3)),
    *(record("hinge", run, accuracy=0.8, log_loss=None) for run in range(3)),
]


def test_differences_are_paired_and_in_the_measure_s_digits():
    results = Results(RECORDS)
    shown = {
        row[0]: row[1] for row in difference_table(results, "linear", "imbalanced", "immax").rows
    }
    assert shown["ce"] == "+5.00 [+5.00, +5.00]"
    assert shown["hinge"].startswith("+11.00 [")
    losses = difference_table(results, "linear", "imbalanced", "immax", "log_loss")
    assert losses.rows[0] == ["ce", "-0.0104 [-0.0104, -0.0104]"]


def test_what_a_method_does_not_have_is_left_out():
    results = Results(RECORDS)
    for of, other in (("immax", "hinge"), ("hinge", "immax")):
        rows = difference_table(results, "linear", "imbalanced", of, "log_loss").rows
        assert dict(rows)[other] == "–"
