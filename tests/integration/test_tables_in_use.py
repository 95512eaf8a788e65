"""What went wrong with tables once, through the real commands."""

import datetime
import json
import lzma
import os
import subprocess
import sys
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from commands import immax, immax_here

from immax.io import ABOUT

N = 80
RNG = np.random.default_rng(0)
Y = np.arange(N) % 4 == 0


def fit(folder, text, *options, check=0, name="t.csv"):
    (folder / name).write_text(text)
    return immax_here(
        "fit", name, "-t", "y", "--folds", 2, "-o", "m.skops", *options, cwd=folder, check=check
    )


def csv(**columns):
    """A table with a target, and columns that are the same in every test."""
    frame = pd.DataFrame(
        {"age": np.round(RNG.normal(size=N) + Y, 3), **columns, "y": Y.astype(int)}
    )
    return frame.to_csv(index=False)


@pytest.fixture(scope="module")
def codes(tmp_path_factory):
    """A model of a column of codes, and the probabilities of the rows that it was fitted to."""
    folder = tmp_path_factory.mktemp("codes")
    code = np.where(Y, RNG.choice(["01", "A1"], N), RNG.choice(["02", "03", "01"], N))
    rows = pd.DataFrame({"code": code, "age": np.round(RNG.normal(size=N), 3)})
    rows.assign(y=Y.astype(int)).to_csv(folder / "train.csv", index=False)
    call = ["fit", "train.csv", "-t", "y", "--folds", 2, "-o", "m.skops"]
    immax_here(*call, cwd=folder, check=0)
    return folder, rows, probabilities(folder, "train.csv")


def probabilities(folder, name, *options):
    call = ["predict", "m.skops", name, "--proba", *options]
    return np.array(
        [
            list(json.loads(line).values())
            for line in immax_here(*call, "--json", cwd=folder, check=0).stdout.splitlines()
        ]
    )


def test_codes_mean_the_same_in_a_file_without_letters(codes):
    folder, rows, expected = codes
    digits = (rows["code"] != "A1").to_numpy()
    rows[digits].to_csv(folder / "digits.csv", index=False)
    np.testing.assert_array_equal(probabilities(folder, "digits.csv"), expected[digits])
    for size in (1, 3, 50_000):
        found = probabilities(folder, "train.csv", "--rows", size)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    rows.to_parquet(folder / "rows.parquet")
    np.testing.assert_array_equal(probabilities(folder, "rows.parquet"), expected)
    lost = rows[digits].assign(code=rows["code"][digits].astype(int))
    lost.to_parquet(folder / "lost.parquet")
    outcome = immax_here("predict", "m.skops", "lost.parquet", cwd=folder, check=2)
    assert "'code' must hold strings such as '01'; got numbers" in outcome.stderr


def test_a_missing_cell_changes_no_other(codes):
    folder, rows, expected = codes
    rows.assign(code=rows["code"].where(rows.index != 3)).to_csv(folder / "hole.csv", index=False)
    found = probabilities(folder, "hole.csv")
    assert (np.delete(found, 3, axis=0) == np.delete(expected, 3, axis=0)).all()


def test_dates_have_one_format(tmp_path):
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(int(d)) for d in RNG.integers(0, 600, N)]
    text = csv(day=[f"{day:%d/%m/%Y}" for day in days])
    assert "'day' is read as dates: %d/%m/%Y" in fit(tmp_path, text).stderr
    unclear = csv(day=[f"0{1 + i % 9}/0{1 + i % 8}/2020" for i in range(N)])
    outcome = fit(tmp_path, unclear, check=2)
    assert outcome.stderr.count("\n") == 1
    assert "the column 'day' is unclear" in outcome.stderr
    assert "--date-format" in outcome.stderr
    outcome = fit(tmp_path, unclear, "--date-format", "%m/%d/%Y")
    assert "'day' is read as dates: %m/%d/%Y" in outcome.stderr
    assert "must have one year" in fit(tmp_path, unclear, "--date-format", "%q", check=2).stderr


