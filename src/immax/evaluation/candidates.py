"""The methods that a comparison may hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType

from immax.errors import WrongCall
from immax.evaluation.metrics import METRICS
from immax.validation import nearest

__all__ = ["CANDIDATES", "DEFAULT", "PLAIN", "Candidate", "choose_candidates"]

PLAIN = "logistic"  # what every other method is compared with


@dataclass(frozen=True)
class Candidate:
    """A method of ``immax.bench``, under the name that people know it by."""

    title: str
    model: str
    method: str
    needs: str = ""  # a package
    binary: bool = False  # for two classes only
    most_rows: int = 0  # beyond which it takes too long; 0 for any number
    proba: bool = True  # whether it has probabilities
    codes: bool = False  # whether it wants 0, 1, … for labels


def _linear(title: str, method: str, **facts: object) -> Candidate:
    return Candidate(title, "linear", method, **facts)  # type: ignore[arg-type]


CANDIDATES = MappingProxyType(
    {
        PLAIN: _linear("logistic regression", "logistic"),
        "weights": _linear("class weights", "logistic_balanced"),
        "threshold": _linear("threshold tuning", "threshold", binary=True),
        "smote": _linear("SMOTE", "smote", needs="imblearn"),
        "under": _linear("random under-sampling", "under", needs="imblearn"),
        "over": _linear("random over-sampling", "over", needs="imblearn"),
        "immax": _linear("IMMAX logistic", "immax"),
        "immax_hinge": _linear("IMMAX hinge", "immax_hinge", proba=False),
        "immax_svc": Candidate("IMMAX kernel", "kernel", "immax", most_rows=2000, proba=False),
        "svm": _linear("linear SVM", "svc", proba=False),
        "xgb": Candidate("XGBoost", "trees", "xgb", needs="xgboost", codes=True),
        "immax_xgb": Candidate("IMMAX XGBoost", "trees", "immax", needs="xgboost"),
        "ce": _linear("cross-entropy", "ce"),
        "rw": _linear("re-weighting", "rw"),
        "bs": _linear("balanced softmax", "bs"),
        "equal": _linear("equalisation loss", "equal"),
        "la": _linear("logit adjustment", "la"),
        "cb": _linear("class-balanced loss", "cb"),
        "focal": _linear("focal loss", "focal"),
        "ldam": _linear("LDAM", "ldam"),
    }
)
"""By the names that ``--methods`` takes."""

DEFAULT = (
    PLAIN,
    "weights",
    "threshold",
    "smote",
    "under",
    "immax",
    "immax_hinge",
    "immax_svc",
    "xgb",
    "immax_xgb",
)
"""Those that are compared unless others are asked for, as far as they fit the data."""


def choose_candidates(
    asked: Iterable[str] | None, n_classes: int, n_rows: int, metric: str
) -> tuple[list[str], dict[str, str]]:
    """Names of methods in the order in which they are run, and why others are left out.

    Parameters
    ----------
    asked : iterable of str, optional
        Names, or "all"; by default those of ``DEFAULT``. Plain logistic regression is always among
        them.
    n_classes, n_rows : int
        Of the data.
    metric : str
        What methods are ranked by.

    Examples
    --------
    >>> names, left_out = choose_candidates(["immax", "threshold"], 3, 100, "accuracy")
    >>> names
    ['logistic', 'immax']
    >>> left_out
    {'threshold': 'for two classes only'}
    """
    wanted = list(DEFAULT if asked is None else asked)
    wanted = list(CANDIDATES) if wanted == ["all"] else wanted
    for name in wanted:
        if name not in CANDIDATES:
            raise WrongCall(f"unknown method {name!r}{nearest(name, CANDIDATES)}")
    names, left_out = [PLAIN], {}
    for name in dict.fromkeys(wanted):
        why = _unfit(CANDIDATES[name], n_classes, n_rows, metric)
        if why:
            left_out[name] = why
        elif name != PLAIN:
            names.append(name)
    return names, left_out


def _unfit(candidate: Candidate, n_classes: int, n_rows: int, metric: str) -> str:
    """Why a method has no place in a comparison; empty if it has."""
    if candidate.binary and n_classes > 2:
        return "for two classes only"
    if candidate.needs and find_spec(candidate.needs) is None:
        package = {"imblearn": "imbalanced-learn"}.get(candidate.needs, candidate.needs)
        return f"{package} is not installed"
    if candidate.most_rows and n_rows > candidate.most_rows:
        return f"for at most {candidate.most_rows} rows"
    if not candidate.proba and METRICS[metric].needs_proba:
        return "has no probabilities"
    return ""
