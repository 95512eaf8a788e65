"""Which tables there are, and all values as CSV."""

import csv
import io

from bench_cases import record

from immax.bench.cells import Variant
from immax.bench.results import Results
from immax.bench.tables import MANY, long_csv, result_tables


def runs(n_sets):
    return [
        record(method, variant=Variant(set_name=f"set {i}", fold=0), accuracy=0.5 + 0.01 * i)
        for method in ("immax", "ce")
        for i in range(n_sets)
    ]


def test_ranks_take_the_place_of_columns_for_many_data_sets():
    few = result_tables(Results(runs(MANY - 1)), "accuracy", "immax")
    assert [table.header[0] for table in few] == ["method", "immax minus"]
    many = result_tables(Results(runs(MANY)), "accuracy", "immax")
    assert [table.header[2] for table in many] == ["mean rank"]


def test_without_the_reference_there_are_no_differences():
    assert len(result_tables(Results(runs(2)), "accuracy", "ldam")) == 1


def test_every_metric_has_a_row():
    records = [record("ce", 1, accuracy=0.5, log_loss=0.7), record("la", accuracy=0.25)]
    rows = list(csv.DictReader(io.StringIO(long_csv(records))))
    assert [(row["method"], row["run"], row["metric"], row["value"]) for row in rows] == [
        ("ce", "1", "accuracy", "0.5"),
        ("ce", "1", "log_loss", "0.7"),
        ("la", "0", "accuracy", "0.25"),
    ]
    assert rows[0]["cell"] == records[0].cell.id
