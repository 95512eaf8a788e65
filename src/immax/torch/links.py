"""Class probabilities from logits, on the device and differentiable.

The formulas are those of ``immax.links``, in logarithms throughout. Nothing depends on the values
of a tensor, so that the functions can be compiled and exported for batches of any size.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from immax.torch.checks import is_traced
from immax.torch.composite import adjusted_rows, lower_targets
from immax.torch.focal import focal_terms
from immax.torch.precision import working_dtype
from immax.torch.states import States, current_states, index_tensor
from immax.torch.table import Table

__all__ = ["immax_log_proba", "immax_proba", "table_log_proba"]

BLOCK_ENTRIES = 2**24  # of the largest temporary tensor


def immax_proba(logits: Tensor, rho: Tensor, loss: str = "logistic") -> Tensor:
    """Return exact class probabilities.

    Parameters
    ----------
    logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
        Scores.
    rho : Tensor of shape (C,)
        The margins that the model was trained with.
    loss : {"logistic", "exponential"}, default="logistic"
        The loss that the model was trained with, in the sum form.

    Returns
    -------
    Tensor
        Of the logits' shape; probabilities sum to one over the classes.
    """
    return immax_log_proba(logits, rho, loss).exp()


def immax_log_proba(
    logits: Tensor, rho: Tensor, loss: str = "logistic", states: States | None = None
) -> Tensor:
    """Return the logarithms of exact class probabilities.

    Parameters
    ----------
    logits, rho, loss
        As in ``immax_proba``.
    states : States, optional
        The states of the margins when these were set, for calls that are traced.

    Returns
    -------
    Tensor
        Of the logits' shape.
    """
    partition = current_states(rho, states) or States.of(rho)

    def link(rows: Tensor) -> Tensor:
        margins = rho.to(rows.dtype)
        log_q = _temperature_chain(rows, margins, partition, own=loss == "exponential")
        return torch.log_softmax(log_q + _known_states(margins.log(), margins, partition), 1)

    return _by_rows(link, logits, len(partition.sizes))


def table_log_proba(logits: Tensor, table: Table, states: States | None = None) -> Tensor:
    """Return the logarithms of the probabilities that invert a method's conditional risk.

    Parameters
    ----------
    logits : Tensor of shape (C,), (N, C) or (N, C, d1, …)
        Scores.
    table : Table
        The method that the scores were trained with.
    states : States, optional
        As in ``immax_log_proba``.

    Returns
    -------
    Tensor
        Of the logits' shape.
    """
    partition = current_states(table.temperature, states)
    several = partition is not None and len(partition.sizes) > 1
    shifted = table.target_offset is not None
    one_row = not several and table.droppable is None and not (table.focus > 0 and shifted)
    no_offsets = table.offset is None and not shifted and not table.drops_or_focuses
    n_classes = logits.shape[0] if logits.ndim == 1 else logits.shape[1]

    def link(rows: Tensor) -> Tensor:
        own = table.to(rows.dtype)
        if one_row:
            log_q = _one_temperature(rows, own)
        elif no_offsets and partition is not None and own.temperature is not None:
            scaled = rows if own.scale is None else rows * own.scale
            log_q = _temperature_chain(scaled, own.temperature, partition)
        else:
            log_q = _full_chain(rows, own)
        if own.temperature is not None:
            log_margins = own.temperature.log()
            if partition is not None and (one_row or no_offsets):
                log_margins = _known_states(log_margins, own.temperature, partition)
            log_q = log_q + log_margins
        if own.weight is not None:
            log_q = log_q - own.weight.log()
        return torch.log_softmax(log_q, 1)

    per_row = 1 if one_row else len(partition.sizes) if no_offsets and partition else n_classes
    return _by_rows(link, logits, per_row)


def _by_rows(link: Callable[[Tensor], Tensor], logits: Tensor, states: int) -> Tensor:
    """Apply a link to rows of classes, in blocks unless the call is traced."""
    if logits.ndim == 1:
        return _by_rows(link, logits.unsqueeze(0), states).squeeze(0)
    if logits.ndim > 2:
        last = logits.movedim(1, -1)
        return _by_rows(link, last.flatten(0, -2), states).view(last.shape).movedim(-1, 1)
    rows = logits.to(working_dtype(logits.dtype))
    if is_traced():
        log_p = link(rows)
    else:
        size = max(1, BLOCK_ENTRIES // max(1, rows.shape[1] * states))
        log_p = torch.cat([link(part) for part in torch.split(rows, size)])
    return log_p.to(logits.dtype)


def _known_states(log_margins: Tensor, margins: Tensor, states: States) -> Tensor:
    """Return the logarithms, or NaN if classes of one state have different margins by now.

    That can only be in a call that is traced: an exported program cannot partition the classes
    again, when its margins are edited or loaded.
    """
    if not is_traced():
        return log_margins
    first = index_tensor(states.first, margins)
    of_class = index_tensor(states.state_of_class, margins)
    stale = margins != margins.index_select(0, first).index_select(0, of_class)
    return log_margins + torch.where(stale.any(), torch.nan, 0.0).to(log_margins.dtype)


def _temperature_chain(h: Tensor, temperature: Tensor, states: States, own: bool = False) -> Tensor:
    """Return ``log q`` of the classes, where row k of the chain is ``softmax(h / temperature_k)``.

    With ``own``, add the logarithm of each class's probability of staying.
    """
    if len(states.sizes) == 1:
        log_q = torch.log_softmax(h / temperature[:1], 1)
        return 2 * log_q if own else log_q
    inverse = temperature.index_select(0, index_tensor(states.first, h)).reciprocal()
    ordered = h.index_select(1, index_tensor(states.order, h))
    log_rows = torch.log_softmax(ordered.unsqueeze(1) * inverse.unsqueeze(1), dim=2)  # (n, g, c)
    if max(states.sizes) == 1:
        mass = log_rows
    else:
        parts = torch.split(log_rows, list(states.sizes), dim=2)
        mass = torch.stack([part.logsumexp(2) for part in parts], dim=2)
    log_q = torch.logsumexp(_log_stationary(mass).unsqueeze(2) + log_rows, dim=1)
    if own:
        parts = torch.split(log_rows, list(states.sizes), dim=2)
        log_q = log_q + torch.cat([part[:, k] for k, part in enumerate(parts)], dim=1)
    back = [0] * len(states.order)
    for place, k in enumerate(states.order):
        back[k] = place
    return log_q.index_select(1, index_tensor(back, h))


def _one_temperature(h: Tensor, table: Table) -> Tensor:
    """Return ``log q`` where row k is ``softmax(z - target_offset_k u_k)``, u unit vectors."""
    temperature = None if table.temperature is None else table.temperature[:1]
    z = adjusted_rows(h, table, temperature)
    log_p = torch.log_softmax(z, 1)
    if table.target_offset is not None:
        # q_k ∝ p_k (1 - p_k + p_k e^{-target_offset_k})
        rest = torch.log(-torch.expm1(log_p.clamp_max(-torch.finfo(log_p.dtype).tiny)))
        return log_p + torch.logaddexp(rest, log_p - table.target_offset)
    if table.focus > 0:
        return log_p - focal_terms(-log_p, table.focus)[1].log()
    return log_p


def _full_chain(h: Tensor, table: Table) -> Tensor:
    """Return ``log q`` less the logarithm of the focal slope; there is a state for each class."""
    temperature = None if table.temperature is None else table.temperature.unsqueeze(1)
    z = adjusted_rows(h.unsqueeze(1), table, temperature)
    same = torch.eye(h.shape[1], dtype=torch.bool, device=h.device)
    z = lower_targets(z.expand(-1, same.shape[0], -1), table, same)
    log_rows = torch.log_softmax(z, 2)
    if table.droppable is not None and table.drop_rate > 0:
        rate = torch.tensor(table.drop_rate, dtype=h.dtype, device=h.device)
        remaining = torch.log_softmax(z.masked_fill(table.droppable & ~same, -torch.inf), 2)
        log_rows = torch.logaddexp(torch.log1p(-rate) + log_rows, torch.log(rate) + remaining)
    log_q = _log_stationary(log_rows)
    if table.focus > 0:
        staying = torch.diagonal(log_rows, dim1=1, dim2=2)
        log_q = log_q - focal_terms(-staying, table.focus)[1].log()
    return log_q


def _log_stationary(rates: Tensor) -> Tensor:
    """Return log stationary distributions, shape (n, g), by state reduction.

    The algorithm is that of ``immax.markov_chains.stationary``, on logarithms.
    """
    g = rates.shape[2]
    into: list[Tensor] = []
    for k in range(g - 1, 0, -1):
        leaving = rates[:, k, :k].logsumexp(1, keepdim=True)
        entering = rates[:, :k, k] - leaving
        into.append(entering)
        through = entering.unsqueeze(2) + rates[:, k, :k].unsqueeze(1)
        rates = torch.logaddexp(rates[:, :k, :k], through)
    state = torch.zeros_like(rates[:, :1, 0])
    for entering in reversed(into):
        following = torch.logsumexp(state + entering, dim=1, keepdim=True)
        state = torch.cat([state, following], dim=1)
    return state.log_softmax(1)
