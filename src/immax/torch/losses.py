"""The methods of the catalogue as modules: ``Loss(counts)`` in place of ``CrossEntropyLoss()``."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from immax.losses.catalog import make_spec
from immax.losses.spec import LossSpec
from immax.torch.checks import check_classes
from immax.torch.counts import as_counts
from immax.torch.functional import table_loss
from immax.torch.table import FIELDS, Table, spec_tensors

__all__ = [
    "BalancedSoftmaxLoss",
    "ClassBalancedLoss",
    "CrossEntropyLoss",
    "EqualizationLoss",
    "FocalLoss",
    "LDAMLoss",
    "LogitAdjustedLoss",
    "ReweightedLoss",
    "SpecLoss",
    "VectorScalingLoss",
]


class ClassLoss(nn.Module):
    """What all the losses of class numbers have: the arguments of ``nn.CrossEntropyLoss``."""

    class_weight: Tensor | None

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if weight is not None:
            weight = torch.as_tensor(
                weight, device=device, dtype=dtype or torch.get_default_dtype()
            )
        self.register_buffer("class_weight", weight)
        self.ignore_index = ignore_index
        self.reduction = reduction

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        super().register_buffer(name, tensor, persistent)
        # torch.export counts buffers as if those that are None came last.
        for empty in [key for key, value in self._buffers.items() if value is None]:
            self._buffers[empty] = self._buffers.pop(empty)

    def _load_from_state_dict(self, state: Any, prefix: str, *args: Any) -> None:
        # Weights that a schedule has given, or has not given yet.
        given = state.get(prefix + "class_weight")
        if given is None:
            self.class_weight = None
        elif self.class_weight is None:
            self.class_weight = torch.empty_like(given)
        super()._load_from_state_dict(state, prefix, *args)


class SpecLoss(ClassLoss):
    """The loss of a LossSpec.

    Parameters
    ----------
    spec : LossSpec
    weight : array-like of shape (C,), optional
        Class weights over and above the method's own; as in cross-entropy, a mean is divided
        by their sum.
    ignore_index, reduction, label_smoothing
        As in ``nn.CrossEntropyLoss``.
    device, dtype
        Of the buffers; the default dtype by default. Logits in double precision deserve a
        ``dtype=torch.float64``.

    Examples
    --------
    >>> from immax.losses import catalog
    >>> criterion = SpecLoss(catalog.la([900, 90, 10], tau=0.5))
    >>> criterion(torch.zeros(2, 3), torch.tensor([0, 2])).item()
    1.4767614603042603
    """

    def __init__(
        self,
        spec: LossSpec,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(weight, ignore_index, reduction, device, dtype)
        self.spec = spec
        self.label_smoothing = label_smoothing
        for name, tensor in spec_tensors(spec, device, dtype).items():
            self.register_buffer(name, tensor)

    def table(self) -> Table:
        """The buffers, as the kernels take them."""
        columns: dict[str, Any] = {name: self._buffers[name] for name in FIELDS}
        return Table(**columns, focus=self.spec.focus, drop_rate=self.spec.drop_rate)

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        check_classes(logits, self.spec.n_classes)
        return table_loss(
            logits,
            target,
            self.table(),
            self.class_weight,
            self.ignore_index,
            self.reduction,
            self.label_smoothing,
        )

    def extra_repr(self) -> str:
        return f"{self.spec.name}, classes={self.spec.n_classes}, reduction={self.reduction!r}"


class _CatalogLoss(SpecLoss):
    """A method by its name; ``counts`` are class counts, a data set, or an array of labels."""

    method: ClassVar[str]

    def __init__(self, counts: Any, *, _options: dict[str, Any], **params: Any) -> None:
        super().__init__(make_spec(self.method, as_counts(counts), **params), **_options)


class CrossEntropyLoss(_CatalogLoss):
    """Cross-entropy, ``-log softmax(h)_y``: on the same way as the other methods."""

    method = "ce"

    def __init__(self, counts: Any, **options: Any) -> None:
        super().__init__(counts, _options=options)


class ReweightedLoss(_CatalogLoss):
    """Re-weighting: ``-(m / m_y) log softmax(h)_y``."""

    method = "rw"

    def __init__(self, counts: Any, **options: Any) -> None:
        super().__init__(counts, _options=options)


class BalancedSoftmaxLoss(_CatalogLoss):
    """Balanced softmax: ``-log(m_y e^{h_y} / sum_j m_j e^{h_j})``."""

    method = "bs"

    def __init__(self, counts: Any, **options: Any) -> None:
        super().__init__(counts, _options=options)


class EqualizationLoss(_CatalogLoss):
    """Equalization: classes with ``m_j / m < threshold`` drop out of the negatives at rate p.

    Draws come from PyTorch's generator of the device.
    """

    method = "equal"

    def __init__(
        self, counts: Any, p: float = 0.9, threshold: float = 1.76e-3, **options: Any
    ) -> None:
        super().__init__(counts, p=p, threshold=threshold, _options=options)


class LogitAdjustedLoss(_CatalogLoss):
    """Logit adjustment: ``-log(m_y^tau e^{h_y} / sum_j m_j^tau e^{h_j})``."""

    method = "la"

    def __init__(self, counts: Any, tau: float = 1.0, **options: Any) -> None:
        super().__init__(counts, tau=tau, _options=options)


class ClassBalancedLoss(_CatalogLoss):
    """Class-balanced: ``-(1 - gamma) / (1 - gamma^{m_y / m}) log softmax(h)_y``."""

    method = "cb"

    def __init__(self, counts: Any, gamma: float = 0.9, **options: Any) -> None:
        super().__init__(counts, gamma=gamma, _options=options)


class FocalLoss(_CatalogLoss):
    """Focal: ``-(1 - p_y)^gamma log p_y``."""

    method = "focal"

    def __init__(self, counts: Any, gamma: float = 1.0, **options: Any) -> None:
        super().__init__(counts, gamma=gamma, _options=options)


class LDAMLoss(_CatalogLoss):
    """LDAM: cross-entropy with the target's logit lowered by ``C / m_y^{1/4}``."""

    method = "ldam"

    def __init__(self, counts: Any, C: float = 0.5, **options: Any) -> None:
        super().__init__(counts, C=C, _options=options)


class VectorScalingLoss(_CatalogLoss):
    """Vector scaling: logits times ``(m_j / max m)^gamma`` plus ``tau log(m_j / m)``."""

    method = "vs"

    def __init__(self, counts: Any, gamma: float = 0.15, tau: float = 1.0, **options: Any) -> None:
        super().__init__(counts, gamma=gamma, tau=tau, _options=options)
