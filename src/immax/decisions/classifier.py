"""Any classifier with probabilities, and the decisions that an aim calls for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import check_cv
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_is_fitted,
    column_or_1d,
    indexable,
)

from immax.arrays import Array, Features
from immax.callbacks import CallbackSupport, Task, fit_task
from immax.decisions.aims import Aim
from immax.decisions.decided_model import DecidedScore
from immax.decisions.fit_weights import weight_params
from immax.decisions.fitting import EVIDENCE, fit_rule, resolve_aim
from immax.decisions.out_of_fold import check_fold_classes, fold_proba, out_of_fold_proba
from immax.decisions.scorers import ScorerAim
from immax.documentation import DocumentationLink
from immax.routing import (
    SampleMetadata,
    own_request,
    route_fit,
    routing_enabled,
    split_metadata,
)
from immax.validation import check_group_splitter, check_no_path

__all__ = ["DecisionClassifierCV"]


class DecisionClassifierCV(
    DocumentationLink,
    CallbackSupport,
    DecidedScore,
    ClassifierMixin,
    MetaEstimatorMixin,
    BaseEstimator,
):
    """Classifier with the decision rule that best serves an aim.

    The rule is fitted to out-of-fold probabilities; the estimator is then fitted to all samples.
    Probabilities stay those of the estimator. What scikit-learn's ``TunedThresholdClassifierCV``
    does for two classes, this does for any number of them, for costs, constraints and budgets.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        Logistic regression by default.
    aim : str, Aim or scorer, default="balanced_accuracy"
        What decisions are for: a name of ``immax.decisions.AIMS``, an aim, or any scorer of
        scikit-learn that looks at labels.
    cv : int, splitter, iterable or "prefit", default=5
        How out-of-fold probabilities are obtained. "prefit" means that the estimator is already
        fitted, and that the samples passed to ``fit`` are held out.
    evidence : float, default=0.75
        As in ``fit_rule``.
    pos_label : label, optional
        The class that aims for two classes are about; by default the rarer one.
    n_jobs : int, optional
        The number of folds to fit in parallel.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to all samples.
    rule_ : Rule
        The decision rule; ``print(rule_)`` states it in words.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if X had them

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> forest = RandomForestClassifier(50, random_state=0)
    >>> from immax.decisions import Costs
    >>> model = DecisionClassifierCV(forest, Costs({0: 5, 1: 1})).fit(X, y)
    >>> round(model.rule_.threshold, 3)
    0.167
    """

    def __init__(
        self,
        estimator: Any = None,
        aim: Any = "balanced_accuracy",
        *,
        cv: Any = 5,
        evidence: float = EVIDENCE,
        pos_label: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.aim = aim
        self.cv = cv
        self.evidence = evidence
        self.pos_label = pos_label
        self.n_jobs = n_jobs

    def _estimator(self) -> Any:
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._estimator())
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags

    def fit(
        self,
        X: Features,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Fit the rule to out-of-fold probabilities, and the estimator to all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Weighs the samples of the fits, if the estimator can, and those of the rule. A pipeline
            gives them to its last step.
        groups : array-like of shape (n,), optional
            Groups of samples, for splitters such as GroupKFold.
        **params
            For the estimator's ``fit``. With scikit-learn's metadata routing enabled, the
            estimator, the splitter and an aim that is a scorer get what they ask for.

        Returns
        -------
        self
        """
        with fit_task(self, X, y, sample_weight) as task:
            self._fit(X, y, sample_weight, groups, params, task)
        return self

    def _fit(
        self,
        X: Features,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        params: dict[str, Any],
        task: Task,
    ) -> None:
        aim: Aim = resolve_aim(self.aim)
        estimator = self._estimator()
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{type(estimator).__name__} has no predict_proba; wrap it in "
                "sklearn.calibration.CalibratedClassifierCV"
            )
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        check_no_path(X)
        X, y = indexable(X, y)
        if not _num_samples(X):
            raise ValueError("found 0 samples, while a minimum of 1 is required")
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        routed = None
        if routing_enabled():
            weights = {} if weight is None else {"sample_weight": weight}
            routed = route_fit(self, {**params, **weights, "groups": groups})
        if isinstance(aim, ScorerAim):
            aim = replace(aim, X=X)
            if routed is not None:
                aim = replace(aim, metadata=SampleMetadata(len(labels), routed["scorer"]["score"]))
        if isinstance(self.cv, str):
            if self.cv != "prefit":
                raise ValueError(
                    f"cv must be a number of folds, a splitter or 'prefit'; got {self.cv!r}"
                )
            check_is_fitted(estimator)
            proba, fitted = estimator.predict_proba(X), estimator
        else:
            proba, fitted = self._cross_fit(
                estimator, X, labels, weight, groups, params, routed, task
            )
        with task.subtask("rule"):
            self.rule_ = fit_rule(
                proba,
                labels,
                aim,
                classes=fitted.classes_,
                sample_weight=weight,
                pos_label=self.pos_label,
                evidence=self.evidence,
            )
        self.estimator_ = fitted
        self.classes_ = fitted.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)  # of an earlier fit
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))

    def _cross_fit(
        self,
        estimator: Any,
        X: Features,
        y: Array,
        weight: Array | None,
        groups: ArrayLike | None,
        params: dict[str, Any],
        routed: Any,
        task: Task,
    ) -> tuple[Array, Any]:
        """Return out-of-fold probabilities, and the estimator fitted to all samples."""
        check_fold_classes(y)
        metadata = split_metadata(self.cv, groups, routed)
        check_group_splitter(self.cv, metadata.get("groups"))
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y, **metadata))
        if routed is None:
            params = {**params, **weight_params(estimator, weight)}
        else:
            params = dict(routed["estimator"]["fit"])
        with task.subtask("folds"):  # they may be fitted by other processes, and do not report
            predict = partial(fold_proba, estimator, X, y, params)
            proba = out_of_fold_proba(predict, y, splits, self.n_jobs)
        final = clone(estimator)
        with task.subtask("refit").passed_to(final):
            final.fit(X, y, **params)
        return proba[:, np.searchsorted(np.unique(y), final.classes_)], final

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what goes to the estimator, to the splitter, and to an aim that is a scorer.

        Returns
        -------
        MetadataRouter
        """
        router = MetadataRouter(owner=self).add_self_request(own_request(self))
        parts = [("splitter", self.cv, "split")]
        if not isinstance(self.cv, str):  # a fitted estimator is not fitted again
            parts.append(("estimator", self._estimator(), "fit"))
        aim = resolve_aim(self.aim)
        if isinstance(aim, ScorerAim):
            parts.append(("scorer", aim.scorer, "score"))
        for name, part, method in parts:
            mapping = MethodMapping().add(caller="fit", callee=method)
            router.add(**{name: part}, method_mapping=mapping)
        return router

    def predict_proba(self, X: Features) -> Array:
        """Return the estimator's probabilities, shape (n, c).

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)

        Returns
        -------
        ndarray of shape (n, c)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    def predict(self, X: Features) -> Array:
        """Return labels by the rule.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        return self.rule_.predict(self.estimator_.predict_proba(X))
