"""One scale of margins: equal margins are the plain method, and scores with margins are enough.

With the defaults margins have mean one, so that equal margins are all one, and every estimator
and loss is the plain method with the same lambda. ``immax_proba`` makes a model's probabilities
from its scores and its ``margins_``, whatever the estimator.
"""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.utils.fixes import parse_version

from immax import IMMAXSVC, BaselineClassifier, IMMAXClassifier, IMMAXClassifierCV
from immax.links import immax_proba
from immax.losses import LossSpec, catalog
from immax.margins import power_margins, resolve_margins, theory_margins
from immax.search import IMMAXSVCCV, PowerFamily

CLASSES = [2, 3]
SHARES = {2: [0.8], 3: [0.6, 0.3]}


def sample(c, n=300):
    return make_classification(
        n,
        6,
        n_informative=4,
        n_redundant=0,
        n_classes=c,
        n_clusters_per_class=1,
        weights=SHARES[c],
        class_sep=0.7,
        random_state=0,
    )


def boosting(name, **parameters):
    package = pytest.importorskip("immax.boosting")
    library = {"XGB": "xgboost", "LGBM": "lightgbm", "CatBoost": "catboost"}[name]
    pytest.importorskip(library)
    options = {
        "XGB": {"n_estimators": 5, "max_depth": 3, "n_jobs": 1},
        "LGBM": {"n_estimators": 5, "n_jobs": 1, "verbose": -1},
        "CatBoost": {"iterations": 5, "thread_count": 1, "logging_level": "Silent"},
    }[name]
    if name == "CatBoost":
        options |= {"allow_writing_files": False}
    return getattr(package, f"IMMAX{name}Classifier")(**options, **parameters)


# --- equal margins are the plain method ---------------------------------------------------------


@pytest.mark.parametrize("c", [2, 3, 1000])
def test_equal_margins_are_one(c):
    counts = np.arange(1, c + 1)
    for rho in (
        resolve_margins("equal", np.arange(c), counts),
        power_margins(counts, 0.0),
        theory_margins(np.full(c, 7)),
        PowerFamily().margins([0.0], counts),
        catalog.immax(np.full(c, 7)).temperature,
    ):
        np.testing.assert_allclose(rho, np.ones(c), rtol=1e-14)


@pytest.mark.parametrize("c", CLASSES)
def test_linear_models_with_equal_margins_are_logistic_regression(c):
    X, y = sample(c)
    lam = 0.01
    peer = LogisticRegression(C=1 / (2 * lam * len(y)), tol=1e-10, max_iter=10_000).fit(X, y)
    search = IMMAXClassifierCV(
        lams=[lam], family=PowerFamily(values=(0.0,)), cv=2, rule="score", scoring="neg_log_loss"
    )
    options = {"lam": lam, "tol": 1e-10}
    for model in (
        IMMAXClassifier(margins="equal", **options),
        BaselineClassifier("ce", **options),
        BaselineClassifier("immax", method_params={"rho": np.ones(c)}, **options),
        search,
    ):
        model.fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=2e-3)
        np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=2e-2)
    assert set(search.margins_) == {1.0}


@pytest.mark.parametrize("c", CLASSES)
def test_kernel_machines_with_equal_margins_are_support_vector_machines(c):
    X, y = sample(c, 200)
    C = 2.0
    peer = SVC(C=C, gamma=0.2, tol=1e-8, decision_function_shape="ovo").fit(X, y)
    options = {"gamma": 0.2, "multiclass": "ovo", "tol": 1e-8}
    family = PowerFamily(values=(0.0,))
    for model in (
        IMMAXSVC(C=C, margins="equal", **options),
        IMMAXSVC(lam=1 / (2 * C * len(y)), margins="equal", **options),
        IMMAXSVCCV(Cs=[C], family=family, cv=2, **options),
    ):
        model.fit(X, y)
        machine = getattr(model, "best_estimator_", model)
        theirs = np.reshape(peer.decision_function(X), (len(y), -1))
        signs = 1 if c == 2 else -1  # of pairs, theirs speak for the first class
        np.testing.assert_allclose(machine._scores(X), signs * theirs, atol=1e-4)


@pytest.mark.parametrize("c", CLASSES)
@pytest.mark.parametrize("name", ["XGB", "LGBM"])
def test_boosting_with_equal_margins_is_the_library_s_own(name, c):
    model = boosting(name, margins="equal")
    X, y = sample(c)
    plain = {"XGB": "xgboost.XGBClassifier", "LGBM": "lightgbm.LGBMClassifier"}[name]
    module, kind = plain.split(".")
    library = pytest.importorskip(module)
    if name == "XGB" and c > 2 and parse_version(library.__version__) < parse_version("3.2"):
        pytest.skip("before 3.2 XGBoost's softmax began with equal scores")
    peer = getattr(library, kind)
    own = {key: value for key, value in model.get_params().items() if key in ("n_jobs", "verbose")}
    depth = {"max_depth": 3} if name == "XGB" else {}
    peer = peer(n_estimators=5, **own, **depth).fit(X, y)
    np.testing.assert_allclose(model.fit(X, y).predict_proba(X), peer.predict_proba(X), atol=2e-3)


