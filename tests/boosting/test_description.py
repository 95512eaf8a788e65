"""What boosters carry along."""

import json

import numpy as np
import pytest

from immax.boosting.description import Description, read_file_beside
from immax.boosting.loss import make_loss
from immax.boosting.rule_choice import closed_form_rule
from immax.decisions import Costs

PARAMETERS = {"method": "immax", "margins": "theory", "power": None, "method_params": None}


@pytest.mark.parametrize("labels", [[0, 1], ["a", "b", "c"], [True, False], [2.0, 7.0, -1.0]])
def test_round_trip(labels):
    y = np.repeat(labels, np.arange(1, len(labels) + 1))
    loss, _ = make_loss(y, None, 3, PARAMETERS)
    rule = closed_form_rule(Costs(np.arange(1.0, len(labels) + 1)), loss.classes, loss.shares)
    for decision in (None, rule):
        text = Description(loss, decision).to_json()
        assert "\n" not in text
        again = Description.from_json(text, "it")
        assert again.rule == decision
        assert again.loss.classes.dtype == loss.classes.dtype
        scores = np.random.default_rng(0).standard_normal((20, len(labels)))
        scores = scores[:, 0] if len(labels) == 2 else scores
        np.testing.assert_array_equal(again.loss.proba(scores), loss.proba(scores))
        assert (
            again.predict(scores).tolist() == Description(loss, decision).predict(scores).tolist()
        )
        np.testing.assert_array_equal(again.loss.constants, loss.constants)
        np.testing.assert_array_equal(again.loss.prior, loss.prior)


def test_rules_may_abstain():
    loss, _ = make_loss([0, 0, 1], None, 0, {**PARAMETERS, "margins": "equal"})
    rule = closed_form_rule(Costs([1.0, 1.0], abstain=0.1), loss.classes, loss.shares)
    description = Description(loss, rule)
    scores = np.array([-5.0, 0.0, 5.0])
    assert description.predict(scores).tolist() == [0, None, 1]
    assert description.decide(scores).tolist() == [0, 2, 1]


def test_damaged_and_missing_files(tmp_path):
    with pytest.raises(ValueError, match="it is damaged"):
        Description.from_json("{}", "it")
    with pytest.raises(ValueError, match="does not say which margins its scores have"):
        read_file_beside(tmp_path / "model.json")
    (tmp_path / "model.json.immax.json").write_text("[]")
    with pytest.raises(ValueError, match="is damaged"):
        read_file_beside(tmp_path / "model.json")


def test_files_of_the_first_version(tmp_path):
    loss, _ = make_loss([0, 0, 1], None, 0, PARAMETERS)
    content = {"format": 1, **loss.to_dict()}
    del content["prior"]
    (tmp_path / "model.txt.immax.json").write_text(json.dumps(content))
    found = read_file_beside(tmp_path / "model.txt")
    assert found.rule is None
    np.testing.assert_array_equal(found.loss.spec.temperature, loss.spec.temperature)
    np.testing.assert_array_equal(found.loss.shares, [0.5, 0.5])
