"""Linear classifiers: IMMAX, and the same machine with any method of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.extmath import row_norms

from immax.arrays import Array, Features, Vector
from immax.class_weights import divide_out, resolve_weights, weighted_shares
from immax.linear_base import LinearClassifier, TrainingData
from immax.links import immax_proba, spec_proba
from immax.losses.catalog import make_spec
from immax.losses.immax_risks import IMMAXRisk, immax_risk
from immax.losses.margin_risks import MarginRisk
from immax.losses.softmax_risks import SoftmaxRisk, binary_risk
from immax.losses.spec import LossSpec
from immax.losses.surrogates import SURROGATES
from immax.margins import class_radii, resolve_margins
from immax.penalties.registry import Groups
from immax.validation import canonical_rows, check_choice, check_flags

__all__ = ["BaselineClassifier", "IMMAXClassifier"]


INVERSE = "lam is the strength of the penalty, with C = 1 / (2 lam n) for n samples"


class ClassTerms(NamedTuple):
    """The per-class terms of the IMMAX loss."""

    margins: Vector
    weights: Vector


class IMMAXClassifier(LinearClassifier[ClassTerms]):
    """Linear classifier with a separate confidence margin for each class.

    Two classes, one weight vector::

        min over w, b of  lam Omega(w) + mean of Psi(h / rho_1) over class 1
                                       and Psi(-h / rho_0) over class 0,   h = w x + b

    Three classes or more, one weight vector per class::

        min over W, b of  lam Omega(W) + mean of loss(h, y)
        sum form:  log sum_j exp((h_j - h_y) / rho_y),  or  sum_{j != y} exp((h_j - h_y) / rho_y)
        max form:  max_{j != y} Psi((h_y - h_j) / rho_y)

    The penalty Omega is ``||W||^2`` by default. The biases are not penalised. Means are weighted by
    ``sample_weight`` and by the class weights, logarithms are natural.

    Parameters
    ----------
    loss : {"logistic", "hinge", "exponential"}, default="logistic"
        The surrogate Psi.
    form : {"auto", "sum", "max"}, default="auto"
        With three classes or more: "auto" takes the sum over the other classes for logistic
        and exponential, and the maximum for the hinge. With two classes the forms are the same.
        With "max", ``predict_proba`` exists only after a fit to two classes.
    lam : float, default=1e-3
        The paper's lambda. With equal margins, which are one, scikit-learn's C is
        ``1 / (2 lam n)`` for penalty="l2" and ``1 / (lam n)`` for penalty="l1", where lam is also
        glmnet's lambda.
    penalty : {"l2", "l1", "elasticnet", "group"}, default="l2"
        Omega: ``||W||^2``, or a penalty that selects few features: ``||W||_1``, the mixture
        ``l1_ratio ||W||_1 + (1 - l1_ratio) ||W||^2``, or ``sum_g sqrt(columns in g) ||W_g||_2``
        over groups of features, each with its coefficients for all classes.
    l1_ratio : float, default=0.5
        The share of the l1 norm in penalty="elasticnet", from 0 to 1. With 0 it is "l2".
    groups : array-like of shape (d,), Series or dict, optional
        For penalty="group": a label for each feature, in their order, or by name in a Series or a
        dict. By default every feature is a group: all classes use it, or none does.
    margins : "theory", "equal", array-like of shape (n_classes,) or dict, default="theory"
        Margins in the order of ``classes_``, or by label, in a Series too. "theory" is
        ``rho_k ∝ n_k^(1/3)`` with mean one, and "equal" is one for every class. Margins that you
        pass are used as given; ``immax.margins.theory_margins(counts, total=1)`` are the
        paper's, which sum to one.
    weights : "equal", "balanced", array-like of shape (n_classes,) or dict, default="equal"
        Class weights of the losses, in the order of ``classes_`` or by label; "balanced" is
        ``n / n_k``. Only their ratios matter. Probabilities refer to the original class shares.
    rule : {"score", "bayes"}, default="score"
        How ``predict`` decides: by the highest score, as in the paper, or by the highest
        probability. With unequal margins these differ: for two classes the score is positive
        where the probability of class 1 exceeds ``rho_1 / (rho_0 + rho_1)``.
    costs : array-like of shape (n_classes,) or (n_classes, n_classes), optional
        For rule="bayes": the cost of an error on each class, or at (k, j) the cost of predicting
        j when k is true. The class of least expected cost is predicted.
    use_radii : bool, default=False
        Let margins="theory" take each class's largest feature norm into account,
        ``rho_k ∝ n_k^(1/3) r_k^(2/3)``.
    fit_intercept : bool, default=True
        Whether to fit biases, which are not penalised.
    solver : {"auto", "newton", "lbfgs", "dual", "working-set"}, default="auto"
        "auto" picks by the penalty and the shape of the data. Losses with kinks are solved exactly,
        inside a method of multipliers. "dual" is for the hinge of two classes on dense features,
        and needs Numba. These three are for penalty="l2", and "working-set" is for the others.
    tol : float, default=1e-6
        The fit stops when ``gap_`` is at most ``tol * objective_``, and warns if it stops
        earlier. With float32 features it is at least 1e-3.
    max_iter : int, default=1000
        The maximum number of iterations of the solver.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows that the solver samples for its preconditioner. None is a fixed seed.
    warm_start : bool, default=False
        Start from the coefficients of the previous fit, if it had the same classes and number
        of features, which saves iterations if the data or the parameters have changed little.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, d) or (n_classes, d)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    margins_ : ndarray of shape (n_classes,)
        The margins that were used.
    weights_ : ndarray of shape (n_classes,)
        The class weights that were used.
    objective_ : float
        The objective that was reached.
    gap_ : float
        An upper bound on how far ``objective_`` lies above the optimum: a duality gap.
    n_iter_ : int
    n_features_used_ : int
        The number of features with a nonzero coefficient.
    sparse_coef_ : CSR array of shape (1, d) or (n_classes, d)
        The nonzero coefficients of ``coef_``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if X had them
    preparation_ : Pipeline
        After a fit to a file or folder: the fitted preprocessing of its columns, whose features
        ``coef_`` is for. ``predict`` and the like then take data frames and paths.

    References
    ----------
    Cortes, Mao, Mohri and Zhong, *Balancing the Scales: A Theoretical and Algorithmic
    Framework for Learning from Imbalanced Data*, ICML 2025: eqs. (binary) and (alg-gen).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = IMMAXClassifier().fit(scale(X), y)
    >>> model.margins_.round(3)
    array([0.913, 1.087])
    >>> bool(model.gap_ <= 1e-6 * model.objective_)
    True
    >>> IMMAXClassifier(penalty="l1", lam=0.02).fit(scale(X), y).n_features_used_
    7
    """

    weights: str | ArrayLike | Mapping[Any, float] = "equal"  # of models of earlier versions
    margins_: Vector
    weights_: Vector
    _foreign = MappingProxyType(
        {
            "class_weight": "weights='balanced' (or an array, or a dict) weighs the classes, and "
            "probabilities still refer to the original shares",
            "C": INVERSE,
            "alpha": "lam is the strength of the penalty, and margins= are those of the classes",
        }
    )

    def __init__(
        self,
        loss: str = "logistic",
        *,
        form: str = "auto",
        lam: float = 1e-3,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        groups: Groups | None = None,
        margins: str | ArrayLike | Mapping[Any, float] = "theory",
        weights: str | ArrayLike | Mapping[Any, float] = "equal",
        rule: str = "score",
        costs: ArrayLike | None = None,
        use_radii: bool = False,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
    ) -> None:
        self.loss = loss
        self.form = form
        self.lam = lam
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.groups = groups
        self.margins = margins
        self.weights = weights
        self.rule = rule
        self.costs = costs
        self.use_radii = use_radii
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.warm_start = warm_start

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flags(use_radii=self.use_radii)
        check_choice("loss", self.loss, tuple(SURROGATES))
        check_choice("form", self.form, ("auto", "sum", "max"))
        if self.loss == "hinge" and self.form == "sum":
            raise ValueError("form='sum' exists for the logistic and exponential losses only")
        if self.rule == "bayes" and self.loss == "hinge":
            raise ValueError(
                "rule='bayes' needs probabilities, which the hinge loss does not determine; use "
                "rule='score', or loss='logistic'"
            )

    def _fit_files(self, path: Any, target: Any, sample_weight: Any) -> Self:
        from immax.distributed.parted_classifiers import PartedIMMAX
        from immax.tabular.table_fits import fit_table

        fit_table(self, PartedIMMAX, path, target, sample_weight)
        return self

    def _why_no_proba(self) -> str | None:
        if self.loss == "hinge":
            return "the hinge loss"
        if self.form != "max":
            return None
        # What an estimator has before a fit it must have after it, whatever the data.
        if not hasattr(self, "classes_"):
            return "the max form (before a fit, and after one to three classes or more)"
        return "the max form of three classes or more" if len(self.classes_) > 2 else None

    def _make_loss(self, data: TrainingData) -> ClassTerms:
        radii = (
            class_radii(feature_norms(data.X), data.y, len(data.counts)) if self.use_radii else None
        )
        rho = resolve_margins(self.margins, data.classes, data.counts, radii)
        if self.rule == "bayes" and self.form == "max" and rho.size > 2:
            raise ValueError(
                "rule='bayes' needs probabilities, which the max form does not determine for "
                "three classes or more; use rule='score', or form='sum'"
            )
        return ClassTerms(rho, resolve_weights(self.weights, data.classes, data.counts))

    def _risk(self, loss: ClassTerms, data: TrainingData) -> IMMAXRisk:
        share = weighted_shares(data.weight, data.y, loss.weights)
        return immax_risk(self.loss, self.form, data.y, loss.margins, share)

    def _loss_attributes(self, loss: ClassTerms) -> dict[str, Any]:
        return {"margins_": loss.margins, "weights_": loss.weights}

    def _proba(self, scores: Array) -> Array:
        proba = immax_proba(scores, self.margins_, self.loss)
        return divide_out(proba, getattr(self, "weights_", np.ones(self.margins_.size)))


class BaselineClassifier(LinearClassifier[LossSpec]):
    """Linear classifier with any method of ``immax.losses.catalog``.

    ``min over W, b of lam Omega(W) + weighted mean of the method's loss``; two classes share
    one weight vector, with scores (-h/2, h/2).

    Parameters
    ----------
    method : str, default="ce"
        A key of ``catalog.METHODS``: "immax", "ce", "rw", "bs", "equal", "la", "cb", "focal",
        "ldam", "vs" or "weighted_immax".
    method_params : dict, optional
        The method's hyper-parameters, such as ``{"tau": 0.5}`` for "la".
    lam : float, default=1e-3
        With method "ce", scikit-learn's C is ``1 / (2 lam n)``, or ``1 / (lam n)`` with
        penalty="l1".
    penalty, l1_ratio, groups, rule, costs, fit_intercept, solver, tol, max_iter
        As in IMMAXClassifier. Probabilities undo the method's own weights and offsets, so
        that rule="bayes" minimises the expected error (or cost) whatever the method.
    random_state : int, RandomState instance or None, default=None
        Seeds the draws of "equal" and the solver's sampled rows. None is a fixed seed.
    warm_start : bool, default=False
        As in IMMAXClassifier.

    Attributes
    ----------
    spec_ : LossSpec
        The method's loss for the class counts of the training data.
    classes_, coef_, sparse_coef_, intercept_, objective_, gap_, n_iter_, n_features_used_
        As in IMMAXClassifier; ``gap_`` is None for "focal", which is not convex.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> BaselineClassifier("la", method_params={"tau": 0.5}).fit(X, y).spec_.name
    'la'
    """

    spec_: LossSpec
    _foreign = MappingProxyType(
        {
            "class_weight": "method='rw' weighs the classes, and probabilities still refer to the "
            "original shares",
            "C": INVERSE,
        }
    )

    def __init__(
        self,
        method: str = "ce",
        *,
        method_params: Mapping[str, Any] | None = None,
        lam: float = 1e-3,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        groups: Groups | None = None,
        rule: str = "score",
        costs: ArrayLike | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
    ) -> None:
        self.method = method
        self.method_params = method_params
        self.lam = lam
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.groups = groups
        self.rule = rule
        self.costs = costs
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.warm_start = warm_start

    def _make_loss(self, data: TrainingData) -> LossSpec:
        return make_spec(self.method, data.counts, **dict(self.method_params or {}))

    def _risk(self, loss: LossSpec, data: TrainingData) -> MarginRisk | SoftmaxRisk:
        drop = loss.draw(data.y.size, 0 if self.random_state is None else self.random_state)
        make = binary_risk if loss.n_classes == 2 else SoftmaxRisk
        return make(loss, data.y, data.weight, drop)

    def _loss_attributes(self, loss: LossSpec) -> dict[str, Any]:
        return {"spec_": loss}

    def _proba(self, scores: Array) -> Array:
        if scores.ndim == 1:
            scores = np.stack([-scores / 2, scores / 2], axis=1)
        return spec_proba(scores, self.spec_)


def feature_norms(X: Features) -> Array:
    """Return the norms of the rows; a sparse matrix may hold an entry in several parts.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n, d)

    Returns
    -------
    ndarray of shape (n,)
    """
    return np.asarray(row_norms(canonical_rows(X)))
