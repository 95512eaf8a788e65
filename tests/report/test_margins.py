"""The margins of the page."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from immax import IMMAXClassifierCV
from immax.report.margins import describe_margins, describe_path
from immax.tabular import prepare


def test_thresholds_are_shares_of_the_margins(comparison, pipeline):
    section = describe_margins(pipeline, comparison)
    rho = pipeline[-1].margins_
    assert [name for name, _ in section.thresholds] == ["<often>", "rare"]
    assert [value for _, value in section.thresholds] == pytest.approx((rho / np.sum(rho)).tolist())
    assert section.weight_power is None
    assert "Error on the 60 samples" in section.certificate


def test_a_search_for_an_aim_has_weights_and_a_rule_of_its_own(comparison):
    search = IMMAXClassifierCV(lams=[0.01, 0.1], cv=3, aim="balanced_accuracy")
    steps = make_pipeline(prepare(comparison.schema), search)
    fitted = steps.fit(comparison.X, comparison.classes[comparison.codes])
    section = describe_margins(fitted, comparison)
    assert [section.power, section.weight_power] == fitted[-1].best_parameters_.tolist()
    assert section.rule.startswith("predict rare when its probability is at least 0.25")
    assert section.thresholds == ()
    assert "powers of margins and of class weights" in section.search.text
    assert describe_path({"immax": fitted}, comparison) is None