def test_formatted_numbers_are_numbers(tmp_path):
    value = RNG.integers(100_000, 10_000_000, N)
    text = csv(
        comma=[f"{v / 1000:.2f}".replace(".", ",") for v in value],
        thousands=[f"{v:,}" for v in value * 1000],
        currency=[f"${v:,.2f}" for v in value],
        percent=[f"{v / 1e5:.1f}%" for v in value],
    )
    stderr = fit(tmp_path, text).stderr
    for how in (
        "'comma' is read as numbers: decimal comma",
        "'thousands' is read as numbers: thousands separated by ','",
        "'currency' is read as numbers: thousands separated by ',', sign '$'",
        "'percent' is read as numbers: sign '%'",
    ):
        assert how in stderr
    assert "left out" not in stderr
    outcome = fit(tmp_path, csv(price=[f"1,{v % 900 + 100}" for v in value]), check=2)
    assert "--decimal" in outcome.stderr
    mostly = csv(price=[f"{v}.5" for v in value[:-1]] + ["none at all"])
    outcome = fit(tmp_path, mostly, check=2)
    assert "'price' holds numbers in 99% of its rows" in outcome.stderr
    fit(tmp_path, mostly, "--kind", "price=number")


def test_decimals_nested_and_binary_columns_of_parquet(tmp_path):
    table = pa.table(
        {
            "price": [Decimal(int(v)) / 4 for v in RNG.integers(0, 999, N)],
            "tags": [[i] for i in range(N)],
            "deep": [{"a": i} for i in range(N)],
            "raw": [bytes([i]) for i in range(N)],
            "y": Y.astype(int),
        }
    )
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "parts").mkdir()
    pa.parquet.write_table(table.slice(0, 30), tmp_path / "parts" / "a.parquet")
    pa.parquet.write_table(table.slice(30), tmp_path / "parts" / "b.parquet")
    labels = []
    for name in ("t.parquet", "parts"):
        call = ["fit", name, "-t", "y", "--folds", 2, "-o", "m.skops"]
        stderr = immax_here(*call, cwd=tmp_path, check=0).stderr
        first = stderr.splitlines()[0]
        assert first == (
            "immax: WARNING: most columns are left out (3 of 4); what is left is 'price'"
        )
        assert "left out 'tags': lists and nested values are not supported" in stderr
        assert "left out 'raw': binary values are not supported" in stderr
        labels.append(immax_here("predict", "m.skops", name, cwd=tmp_path, check=0).stdout)
    assert labels[0] == labels[1]


def test_warnings_name_the_column(tmp_path):
    stderr = fit(
        tmp_path,
        csv(
            outcome=np.where(Y, "died", "lives"),
            customer_id=RNG.integers(0, 5, N),
            row=np.arange(N) * 2,
            huge=[*RNG.normal(size=N - 2), "inf", "1e300"],
            far=[*RNG.normal(size=N - 1), 1e12],
            country=np.where(RNG.random(N) < 0.5, "NA", "DE"),
        ),
    ).stderr
    assert stderr.startswith("immax: WARNING: the column 'outcome' determines the target by itself")
    assert "'customer_id' looks like an identifier" in stderr
    assert "'row' is a running number" in stderr
    assert "'huge' holds 2 infinite or absurdly large values" in stderr
    assert "'far' holds 1e+12, which is far from all else" in stderr
    assert "in the column 'country', 'NA' is read as a category" in stderr


def test_warnings_of_labels_and_names(tmp_path):
    labels = np.where(Y, "yes", np.where(np.arange(N) % 3 == 0, "No", "no "))
    text = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N), "y": labels})
    stderr = fit(tmp_path, text.to_csv(index=False).replace("a,b,y", "a,a,y")).stderr
    assert "the labels 'No', 'no ' differ only by spaces or case" in stderr
    assert "the name 'a' is that of more than one column" in stderr
    twice = text.to_csv(index=False).replace("a,b,y", "a,y,y")
    assert "more than one column 'y', the target" in fit(tmp_path, twice, check=2).stderr
    text["y"] = np.where(Y, "NA", "DE")
    assert "the label 'NA' is read as a class" in fit(tmp_path, text.to_csv(index=False)).stderr


