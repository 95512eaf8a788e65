"""The pages of benchmarks: every output has the command that printed it and the date of the run."""

import itertools
import re

import pytest
from source_tree import ROOT

INDEX = ROOT / "docs" / "benchmarks.md"
PAGES = sorted((ROOT / "docs" / "benchmarks").glob("*.md"))
COMMAND = re.compile(r"`[^`]*\b(python (?:benchmarks|examples)/\w+\.py|immax \w+)[^`]*`")
MONTHS = "January February March April May June July August September October November December"
DATE = re.compile(rf"\b\d{{1,2}}\s(?:{MONTHS.replace(' ', '|')})\s20\d\d\b")


def outputs(text):
    """Return pairs of an output, a fenced block or a table, and the paragraph before it."""
    fenced = re.sub(r"```.*?```", lambda one: one[0].replace("\n\n", "\n"), text, flags=re.DOTALL)
    parts = re.split(r"\n\n+", fenced)
    return [
        (part, before)
        for before, part in itertools.pairwise(parts)
        if part.startswith(("```", "|"))
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_output_follows_a_command_and_a_date(page):
    found = outputs(page.read_text(encoding="utf-8"))
    assert found
    for output, before in found:
        first = output.split("\n", 2)[1]
        assert COMMAND.search(before), f"no command before {first}"
        assert DATE.search(before), f"no date before {first}"


def test_commands_name_programs_of_the_repository():
    for page in PAGES:
        programs = re.findall(r"python ((?:benchmarks|examples)/\w+\.py)", page.read_text("utf-8"))
        for program in programs:
            assert (ROOT / program).exists(), f"{page.name}: {program}"


def test_the_index_lists_every_page():
    linked = re.findall(r"\(benchmarks/([\w-]+)\.md\)", INDEX.read_text(encoding="utf-8"))
    assert sorted(linked) == [page.stem for page in PAGES]


def test_outputs_without_a_command_or_a_date_are_seen():
    text = "# A\n\nSome words:\n\n```\nline\n\nline\n```\n\n| a |\n| - |"
    assert [before.split("\n")[0] for _, before in outputs(text)] == ["Some words:", "```"]
    assert not COMMAND.search("Some words: 18 November 2026")
    assert DATE.search("`python benchmarks/link.py`, 18\nNovember 2026:")
