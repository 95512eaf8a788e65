"""The origin of results: the version of the code, and the date."""

from __future__ import annotations

import datetime
import subprocess
from dataclasses import replace

from immax.bench.outcomes import PlanResults

__all__ = ["describe_commit", "today", "with_origin"]


def describe_commit() -> str:
    """Return the commit of the repository in which the process runs.

    Returns
    -------
    str
        As ``git describe --always --dirty`` prints it; empty if there is no repository.
    """
    try:
        shown = subprocess.run(
            ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return shown.stdout.strip()


def today() -> str:
    """Return the date in UTC, as 2026-11-17.

    Returns
    -------
    str
    """
    return f"{datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d}"


def with_origin(results: PlanResults) -> PlanResults:
    """Return results with the current commit and date where their own are not known.

    Parameters
    ----------
    results : PlanResults

    Returns
    -------
    PlanResults
    """
    commit, date = results.commit or describe_commit(), results.date or today()
    return replace(results, commit=commit, date=date)
