"""Text files: every cell is a string."""

import pytest

from immax.tabular.table_files import open_table


def cells(path, *expected):
    return {name: own.to_pylist() for name, own in open_table(path, expected).cells().items()}


def test_cells_are_kept_as_they_are_written(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('code,n\n01, 1.0\n,NA\n"a\nb","x""y"\n')
    assert cells(path) == {"code": ["01", "", "a\nb"], "n": [" 1.0", "NA", 'x"y']}
    assert not open_table(path).declared


@pytest.mark.parametrize("text", ["a,b\n", "a,b", "\n\na,b\n", "\ufeffa,b\r\n"])
def test_a_header_alone(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    file = open_table(tmp_path / "a.csv")
    assert file.names == ("a", "b")
    assert list(file.chunks(5)) == []


def test_blank_lines_before_the_header(tmp_path):
    (tmp_path / "a.csv").write_text("\n\n\na,b\n1,2\n\n3,4\n")
    assert cells(tmp_path / "a.csv") == {"a": ["1", "3"], "b": ["2", "4"]}


def test_the_expected_names_tell_the_delimiter(tmp_path):
    """Rows of one file must not decide how it is cut."""
    (tmp_path / "a.csv").write_text("x;y,z\n1,5;2,5\n")
    assert list(cells(tmp_path / "a.csv", "x", "y,z")) == ["x", "y,z"]


def test_repeated_names(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,a\n1,2,3\n")
    file = open_table(tmp_path / "a.csv")
    assert file.names == ("a", "b", "a.1")
    assert file.repeated == ("a",)


def test_chunks(tmp_path):
    (tmp_path / "a.csv").write_text("a\n" + "1\n" * 7)
    assert [n for n, _ in open_table(tmp_path / "a.csv").chunks(3)] == [3, 3, 1]


@pytest.mark.parametrize("text", ["a,b\n1\n", "a,b\n1,2,3\n", 'a,b\n"1,2\n'])
def test_rows_of_another_length_are_refused(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match="cannot be read as a table"):
        cells(tmp_path / "a.csv")
