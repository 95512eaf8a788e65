"""The one registry of what a comparison can include.

Every method of ``immax.losses.catalog.METHODS`` is a candidate, as a linear model, under its own
name. All other candidates are rows of ``_ROWS``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType

from immax.errors import WrongCall
from immax.evaluation.metrics import METRICS
from immax.losses.catalog import METHODS
from immax.validation import nearest

__all__ = ["CANDIDATES", "DEFAULT", "PLAIN", "Candidate", "choose_candidates"]

PLAIN = "logistic"
"""The baseline of every comparison: logistic regression without any correction."""

_PACKAGES = {"imblearn": "imbalanced-learn"}  # where the module has another name


@dataclass(frozen=True)
class Candidate:
    """A row of the registry: a method that can be compared, and what it requires.

    Attributes
    ----------
    name : str
        The name that ``compare`` and ``immax compare --methods`` take.
    title : str
        The name in tables and figures.
    model, method : str
        The key of the estimator in ``immax.evaluation.estimators.ESTIMATORS``.
    needs : str, default=""
        A module that must be installed.
    binary : bool, default=False
        Whether the method is for two classes only.
    most_rows : int, default=0
        The number of rows above which the method takes too long; 0 for no limit.
    proba : bool, default=True
        Whether the method estimates probabilities.
    codes : bool, default=False
        Whether labels must be the integers 0, 1, ….
    balanced : bool, default=False
        Whether the method is trained as if all classes were equally frequent, so that its
        probabilities are for such data.
    default : bool, default=False
        Whether the method is compared unless others are asked for.
    streams : bool, default=False
        Whether the method can be fitted to a table that is read in batches: a linear model with a
        smooth loss.
    """

    name: str
    title: str
    model: str
    method: str
    needs: str = ""
    binary: bool = False
    most_rows: int = 0
    proba: bool = True
    codes: bool = False
    balanced: bool = False
    default: bool = False
    streams: bool = False

    @property
    def effort(self) -> int:
        """Return how simple the method is to use and to explain, the lower the simpler.

        Plain logistic regression is 0, another linear model 1, one that needs resampled data 2,
        a kernel machine 3, and boosted trees 4.
        """
        if self.name == PLAIN:
            return 0
        if self.model == "linear":
            return 2 if self.needs else 1
        return 3 if self.model == "kernel" else 4

    def unsuitable_because(
        self, n_classes: int, n_rows: int, metric: str, streamed: bool = False
    ) -> str:
        """Return why the method cannot be part of a comparison, or an empty string if it can.

        Parameters
        ----------
        n_classes, n_rows : int
            The size of the data.
        metric : str
            The metric that methods are ranked by.
        streamed : bool, default=False
            Whether rows are read in batches.

        Returns
        -------
        str
        """
        if self.binary and n_classes > 2:
            return "for two classes only"
        if self.needs and find_spec(self.needs) is None:
            return f"{_PACKAGES.get(self.needs, self.needs)} is not installed"
        if self.most_rows and n_rows > self.most_rows:
            return f"for at most {self.most_rows} rows"
        if not self.proba and METRICS[metric].needs_proba:
            return "has no probabilities"
        if streamed and not self.streams:
            return "needs all rows in memory: --rows compares it on a sample"
        return ""


_ROWS = (
    Candidate(PLAIN, "logistic regression", "linear", "logistic", default=True, streams=True),
    Candidate(
        "weights",
        "class weights",
        "linear",
        "logistic_balanced",
        balanced=True,
        default=True,
        streams=True,
    ),
    Candidate(
        "threshold",
        "threshold tuning",
        "linear",
        "threshold",
        binary=True,
        default=True,
        streams=True,
    ),
    Candidate("smote", "SMOTE", "linear", "smote", needs="imblearn", balanced=True, default=True),
    Candidate(
        "under",
        "random under-sampling",
        "linear",
        "under",
        needs="imblearn",
        balanced=True,
        default=True,
    ),
    Candidate("over", "random over-sampling", "linear", "over", needs="imblearn", balanced=True),
    Candidate("immax", "IMMAX logistic", "linear", "immax", default=True, streams=True),
    Candidate("immax_l1", "IMMAX with few features", "linear", "immax_l1"),
    Candidate("immax_hinge", "IMMAX hinge", "linear", "immax_hinge", proba=False, default=True),
    Candidate(
        "immax_svc", "IMMAX kernel", "kernel", "immax", most_rows=2000, proba=False, default=True
    ),
    Candidate("svm", "linear SVM", "linear", "svc", proba=False),
    Candidate("xgb", "XGBoost", "trees", "xgb", needs="xgboost", codes=True, default=True),
    Candidate("immax_xgb", "IMMAX XGBoost", "trees", "immax", needs="xgboost", default=True),
)


def _registry() -> Mapping[str, Candidate]:
    """Return the rows, and after them the methods of the catalogue that have no row."""
    rows = {row.name: row for row in _ROWS}
    methods = {
        method.name: Candidate(
            method.name, method.title, "linear", method.name, streams=method.name != "equal"
        )  # whose draws, one for each row, are made in the order of all rows
        for method in METHODS.values()
        if method.name not in rows
    }
    return MappingProxyType(rows | methods)


CANDIDATES = _registry()
"""All candidates by name, in the order in which they run."""

DEFAULT = tuple(name for name, candidate in CANDIDATES.items() if candidate.default)
"""The names of the candidates that are compared by default, as far as they suit the data."""


def choose_candidates(
    asked: Iterable[str] | None,
    n_classes: int,
    n_rows: int,
    metric: str,
    streamed: bool = False,
) -> tuple[list[str], dict[str, str]]:
    """Return the methods to run, and the reasons why others are left out.

    Parameters
    ----------
    asked : iterable of str or None
        Names of candidates, or ``["all"]``; None for ``DEFAULT``. Plain logistic regression is
        always included.
    n_classes, n_rows : int
        The size of the data.
    metric : str
        The metric that methods are ranked by.
    streamed : bool, default=False
        Whether rows are read in batches.

    Returns
    -------
    names : list of str
        In the order in which they run.
    left_out : dict of str to str
        The reason for each method that does not suit the data or the metric, or that needs a
        package that is not installed.

    Raises
    ------
    WrongCall
        If a name is unknown.

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
        reason = CANDIDATES[name].unsuitable_because(n_classes, n_rows, metric, streamed)
        if reason:
            left_out[name] = reason
        elif name != PLAIN:
            names.append(name)
    return names, left_out
