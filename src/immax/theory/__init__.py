"""The paper's theory, as functions that compute it.

Each function names the theorem that it comes from; ``docs/theory.md`` maps the paper to the code.
"""

from immax.theory.bounds import (
    Bound,
    margin_bound,
    norm_cover,
    search_margins,
    uniform_margin_bound,
)
from immax.theory.certificates import Certificate, best_margins, certificate
from immax.theory.consistency import (
    best_conditional_risk,
    calibration,
    conditional_risk,
    counter_example,
    implied_threshold,
)
from immax.theory.margin_losses import (
    empirical_margin_loss,
    margin_loss,
    margins_of,
    phi,
    zero_one_loss,
)
from immax.theory.rademacher import (
    estimate_kernel,
    estimate_linear,
    rademacher_group,
    rademacher_kernel,
    rademacher_l1,
    rademacher_linear,
)
from immax.theory.separable import (
    Hyperplane,
    complexity_term,
    geometric_margin,
    hyperplanes,
    ldam_split,
    optimal_split,
    renyi_divergence,
    renyi_excess,
)

__all__ = [
    "Bound",
    "Certificate",
    "Hyperplane",
    "best_conditional_risk",
    "best_margins",
    "calibration",
    "certificate",
    "complexity_term",
    "conditional_risk",
    "counter_example",
    "empirical_margin_loss",
    "estimate_kernel",
    "estimate_linear",
    "geometric_margin",
    "hyperplanes",
    "implied_threshold",
    "ldam_split",
    "margin_bound",
    "margin_loss",
    "margins_of",
    "norm_cover",
    "optimal_split",
    "phi",
    "rademacher_group",
    "rademacher_kernel",
    "rademacher_l1",
    "rademacher_linear",
    "renyi_divergence",
    "renyi_excess",
    "search_margins",
    "uniform_margin_bound",
    "zero_one_loss",
]
