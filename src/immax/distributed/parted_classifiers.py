"""Linear classifiers that are fitted to rows in parts, wherever the parts are."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from immax.arrays import Array
from immax.callbacks import CallbackSupport, fit_task
from immax.class_weights import resolve_weights
from immax.distributed.parts_fit import (
    PartedData,
    RawParts,
    as_seed,
    check_supported,
    minimise_parts,
    prepare_parts,
)
from immax.distributed.row_losses import IMMAXRows, MethodRows, RowLoss
from immax.linear import BaselineClassifier, ClassTerms, IMMAXClassifier
from immax.links import check_costs
from immax.losses.catalog import make_spec
from immax.margins import resolve_margins

__all__ = ["FittedToParts", "PartedBaseline", "PartedIMMAX"]


class FittedToParts(CallbackSupport):
    """The fit of a linear classifier to parts; see ``minimise_parts``."""

    n_rounds_: int
    costs: Any
    warm_start: bool

    @abstractmethod
    def _parted_loss(self, data: PartedData) -> tuple[Any, RowLoss]:
        """Return the loss of the local classifier, and the same for rows of a part."""

    def _check_parted(self) -> None:
        self._check_parameters()  # type: ignore[attr-defined]
        check_supported(self)

    def _earlier(self, data: PartedData) -> Array | None:
        """Return the parameters of an earlier fit to the same classes and features, or None."""
        outputs = 1 if len(data.classes) == 2 else len(data.classes)
        shape = outputs, data.n_features
        coef = getattr(self, "coef_", None)
        if coef is None or coef.shape != shape or not np.array_equal(self.classes_, data.classes):  # type: ignore[attr-defined]
            return None
        if not self.fit_intercept:  # type: ignore[attr-defined]
            return np.asarray(coef)
        return np.column_stack([coef, self.intercept_])  # type: ignore[attr-defined]

    def _fit_parts(self, raw: RawParts) -> Self:
        with fit_task(self, n_subtasks=0):
            data = prepare_parts(
                raw,
                radii=bool(getattr(self, "use_radii", False)),
                seed=as_seed(self.random_state),  # type: ignore[attr-defined]
            )
            if self.costs is not None:
                check_costs(self.costs, len(data.classes))
            loss, rows = self._parted_loss(data)
            start = self._earlier(data) if self.warm_start else None
            solution = minimise_parts(self, data, rows, start)
            self.n_features_in_ = data.n_features
            self.n_rounds_ = data.parts.n_rounds
            self.take_solution(data.classes, loss, solution, data.n_features)  # type: ignore[attr-defined]
        return self


class PartedIMMAX(FittedToParts, IMMAXClassifier):
    """IMMAXClassifier for rows in parts."""

    def _parted_loss(self, data: PartedData) -> tuple[ClassTerms, IMMAXRows]:
        rho = resolve_margins(self.margins, data.classes, data.counts, data.radii)
        weights = resolve_weights(self.weights, data.classes, data.counts)
        factors = weights / (weights @ data.counts)
        return ClassTerms(rho, weights), IMMAXRows(self.loss, self.form, rho, factors)


class PartedBaseline(FittedToParts, BaselineClassifier):
    """BaselineClassifier for rows in parts."""

    def _parted_loss(self, data: PartedData) -> tuple[Any, MethodRows]:
        spec = make_spec(self.method, data.counts, **dict(self.method_params or {}))
        return spec, MethodRows(spec, float(data.counts.sum()), as_seed(self.random_state))
