"""Optima of risks with kinks by an independent solver."""

import cvxpy as cp
import numpy as np
from problems import make_margins


def cvxpy_optimum(kind, c, X, y, weight, lam, intercept):
    """Return the optimum of the same problem, written down directly from the paper."""
    rho = make_margins(c)
    psi = {
        "hinge": lambda u: cp.pos(1 - u),
        "logistic": lambda u: cp.logistic(-u),
        "exponential": lambda u: cp.exp(-u),
    }[kind.split("-")[0]]
    d = X.shape[1]
    if c == 2:
        w, b = cp.Variable(d), cp.Variable()
        h = X @ w + (b if intercept else 0)
        losses = psi(cp.multiply(h, np.where(y == 1, 1, -1) / rho[y]))
    else:
        w, b = cp.Variable((d, c)), cp.Variable((1, c))
        h = X @ w + (np.ones((len(y), 1)) @ b if intercept else 0)
        rows = np.arange(len(y))
        margins = [h[rows, y] - h[rows, (y + step) % c] for step in range(1, c)]
        losses = psi(cp.multiply(cp.minimum(*margins), 1 / rho[y]))
    problem = cp.Problem(cp.Minimize(lam * cp.sum_squares(w) + weight @ losses))
    problem.solve(solver=cp.CLARABEL)
    return problem.value
