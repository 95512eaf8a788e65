"""What the kernel machines are made of."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from immax.kernels import joint, working_set
from immax.kernels.gram import Kernel
from immax.kernels.joint import joint_machine
from immax.kernels.rows import KernelRows, MatrixRows
from immax.kernels.samples import Matrix, Points

OPTIONS = {"gamma": 0.3, "degree": 3, "coef0": 0.5}


def sample(n=120, c=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    X = rng.standard_normal((c, 3))[y] + rng.standard_normal((n, 3))
    return X, y


# --- kernel values -----------------------------------------------------------------------------


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid"])
def test_kernel_values(name, thin):
    X, _ = sample()
    points = X[::2] + 100  # far from the origin, where distances lose digits
    X = X + 100 if name == "rbf" else X
    points = points if name == "rbf" else points - 100
    expected = pairwise_kernels(X, points, metric=name, filter_params=True, **OPTIONS)
    convert = sparse.csr_matrix if thin else np.asarray
    kernel = Kernel(name, convert(points), **OPTIONS)
    np.testing.assert_allclose(kernel(convert(X)), expected, rtol=1e-9)
    single = np.empty(expected.shape, np.float32)
    np.testing.assert_allclose(kernel(convert(X), single), expected, rtol=1e-5)
    np.testing.assert_allclose(
        kernel.diagonal(),
        np.diag(pairwise_kernels(points, metric=name, filter_params=True, **OPTIONS)),
    )
    coefficients = np.random.default_rng(0).standard_normal((2, len(points)))
    np.testing.assert_allclose(
        kernel.combine(convert(X), coefficients), expected @ coefficients.T, rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("degree", [1, 2, 5, 2.5, 12])
def test_powers(degree):
    X = np.abs(sample()[0])
    kernel = Kernel("poly", X, 0.3, degree, 0.5)
    np.testing.assert_allclose(kernel(X), (0.3 * X @ X.T + 0.5) ** degree, rtol=1e-12)


def test_large_blocks_by_threads_and_compiled_are_the_same():
    rng = np.random.default_rng(0)
    X, points = rng.standard_normal((2, 2500, 5))
    coefficients = rng.standard_normal((3, 2500))
    for name in ("rbf", "linear"):
        expected = pairwise_kernels(X, points, metric=name, filter_params=True, gamma=0.3)
        kernel = Kernel(name, points, 0.3)
        np.testing.assert_allclose(
            kernel.combine(X, coefficients), expected @ coefficients.T, rtol=1e-9, atol=1e-9
        )


def test_an_unknown_kernel():
    with pytest.raises(ValueError, match="no kernel 'gauss'"):
        Kernel("gauss", np.ones((2, 2)))


# --- rows --------------------------------------------------------------------------------------


@pytest.mark.parametrize("megabytes", [1.0, 0.02])
def test_rows_come_and_go(megabytes):
    X, _ = sample()
    K = pairwise_kernels(X, metric="rbf", gamma=0.3)
    rows = KernelRows(Kernel("rbf", X, 0.3), X, megabytes)
    assert rows.store.nbytes <= megabytes * 2**20
    assert rows.store.dtype == (np.float64 if megabytes == 1 else np.float32)
    assert (rows.capacity < len(X)) == (megabytes < 1)
    rng = np.random.default_rng(0)
    for _ in range(30):
        asked = rng.choice(len(X), rows.capacity // 2, replace=False)
        np.testing.assert_allclose(rows.store[rows.slots(asked)], K[asked], atol=1e-6)


def test_rows_that_were_just_used_stay():
    X, _ = sample()
    calls = []

    class Counting(Kernel):
        def __call__(self, X, out=None, scratch=None):
            calls.append(len(X))
            return super().__call__(X, out, scratch)

    rows = KernelRows(Counting("rbf", X, 0.3), X, 0.02)
    half = rows.capacity // 2
    first, second, third = np.arange(half), np.arange(half, 2 * half), np.arange(60, 60 + half // 2)
    for asked in (first, second, first, third, first):
        rows.slots(asked)
    assert sum(calls) == 2 * half + half // 2  # the third set took the place of the second


def test_a_matrix_is_its_own_store():
    K = np.eye(5)
    rows = MatrixRows(K)
    assert rows.store is K
    assert rows.slots(np.array([3, 1])).tolist() == [3, 1]


@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_points_and_their_matrix_are_the_same_data(name):
    X, _ = sample()
    points = Points(X, name, **OPTIONS)
    matrix = Matrix(pairwise_kernels(X, metric=name, filter_params=True, **OPTIONS))
    coefficients = np.random.default_rng(0).standard_normal((2, len(X)))
    coefficients[:, ::3] = 0
    some = np.array([5, 2, 9])
    for one, other, few in (
        (points, matrix, coefficients),
        (points.subset(some), matrix.subset(some), coefficients[:, :3]),
    ):
        np.testing.assert_allclose(one.combine(few), other.combine(few), atol=1e-12)
        np.testing.assert_allclose(one.diagonal(), other.diagonal(), atol=1e-12)


# --- working sets ------------------------------------------------------------------------------


def state(seed=0, dtype=np.float64):
    X, y = sample(seed=seed)
    rng = np.random.default_rng(seed)
    K = pairwise_kernels(X, metric="rbf", gamma=0.3).astype(dtype)
    rho = np.array([0.4, 0.3, 0.2, 0.1])
    caps = rng.uniform(1, 3, len(y)) / rho[y]
    a = -rng.uniform(0, 0.5, (len(y), 4)) * rng.integers(0, 2, (len(y), 4))
    rows = np.arange(len(y))
    a[rows, y] = 0
    a[rows, y] = -a.sum(axis=1)
    return K, y, caps, rho, a


def test_violations_are_zero_at_a_sample_s_own_optimum_only():
    """Against all feasible moves of mass between two classes, one by one."""
    K, y, caps, rho, a = state()
    products, biases = a.T @ K, np.array([0.1, -0.2, 0.05, 0.05])
    found = np.empty(len(y))
    working_set.violations(products, biases, a, y, caps, rho, found)
    for i, label in enumerate(y):
        gradient = products[:, i] + biases
        gradient[label] -= rho[label]
        gains = [0.0]
        for up in range(4):
            room = a[i, up] < (caps[i] if up == label else 0)
            gains += [gradient[down] - gradient[up] for down in range(4) if room]
        assert found[i] == pytest.approx(max(gains) / rho[label])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_loops_do_the_same(dtype):
    compiled = pytest.importorskip("immax.compiled.working_set")
    K, y, caps, rho, a = state(dtype=dtype)
    slots = np.random.default_rng(1).permutation(len(y))
    results = []
    for module in (working_set, compiled):
        store = np.empty_like(K)
        store[slots] = K
        products = np.zeros((4, len(y)))
        module.spread(store, slots, a.astype(dtype), products)
        biases, sums = np.zeros(4), a.sum(axis=0)
        violation = np.empty(len(y))
        module.violations(products, biases, a, y, caps, rho, violation)
        chosen = np.arange(0, len(y), 2)
        kernel = np.empty((len(chosen), len(chosen)), dtype)
        module.block(store, slots[chosen], chosen, kernel)
        part, after = np.ascontiguousarray(products[:, chosen], dtype), a[chosen].copy()
        steps = module.sweeps(
            kernel, part, after, y[chosen], caps[chosen], rho, biases, sums, 0.01, 1e-3, 40, 0.5, 4
        )
        results.append((products, violation, kernel, part, after, biases, sums, steps))
    tolerance = 1e-9 if dtype == np.float64 else 2e-3
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, atol=tolerance, rtol=0.1 if np.isscalar(one) else 0)


def test_a_step_is_the_best_that_one_sample_can_do():
    """One sample's sub-problem against projected gradient steps."""
    K, y, caps, rho, a = state()
    products, biases, i = a.T @ K, np.zeros(4), 7
    kernel, own = K[[i]][:, [i]], a[[i]].copy()
    part = np.ascontiguousarray(products[:, [i]])
    working_set.sweeps(
        kernel, part, own, y[[i]], caps[[i]], rho, biases, np.zeros(4), 0.0, 1e-12, 1, 0.0, 4
    )
    limits = np.where(np.arange(4) == y[i], caps[i], 0.0)
    target = np.where(np.arange(4) == y[i], rho[y[i]], 0.0)
    other = products[:, i] - K[i, i] * a[i] - target

    def value(row):
        return other @ row + K[i, i] * row @ row / 2

    assert own.sum() == pytest.approx(0, abs=1e-12)
    assert (own[0] <= limits + 1e-12).all()
    rng = np.random.default_rng(0)
    for _ in range(2000):
        up, down = rng.choice(4, 2, replace=False)
        step = rng.exponential(0.1)
        moved = own[0].copy()
        moved[up] += step
        moved[down] -= step
        if (moved <= limits).all():
            assert value(moved) >= value(own[0]) - 1e-12


