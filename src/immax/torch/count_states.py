"""Class counts in the state of a loss, beside its buffers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["CountsInState"]

KEY = "_extra_state"  # PyTorch's name of what is neither a parameter nor a buffer


class CountsInState(nn.Module):
    """A module whose class counts are saved and loaded with its state.

    They are not a buffer, because ``half()`` would convert it, and 65,536 samples would become
    infinitely many. States without counts, of earlier versions or of losses that do not know any,
    load and leave the counts as they are. The entry also tells the state of a loss with class
    weights of its own from that of ``nn.CrossEntropyLoss(weight=…)``.

    Attributes
    ----------
    counts : tuple of float, or None
        Class counts of the training data, if they are known.
    """

    counts: tuple[float, ...] | None = None

    def get_extra_state(self) -> Tensor:
        """Return the counts for the state of the module.

        Returns
        -------
        Tensor of float64, shape (C,) or (0,)
            Empty if the counts are not known.
        """
        return torch.tensor(self.counts or (), dtype=torch.float64, device="cpu")

    def set_extra_state(self, state: Tensor) -> None:
        """Take over counts that ``get_extra_state`` returned.

        Parameters
        ----------
        state : Tensor of shape (C,) or (0,)
        """
        if state.numel():
            self.counts = tuple(state.tolist())

    def _save_to_state_dict(
        self, destination: dict[str, Any], prefix: str, keep_vars: bool
    ) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if self.counts is None and self._buffers.get("weight") is None:
            del destination[prefix + KEY]  # so that nn.CrossEntropyLoss loads that of ours

    def _load_from_state_dict(
        self,
        state: Mapping[str, Tensor],
        prefix: str,
        metadata: Any,
        strict: bool,
        missing: list[str],
        *lists: list[str],
    ) -> None:
        super()._load_from_state_dict(state, prefix, metadata, strict, missing, *lists)
        if prefix + KEY in missing:
            missing.remove(prefix + KEY)
