"""Every command with generated tables and mutated files: an answer, or one line and an exit code.

About 700 calls, within one process, so that they take a few seconds; every run draws others.
"""

import io
import json
import lzma
import shutil
import string
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from commands import immax_here
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.pipeline import Pipeline

from immax import IMMAXClassifier
from immax.io import ABOUT, save_model
from immax.tabular import prepare, read_training_table

DATA = Path(__file__).parents[1] / "data"
CASES = settings(
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)

CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.sampled_from([1e300, -1e300, float("inf"), "", "NA", "?", "01", "1,5", "1,234", "$5", "5%"]),
    st.sampled_from(["03/04/2021", "13/04/2021", "2021-02-29", "true", "=1+1", "\x00", "é", '"']),
    st.text(alphabet=string.printable, max_size=6),
    st.lists(st.integers(0, 3), max_size=2),
    st.dictionaries(st.sampled_from("ab"), st.integers(0, 3), max_size=1),
)
KINDS = [CELLS, st.integers(-5, 5), st.floats(-1, 1), st.sampled_from("abc")]
LABELS = [[0, 1], ["a", "b"], [True, False], ["01", "1", "NA"], [0.5, 1]]
NAMES = st.sampled_from(["age", "city", "seen", "flag", "y", "x", "user_id", "", "a,b", "age"])
FORMS = st.sampled_from(["csv", "tsv", "jsonl", "parquet", "feather", "csv.gz", "txt"])


@st.composite
def tables(draw, least=0, labelled=False):
    """Rows of a table of any cells, or mostly of cells of one kind."""
    names = draw(st.lists(NAMES, min_size=1, max_size=6))
    n = draw(st.integers(least, 30))
    columns = []
    for name in names:
        own = draw(st.sampled_from(KINDS))
        seed = draw(st.lists(own, min_size=1, max_size=6))
        columns.append((name, [seed[i * 7 % len(seed)] for i in range(n)]))
    if labelled and draw(st.integers(0, 9)):
        labels = draw(st.sampled_from(LABELS))
        columns = [(name, own) for name, own in columns if name != "y"]
        columns.append(("y", [labels[i % len(labels)] for i in range(n)]))
    return columns


def write(columns, path):
    """Write a table as well as the format allows; return whether it was possible."""
    form = path.suffix if path.suffix != ".gz" else ".csv"
    try:
        if form in (".parquet", ".feather"):
            arrays = [pa.array(values) for _, values in columns]
            table = pa.Table.from_arrays(arrays, names=[name for name, _ in columns])
            if form == ".parquet":
                pa.parquet.write_table(table, path)
            else:
                pa.feather.write_feather(table, str(path))
        elif form == ".jsonl":
            rows = [
                dict(zip([n for n, _ in columns], row, strict=True))
                for row in zip(*[values for _, values in columns], strict=True)
            ]
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        else:
            frame = pd.DataFrame(
                {i: pd.Series(v, dtype=object) for i, (_, v) in enumerate(columns)}
            )
            frame.columns = [name for name, _ in columns]
            frame.to_csv(path, index=False, sep="\t" if form == ".tsv" else ",")
    except (pa.ArrowException, OverflowError, UnicodeError, ValueError, TypeError):
        return False
    return True


@st.composite
def mutations(draw):
    """A function that changes bytes a little."""
    kind = draw(st.sampled_from(["none", "set", "cut", "insert", "delete", "repeat"]))
    place = draw(st.floats(0, 1, exclude_max=True))
    block = draw(st.binary(min_size=1, max_size=12))

    def mutate(data):
        at = int(place * len(data))
        if kind == "set":
            return data[:at] + block + data[at + len(block) :]
        if kind == "cut":
            return data[:at]
        if kind == "insert":
            return data[:at] + block + data[at:]
        if kind == "delete":
            return data[:at] + data[at + len(block) :]
        return data + data[at:] if kind == "repeat" else data

    return mutate


def check(outcome, *arguments):
    """One line or more of what ``immax`` says, and the right code."""
    assert outcome.returncode in (0, 1, 2), (arguments, outcome.returncode)
    assert "Traceback" not in outcome.stderr, (arguments, outcome.stderr)
    assert "unexpected error" not in outcome.stderr, (arguments, outcome.stderr)
    for line in outcome.stderr.splitlines():
        assert line.startswith("immax: "), (arguments, outcome.stderr)
    if outcome.returncode:
        assert outcome.stderr, arguments


