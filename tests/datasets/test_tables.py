"""Tables from files of every format."""

import bz2
import gzip
import lzma
import sys

import pytest

from immax.datasets import read_chunks, read_frame, read_table

pandas = pytest.importorskip("pandas")

TABLE = "age,city name,label\n31,Aix,yes\n45,Bonn,no\n27,Cork,yes\n"
PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def check(X, y):
    assert isinstance(X, pandas.DataFrame)
    assert X.columns.tolist() == ["age", "city name"]
    assert X["age"].tolist() == [31, 45, 27]
    assert X["city name"].tolist() == ["Aix", "Bonn", "Cork"]
    assert isinstance(y, pandas.Series)
    assert y.name == "label"
    assert y.tolist() == ["yes", "no", "yes"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["a.csv", "a.b.TSV", "a.txt"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_text_with_any_delimiter(tmp_path, delimiter, name, mark):
    path = tmp_path / name
    path.write_text(mark + TABLE.replace(",", delimiter), encoding="utf-8")
    check(*read_table(path, "label"))
    check(*read_table(str(path), "label"))


@pytest.mark.parametrize("suffix", PACK)
def test_packed_text(tmp_path, suffix):
    path = tmp_path / f"a.csv{suffix}"
    path.write_bytes(PACK[suffix](("\ufeff" + TABLE.replace(",", "|")).encode()))
    check(*read_table(path, "label"))
    path.write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=f"a.csv{suffix} cannot be read as a table"):
        read_table(path, "label")
    path.write_bytes(PACK[suffix](b""))
    with pytest.raises(ValueError, match="is empty"):
        read_table(path, "label")


@pytest.mark.parametrize("name", ["a.parquet", "a.pq"])
def test_parquet(tmp_path, name):
    pytest.importorskip("pyarrow")
    check_table = tmp_path / "a.csv"
    check_table.write_text(TABLE)
    pandas.read_csv(check_table).to_parquet(tmp_path / name)
    check(*read_table(tmp_path / name, "label"))
    (tmp_path / name).write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="cannot be read as Parquet"):
        read_table(tmp_path / name, "label")


def test_delimiters_within_cells(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('x,y;"a;b";label\n1,5;"c;d,e\n;";0\n2,5;"";1\n')
    X, y = read_table(path, "label")
    assert X.columns.tolist() == ["x,y", "a;b"]
    assert X["a;b"].tolist()[0] == "c;d,e\n;"
    assert y.tolist() == [0, 1]


def test_a_missing_target_names_the_nearest_column(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE)
    with pytest.raises(ValueError, match=r"no column 'lable'; did you mean 'label'\?"):
        read_table(tmp_path / "a.csv", "lable")
    with pytest.raises(ValueError, match="no column 'zzz'; there are age, city name, label"):
        read_table(tmp_path / "a.csv", "zzz")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"a,label\n", "has no rows"),
        (b"label\n1\n0\n", "no columns other than 'label'"),
        (b"a,label\n1,x\n2,\n", "has 1 missing labels"),
        (b"a,label\n\xff,x\n", "must be text in UTF-8"),
        (b"a,label\n1,2\n1,2,3\n", "cannot be read as a table"),
        (b"a,label\n1,2,3\n1,2,3\n", "cannot be read as a table"),
    ],
)
def test_bad_text(tmp_path, content, message):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "a.csv", "label")


def test_other_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*a.csv"):
        read_table(tmp_path / "a.csv", "label")
    for name in ("a.xlsx", "a.parquet.gz", "csv", "a.gz"):
        (tmp_path / name).write_text(TABLE)
        with pytest.raises(ValueError, match=r"must end in .csv, .tsv, .txt, .jsonl"):
            read_table(tmp_path / name, "label")


def test_what_is_not_installed_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text(TABLE)
    (tmp_path / "a.parquet").write_text(TABLE)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = r'tables need pandas and pyarrow: pip install "immax\[cli\]"'
    with pytest.raises(ImportError, match=message):
        read_table(tmp_path / "a.parquet", "label")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=message):
        read_table(tmp_path / "a.csv", "label")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".feather", ".csv.gz"])
def test_chunks_are_the_rows_of_the_frame(tmp_path, suffix):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": range(7), "b": [f"t{i}" for i in range(7)]})
    path = tmp_path / f"a{suffix}"
    if ".csv" in suffix:
        frame.to_csv(path, index=False)
    elif suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        pytest.importorskip("pyarrow")
        getattr(frame, f"to_{suffix[1:]}")(path)
    pandas.testing.assert_frame_equal(read_frame(path), frame, check_dtype=False)
    chunks = list(read_chunks(path, rows=3))
    assert [len(chunk) for chunk in chunks] == [3, 3, 1]
    joined = pandas.concat(chunks, ignore_index=True)
    pandas.testing.assert_frame_equal(joined, frame, check_dtype=False)


def test_lines_that_are_not_objects(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n[1]\n')
    with pytest.raises(ValueError, match="JSON lines: every line must be an object"):
        read_frame(tmp_path / "a.jsonl")
