"""IMMAX as modules: a margin for each class, from its count."""

from __future__ import annotations

import inspect
from typing import Any

from torch import Tensor

from immax.torch.functional import table_loss
from immax.torch.margin_base import MarginLoss, ProbabilityLoss
from immax.torch.quick import quick_loss
from immax.torch.routes import choose_quick_route
from immax.torch.surrogates import (
    FORMS,
    immax_exponential_loss,
    immax_hinge_loss,
    immax_logistic_max_loss,
)
from immax.torch.table import Table

__all__ = ["IMMAXExponentialLoss", "IMMAXHingeLoss", "IMMAXLoss"]


def _signature(**options: object) -> inspect.Signature:
    """Return the signature of MarginLoss with further keywords."""
    parameters = list(inspect.signature(MarginLoss).parameters.values())
    keyword = inspect.Parameter.KEYWORD_ONLY
    more = [inspect.Parameter(name, keyword, default=value) for name, value in options.items()]
    return inspect.Signature([*parameters, *more])


def _check_form(form: str) -> None:
    if form not in FORMS:
        raise ValueError(f"form must be 'sum' or 'max'; got {form!r}")


class IMMAXLoss(ProbabilityLoss):
    """Logistic IMMAX: ``log sum_j exp((h_j - h_y) / rho_y)``, in place of cross-entropy.

    Targets are class numbers or, as in cross-entropy, class probabilities of the logits' shape.

    Parameters
    ----------
    counts : array-like of shape (C,), or dict from class number to count, optional
        The number of training samples of each class. One of ``counts``, ``labels``, ``dataset``
        and ``rho`` must be given.
    rho : array-like of shape (C,), optional
        The margins themselves; ``total``, ``power``, ``groups`` and ``radii`` are then not used.
    total : float, optional
        The sum of the margins. By default (or with "mean") it is the number of classes: their
        mean is one, and equal counts give cross-entropy to the last bit. 1 is the paper's scaling.
        The scale multiplies the learning rate: on long-tailed CIFAR-10 at a learning rate of 0.1
        a small residual network reached 80.9 % with cross-entropy and 54.7 % with margins of sum
        one. A mean that is far from one leads to a warning.
    power : float, default=1/3
        Margins are proportional to ``count^power``. 1/3 is the theory's value, 0 gives
        cross-entropy; a search over it is worthwhile.
    groups : int or array-like of shape (C,), optional
        Classes of one group share a margin, that of their mean count. With a number n, the n - 1
        most frequent classes have a group each, and all others the last group.
    learnable : bool, default=False
        Whether the margins are parameters, learnt with the network; their sum is constant.
    weight : array-like of shape (C,), optional
        Class weights, as in ``nn.CrossEntropyLoss``.
    ignore_index : int, default=-100
        The label of samples that do not count.
    reduction : {"mean", "sum", "none"}, default="mean"
        As in ``nn.CrossEntropyLoss``.
    device : device, optional
        The device of the margins.
    dtype : dtype, optional
        The precision of the margins; PyTorch's default by default.
    labels : array-like of int, optional
        The labels of the training data, to be counted.
    dataset : Dataset or DataLoader, optional
        The training data, whose labels are counted, without decoding samples where that can be
        done; see ``class_counts``.
    num_classes : int, optional
        The number of classes, if the highest ones may have no samples.
    minimum : float, optional
        The count that classes with fewer samples are given. Without it a class that has no
        samples is an error.
    radii : array-like of shape (C,), optional
        The largest norm of the features of each class, ``r_k``: margins are then proportional to
        ``(count r^2)^power``, which at 1/3 is the theory's value for unequal radii.
    group : ProcessGroup or "world", optional
        Processes that train together, each on its part of a batch: a mean is then over the
        samples of all of them, so that the averaged gradient is that of a single process even if
        the processes have different numbers of counted labels or of class weights. By default it
        is over the samples of this process.
    label_smoothing : float, default=0.0
        As in ``nn.CrossEntropyLoss``, applied to the logits divided by the target's margin.
    form : {"sum", "max"}, default="sum"
        "max" is the paper's max form, ``max_{j != y} log(1 + exp((h_j - h_y) / rho_y))``, which
        does not determine probabilities.

    References
    ----------
    *Balancing the Scales*, section "Algorithms" for the loss; equation (optimal-separable) and
    Lemma D3 for the margins.

    Examples
    --------
    >>> import torch
    >>> criterion = IMMAXLoss(counts=[5000, 500, 50])
    >>> criterion.rho
    tensor([1.7861, 0.8291, 0.3848])
    >>> logits = torch.zeros(4, 3, requires_grad=True)
    >>> criterion(logits, torch.tensor([0, 0, 1, 2])).backward()
    >>> criterion.proba(torch.zeros(1, 3))  # not equal for equal scores
    tensor([[0.5954, 0.2764, 0.1283]])
    """

    __signature__ = _signature(label_smoothing=0.0, form="sum")

    def __init__(
        self, *args: Any, label_smoothing: float = 0.0, form: str = "sum", **options: Any
    ) -> None:
        super().__init__(*args, **options)
        _check_form(form)
        if form == "max" and label_smoothing:
            raise ValueError("label_smoothing is for the sum form")
        self.label_smoothing = label_smoothing
        self.form = form

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
            Scores.
        target : Tensor of int64, shape (), (N,) or (N, d1, …); or of the logits' shape
            Class numbers or, in floating point and in the sum form only, class probabilities.

        Returns
        -------
        Tensor
            A scalar, or one loss per sample without a reduction.

        Raises
        ------
        TypeError, ValueError
            If an argument is wrong; for a margin the message names the class.
        IndexError
            If a label is neither a class nor ``ignore_index``.
        """
        if self.form == "max":
            return immax_logistic_max_loss(
                logits,
                target,
                self.rho,
                self.class_weight,
                self.ignore_index,
                self.reduction,
                self.group,
            )
        buffers = self._buffers  # without the cost of Module.__getattr__
        rho, weight = buffers.get("fixed_rho"), buffers["class_weight"]
        if rho is not None and weight is None and not self.label_smoothing and self.group is None:
            reduction = self.reduction
            route = choose_quick_route(logits, target, rho, self.ignore_index, reduction)
            loss = None if route is None else quick_loss(route, logits, target, rho, reduction)
            if loss is not None:
                return loss
        return table_loss(
            logits,
            target,
            Table(self.rho if rho is None else rho),
            weight,
            self.ignore_index,
            self.reduction,
            self.label_smoothing,
            temperature_name="rho",
            group=self.group,
        )


class IMMAXHingeLoss(MarginLoss):
    """IMMAX with the hinge, ``max_{j != y} max(0, 1 - (h_y - h_j) / rho_y)``.

    Its scores do not determine probabilities: calibrate them.

    Parameters
    ----------
    counts, rho, total, power, groups, learnable, weight, ignore_index, reduction, device, dtype
        As in ``IMMAXLoss``.
    labels, dataset, num_classes, minimum, radii, group
        As in ``IMMAXLoss``.
    """

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
            Scores.
        target : Tensor of int64, shape (), (N,) or (N, d1, …)
            Class numbers.

        Returns
        -------
        Tensor
            A scalar, or one loss per sample without a reduction.

        Raises
        ------
        TypeError, ValueError
            If an argument is wrong; for a margin the message names the class.
        IndexError
            If a label is neither a class nor ``ignore_index``.
        """
        return immax_hinge_loss(
            logits,
            target,
            self.rho,
            self.class_weight,
            self.ignore_index,
            self.reduction,
            self.group,
        )