def run(folder, *arguments):
    outcome = immax_here(*arguments, cwd=folder)
    check(outcome, *arguments)
    return outcome


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model of every kind of column."""
    path = tmp_path_factory.mktemp("fuzz")
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 90, n) / 2,
            "city": rng.choice(["a", "b", "01"], n),
            "seen": pd.date_range("2020-01-01", periods=n).strftime("%d/%m/%Y"),
            "flag": rng.random(n) < 0.5,
            "y": rng.choice(["=no", "yes"], n),
        }
    )
    frame.to_csv(path / "good.csv", index=False)
    table = read_training_table(path / "good.csv", "y")
    model = Pipeline([*prepare(table.schema).steps, ("model", IMMAXClassifier())])
    model.fit(table.X, table.y.to_numpy(object))
    save_model(model, path / "model.skops", schema=table.schema, target="y", metric="accuracy")
    shutil.copy(DATA / "format-2" / "patients.skops", path / "old.skops")
    return path


@settings(CASES, max_examples=60)
@given(columns=tables(), form=FORMS, mutate=mutations(), proba=st.booleans())
def test_predict_and_explain_with_any_table(folder, columns, form, mutate, proba):
    path = folder / f"new.{form}"
    if not write(columns, path):
        return
    path.write_bytes(mutate(path.read_bytes()))
    before = path.read_bytes()
    arguments = ["--proba"] if proba else []
    run(folder, "predict", "model.skops", path.name, "-o", "out.csv", "--rows", 7, *arguments)
    run(folder, "explain", "model.skops", path.name)
    assert path.read_bytes() == before


@settings(CASES, max_examples=50)
@given(
    mutate=mutations(),
    out=st.sampled_from(["out.tsv", "out.jsonl.gz", "out.parquet", "out.feather"]),
    names=st.lists(st.sampled_from(["age", "city", "seen", "flag", "y"]), min_size=3, unique=True),
    n=st.integers(0, 12),
    form=FORMS,
)
def test_predict_with_tables_of_the_model(folder, mutate, out, names, n, form):
    frame = pd.read_csv(folder / "good.csv", dtype=object)[names].iloc[:n]
    path = folder / f"part.{form}"
    if not write([(name, frame[name].tolist()) for name in frame], path):
        return
    path.write_bytes(mutate(path.read_bytes()))
    run(folder, "predict", "model.skops", path.name, "-o", out)


@settings(CASES, max_examples=100)
@given(mutate=mutations(), old=st.booleans())
def test_model_files_that_were_altered(folder, mutate, old):
    data = (folder / ("old.skops" if old else "model.skops")).read_bytes()
    (folder / "changed.skops").write_bytes(mutate(data))
    if run(folder, "explain", "changed.skops").returncode == 0:
        run(folder, "predict", "changed.skops", "good.csv", "-o", "out.csv")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda own: st.lists(own, max_size=2) | st.dictionaries(st.text(max_size=3), own, max_size=2),
    max_leaves=4,
)


@settings(CASES, max_examples=100)
@given(
    key=st.sampled_from(["format", "schema", "labels", "target", "metric", "counts", "versions"]),
    value=JSON,
    whole=st.booleans(),
    old=st.booleans(),
)
def test_descriptions_of_models_that_were_altered(folder, key, value, whole, old):
    source = (folder / ("old.skops" if old else "model.skops")).read_bytes()
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(source)) as archive, zipfile.ZipFile(target, "w") as changed:
        for name in archive.namelist():
            content = archive.read(name)
            if name == ABOUT:
                about = {**json.loads(content), key: value}
                content = json.dumps(value if whole else about)
            changed.writestr(name, content)
    (folder / "changed.skops").write_bytes(target.getvalue())
    outcome = run(folder, "explain", "changed.skops")
    if not old and not whole:
        intact = json.loads(zipfile.ZipFile(io.BytesIO(source)).read(ABOUT)).get(key) == value
        assert (outcome.returncode == 0) == intact


@settings(CASES, max_examples=10)
@given(columns=tables(least=4, labelled=True), form=FORMS, mutate=mutations())
def test_fit_with_any_table(folder, columns, form, mutate):
    path = folder / f"train.{form}"
    if not write(columns, path):
        return
    path.write_bytes(mutate(path.read_bytes()))
    outcome = run(folder, "fit", path.name, "-t", "y", "--folds", 2, "-o", "new.skops")
    if outcome.returncode == 0:
        run(folder, "predict", "new.skops", path.name)
        assert run(folder, "explain", "new.skops").returncode == 0


@settings(CASES, max_examples=2)
@given(columns=tables(least=12, labelled=True), form=FORMS)
def test_compare_with_any_table(folder, columns, form):
    path = folder / f"train.{form}"
    if write(columns, path):
        call = ["compare", path.name, "-t", "y", "--methods", "weights", "--folds", 2]
        run(folder, *call, "-o", "comparison")


@settings(CASES, max_examples=200)
@given(
    counts=st.lists(
        st.sampled_from(["5", "0", "-1", "nan", "inf", "1e400", "x", "3.5"]), max_size=4
    ),
    options=st.lists(
        st.sampled_from(["--balanced", "--json", "--total", "1", "0", "-1"]), max_size=3
    ),
)
def test_margins_of_any_counts(folder, counts, options):
    outcome = immax_here("margins", *options, "--", *counts, cwd=folder)
    check(outcome, *options, *counts)


@settings(CASES, max_examples=25)
@given(mutate=mutations(), command=st.sampled_from(["status", "table", "page", "export"]))
def test_results_that_were_altered(folder, mutate, command):
    store = lzma.decompress((DATA / "store-1.db.xz").read_bytes())
    with tempfile.TemporaryDirectory(dir=folder) as own:  # SQLite locks files that were replaced
        for name, data in (("a.db", store), ("a.results.jsonl.xz", lzma.compress(store[:500]))):
            (Path(own) / name).write_bytes(mutate(data))
            out = ["-o", "out.md"] if command in ("page", "export") else []
            run(own, "bench", command, name, *out)


PLAN = b"""
name = "fuzz"
title = "A plan"
models = ["linear"]
methods = ["logistic", "smote"]
runs = 1
[data]
names = ["table"]
path = "none.csv"
target = "y"
folds = 2
"""


@settings(CASES, max_examples=40)
@given(mutate=mutations())
def test_plans_that_were_altered(folder, mutate):
    """Their data do not exist, so that nothing is run."""
    (folder / "plan.toml").write_bytes(mutate(PLAN))
    (folder / "p.db").unlink(missing_ok=True)
    outcome = run(folder, "bench", "run", "plan.toml", "--limit", 1, "--store", "p.db")
    assert outcome.returncode