@pytest.mark.parametrize("c", CLASSES)
def test_catboost_with_equal_margins_boosts_the_log_loss(c):
    from immax.boosting.derivatives import SampleDerivatives, TwoClassDerivatives

    X, y = sample(c)
    model = boosting("CatBoost", margins="equal").fit(X, y)
    np.testing.assert_array_equal(model.margins_, np.ones(c))
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    if c == 2:
        p = 1 / (1 + np.exp(-scores))
        derivatives = TwoClassDerivatives(model.loss_.spec)(scores, y.astype(np.float32), None)
        np.testing.assert_allclose(derivatives[:, 0], y - p, atol=1e-6)
        np.testing.assert_allclose(derivatives[:, 1], -p * (1 - p), atol=1e-6)
        return
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    gradient = SampleDerivatives(model.loss_.spec).gradient
    for i in range(0, len(y), 50):
        np.testing.assert_allclose(
            gradient(scores[i], y[i], 1.0), np.eye(c)[y[i]] - p[i], atol=1e-6
        )


@pytest.mark.parametrize("c", CLASSES)
def test_streamed_models_have_the_scale_of_models_in_memory(c, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    streaming = pytest.importorskip("immax.distributed.streaming")
    X, y = sample(c)
    pandas.DataFrame(X).add_prefix("x").assign(y=y).to_parquet(tmp_path / "rows.parquet")
    for margins in ("equal", "theory"):
        streamed = streaming.StreamIMMAXClassifier(margins=margins).fit(tmp_path, "y")
        local = IMMAXClassifier(margins=margins).fit(X, y)
        np.testing.assert_allclose(streamed.margins_, local.margins_)
        assert streamed.margins_.mean() == pytest.approx(1)
        np.testing.assert_allclose(streamed.coef_, local.coef_, atol=1e-3)


def test_torch_losses_with_equal_margins_are_cross_entropy():
    torch = pytest.importorskip("torch")
    from immax.torch import IMMAXBinaryLoss, IMMAXLoss

    generator = torch.Generator().manual_seed(0)
    for c in CLASSES:
        logits = torch.randn(20, c, generator=generator)
        target = torch.arange(20) % c
        expected = torch.nn.functional.cross_entropy(logits, target)
        for loss in (IMMAXLoss([5] * c), IMMAXLoss([9, 3, 1][:c], power=0.0)):
            torch.testing.assert_close(loss(logits, target), expected)
    logit, target = torch.randn(20, generator=generator), (torch.arange(20) % 2).float()
    expected = torch.nn.functional.binary_cross_entropy_with_logits(logit, target)
    for loss in (IMMAXBinaryLoss([5, 5]), IMMAXBinaryLoss(alpha=0.5)):
        torch.testing.assert_close(loss(logit, target), expected)


def test_the_loss_of_two_scores_is_that_of_their_difference():
    """Scores (-h/2, h/2) and the single score h have the same loss."""
    rho = theory_margins([90, 10])
    h = np.linspace(-3, 3, 7)
    pair = np.stack([-h / 2, h / 2], axis=1) + 0.7
    for k, sign in ((0, -1), (1, 1)):
        expected = np.log1p(np.exp(-sign * h / rho[k]))
        np.testing.assert_allclose(LossSpec(rho).loss(pair, np.full(7, k)), expected)
    np.testing.assert_allclose(immax_proba(pair, rho), immax_proba(h, rho))


# --- scores and margins give the probabilities --------------------------------------------------


def linked(model, X, loss="logistic"):
    return immax_proba(model.decision_function(X), model.margins_, loss)


@pytest.mark.parametrize("c", CLASSES)
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_the_link_of_linear_models(loss, c):
    X, y = sample(c)
    given = np.array([5.0, 2.0, 1.0])[:c]
    for model in (
        IMMAXClassifier(loss),
        IMMAXClassifier(loss, margins=given),
        IMMAXClassifierCV(loss, lams=[0.01], n_margins=3, cv=2, scoring="neg_log_loss"),
    ):
        model.fit(X, y)
        np.testing.assert_allclose(linked(model, X, loss), model.predict_proba(X), atol=1e-12)
    assert model.margins_.mean() == pytest.approx(1)


@pytest.mark.parametrize("c", CLASSES)
@pytest.mark.parametrize("name", ["XGB", "LGBM", "CatBoost"])
def test_the_link_of_boosting(name, c):
    X, y = sample(c)
    model = boosting(name, power=0.6).fit(X, y)
    np.testing.assert_allclose(linked(model, X), model.predict_proba(X), atol=1e-5)
    assert model.margins_.mean() == pytest.approx(1)
    given = np.array([4.0, 2.0, 1.0])[:c]
    np.testing.assert_array_equal(boosting(name, margins=given).fit(X, y).margins_, given)


@pytest.mark.parametrize("c", CLASSES)
def test_the_link_of_torch_losses(c):
    torch = pytest.importorskip("torch")
    from immax.torch import IMMAXBinaryLoss, IMMAXExponentialLoss, IMMAXLoss

    counts = [900, 90, 10][:c]
    logits = torch.randn(30, c, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for make, name in ((IMMAXLoss, "logistic"), (IMMAXExponentialLoss, "exponential")):
        loss = make(counts, dtype=torch.float64)
        np.testing.assert_allclose(loss.rho.numpy(), theory_margins(counts))
        expected = immax_proba(logits.numpy(), loss.rho.numpy(), name)
        np.testing.assert_allclose(loss.proba(logits).numpy(), expected, atol=1e-10)
    if c == 2:
        binary = IMMAXBinaryLoss(counts, dtype=torch.float64)
        h = logits[:, 0]
        expected = immax_proba(h.numpy(), binary.rho.numpy())
        np.testing.assert_allclose(binary.proba(h).numpy(), expected[:, 1], atol=1e-10)
