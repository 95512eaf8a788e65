"""Small problems of every kind, for the tests of the solvers."""

import numpy as np

from immax.losses.catalog import METHODS, make_spec
from immax.losses.exponential_risks import ExponentialRisk
from immax.losses.margin_risks import MarginRisk
from immax.losses.max_risks import MaxRisk
from immax.losses.softmax_risks import SoftmaxRisk, binary_risk
from immax.losses.surrogates import SURROGATES
from immax.solvers import Problem
from immax.solvers.feature_columns import take_columns
from immax.solvers.local_models import LocalModel
from immax.solvers.selections import select_blocks

SMOOTH = [*METHODS, "exponential-sum"]
KINKED = ["hinge-max", "logistic-max", "exponential-max"]


def make_data(c, seed=0, n=120, d=6):
    """Features of very different scales, labels with a rare class, weights that sum to one."""
    rng = np.random.default_rng(seed)
    share = np.geomspace(1, 0.2, c)
    y = np.concatenate([np.arange(c), rng.choice(c, n - c, p=share / share.sum())])
    X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-1, 1, d) + rng.normal(size=(c, d))[y]
    weight = rng.uniform(0.2, 2, n)
    return X, y, weight / weight.sum()


def make_margins(c):
    return np.linspace(0.6, 0.2, c) if c > 2 else np.array([0.7, 0.3])


def make_risk(kind, c, y, weight):
    """A method of the catalogue by its name, or IMMAX as "loss-form"."""
    rho = make_margins(c)
    if kind in METHODS:
        spec = make_spec(kind, np.bincount(y) * 20)
        drop = spec.draw(y.size, 0)
        return (binary_risk if c == 2 else SoftmaxRisk)(spec, y, weight, drop)
    loss, form = kind.split("-")
    surrogate = SURROGATES[loss]
    if c == 2:
        slope = np.where(y == 1, 1, -1) / rho[y]
        return MarginRisk(surrogate, slope, np.zeros(y.size), weight)
    if form == "max":
        return MaxRisk(surrogate, y, rho, weight)
    return ExponentialRisk(y, rho, weight)


def make_problem(kind, c, lam=0.01, intercept=True, **data):
    X, y, weight = make_data(c, **data)
    return Problem(X, make_risk(kind, c, y, weight), lam, intercept)


def make_hinge(seed=0, n=400, d=30, lam=0.01, intercept=True, shift=False, dtype=np.float64):
    """The hinge of two classes, a tenth of the samples without weight."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    y[:2] = True, False
    X = rng.normal(size=(n, d)) + 0.4 * y[:, None] + 0.5
    slope = np.where(y, 1 / 0.3, -1 / 0.7)
    weight = rng.uniform(0.2, 2, n)
    weight[rng.random(n) < 0.1] = 0
    parts = slope, rng.normal(size=n) * shift, weight / weight.sum()
    risk = MarginRisk(SURROGATES["hinge"], *(part.astype(dtype) for part in parts))
    return Problem(X.astype(dtype), risk, lam, intercept)


def make_local_model(omega, c, intercept=True, order="K"):
    """The second-order model of IMMAX at random scores, with all coefficients selected."""
    problem = make_problem("immax", c)
    X = problem.X / problem.X.std(axis=0)
    k, d = problem.risk.n_outputs, X.shape[1]
    blocks = omega.blocks((k, d))
    selection = select_blocks(blocks, np.ones(blocks.weights.size, dtype=bool), (k, d), 0.01)
    scores = np.random.default_rng(0).normal(size=(X.shape[0], k))
    _, residuals = problem.risk.value_gradient(scores)
    z = 0.1 * np.ones(selection.rows.size)
    gradient = selection.take(residuals.T @ X)
    return LocalModel(
        take_columns(X, np.arange(d), order),
        problem.risk.curvature(scores),
        selection,
        z,
        gradient,
        residuals.sum(axis=0) if intercept else None,
        problem.risk.null_direction,
        k,
        1e-9,
    )