# --- the joint machine -------------------------------------------------------------------------


def test_without_numba_the_machine_is_the_same(monkeypatch):
    X, y = sample(300)
    rho = np.array([0.4, 0.3, 0.2, 0.1])
    data, limits = Points(X, "rbf", **OPTIONS), np.full(300, 0.02)
    compiled = joint_machine(data, y, limits, rho, tol=1e-4)
    monkeypatch.setattr(working_set, "has_numba", lambda: False)
    assert working_set.loops() is working_set
    plain = joint_machine(data, y, limits, rho, tol=1e-4)
    assert plain.converged
    assert plain.objective == pytest.approx(compiled.objective, rel=2e-4)


def test_a_small_cache_gives_the_same_machine():
    X, y = sample(1500)
    rho = np.array([0.4, 0.3, 0.2, 0.1])
    data, limits = Points(X, "rbf", **OPTIONS), np.full(1500, 0.02)
    roomy = joint_machine(data, y, limits, rho, tol=1e-5)
    tight = joint_machine(data, y, limits, rho, tol=1e-5, cache_size=0.5)
    assert tight.converged
    assert tight.objective == pytest.approx(roomy.objective, rel=2e-5)


def test_balanced_coefficients_satisfy_everything():
    _, y, caps, _, a = state()
    assert np.abs(a.sum(axis=0)).max() > 0.1
    balanced, could = joint._balanced(a, y, caps)
    assert could
    np.testing.assert_allclose(balanced.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(balanced.sum(axis=1), 0, atol=1e-12)
    rows = np.arange(len(y))
    assert (balanced[rows, y] <= caps + 1e-12).all()
    others = balanced.copy()
    others[rows, y] = 0
    assert (others <= 1e-15).all()


def test_what_cannot_be_balanced_is_said_to_be_unbalanced():
    a = np.array([[1.0, -1.0], [0.0, 0.0]])
    caps = np.array([1.0, 0.25])  # the second can take up a quarter; the first gives the rest
    balanced, could = joint._balanced(a, np.array([0, 1]), caps)
    assert could
    np.testing.assert_allclose(balanced.sum(axis=0), 0, atol=1e-15)
    # Class 0 has one too much and class 2 one too little, and no sample of either can help.
    a = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [0.0, 0.0, 0.0]])
    _, could = joint._balanced(a, np.array([0, 1, 2]), np.array([1.0, 1.0, 0.0]))
    assert not could
