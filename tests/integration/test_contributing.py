"""The worked changes of CONTRIBUTING.md fit the files as they are."""

import re

import pytest
from source_tree import ROOT

BLOCKS = re.findall(r"```diff\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.DOTALL)
CHANGES = [
    (path, hunk)
    for block in BLOCKS
    for path, body in re.findall(r"^\+\+\+ b/(.*)\n((?:[@+ -](?!-- ).*\n)+)", block, re.MULTILINE)
    for hunk in re.split(r"^@@\n", body, flags=re.MULTILINE)
    if hunk
]


def context_of(hunk):
    """Return the lines that a file must have for the change."""
    return "".join(f"{line[1:]}\n" for line in hunk.splitlines() if line[:1] in " -")


def test_all_kinds_of_additions_are_shown():
    folders = {path.split("/")[2] for path, _ in CHANGES if path.startswith("src/")}
    assert folders >= {"evaluation", "datasets", "solvers", "penalties", "plots", "losses"}


@pytest.mark.parametrize(("path", "hunk"), CHANGES, ids=[path for path, _ in CHANGES])
def test_the_lines_around_a_change_are_those_of_the_file(path, hunk):
    context = context_of(hunk)
    if context:
        assert (ROOT / path).read_text("utf-8").count(context) == 1
    else:
        assert (ROOT / path).parent.is_dir()
