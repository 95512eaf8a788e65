"""Kernel machines by method."""

from __future__ import annotations

from immax.evaluation.held_out_scorer import HeldOutScorer
from immax.evaluation.setting import Builder, Setting, Tuned
from immax.kernels.svc import IMMAXSVC
from immax.search import IMMAXSVCCV, PowerFamily

__all__ = ["KERNEL", "penalty_values"]

CS_OF_ONE = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
"""Values of C for each square of the number of classes."""


def penalty_values(n_classes: int) -> list[float]:
    """Return the values of C that are tried, for margins of mean one.

    The more classes there are, the more scores share a machine's norm, and the weaker are the
    penalties that are tried.

    Parameters
    ----------
    n_classes : int

    Returns
    -------
    list of float

    Examples
    --------
    >>> penalty_values(2)
    [0.04, 0.4, 4.0, 40.0, 400.0, 4000.0]
    """
    return [n_classes**2 * C for C in CS_OF_ONE]


def _kernel_machine(*, equal: bool) -> Builder:
    def make(setting: Setting) -> Tuned:
        Cs = penalty_values(setting.class_counts().size)
        if equal:
            return setting.search(IMMAXSVC(margins="equal"), {"C": Cs})
        own = PowerFamily(values=tuple(setting.powers))

        def search(scorer: HeldOutScorer | None) -> IMMAXSVCCV:
            family: str | PowerFamily = own if scorer is None else "auto"
            return IMMAXSVCCV(family=family, Cs=Cs, cv=setting.cv(), **setting.purpose(scorer))

        return setting.for_each_aim(search)

    return make


KERNEL: dict[str, Builder] = {
    "immax": _kernel_machine(equal=False),
    "svc": _kernel_machine(equal=True),
}
"""What builds the kernel machine of each method."""
