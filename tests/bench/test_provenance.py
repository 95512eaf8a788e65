"""The commit and the date of results."""

import re
import subprocess

from immax.bench import provenance
from immax.bench.outcomes import PlanResults
from immax.bench.provenance import describe_commit, today, with_origin


def test_there_is_no_commit_outside_a_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert describe_commit() == ""


def test_a_commit_is_git_s(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for call in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *call], check=True)
    assert re.fullmatch("[0-9a-f]{7,}", describe_commit())


def test_what_is_known_is_kept(monkeypatch):
    monkeypatch.setattr(provenance, "describe_commit", lambda: "now")
    known = PlanResults("p", "t", "d", "then", "2026-01-01", [])
    assert with_origin(known) == known
    unknown = with_origin(PlanResults("p", "t", "d", "", "", []))
    assert (unknown.commit, unknown.date) == ("now", today())
