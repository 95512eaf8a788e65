"""Kernel machines by method."""

from __future__ import annotations

from immax.evaluation.held_out_scorer import HeldOutScorer
from immax.evaluation.setting import Builder, Setting, Tuned
from immax.kernels.svc import IMMAXSVC
from immax.search import IMMAXSVCCV, PowerFamily

__all__ = ["KERNEL"]

# C of a kernel machine whose margins sum to one; with margins of mean one, C is c² times as large.
SUM_ONE_CS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


def _kernel_machine(*, equal: bool) -> Builder:
    def make(setting: Setting) -> Tuned:
        Cs = [setting.class_counts().size ** 2 * C for C in SUM_ONE_CS]
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