class IMMAXExponentialLoss(ProbabilityLoss):
    """IMMAX with the exponential, ``sum_{j != y} exp((h_j - h_y) / rho_y)``.

    Parameters
    ----------
    counts, rho, total, power, groups, learnable, weight, ignore_index, reduction, device, dtype
        As in ``IMMAXLoss``.
    labels, dataset, num_classes, minimum, radii, group
        As in ``IMMAXLoss``.
    form : {"sum", "max"}, default="sum"
        Whether to add the terms or to take the largest, which does not determine probabilities.
    """

    link = "exponential"
    __signature__ = _signature(form="sum")

    def __init__(self, *args: Any, form: str = "sum", **options: Any) -> None:
        super().__init__(*args, **options)
        _check_form(form)
        self.form = form

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
            Scores.
        target : Tensor of int64, shape (), (N,) or (N, d1, …)
            Class numbers.

        Returns
        -------
        Tensor
            A scalar, or one loss per sample without a reduction.

        Raises
        ------
        TypeError, ValueError
            If an argument is wrong; for a margin the message names the class.
        IndexError
            If a label is neither a class nor ``ignore_index``.
        """
        return immax_exponential_loss(
            logits,
            target,
            self.rho,
            self.class_weight,
            self.ignore_index,
            self.reduction,
            self.form,
            self.group,
        )
