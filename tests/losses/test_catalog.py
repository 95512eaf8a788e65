"""Every method against a plain-loop transcription of the paper's appendix."""

import math

import numpy as np
import pytest

from immax.losses import catalog
from immax.losses.catalog import METHODS, make_spec

COUNTS = [700, 250, 45, 5]
RNG = np.random.default_rng(0)
SCORES = RNG.normal(scale=3, size=(40, 4))
LABELS = RNG.integers(0, 4, 40)
M = sum(COUNTS)


def softmax_p(h, y):
    return math.exp(h[y]) / sum(math.exp(v) for v in h)


def plain_immax(h, y, rho):
    return math.log(sum(math.exp((h[j] - h[y]) / rho[y]) for j in range(len(h))))


def plain_ce(h, y):
    return -math.log(softmax_p(h, y))


def plain_rw(h, y):
    """The printed m / m_y, of which the mean over the samples is made one."""
    weights = [M / m for m in COUNTS]
    mean = sum(m * w for m, w in zip(COUNTS, weights, strict=True)) / M
    return -weights[y] / mean * math.log(softmax_p(h, y))


def plain_bs(h, y):
    total = sum(m * math.exp(v) for m, v in zip(COUNTS, h, strict=True))
    return -math.log(COUNTS[y] * math.exp(h[y]) / total)


def plain_equal(h, y, threshold, beta):
    w = [1 - beta * (COUNTS[j] / M < threshold) * (y != j) for j in range(len(h))]
    return -math.log(math.exp(h[y]) / sum(w[j] * math.exp(h[j]) for j in range(len(h))))


def plain_la(h, y, tau):
    total = sum(math.exp(v + tau * math.log(m)) for m, v in zip(COUNTS, h, strict=True))
    return -math.log(math.exp(h[y] + tau * math.log(COUNTS[y])) / total)


def plain_cb(h, y, gamma, exponent="count"):
    if exponent == "share":  # as the appendix prints it
        return -(1 - gamma) / (1 - gamma ** (COUNTS[y] / M)) * math.log(softmax_p(h, y))
    weights = [(1 - gamma) / (1 - gamma**m) for m in COUNTS]
    mean = sum(m * w for m, w in zip(COUNTS, weights, strict=True)) / M
    return -weights[y] / mean * math.log(softmax_p(h, y))


def plain_focal(h, y, gamma):
    p = softmax_p(h, y)
    return -((1 - p) ** gamma) * math.log(p)


def plain_ldam(h, y, C):
    own = math.exp(h[y] - C / COUNTS[y] ** 0.25)
    return -math.log(own / (own + sum(math.exp(h[j]) for j in range(len(h)) if j != y)))


def plain_vs(h, y, gamma, tau):
    z = [
        (m / max(COUNTS)) ** gamma * v + tau * math.log(m / M)
        for m, v in zip(COUNTS, h, strict=True)
    ]
    return -math.log(softmax_p(z, y))


def plain_weighted_immax(h, y, margin_power, weight_power):
    rho = [m**margin_power for m in COUNTS]
    rho = [len(COUNTS) * r / sum(rho) for r in rho]
    weights = [m**-weight_power for m in COUNTS]
    mean = sum(m * w for m, w in zip(COUNTS, weights, strict=True)) / M
    return weights[y] / mean * plain_immax(h, y, rho)


CASES = [
    ("immax", {"rho": [0.4, 0.3, 0.2, 0.1]}, plain_immax),
    ("ce", {}, plain_ce),
    ("rw", {}, plain_rw),
    ("bs", {}, plain_bs),
    ("la", {"tau": 0.3}, plain_la),
    ("cb", {"gamma": 0.7}, plain_cb),
    ("cb", {"gamma": 0.99}, plain_cb),
    ("cb", {"gamma": 0.7, "exponent": "share"}, plain_cb),
    ("focal", {"gamma": 1.5}, plain_focal),
    ("focal", {"gamma": 0.3}, plain_focal),
    ("ldam", {"C": 2.0}, plain_ldam),
    ("vs", {"gamma": 0.2, "tau": 0.8}, plain_vs),
    ("weighted_immax", {"margin_power": -0.4, "weight_power": 0.7}, plain_weighted_immax),
]


def test_all_methods_are_covered():
    assert {name for name, _, _ in CASES} | {"equal"} == set(METHODS)


@pytest.mark.parametrize(("method", "params", "plain"), CASES)
def test_method_is_the_appendix_s_formula(method, params, plain):
    loss = make_spec(method, COUNTS, **params).loss(SCORES, LABELS)
    expected = [plain(h, y, **params) for h, y in zip(SCORES, LABELS, strict=True)]
    np.testing.assert_allclose(loss, expected, rtol=1e-12, atol=1e-13)


def test_equal_drops_rare_negatives_for_the_samples_it_draws():
    spec = make_spec("equal", COUNTS, p=0.6, threshold=0.05)
    assert spec.droppable.tolist() == [False, False, True, True]
    beta = spec.draw(len(LABELS), 7)
    assert 0 < beta.sum() < len(LABELS)
    expected = [plain_equal(h, y, 0.05, b) for h, y, b in zip(SCORES, LABELS, beta, strict=True)]
    np.testing.assert_allclose(spec.loss(SCORES, LABELS, 7), expected, rtol=1e-12)
    again = spec.gradient(SCORES, LABELS, 7)
    np.testing.assert_array_equal(spec.gradient(SCORES, LABELS, 7), again)
    assert (spec.loss(SCORES, LABELS, 7) != spec.loss(SCORES, LABELS, 8)).any()


def test_equal_draws_at_its_rate():
    spec = make_spec("equal", COUNTS, p=0.3, threshold=0.05)
    assert abs(spec.draw(100_000, 0).mean() - 0.3) < 0.01


