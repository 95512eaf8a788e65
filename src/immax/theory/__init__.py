"""The paper's theory, as functions that compute it.

Each function names the theorem that it comes from; ``docs/theory.md`` maps the paper to the code.
"""

from immax.theory.bounds import Bound, margin_bound, norm_cover, uniform_margin_bound
from immax.theory.certificates import (
    Certificate,
    best_margins,
    certificate,
    split_certificate,
)
from immax.theory.complexities import Complexity
from immax.theory.consistency import (
    best_conditional_risk,
    calibration,
    conditional_risk,
    counter_example,
    implied_threshold,
)
from immax.theory.descriptions import describe_certificates
from immax.theory.feature_maps import rademacher_features
from immax.theory.margin_losses import (
    empirical_margin_loss,
    margin_loss,
    margins_of,
    phi,
    zero_one_loss,
)
from immax.theory.margin_search import search_margins
from immax.theory.minimizability import (
    ExcessRisks,
    conditional_risks,
    excess_risks,
    minimizability_gap,
)
from immax.theory.rademacher import (
    estimate_kernel,
    estimate_linear,
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
from immax.theory.surrogate_bounds import check_psi, surrogate_bound
from immax.theory.terms import complexity_factor, uniform_deviation
from immax.theory.weight_norms import rademacher_group, rademacher_per_class

__all__ = [
    "Bound",
    "Certificate",
    "Complexity",
    "ExcessRisks",
    "Hyperplane",
    "best_conditional_risk",
    "best_margins",
    "calibration",
    "certificate",
    "check_psi",
    "complexity_factor",
    "complexity_term",
    "conditional_risk",
    "conditional_risks",
    "counter_example",
    "describe_certificates",
    "empirical_margin_loss",
    "estimate_kernel",
    "estimate_linear",
    "excess_risks",
    "geometric_margin",
    "hyperplanes",
    "implied_threshold",
    "ldam_split",
    "margin_bound",
    "margin_loss",
    "margins_of",
    "minimizability_gap",
    "norm_cover",
    "optimal_split",
    "phi",
    "rademacher_features",
    "rademacher_group",
    "rademacher_kernel",
    "rademacher_l1",
    "rademacher_linear",
    "rademacher_per_class",
    "renyi_divergence",
    "renyi_excess",
    "search_margins",
    "split_certificate",
    "surrogate_bound",
    "uniform_deviation",
    "uniform_margin_bound",
    "zero_one_loss",
]
