"""``immax margins``."""

import json

import numpy as np
import pytest
from commands import immax_here

COUNTS = ("5000", "500", "50")


def margins(tmp_path, *arguments):
    return json.loads(immax_here("margins", *arguments, "--json", cwd=tmp_path, check=0).stdout)


def test_margins_have_mean_one_and_on_request_another_sum(tmp_path):
    shares = np.cbrt([5000, 500, 50]) / np.cbrt([5000, 500, 50]).sum()
    content = margins(tmp_path, *COUNTS)
    assert set(content) == {"counts", "margins", "low", "high"}
    np.testing.assert_allclose(content["margins"], 3 * shares)
    np.testing.assert_allclose(content["low"], 0.2 * 3 * shares)
    np.testing.assert_allclose(content["high"], 1.8 * 3 * shares)
    np.testing.assert_allclose(margins(tmp_path, *COUNTS, "--total", "1")["margins"], shares)


def test_the_balanced_error_favours_rare_classes(tmp_path):
    plain, balanced = margins(tmp_path, *COUNTS), margins(tmp_path, *COUNTS, "--balanced")
    assert balanced["margins"][2] > plain["margins"][2]


@pytest.mark.parametrize("arguments", [(), ("--total", "1")])
def test_the_threshold_of_two_classes_does_not_depend_on_the_scale(tmp_path, arguments):
    shown = immax_here("margins", "900", "100", *arguments, cwd=tmp_path, check=0).stdout
    rho = np.cbrt([900, 100])
    expected = f"class 1 is predicted when its probability exceeds {rho[1] / rho.sum():.4f}\n"
    assert shown.endswith(expected)
    assert "predicted" not in immax_here("margins", *COUNTS, cwd=tmp_path, check=0).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((), "Missing argument"), (("10", "0"), "counts"), (("10", "5", "--total", "x"), "--total")],
)
def test_wrong_calls(tmp_path, arguments, message):
    assert message in immax_here("margins", *arguments, cwd=tmp_path, check=2).stderr
