"""The ranking of the page."""

from immax.report.ranking import describe_ranking


def test_the_ranking(comparison, answer):
    ranking = describe_ranking(comparison, answer)
    assert ranking.rows == answer.rows
    assert (ranking.recommended, ranking.baseline) == ("immax", "logistic")
    assert ranking.n_folds == 6
    directions = {measure.title: measure.higher_is_better for measure in ranking.measures}
    assert directions == {"accuracy": True, "log loss": False}
    assert [reason for _, reason in ranking.left_out] == ["failed: too few rows"]
