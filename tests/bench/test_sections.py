"""Sections of plans."""

from dataclasses import fields

import pytest

from immax.bench.sections import DataPlan, ImbalancePlan, TrainingPlan


@pytest.mark.parametrize("section", [DataPlan, ImbalancePlan, TrainingPlan])
def test_every_key_is_documented(section):
    for item in fields(section):
        assert (
            f"{item.name} :" in section.__doc__
            or f"{item.name}," in section.__doc__
            or (f", {item.name} :" in section.__doc__)
        ), item.name
