"""The tables of docs/theory.md: every name exists, and every statement of the paper has a row."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "theory.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.split("## Bounds for a fitted model")[0].splitlines()
    if line.startswith("|") and not line.startswith(("| ---", "| in the paper", "| algorithms"))
]
# The labels of the paper's definitions, lemmas, theorems, corollaries, figures and tables.
LABELS = re.findall(
    r"\S+",
    """
    imbalanced-loss margin-loss H-consistency-binary margin-bound-binary rad-linear
    optimal-separable margin-loss-multi H-consistency-multi alg-gen negative sep comparison-long
    comparison-step comparison-binary margin-bound-binary-uniform margin-bound-binary-lin alg
    alg-general margin-bound-multi D3 margin-bound-multi-uniform rad-kernel-1 rad-kernel-2
    margin-bound-multi-kernel-1 margin-bound-multi-kernel-2 binary
    """,
)


def resolve(name):
    """Return what a dotted name stands for; without a module it is of ``immax.theory``."""
    parts = name.split(".") if name.startswith("immax.") else ["immax", "theory", name]
    for cut in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError as error:
            if error.name and not ".".join(parts[:cut]).startswith(error.name):
                pytest.skip(f"{error.name} is not installed")
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise AssertionError(name)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_name_of_a_row_exists(row):
    assert len(row) == 3, row
    assert row[2]
    names = [name for name in re.findall(r"`([^`]+)`", row[1]) if "=" not in name]
    assert names
    for name in names:
        if name.startswith(("experiments/", "examples/")):
            assert (ROOT / name).exists()
        else:
            resolve(name)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_argument_of_a_row_exists(row):
    """``name`` with ``argument=value``: the function or class takes the argument."""
    from inspect import signature

    for name, argument in re.findall(r"`([\w.]+)` with `(\w+)=", row[1]):
        assert argument in signature(resolve(name)).parameters, f"{name}({argument}=)"


@pytest.mark.parametrize("label", LABELS)
def test_every_statement_has_a_row(label):
    assert any(re.search(rf"(?<![\w-]){label}(?![\w-])", row[0]) for row in ROWS), label


def test_links_within_the_page_lead_somewhere():
    anchors = {
        re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= anchors
