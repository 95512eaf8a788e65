"""refit_head: the last layer of a trained network, replaced by an exact fit to its features."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from immax.losses.catalog import METHODS
from immax.torch.features import Features, collect_features, device_of, evaluation_mode
from immax.torch.head import IMMAXHead
from immax.torch.head_data import check_classes_present, checked_features
from immax.torch.head_layers import find_layer, layer_names, replace_layer, split_batch
from immax.torch.rival_heads import crt_head, logit_adjusted_head, tau_normalized_head
from immax.torch.selection_checks import check_selection, chooses
from immax.validation import check_choice

__all__ = ["refit_head"]

Loader = DataLoader[Any] | Iterable[Any]


def refit_head(
    model: nn.Module,
    loader: Loader,
    *,
    selection: Loader | str | None = None,
    layer: str | nn.Module = "auto",
    method: str = "immax",
    **options: Any,
) -> IMMAXHead:
    """Replace the last layer of a trained network by an exact fit to its features.

    The features are the inputs of the layer. λ, margins and other hyper-parameters are chosen on
    samples that the network was not trained on, for the log-loss unless ``scoring`` or ``aim``
    says otherwise:

    - ``refit_head(model, held_out_loader)`` fits the head to held-out samples, and chooses by
      cross-validation among them;
    - ``refit_head(model, train_loader, selection=held_out_loader)`` fits it to training samples,
      and chooses on held-out ones.

    Given only samples that the network fits almost perfectly, which are probably its training
    samples, it raises an error, unless nothing is left to choose: ``lam`` and ``margins`` given,
    or ``lam`` and one value of each of ``method_params``, or ``tau``.

    Parameters
    ----------
    model : nn.Module
        A trained network of any library, on any device. Its layer is replaced in place; nothing
        else changes.
    loader : DataLoader or list of batches
        Labelled samples that the head is fitted to, as in ``collect_features``.
    selection : DataLoader, list of batches or "folds", optional
        Samples on which λ, margins and other hyper-parameters are chosen. "folds" says that the
        network was not trained on the samples of ``loader``, and chooses by cross-validation among
        them ("tau_norm", which fits nothing to them, on all of them).
    layer : str or nn.Module, default="auto"
        The linear layer to replace: by default the one that is called last, else by its name. A
        layer with one output is the logit of class 1.
    method : str, default="immax"
        "immax", or another method of ``immax.losses.catalog``; "crt" trains a layer by SGD on
        class-balanced batches, "tau_norm" normalises the rows of the present layer, and
        "logit_adjustment" shifts its scores by the class shares.
    **options
        As in ``IMMAXHead.fit``, ``crt_head``, ``tau_normalized_head`` or ``logit_adjusted_head``.

    Returns
    -------
    IMMAXHead
        The new layer of the network.

    Raises
    ------
    TypeError, ValueError
        If there is no such layer, it is not linear, labels do not fit its outputs, or something
        would be chosen on samples of ``loader`` of which the network gets 99.5 % right.

    Warns
    -----
    UserWarning
        If the network changes the scores of the layer before it returns them, or if something is
        chosen on samples of which the network gets at least 95 % right. For ``selection`` there
        is no warning below 99.5 % if the network is clearly better on ``loader`` (by two standard
        errors), as it would be on its training samples.

    Examples
    --------
    >>> from torch.utils.data import TensorDataset
    >>> generator = torch.Generator().manual_seed(0)
    >>> X, y = torch.randn(200, 4, generator=generator), torch.arange(200) % 3
    >>> held_out = DataLoader(TensorDataset(X, y), batch_size=50)
    >>> model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    >>> head = refit_head(model, held_out)
    >>> model[2] is head
    True
    >>> head.proba(model(X)).shape
    torch.Size([200, 3])
    """
    check_choice("method", method, (*METHODS, *RIVALS))
    for name, value in (("loader", loader), ("selection", selection)):
        if isinstance(value, Iterator):
            raise TypeError(f"{name} must be a DataLoader or a list of batches; got an iterator")
    old = _linear_layer(model, layer, loader)
    features, y = collect_features(model, loader, old)
    outputs = old.out_features
    data = checked_features(features, y, max(outputs, 2), ("features", "labels of loader"))
    check_classes_present(data, "labels of loader")
    held = None
    if isinstance(selection, str):
        check_choice("selection", selection, ("folds",))
    elif selection is not None:
        held = collect_features(model, selection, old)
    if chooses(method, options):
        check_selection(old, (features, y), held, declared=selection is not None)
    if method in RIVALS:
        head = RIVALS[method](old, (features, y), held, options)
    else:
        head = IMMAXHead.fit(
            features,
            y,
            method=method,
            selection="folds" if held is None else held,
            num_classes=max(outputs, 2),
            one_logit=outputs == 1,
            **options,
        )
    head.to(old.weight.device, old.weight.dtype)
    head.train(old.training)
    replace_layer(model, old, head)
    return head


def _linear_layer(model: nn.Module, layer: str | nn.Module, loader: Loader) -> nn.Linear:
    """Return the layer to be replaced, after a look at one batch."""
    with evaluation_mode(model), torch.no_grad():
        device = device_of(model)
        batch = next((split_batch(first) for first in loader), None)
        if batch is None:
            raise ValueError("the loader is empty: there are no features to fit a head to")
        name, module = find_layer(model, layer, lambda: batch.run(model, device))
        if not isinstance(module, nn.Linear):
            names = ", ".join(map(repr, layer_names(model).values())) or "none"
            raise ValueError(
                f"layer must be linear; {name!r} is {type(module).__name__} (linear layers of the "
                f"model: {names})"
            )
        if module is model:
            raise ValueError(
                "the model is the layer itself: put it into nn.Sequential, or use IMMAXHead.fit"
            )
        scores: list[Tensor] = []
        handle = module.register_forward_hook(lambda _, __, output: scores.append(output))
        try:
            output = _logits(batch.run(model, device))
        finally:
            handle.remove()
    if not scores or output is None or not _same(output, scores[-1]):
        warnings.warn(
            f"the model does not return the scores of layer {name!r} as they are; proba and "
            "predict of the head need these scores, not what the model makes of them",
            UserWarning,
            stacklevel=3,
        )
    return module


def _logits(output: Any) -> Tensor | None:
    """Return the logits among what a network returns."""
    if isinstance(output, Mapping):
        output = output.get("logits")
    elif hasattr(output, "logits"):
        output = output.logits
    elif isinstance(output, (tuple, list)) and output:
        output = output[0]
    return output if isinstance(output, Tensor) else None


def _same(output: Tensor, scores: Tensor) -> bool:
    if output.numel() != scores.numel():
        return False
    return bool(torch.equal(output.reshape(-1), scores.reshape(-1)))


Rival = Callable[[nn.Linear, Features, "Features | None", dict[str, Any]], IMMAXHead]


def _crt(
    old: nn.Linear, data: Features, held: Features | None, options: dict[str, Any]
) -> IMMAXHead:
    _refuse(held is not None, "crt", "selects nothing")
    _refuse(old.out_features == 1, "crt", "needs an output for each class")
    return crt_head(*data, num_classes=old.out_features, **options)


def _tau_norm(
    old: nn.Linear, data: Features, held: Features | None, options: dict[str, Any]
) -> IMMAXHead:
    _refuse(old.out_features == 1, "tau_norm", "needs an output for each class")
    counts = np.bincount(data[1], minlength=old.out_features)
    if held is not None or options.get("tau") is not None:
        return tau_normalized_head(old, counts, selection=held, **options)
    head = tau_normalized_head(old, counts, selection=data, **options)
    head.record = replace(head.record, selected_on="loader")
    return head


def _logit_adjustment(
    old: nn.Linear, data: Features, held: Features | None, options: dict[str, Any]
) -> IMMAXHead:
    _refuse(held is not None, "logit_adjustment", "selects nothing")
    _refuse(old.out_features == 1, "logit_adjustment", "needs an output for each class")
    counts = np.bincount(data[1], minlength=old.out_features)
    return logit_adjusted_head(old, counts, **options)


def _refuse(condition: bool, method: str, reason: str) -> None:
    if condition:
        raise ValueError(f"method={method!r} {reason}")


RIVALS: Mapping[str, Rival] = MappingProxyType(
    {"crt": _crt, "tau_norm": _tau_norm, "logit_adjustment": _logit_adjustment}
)
"""The methods that are neither IMMAX nor in the catalogue."""
