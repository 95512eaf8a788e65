"""The answer of a comparison in words: what was found, how sure it is, and what would help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from immax.evaluation.candidates import CANDIDATES, PLAIN
from immax.evaluation.statistics import PairedGain

if TYPE_CHECKING:
    from immax.compare.results import Comparison
    from immax.compare.verdict import Row

__all__ = ["Finding", "describe_finding", "describe_limits"]

LARGE = 0.1  # of what plain logistic regression leaves to be gained, or of its value
MOST_TIMES = 50  # as many rows: beyond this nothing is worth saying
MANY_REPEATS = 5  # more hardly change anything
CERTAIN = 2.2  # standard errors, about the quantile of the intervals


@dataclass(frozen=True)
class Finding:
    """What a comparison has found.

    Attributes
    ----------
    name, title : str
        The metric, and its name in words.
    rows : tuple of Row
        The best method first.
    chosen : Row
        The recommended method.
    ahead : PairedGain
        By how much the best method is better than the recommended one.
    ties : tuple of str
        The methods that are not significantly worse than the best one.
    repeats : int, default=1
        How often the rows were split.
    """

    name: str
    title: str
    rows: tuple[Row, ...]
    chosen: Row
    ahead: PairedGain
    ties: tuple[str, ...]
    repeats: int = 1


def describe_finding(finding: Finding) -> str:
    """Return the recommendation and its reason.

    Parameters
    ----------
    finding : Finding

    Returns
    -------
    str
    """
    best, chosen = finding.rows[0], finding.chosen
    plain = next(row for row in finding.rows if row.name == PLAIN)
    if best is plain:
        value = f"{finding.title} {_value(finding, plain)}"
        return f"Use {_title(plain)}: no other method has a better {finding.title} ({value})."
    if chosen is plain:
        return _recommend_plain(finding, best, plain)
    certain = PLAIN not in finding.ties
    first = (
        f"Use {_title(chosen)}: its {finding.title} is {_value(finding, chosen)}, "
        f"{'better than' if certain else 'against'} the {_value(finding, plain)} of plain "
        f"logistic regression; the gain is {_gain(finding, chosen)}."
    )
    if not certain:
        return (
            f"{first} The gain is not certain: plain logistic regression is the simpler choice "
            f"(--prefer simplest). {_what_would_decide(finding, best.gain)}"
        )
    if chosen is best:
        return first
    return (
        f"{first} {_at_the_start(best)} is ahead of it by {finding.ahead.mean:+.4f} (95 % interval "
        f"{finding.ahead.low:+.4f} to {finding.ahead.high:+.4f}), which is not certain, and is "
        "less simple (--prefer best takes it)."
    )


def _recommend_plain(finding: Finding, best: Row, plain: Row) -> str:
    value = plain.measures[finding.name]
    to_be_gained = min(abs(value), abs(1 - value)) if 0 < value < 1 else abs(value)
    large = best.gain >= LARGE * to_be_gained
    return (
        f"Use {_title(plain)} ({finding.title} {_value(finding, plain)}): no method is clearly "
        f"better. {_at_the_start(best)} is ahead by {_gain(finding, best)}: "
        f"{'a large gain, but not yet a certain one' if large else 'a small gain, and not certain'}"
        f" (--prefer best takes it). {_what_would_decide(finding, best.gain)}"
    )


def _what_would_decide(finding: Finding, gain: float) -> str:
    """Return what would settle the question."""
    # If the chosen method is the best one, the error is that of its own interval.
    best = finding.rows[0]
    error = (best.high - best.low) / 2 / CERTAIN
    times = (CERTAIN * error / gain) ** 2 if gain > 0 else float("inf")
    rows = (
        f"about {times:.1f} times as many rows would show a gain of this size"
        if 1 < times < MOST_TIMES
        else "more rows would show whether there is a gain"
    )
    chance = f", and --repeats {MANY_REPEATS} removes some of the chance of the split"
    return f"To become more certain: {rows}{chance if finding.repeats < MANY_REPEATS else ''}."


def _title(row: Row) -> str:
    title = CANDIDATES[row.name].title if row.name in CANDIDATES else row.title
    return f"plain {title}" if row.name == PLAIN else title


def _at_the_start(row: Row) -> str:
    """Return the title of a method at the beginning of a sentence."""
    title = _title(row)
    return f"{title[:1].upper()}{title[1:]}"


def _value(finding: Finding, row: Row) -> str:
    return f"{row.measures[finding.name]:.4f}"


def _gain(finding: Finding, row: Row) -> str:
    n = len(finding.rows) - 1
    tests = "1 comparison" if n == 1 else f"{n} comparisons"
    p = "p < 0.001" if row.p < 0.001 else f"p = {row.p:.2g}"
    return (
        f"{row.gain:+.4f} (95 % interval {row.low:+.4f} to {row.high:+.4f}; {p} after correction "
        f"for {tests})"
    )


def describe_limits(comparison: Comparison) -> list[str]:
    """Return what a time limit has cut off, about which the answer says nothing.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    list of str
        Sentences.
    """
    sentences = []
    done, planned = len(comparison.splits), comparison.planned_folds
    if done < planned:
        sentences.append(
            f"Only {done} of {planned} folds were finished within the time limit; the figures are "
            "for these."
        )
    elif done > planned:
        sentences.append(
            f"The rows were split {comparison.repeats} times, because the answer was open."
        )
    titles = [CANDIDATES[name].title for name in comparison.unfinished]
    if titles:
        which = titles[0] if len(titles) == 1 else f"{', '.join(titles[:-1])} and {titles[-1]}"
        were, them = ("was", "it") if len(titles) == 1 else ("were", "them")
        sentences.append(
            f"{which[:1].upper()}{which[1:]} {were} not finished in time: no conclusion is drawn "
            f"about {them}."
        )
    return sentences
