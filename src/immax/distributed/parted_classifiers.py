"""Linear classifiers that are fitted to rows in parts, wherever the parts are."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

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

    @abstractmethod
    def _parted_loss(self, data: PartedData) -> tuple[Any, RowLoss]:
        """Return the loss of the local classifier, and the same for rows of a part."""

    def _check_parted(self) -> None:
        self._check_parameters()  # type: ignore[attr-defined]
        check_supported(self)

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
            solution = minimise_parts(self, data, rows)
            self.n_features_in_ = data.n_features
            self.n_rounds_ = data.parts.n_rounds
            self._keep_fit(data.classes, loss, solution, data.n_features)  # type: ignore[attr-defined]
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