@pytest.mark.parametrize("source", ["-", "https://example.org/t.csv"])
def test_standard_input_and_urls_are_refused_in_those_words(codes, source):
    word = "standard input (-)" if source == "-" else "a URL"
    for call in (
        ["fit", source, "-t", "y"],
        ["predict", "m.skops", source],
        ["compare", source, "-t", "y"],
    ):
        outcome = immax_here(*call, cwd=codes[0], check=2)
        assert f"immax: {word} is not supported" in outcome.stderr


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("train.csv", "is a file that the command reads"),
        ("m.skops", "must end in"),
        ("x.xlsx", "must end in"),
        ("x.txt", "must end in"),
        ("x", "must end in"),
        ("-", "must end in"),
        ("x.parquet --json", "--json contradicts the ending"),
        ("x.csv --json", "--json contradicts the ending"),
        ("x.parquet --spreadsheet", "--spreadsheet is for CSV"),
    ],
)
def test_predict_overwrites_nothing_and_knows_its_formats(codes, out, message):
    folder = codes[0]
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    outcome = immax_here("predict", "m.skops", "train.csv", "-o", *out.split(), cwd=folder, check=2)
    assert message in outcome.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_model_file_is_not_overwritten_by_another_name(codes):
    folder = codes[0]
    os.link(folder / "m.skops", folder / "same.csv")
    outcome = immax_here("predict", "m.skops", "train.csv", "-o", "same.csv", cwd=folder, check=2)
    assert "is a file that the command reads" in outcome.stderr
    (folder / "same.csv").unlink()


def test_an_unwritable_output_is_found_before_the_work(codes, tmp_path):
    (tmp_path / "file").write_text("")
    call = ["none.skops", "none.csv", "-o", tmp_path / "file" / "x.csv"]
    outcome = immax_here("predict", *call, cwd=codes[0], check=1)
    assert "x.csv cannot be written" in outcome.stderr
    call = ["train.csv", "-t", "y", "-o", tmp_path / "file" / "m.skops"]
    assert "cannot be written" in immax_here("fit", *call, cwd=codes[0], check=1).stderr
    assert "ending of a table" in fit(tmp_path, csv(), "-o", "m.parquet", check=2).stderr


def test_formulas_in_spreadsheets(tmp_path):
    text = csv().replace(",1\n", ",=cmd()\n").replace(",0\n", ",@no\n")
    fit(tmp_path, text)
    plain = immax_here("predict", "m.skops", "t.csv", cwd=tmp_path, check=0).stdout
    assert set(plain.splitlines()[1:]) <= {"=cmd()", "@no"}
    call = ["predict", "m.skops", "t.csv", "--spreadsheet"]
    safe = immax_here(*call, cwd=tmp_path, check=0).stdout
    assert set(safe.splitlines()[1:]) <= {"'=cmd()", "'@no"}
    header = immax_here(*call, "--proba", cwd=tmp_path, check=0).stdout.splitlines()[0]
    assert header == "p(=cmd()),p(@no)"


def test_tables_without_rows_and_columns_without_values(codes):
    folder = codes[0]
    (folder / "empty.csv").write_text("code,age\n")
    for out in ("o.csv", "o.tsv.gz", "o.jsonl", "o.parquet", "o.feather"):
        immax_here("predict", "m.skops", "empty.csv", "-o", out, cwd=folder, check=0)
    assert (folder / "o.csv").read_text() == "y\n"
    assert pd.read_parquet(folder / "o.parquet").columns.tolist() == ["y"]
    nothing = pa.table({"code": pa.nulls(3), "age": pa.nulls(3)})
    pa.parquet.write_table(nothing, folder / "null.parquet")
    assert len(probabilities(folder, "null.parquet")) == 3
    decimals = pa.table({"code": ["01"], "age": [Decimal("1.5")]})
    pa.parquet.write_table(decimals, folder / "decimal.parquet")
    assert len(probabilities(folder, "decimal.parquet")) == 1
    nested = pa.table({"code": [["01"]], "age": [1.0]})
    pa.parquet.write_table(nested, folder / "nested.parquet")
    outcome = immax_here("predict", "m.skops", "nested.parquet", cwd=folder, check=2)
    assert "'code' cannot be read: lists and nested values" in outcome.stderr


