"""Full steps of two classes in a single pass over the features."""

import numpy as np
import pytest
from problems import make_risk
from scipy import sparse

from immax.losses.margin_risks import MarginRisk
from immax.solvers import Problem, solve
from immax.solvers.compiled_risks import with_compiled_risk
from immax.solvers.line_search import Point, ScoreBuffers, find_step

pytest.importorskip("numba")

from immax.solvers.compiled_margin_risks import CompiledMarginRisk


def make_pair(kind="dense", dtype=np.float64, intercept=True, n=900, d=40):
    """Return a problem, and the same with the compiled risk."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, d)).astype(dtype)
    y = (X @ rng.standard_normal(d) + rng.logistic(size=n) > 1).astype(int)
    risk = make_risk("immax", 2, y, np.full(n, 1 / n, dtype))
    if kind == "sparse":
        X = sparse.csr_matrix(X * (rng.random((n, d)) < 0.2))
    elif kind == "fortran":
        X = np.asfortranarray(X)
    plain = Problem(X, risk, 1e-3, intercept)
    return plain, plain.with_risk(CompiledMarginRisk(risk))


@pytest.mark.parametrize("scale", [1.0, 1e3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["dense", "sparse", "fortran"])
def test_steps_are_those_of_two_products(kind, intercept, scale):
    for dtype, rel in ((np.float64, 1e-9), (np.float32, 2e-4)):
        plain, compiled = make_pair(kind, dtype, intercept)
        found = []
        for problem in (plain, compiled):
            point = Point.at(problem, problem.zeros())
            direction = (-scale * point.gradient).astype(dtype)
            found.append(find_step(problem, point, direction, ScoreBuffers(problem)))
        expected, ours = found
        assert ours.value == pytest.approx(expected.value, rel=rel)
        for name in ("theta", "scores", "gradient"):
            wanted = getattr(expected, name)
            np.testing.assert_allclose(
                getattr(ours, name), wanted, atol=rel * np.abs(wanted).max(), err_msg=name
            )


def test_full_steps_that_are_accepted_need_no_other_product(monkeypatch):
    _, compiled = make_pair()
    point = Point.at(compiled, compiled.zeros())
    monkeypatch.setattr(Problem, "scores", None)
    monkeypatch.setattr(Problem, "pull_back", None)
    assert find_step(compiled, point, -point.gradient, ScoreBuffers(compiled)) is not None


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_solutions_are_the_same(kind):
    plain, compiled = make_pair(kind)
    ours, expected = (
        solve(problem, "lbfgs", tol=1e-10, polish=False) for problem in (compiled, plain)
    )
    assert ours.converged
    assert ours.objective == pytest.approx(expected.objective, rel=1e-9)
    assert 0 <= ours.objective - expected.objective + 1e-12 <= ours.gap + 2e-12


def test_it_is_chosen_for_many_logistic_fits_of_two_classes():
    plain, _ = make_pair()
    assert type(with_compiled_risk(plain).risk) is MarginRisk
    many_fits = with_compiled_risk(plain, fits=100_000).risk
    assert type(many_fits) is CompiledMarginRisk
    assert type(many_fits.single()) is CompiledMarginRisk
    assert many_fits.single().weight.dtype == np.float32
    focal = make_risk("focal", 2, np.arange(900) % 2, np.full(900, 1 / 900))
    assert type(with_compiled_risk(plain.with_risk(focal), fits=100_000).risk) is MarginRisk


def test_the_same_bits_come_out_again():
    _, compiled = make_pair(n=20_000, d=60)  # in several threads, where there are cores
    first, second = (solve(compiled, "lbfgs").theta for _ in range(2))
    np.testing.assert_array_equal(first, second)
