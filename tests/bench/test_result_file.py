"""Result files: everything comes back, damage is noticed, and they are small."""

import json
import lzma
from dataclasses import replace

import numpy as np
import pytest
from bench_cases import old_store, record

from immax.bench.cells import Variant
from immax.bench.outcomes import PlanResults
from immax.bench.page import write_page
from immax.bench.plan_file import parse_plan
from immax.bench.result_file import (
    _applied,
    _differences,
    read_result_file,
    read_results,
    write_result_file,
)
from immax.bench.run import run_cells
from immax.bench.store import Store, StoreError

PLAN = {
    "name": "small",
    "title": "A small one",
    "models": ["linear", "surface"],
    "methods": ["ce", "immax"],
    "runs": 2,
    "data": {"names": ["made_up_images"], "share": 0.2},
    "imbalance": {"kind": "step", "ratios": [5], "tests": ["imbalanced", "balanced"]},
    "selection": {"folds": 2, "use_folds": 1, "lams": [0.1, 0.01], "powers": [0.0, 0.25]},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    store = Store(folder / "small.db", parse_plan(PLAN))
    assert run_cells(store) == 0
    write_result_file(store.results(), folder / "small.results.jsonl.xz")
    return folder


def figures(result):
    """All figures of a result by the number of the point, the test and the metric."""
    whole = result.to_json()
    tests = [point["tests"] for point in whole.get("surface", ())] or [whole["tests"]]
    return {
        (number, name, metric): value
        for number, own in enumerate(tests)
        for name, metrics in own.items()
        for metric, value in metrics.items()
    }


def same(one, two):
    assert one.cell == two.cell
    assert (one.state, one.seconds, one.memory) == (two.state, two.seconds, two.memory)
    assert (one.environment, one.error) == (two.environment, two.error)
    assert one.result.chosen == two.result.chosen
    assert figures(one.result) == pytest.approx(figures(two.result), rel=5.1e-6)
    labels = [own.result.labels() for own in (one, two)]
    assert labels[0].keys() == labels[1].keys()
    for name, values in labels[0].items():
        np.testing.assert_array_equal(values, labels[1][name])


def test_everything_comes_back(tmp_path):
    expected = Store(old_store(tmp_path / "old.db")).results()
    write_result_file(expected, tmp_path / "old.results.jsonl.xz")
    found = read_result_file(tmp_path / "old.results.jsonl.xz")
    assert (found.plan, found.title, found.digest) == (
        expected.plan,
        expected.title,
        expected.digest,
    )
    assert found.counts() == expected.counts()
    for one, two in zip(expected.records, found.records, strict=True):
        same(one, two)


def test_the_page_of_a_file_is_that_of_its_store(folder, tmp_path):
    pages = []
    for name in ("small.db", "small.results.jsonl.xz"):
        out = tmp_path / name / "page.md"
        write_page(read_results(folder / name), out, "a command", None, "immax")
        pages.append({own.name: own.read_bytes() for own in out.parent.iterdir()})
    assert pages[0] == pages[1]
    assert set(pages[0]) == {"page.md", "page-accuracy.svg", "page-log_loss.svg"}


def test_the_same_results_give_the_same_bytes(folder, tmp_path):
    again = tmp_path / "again.results.jsonl.xz"
    write_result_file(read_results(folder / "small.results.jsonl.xz"), again)
    assert again.read_bytes() == (folder / "small.results.jsonl.xz").read_bytes()


def test_a_run_starts_from_a_file_and_does_what_is_missing(folder, tmp_path):
    more = parse_plan(PLAN | {"methods": ["ce", "rw", "immax"]})
    store = Store(tmp_path / "more.db", more)
    assert store.take(read_results(folder / "small.results.jsonl.xz")) == 6
    begun = []
    run_cells(store, on_cell=lambda own, state: begun.append((own.method, state)))
    assert begun == [("rw", "begun"), ("rw", "done")] * 2
    assert store.counts()["done"] == 8
    old = {one.cell.id: one for one in read_results(folder / "small.db").records}
    for one in store.results().records:
        if one.cell.method != "rw":
            same(one, old[one.cell.id])


def test_differences_of_labels():
    before, labels = np.array([0, 1, 2, 0, 12]), np.array([0, 0, 2, 123, 12])
    assert _differences(before, labels) == "1A1bcD"
    np.testing.assert_array_equal(_applied("1A1bcD", before), labels)
    assert _differences(labels, labels) == ""
    rng = np.random.default_rng(0)
    one, two = rng.integers(0, 200, (2, 1000))
    np.testing.assert_array_equal(_applied(_differences(one, two), one), two)


def plan_results(records):
    return PlanResults("plan", "title", "digest", "abc", "2026-01-01", records)


def test_many_labels_take_little_room(tmp_path):
    """As 90 cells with two tests of 10,000 images: methods mostly agree."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 10, 10_000)
    records = []
    for run in range(5):
        wrong = rng.random(truth.size) < 0.15
        base = np.where(wrong, rng.integers(0, 10, truth.size), truth)
        for method in range(18):
            moved = rng.random(truth.size) < 0.04
            labels = np.where(moved, rng.integers(0, 10, truth.size), base)
            own = record(f"m{method}", run, labels=(labels, truth), accuracy=rng.random())
            records.append(own)
    path = tmp_path / "many.results.jsonl.xz"
    write_result_file(plan_results(records), path)
    assert path.stat().st_size < 90 * 1000  # a byte for every ten labels
    for one, two in zip(records, read_result_file(path).records, strict=True):
        same(one, two)


def test_many_cells_take_little_room(tmp_path):
    """As 900 cells of KEEL."""
    rng = np.random.default_rng(0)
    names = ("accuracy", "balanced_accuracy", "macro_f1", "log_loss", "ece", "average_precision")
    records = []
    for fold in range(50):
        truth = (rng.random(200) < 0.1).astype(int)
        variant = Variant(set_name=f"set {fold // 5}", fold=fold % 5)
        for method in range(18):
            labels = truth ^ (rng.random(200) < 0.05)
            metrics = {name: float(rng.random()) for name in names}
            records.append(record(f"m{method}", 0, variant, labels=(labels, truth), **metrics))
    path = tmp_path / "many.results.jsonl.xz"
    write_result_file(plan_results(records), path)
    assert path.stat().st_size < 900 * 85  # 9,000 cells take less than 0.8 MB


def test_tests_with_the_same_metrics_are_written_once(tmp_path):
    one = record("ce", accuracy=0.123456789)
    same_again = dict.fromkeys(("mcc", "f1", "costs"), one.result.tests["imbalanced"])
    one = replace(one, result=replace(one.result, tests=same_again))
    path = tmp_path / "one.results.jsonl.xz"
    write_result_file(plan_results([one]), path)
    header, line = map(json.loads, lzma.decompress(path.read_bytes()).splitlines())
    assert line["result"]["tests"] == {"mcc": {"accuracy": 0.123457}, "f1": "mcc", "costs": "mcc"}
    same(one, read_result_file(path).records[0])
    earlier = line | {"result": one.result.to_json()}  # format 1 repeated them, with more digits
    text = "".join(json.dumps(own) + "\n" for own in (header | {"format": 1}, earlier))
    path.write_bytes(lzma.compress(text.encode()))
    same(one, read_result_file(path).records[0])


def test_running_cells_are_written_as_waiting(tmp_path):
    path = tmp_path / "one.results.jsonl.xz"
    write_result_file(plan_results([replace(record("ce"), state="running")]), path)
    assert read_result_file(path).counts()["waiting"] == 1


def test_damaged_files_are_refused(folder, tmp_path):
    good = (folder / "small.results.jsonl.xz").read_bytes()
    path = tmp_path / "bad.results.jsonl.xz"
    text = lzma.decompress(good).decode().splitlines(keepends=True)
    other = json.loads(text[0])
    cases = {
        "is damaged, or not a result file": good[: len(good) // 2],
        "is damaged": good[:100] + bytes([good[100] ^ 255]) + good[101:],
        "damaged, or not a result file": b"not compressed at all",
        "is not a result file": lzma.compress(b'{"kind": "something else"}\n'),
        "is incomplete: it has 3 of 6 cells": lzma.compress("".join(text[:4]).encode()),
        "has format 99": lzma.compress(json.dumps(other | {"format": 99}).encode()),
        "is damaged: KeyError": lzma.compress((text[0] + "{}\n").encode()),
    }
    for message, content in cases.items():
        path.write_bytes(content)
        with pytest.raises(StoreError, match=message):
            read_results(path)
    path.unlink()
    with pytest.raises(StoreError, match="there are no results"):
        read_results(path)


def test_nothing_is_left_of_a_file_that_cannot_be_written(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        write_result_file(plan_results([record("ce")]), tmp_path / "one.results.jsonl.xz")
    assert list(tmp_path.iterdir()) == []
