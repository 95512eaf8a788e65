"""Rivals do what their papers say."""

import numpy as np
import pytest
import torch
from head_cases import samples
from torch import nn

from immax.torch import IMMAXHead, crt_head, logit_adjusted_head, tau_normalized_head

X, Y = samples()
ROWS = torch.tensor(X)
COUNTS = np.bincount(Y)


def layer(c=3, bias=True):
    torch.manual_seed(0)
    return nn.Linear(4, c, bias=bias)


def test_crt_approaches_the_exact_weighted_fit():
    options = {"epochs": 60, "lr": 0.2, "batch_size": 40, "weight_decay": 2e-2}
    head = crt_head(X, Y, **options)
    # Weight decay of 2 lam is the penalty lam, with the biases penalised too.
    exact = IMMAXHead.fit(X, Y, method="rw", lam=1e-2)
    np.testing.assert_allclose(
        head.proba(head(ROWS)).numpy(), exact.proba(exact(ROWS)).numpy(), atol=0.1
    )
    agree = (head.predict(head(ROWS)) == exact.predict(exact(ROWS))).float().mean()
    assert agree > 0.95
    assert head.record.method == "crt"


def test_plain_training_and_seeds():
    options = {"epochs": 60, "lr": 0.2, "batch_size": 40, "weight_decay": 2e-2}
    state = torch.get_rng_state()
    head = crt_head(X, Y, balanced=False, **options)
    assert torch.equal(state, torch.get_rng_state())
    exact = IMMAXHead.fit(X, Y, method="ce", lam=1e-2)
    np.testing.assert_allclose(
        head.proba(head(ROWS)).numpy(), exact.proba(exact(ROWS)).numpy(), atol=0.1
    )
    again = crt_head(X, Y, balanced=False, **options)
    assert torch.equal(head.weight, again.weight)
    other = crt_head(X, Y, balanced=False, seed=1, **options)
    assert not torch.equal(head.weight, other.weight)


@pytest.mark.parametrize("tau", [0.0, 0.4, 1.0])
def test_tau_normalisation(tau):
    old = layer()
    head = tau_normalized_head(old, COUNTS, tau)
    for k in range(3):
        row = old.weight[k] / old.weight[k].norm() ** tau
        torch.testing.assert_close(head.weight[k], row)
    assert not head.bias.any()
    torch.testing.assert_close(head.proba(head(ROWS)), head(ROWS).detach().softmax(1))


def test_tau_is_chosen_by_the_balanced_accuracy_of_held_out_samples():
    old = layer()
    with torch.no_grad():
        old.weight.copy_(torch.eye(4)[:3] * torch.tensor([[9.0], [3.0], [1.0]]))
    head = tau_normalized_head(old, COUNTS, selection=(X, Y))
    tau = head.record.parameters["tau"]

    def recall(value):
        other = tau_normalized_head(old, COUNTS, value)
        guess = other.predict(other(ROWS)).numpy()
        return np.mean([(guess[k == Y] == k).mean() for k in range(3)])

    assert tau > 0
    assert recall(tau) == pytest.approx(max(recall(k / 10) for k in range(11)))
    assert head.record.score == pytest.approx(recall(tau))


@pytest.mark.parametrize("bias", [True, False])
def test_logit_adjustment_after_training(bias):
    old = layer(bias=bias)
    head = logit_adjusted_head(old, COUNTS, tau=0.7)
    scores, shares = old(ROWS).detach(), torch.tensor(COUNTS / COUNTS.sum()).float()
    torch.testing.assert_close(head(ROWS).detach(), scores - 0.7 * shares.log())
    torch.testing.assert_close(head.proba(head(ROWS)), scores.softmax(1))
    one = logit_adjusted_head(old, COUNTS)
    assert torch.equal(one.predict(one(ROWS)), one.predict(one(ROWS), "balanced_accuracy"))


def test_wrong_arguments():
    with pytest.raises(ValueError, match="each of the 3 classes; got 2 outputs"):
        logit_adjusted_head(layer(2), COUNTS)
    with pytest.raises(ValueError, match="got ReLU"):
        tau_normalized_head(nn.ReLU(), COUNTS, 1.0)
    with pytest.raises(ValueError, match="one of tau and selection must be given"):
        tau_normalized_head(layer(), COUNTS)
    with pytest.raises(ValueError, match="only one of tau and selection"):
        tau_normalized_head(layer(), COUNTS, 1.0, selection=(X, Y))
    with pytest.raises(ValueError, match="class 3 has no samples"):
        crt_head(X, Y, num_classes=4)
