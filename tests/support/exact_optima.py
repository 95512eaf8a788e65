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
        losses = []
        for i, k in enumerate(y):
            margins = [(h[i, k] - h[i, j]) / rho[k] for j in range(c) if j != k]
            losses.append(psi(cp.min(cp.hstack(margins))))
        losses = cp.hstack(losses)
    problem = cp.Problem(cp.Minimize(lam * cp.sum_squares(w) + weight @ losses))
    problem.solve(solver=cp.CLARABEL)
    return problem.value
