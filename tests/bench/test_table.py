"""Tables as Markdown, LaTeX and CSV."""

from immax.bench.table import Table, bold

TABLE = Table("title", ["method", "a_b"], [["ce", "1.0 ± 0.1"], ["immax", bold("2.0")]])


def test_formats():
    assert TABLE.markdown() == (
        "| method | a_b |\n| --- | --- |\n| ce | 1.0 ± 0.1 |\n| immax | **2.0** |\n"
    )
    assert "immax & \\textbf{2.0} \\\\" in TABLE.latex()
    assert "method & a\\_b \\\\" in TABLE.latex()
    assert "1.0 $\\pm$ 0.1" in TABLE.latex()
    assert TABLE.csv() == "method,a_b\nce,1.0 ± 0.1\nimmax,2.0\n"


def test_a_table_of_dashes_is_empty():
    assert Table("t", ["m", "a"], [["ce", "–"], ["la", ""]]).is_empty
    assert not TABLE.is_empty
