"""The page as HTML."""

import sys
from dataclasses import replace

import pytest

from immax.report import write_report
from immax.report.content import describe_page
from immax.report.page import load_libraries, render_page


@pytest.fixture(scope="module")
def page(comparison, answer, pipeline, about):
    return describe_page(comparison, answer, {"immax": pipeline}, about)


def test_names_from_the_data_are_escaped(page):
    text = render_page(page)
    assert "<often>" not in text
    assert "&lt;often&gt;" in text
    assert "parcels &amp; co.csv" in text


def test_all_sections_are_there(page):
    text = render_page(page)
    for name in ("data", "ranking", "decisions", "classes", "probabilities", "margins", "run"):
        assert f'<section id="{name}">' in text
        assert f'href="#{name}"' in text
    assert text.count("<svg ") == 7


def test_sections_without_content_are_left_out(page):
    text = render_page(replace(page, decisions=None, probabilities=None, margins=None))
    assert "#probabilities" not in text
    assert "#margins" not in text
    assert "#decisions" not in text
    assert text.count("<svg ") == 1


def test_figures_of_the_methods(page):
    text = render_page(page)
    assert '<tr class="chosen">\n<td>IMMAX logistic</td>' in text
    assert "+0.0500" in text
    assert "-0.1000 to +0.1000" in text
    assert '<td class="n" data-v="">–</td>' in text  # no log loss of the SVM
    assert (
        '<td class="correct" style="--w: 1.0" title="45 rows, 100.0% of the class">45</td>' in text
    )


def test_the_rule_decides_what_thresholds_mean(page):
    score = render_page(replace(page, margins=replace(page.margins, rule="score")))
    assert "predicted when its probability exceeds its share" in score
    assert "The bounds are for the rule" not in score
    bayes = render_page(replace(page, margins=replace(page.margins, rule="bayes")))
    assert "the thresholds would be" in bayes
    assert "The bounds are for the rule" in bayes


def test_the_file_is_written(comparison, answer, about, tmp_path):
    path = tmp_path / "report.html"
    write_report(path, comparison, answer, {}, about)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [path]


def test_without_jinja_the_extra_is_named(page, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'reports need Jinja2: pip install "immax\[report\]"'):
        render_page(page)
    with pytest.raises(ImportError, match="reports need Jinja2"):
        load_libraries()
