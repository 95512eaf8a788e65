"""Probabilities and decisions that all losses of the catalogue have."""

import numpy as np
import pytest
import torch
from torch_cases import COUNTS, PARAMS, make

import immax.torch as it
from immax import links
from immax.decisions import Costs, fit_rule
from immax.torch.losses import MODULES


def module(method):
    params = {} if method == "immax" else PARAMS.get(method, {})
    return MODULES[method](COUNTS, **params, dtype=torch.float64)


@pytest.mark.parametrize("method", list(MODULES))
def test_probabilities_equal_those_of_numpy(method, batch):
    logits, _ = batch
    criterion = module(method)
    p = criterion.proba(logits)
    np.testing.assert_allclose(p, links.spec_proba(logits.numpy(), make(method)), rtol=1e-9)
    torch.testing.assert_close(criterion.log_proba(logits).exp(), p)
    extreme = criterion.log_proba(1e4 * logits)
    assert extreme.isfinite().all()
    pixels = logits.T.reshape(1, COUNTS.size, 3, 4)
    torch.testing.assert_close(criterion.proba(pixels)[0].flatten(1).T, p)
    torch.testing.assert_close(criterion.proba(logits[0]), p[0])


@pytest.mark.parametrize("method", list(MODULES))
def test_decisions(method, batch):
    logits, _ = batch
    criterion = module(method)
    p = criterion.proba(logits)
    assert torch.equal(criterion.predict(logits), logits.argmax(1))
    assert torch.equal(criterion.predict(logits, "bayes"), p.argmax(1))
    weighed = (p / torch.tensor(COUNTS)).argmax(1)
    assert torch.equal(criterion.predict(logits, "balanced_accuracy"), weighed)
    costs = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    by_aim = criterion.predict(logits, Costs(costs))
    assert torch.equal(by_aim, criterion.predict(logits, "bayes", costs=costs))
    rule = fit_rule(p.numpy(), np.arange(12) % 5, "f1_macro")
    np.testing.assert_array_equal(criterion.predict(logits, rule), rule.decide(p.numpy()))
    assert criterion.predict(logits[0], rule).shape == ()
    with pytest.raises(ValueError, match="rule must be 'bayes'"):
        criterion.predict(logits, rule, costs=costs)


def test_probabilities_follow_edits(batch):
    logits, _ = batch
    criterion = it.LogitAdjustedLoss(COUNTS, dtype=torch.float64)
    criterion.offset.zero_()
    torch.testing.assert_close(criterion.proba(logits), logits.softmax(1))


def test_one_logit():
    logits = torch.linspace(-3, 3, 11)
    criterion = it.IMMAXBinaryLoss([900, 100])
    p = criterion.proba(logits)
    assert torch.equal(criterion.predict(logits, "balanced_accuracy"), (p >= 0.1).long())
    assert torch.equal(criterion.predict(logits, Costs([1, 4.0])), (p >= 0.2).long())
    torch.testing.assert_close(criterion.log_proba(logits), p.log())
    with pytest.raises(ValueError, match="needs the class shares"):
        it.IMMAXBinaryLoss(alpha=0.3).predict(logits, "balanced_accuracy")
