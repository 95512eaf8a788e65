"""A head is a linear layer whose probabilities and decisions are those of the estimator."""

import warnings

import numpy as np
import pytest
import torch
from head_cases import samples
from torch import nn
from torch_cases import needs_exporter

from immax import BaselineClassifier, IMMAXClassifier
from immax.losses import catalog
from immax.torch import IMMAXHead

X, Y = samples()
TWO = (Y > 0).astype(int)
ROWS = torch.tensor(X)
BATCH = ({0: torch.export.Dim("n")},)


class Deployed(nn.Module):
    def __init__(self, head):
        super().__init__()
        self.head = head

    def forward(self, x):
        return self.head.predict(self.head(x))


class Both(nn.Module):
    """Scores and probabilities."""

    def __init__(self, head):
        super().__init__()
        self.head = head

    def forward(self, x):
        scores = self.head(x)
        return scores, self.head.proba(scores)


@pytest.mark.parametrize("margins", ["equal", "theory", [1.5, 1.0, 0.5]])
def test_probabilities_of_many_classes(margins):
    head = IMMAXHead.fit(X, Y, margins=margins, lam=0.01, tol=1e-8)
    peer = IMMAXClassifier(margins=margins, lam=0.01, tol=1e-8).fit(X, Y)
    np.testing.assert_allclose(head.proba(head(ROWS)).numpy(), peer.predict_proba(X), atol=1e-5)
    scores = head(ROWS).detach().numpy()
    np.testing.assert_allclose(scores, peer.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(head.predict(head(ROWS), "score").numpy(), peer.predict(X))


@pytest.mark.parametrize("one_logit", [False, True])
@pytest.mark.parametrize("margins", ["theory", -0.5])
def test_probabilities_of_two_classes(one_logit, margins):
    head = IMMAXHead.fit(X, TWO, margins=margins, lam=0.01, one_logit=one_logit, tol=1e-8)
    known = head.criterion.spec.temperature
    peer = IMMAXClassifier(margins=known, lam=0.01, tol=1e-8).fit(X, TWO)
    assert head.out_features == 2 - one_logit
    scores = head(ROWS)
    np.testing.assert_allclose(head.proba(scores).numpy(), peer.predict_proba(X), atol=1e-5)
    np.testing.assert_array_equal(head.predict(scores, "score").numpy(), peer.predict(X))
    bayes = peer.predict_proba(X).argmax(1)
    np.testing.assert_array_equal(head.predict(scores, "bayes").numpy(), bayes)
    if one_logit:
        squeezed = scores.squeeze(1)
        np.testing.assert_allclose(head.proba(squeezed).numpy(), peer.predict_proba(X), atol=1e-5)
        np.testing.assert_array_equal(head.predict(squeezed, "score").numpy(), peer.predict(X))


@pytest.mark.parametrize("method", ["ce", "bs", "ldam", "la", "rw", "focal", "vs"])
@pytest.mark.parametrize("y", [Y, TWO], ids=["three", "two"])
def test_methods_of_the_catalogue(method, y):
    head = IMMAXHead.fit(X, y, method=method, lam=0.01)
    peer = BaselineClassifier(method, lam=0.01, tol=1e-4).fit(X, y)
    np.testing.assert_allclose(head.proba(head(ROWS)).numpy(), peer.predict_proba(X), atol=1e-5)
    np.testing.assert_array_equal(head.predict(head(ROWS)).numpy(), peer.predict(X))
    assert head.record.method == method


def test_decisions():
    head = IMMAXHead.fit(X, Y, margins="theory", lam=0.01)
    scores = head(ROWS)
    proba = head.proba(scores).numpy().astype(float)
    assert head.counts == tuple(np.bincount(Y).tolist())
    balanced = (proba / np.bincount(Y)).argmax(1)
    np.testing.assert_array_equal(head.predict(scores, "balanced_accuracy").numpy(), balanced)
    costs = np.array([1, 1, 9])
    cheapest = (proba * costs).argmax(1)
    np.testing.assert_array_equal(head.predict(scores, costs=costs).numpy(), cheapest)
    assert head.predict(scores[0]).shape == ()
    torch.testing.assert_close(head.log_proba(scores).exp(), head.proba(scores))


def test_the_chosen_rule_is_the_default():
    head = IMMAXHead.fit(X, Y)
    assert head.rule == "bayes"
    scores = head(ROWS)
    assert torch.equal(head.predict(scores), head.predict(scores, "bayes"))
    aimed = IMMAXHead.fit(X, Y, aim="balanced_accuracy", lams=[0.01, 0.1], cv=2)
    scores = aimed(ROWS)
    assert torch.equal(aimed.predict(scores), aimed.predict(scores, aimed.rule))


def test_it_is_a_linear_layer_that_can_be_trained():
    head = IMMAXHead.fit(torch.tensor(X), torch.tensor(Y), lam=0.01, margins="theory")
    assert isinstance(head, nn.Linear)
    assert (head.in_features, head.out_features) == (4, 3)
    loss = head.criterion(head(ROWS), torch.tensor(Y))
    loss.backward()
    assert head.weight.grad is not None
    stationary = head.weight.grad + 2 * 0.01 * head.weight
    assert stationary.abs().max() < 1e-2 * head.weight.abs().max()
    assert "method='immax', lam=0.01" in repr(head)


@needs_exporter
@pytest.mark.parametrize("method", ["immax", "ldam"])
def test_export(method):
    head = IMMAXHead.fit(X, Y, method=method, lam=0.01)
    for module in (Both(head), Deployed(head)):
        program = torch.export.export(module, (ROWS[:3],), dynamic_shapes=BATCH)
        torch.testing.assert_close(program.module()(ROWS), module(ROWS))


@needs_exporter
@pytest.mark.parametrize(
    "one_logit",
    [pytest.param(False, marks=pytest.mark.slow), True],  # test_exports.py has several classes
)
def test_onnx(one_logit):
    pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    y = TWO if one_logit else Y
    head = IMMAXHead.fit(X, y, one_logit=one_logit, margins=0.5, lam=0.01)
    module = Both(head)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter
        program = torch.onnx.export(
            module, (ROWS[:3],), dynamo=True, dynamic_shapes=BATCH, verbose=False
        )
    session = runtime.InferenceSession(program.model_proto.SerializeToString())
    found = session.run(None, {session.get_inputs()[0].name: X})
    for output, expected in zip(found, module(ROWS), strict=True):
        np.testing.assert_allclose(output, expected.detach().numpy(), atol=1e-5)


def test_states_of_a_linear_layer_load():
    head = IMMAXHead.fit(X, Y, lam=0.01)
    layer = nn.Linear(4, 3)
    head.load_state_dict(layer.state_dict())
    assert torch.equal(head.weight, layer.weight)
    other = IMMAXHead.fit(X, Y, margins=0.4, lam=0.01)
    again = IMMAXHead.fit(X, Y, margins=0.1, lam=0.01)
    again.load_state_dict(other.state_dict())
    torch.testing.assert_close(again.proba(again(ROWS)), other.proba(other(ROWS)))


def test_what_was_loaded_is_saved(tmp_path):
    other = IMMAXHead.fit(X, Y, margins=0.4, lam=0.01)
    head = IMMAXHead.fit(X[40:], Y[40:], margins=0.1, lam=0.01)
    assert head.counts != other.counts
    head.load_state_dict(other.state_dict())
    head.save(tmp_path / "head.safetensors")
    again = IMMAXHead.load(tmp_path / "head.safetensors")
    torch.testing.assert_close(again.proba(again(ROWS)), other.proba(other(ROWS)))
    assert again.counts == other.counts


def test_wrong_arguments():
    with pytest.raises(ValueError, match="one_logit is for two classes; got 3"):
        IMMAXHead.fit(X, Y, one_logit=True)
    with pytest.raises(ValueError, match="method must be one of"):
        IMMAXHead.fit(X, Y, method="svm")
    with pytest.raises(ValueError, match="margins are for method='immax'"):
        IMMAXHead.fit(X, Y, method="ce", margins="theory")
    with pytest.raises(ValueError, match="class 3 has no samples in y"):
        IMMAXHead.fit(X, Y, num_classes=4)
    with pytest.raises(ValueError, match="a row for each of the 3 classes"):
        IMMAXHead(torch.zeros(2, 4), torch.zeros(2), catalog.ce([1, 1, 1]))
    head = IMMAXHead.fit(X, Y, lam=0.01)
    with pytest.raises(ValueError, match=r"of shape \(N, 3\); got \(240, 4\) \(call the head"):
        head.proba(ROWS)
