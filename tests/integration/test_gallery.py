"""Every example of the gallery runs, without warnings, and draws a picture."""

import re
import runpy

import pytest
from source_tree import ROOT

plt = pytest.importorskip("matplotlib.pyplot", reason="needs the extra report")
EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("*/plot_*.py"))
NEEDS = re.compile(
    r"^(?:from|import) (imblearn|torch|xgboost|dask|distributed|optuna)", re.MULTILINE
)


@pytest.fixture(autouse=True)
def no_screen(monkeypatch):
    backend = plt.get_backend()
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    yield
    plt.close("all")
    plt.switch_backend(backend)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_draws(path):
    for library in NEEDS.findall(path.read_text(encoding="utf-8")):
        pytest.importorskip(library)
    runpy.run_path(str(path))
    assert plt.get_fignums()


def test_the_gallery_has_enough_examples():
    assert len(EXAMPLES) >= 15


def test_the_gallery_has_its_sections():
    folders = {path.parent for path in EXAMPLES}
    assert all((folder / "README.txt").exists() for folder in folders)


def test_every_example_begins_with_a_title():
    for path in EXAMPLES:
        _, title, line, *_ = path.read_text(encoding="utf-8").split("\n")
        assert line == "=" * len(title), path