def test_members_of_weighted_immax():
    def spec(t, u):
        return make_spec("weighted_immax", COUNTS, margin_power=t, weight_power=u)

    for own, other in [
        (spec(0, 0), make_spec("ce", COUNTS)),
        (spec(0, 1), make_spec("rw", COUNTS)),
        (spec(1 / 3, 0), make_spec("immax", COUNTS)),
    ]:
        np.testing.assert_allclose(own.loss(SCORES, LABELS), other.loss(SCORES, LABELS))


def test_identities_that_the_paper_names():
    def loss(method, counts=COUNTS, **params):
        return make_spec(method, counts, **params).loss(SCORES, LABELS)

    np.testing.assert_allclose(loss("la", tau=1.0), loss("bs"))
    np.testing.assert_allclose(loss("focal", gamma=0.0), loss("ce"))
    balanced = [250] * 4
    for method in ("rw", "bs", "la", "cb"):
        np.testing.assert_allclose(loss(method, balanced), loss("ce"))
    # As printed, CB is cross-entropy up to a constant.
    printed = loss("cb", balanced, gamma=0.9, exponent="share")
    np.testing.assert_allclose(printed, (1 - 0.9) / (1 - 0.9**0.25) * loss("ce"))
    np.testing.assert_allclose(loss("immax", balanced, total=4), loss("ce"))


@pytest.mark.parametrize("gamma", [0.1, 0.9, 0.9999, 1 - 1e-12])
def test_weights_have_mean_one_over_the_samples(gamma):
    for spec in (make_spec("rw", COUNTS), make_spec("cb", COUNTS, gamma=gamma)):
        assert np.average(spec.weight, weights=COUNTS) == pytest.approx(1, rel=1e-12)


def test_class_balanced_weights_lie_between_cross_entropy_and_re_weighting():
    np.testing.assert_allclose(make_spec("cb", COUNTS, gamma=1e-9).weight, 1, rtol=1e-8)
    near_one = make_spec("cb", COUNTS, gamma=1 - 1e-12).weight
    np.testing.assert_allclose(near_one, make_spec("rw", COUNTS).weight, rtol=1e-3)


def test_the_printed_exponent_is_re_weighting_over_the_whole_grid():
    """The numbers by which the documentation calls it a probable misprint: CIFAR-10, ratio 100."""
    counts = np.round(5000 * 100 ** (-np.arange(10) / 9))

    def ratio(gamma, exponent):
        weight = make_spec("cb", counts, gamma=gamma, exponent=exponent).weight
        return weight[-1] / weight[0]

    assert ratio(0.1, "share") == pytest.approx(65.46, abs=0.01)
    assert ratio(0.9999, "share") == pytest.approx(100.0, abs=0.01)
    assert ratio(0.1, "count") == pytest.approx(1.0, abs=0.005)
    assert ratio(0.9999, "count") == pytest.approx(78.89, abs=0.01)


def test_grids_are_the_paper_s():
    sizes = {name: [len(v) for v in m.grid.values()] for name, m in METHODS.items() if m.in_paper}
    assert sizes == {
        "immax": [],
        "ce": [],
        "rw": [],
        "bs": [],
        "equal": [9, 8],
        "la": [28],
        "cb": [12],
        "focal": [29],
        "ldam": [17],
    }
    assert METHODS["la"].grid["tau"][9:12] == (1.0, 1.5, 2.0)
    assert METHODS["focal"].grid["gamma"][0] == 0.0
    assert METHODS["focal"].grid["gamma"][-1] == 10.0
    assert set(METHODS["ldam"].grid["C"]) == {
        round(a * 10.0**k, 10) for a, ks in ((1, range(-4, 5)), (5, range(-4, 4))) for k in ks
    }


@pytest.mark.parametrize("method", METHODS)
def test_every_grid_value_makes_a_spec(method):
    for name, values in METHODS[method].grid.items():
        for value in values:
            assert make_spec(method, COUNTS, **{name: value}).n_classes == 4


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("lda", {}, "method must be one of immax, ce, rw"),
        ("la", {"tau": 0}, "tau must be a positive number; got 0"),
        ("la", {"t": 1}, "unexpected keyword argument 't'"),
        ("cb", {"gamma": 1.0}, "gamma must be strictly between 0 and 1"),
        ("cb", {"exponent": "m"}, "exponent must be 'count' or 'share'; got 'm'"),
        ("focal", {"gamma": -1}, "focus must be a finite number of at least 0"),
        ("ldam", {"C": np.nan}, "C must be a positive number"),
        ("equal", {"p": 1.0}, "p must be strictly between"),
        ("equal", {"threshold": 0}, "threshold must be strictly between"),
        ("vs", {"gamma": -0.1}, "gamma must be a number of at least 0"),
        ("immax", {"rho": [1, 2]}, "rho must have an entry for each of the 4 classes"),
    ],
)
def test_bad_hyper_parameters_are_named(method, params, message):
    with pytest.raises(ValueError, match=message):
        make_spec(method, COUNTS, **params)


def test_functions_and_registry_agree():
    for name, method in METHODS.items():
        assert getattr(catalog, name) is method.make
        assert method.make(COUNTS) == make_spec(name, COUNTS)
        assert method.make(COUNTS).name == name


def test_every_row_says_what_tables_show():
    for name, method in METHODS.items():
        assert method.name == name == method.make.__name__
        assert method.title
        assert method.formula.startswith(("-", "log")), method.formula
    assert {name for name, method in METHODS.items() if method.in_paper} == {
        *("immax", "ce", "rw", "bs", "equal", "la", "cb", "focal", "ldam")
    }
    assert not METHODS["immax"].grid
