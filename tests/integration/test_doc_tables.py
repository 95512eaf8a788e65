"""Pages that list the rows of a registry list all of them."""

from pathlib import Path

import pytest

from immax.decisions import AIMS
from immax.evaluation.candidates import CANDIDATES
from immax.evaluation.metrics import METRICS
from immax.losses.catalog import METHODS
from immax.penalties import PENALTIES
from immax.solvers.registry import SOLVER_NAMES

DOCS = Path(__file__).parents[2] / "docs"
LISTS = [
    ("losses.md", "", METHODS, "| `{}` |"),
    ("compare.md", "## What is compared", CANDIDATES, "`{}`"),
    ("compare.md", "## What decisions are for", METRICS, "`{}`"),
    ("solvers.md", "", SOLVER_NAMES, '"{}"'),
    ("guide.md", "## Decisions for an aim", AIMS, '"{}"'),
    ("penalties.md", "", PENALTIES, '`"{}"`'),
]
PLACES = [f"{page} {heading}".strip() for page, heading, *_ in LISTS]


def section(page, heading):
    """Return the text of a page from a heading to the next, or all of it."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return text.split(f"{heading}\n", 1)[1].split("\n## ", 1)[0] if heading else text


@pytest.mark.parametrize(("page", "heading", "names", "form"), LISTS, ids=PLACES)
def test_every_row_is_listed(page, heading, names, form):
    text = section(page, heading)
    missing = [name for name in names if form.format(name) not in text]
    assert not missing, f"docs/{page} does not list {', '.join(missing)}"