@pytest.mark.parametrize("change", ["target", "schema", "list"])
def test_an_edited_description_of_a_model_is_refused(codes, change):
    folder = codes[0]
    with (
        zipfile.ZipFile(folder / "m.skops") as source,
        zipfile.ZipFile(folder / "edited.skops", "w") as target,
    ):
        for name in source.namelist():
            content = source.read(name)
            if name == ABOUT:
                about = json.loads(content)
                if change == "target":
                    about["target"] = "age"
                elif change == "schema":
                    about["schema"][0]["kind"] = "number"
                content = json.dumps([about] if change == "list" else about)
            target.writestr(name, content)
    for call in (["predict", "edited.skops", "train.csv"], ["explain", "edited.skops"]):
        outcome = immax_here(*call, cwd=folder, check=2)
        assert outcome.stderr.count("\n") == 1
        assert "was altered" in outcome.stderr or "has format" in outcome.stderr


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.skops", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", bytes(5 * 2**20))
        archive.writestr(ABOUT, "{}")
    call = ["explain", "bomb.skops", "--max-model-size", "4"]
    outcome = immax_here(*call, cwd=tmp_path, check=2)
    assert "is larger than 4 MiB when unpacked" in outcome.stderr
    assert "--max-model-size" in outcome.stderr


def test_a_closed_pipe_is_silent(codes):
    folder = codes[0]
    pd.concat([codes[1]] * 400).to_csv(folder / "long.csv", index=False)
    script = f"{sys.executable} -m immax predict m.skops long.csv --proba --rows 2000 | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {script}"], cwd=folder, capture_output=True, text=True
    )
    assert done.stdout == "p(0),p(1)\n"
    assert done.stderr == ""
    assert done.returncode in (0, 141)


@pytest.mark.parametrize("module", ["typer", "immax.cli.prescribed_margins", "immax.margins"])
def test_an_interrupt_during_the_start_is_one_line(module):
    """Ctrl-C while the modules of a command are imported."""
    script = (
        "import sys, signal, os, importlib.abc\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Interrupt(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from immax.cli.entry_point import main\n"
        "sys.argv = ['immax', 'margins', '3', '2']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 130, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("immax: interrupted")


def test_a_store_that_was_overwritten_in_the_middle(tmp_path):
    data = Path(__file__).parents[1] / "data" / "store-1.db.xz"
    store = bytearray(lzma.decompress(data.read_bytes()))
    store[4096 : len(store) - 2000] = b"x" * (len(store) - 2000 - 4096)
    (tmp_path / "a.db").write_bytes(bytes(store))
    for command in (["status"], ["table"], ["export", "-o", "x.csv"]):
        outcome = immax_here("bench", command[0], "a.db", *command[1:], cwd=tmp_path)
        assert outcome.returncode in (1, 2)
        assert outcome.stderr.count("\n") == 1
        assert "damaged" in outcome.stderr or "not a results file" in outcome.stderr


def test_a_plan_that_needs_a_missing_library_does_not_start(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imblearn", None)
    (tmp_path / "plan.toml").write_text(
        'name = "p"\ntitle = "P"\nmodels = ["linear"]\nmethods = ["logistic", "smote"]\n'
        '[data]\nnames = ["made_up_images"]\n[imbalance]\nkind = "step"\nratios = [10]\n'
    )
    outcome = immax_here("bench", "run", "plan.toml", cwd=tmp_path, check=1)
    assert "libraries that are not installed: imbalanced-learn" in outcome.stderr
    assert not (tmp_path / "plan.db").exists()


def test_the_command_answers_without_what_it_does_not_need(tmp_path):
    """The times are those of benchmarks/startup.py."""
    assert immax("--version", cwd=tmp_path, check=0).stdout.startswith("immax ")
    script = "import sys, immax; print('sklearn' in sys.modules, immax.IMMAXClassifier.__name__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "False IMMAXClassifier\n"
