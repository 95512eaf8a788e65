"""Errors of commands: one line, the right exit code, and a traceback on request."""

import sqlite3

import numpy as np
import pytest
import typer
from commands import immax, immax_here
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from immax.cli.errors import report_errors
from immax.errors import WrongCall


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (WrongCall("no such column"), 2, "no such column"),
        (FileNotFoundError(2, "No such file", "a.csv"), 2, "[Errno 2] No such file: 'a.csv'"),
        (sqlite3.OperationalError("locked"), 1, "the results cannot be written: locked"),
        (ValueError("one\ntwo"), 1, "one"),
        (OSError("disk full"), 1, "disk full"),
        (TimeoutError(), 1, "TimeoutError"),
        (ImportError("needs pandas"), 1, "needs pandas"),
        (KeyboardInterrupt(), 130, "interrupted; run the same command again to resume"),
        (
            KeyError("rho"),
            1,
            "unexpected error: KeyError: 'rho'; run again with --debug for the traceback",
        ),
        (
            AssertionError(),
            1,
            "unexpected error: AssertionError; run again with --debug for the traceback",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_error_is_one_line_with_an_exit_code(capsys, error, code, text):
    with pytest.raises(typer.Exit) as stopped, report_errors():
        raise error
    assert stopped.value.exit_code == code
    assert capsys.readouterr().err == f"immax: {text}\n"


@pytest.mark.parametrize("error", [WrongCall("no"), KeyError("rho"), KeyboardInterrupt()])
def test_debugging_adds_the_traceback_and_keeps_the_line(capsys, error):
    with pytest.raises(typer.Exit), report_errors(debug=True):
        raise error
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert any("test_errors.py" in line for line in lines)
    assert lines[-1].startswith("immax: ")


@pytest.mark.parametrize("error", [typer.Exit(3), typer.Abort()])
def test_control_flow_passes_through(capsys, error):
    with pytest.raises(type(error)), report_errors():
        raise error
    assert capsys.readouterr().err == ""


@pytest.fixture
def broken(monkeypatch):
    """A defect in the code that ``immax margins`` calls."""

    def fail(*_, **__):
        raise TypeError("a defect")

    monkeypatch.setattr("immax.margins.theory_margins", fail)


def test_a_defect_is_reported_with_a_hint(tmp_path, broken):
    outcome = immax_here("margins", "3", "2", cwd=tmp_path, check=1)
    hint = "run again with --debug for the traceback"
    assert outcome.stderr == f"immax: unexpected error: TypeError: a defect; {hint}\n"


@pytest.mark.parametrize(
    "arguments", [("--debug", "margins", "3", "2"), ("margins", "3", "2", "--debug")]
)
def test_a_defect_shows_its_traceback_with_debug(tmp_path, broken, arguments):
    outcome = immax_here(*arguments, cwd=tmp_path, check=1)
    assert "Traceback" in outcome.stderr
    assert "raise TypeError" in outcome.stderr


def test_a_defect_shows_its_traceback_with_the_environment_variable(tmp_path, broken, monkeypatch):
    monkeypatch.setenv("IMMAX_DEBUG", "1")
    assert "Traceback" in immax_here("margins", "3", "2", cwd=tmp_path, check=1).stderr
    monkeypatch.setenv("IMMAX_DEBUG", "0")
    assert "Traceback" not in immax_here("margins", "3", "2", cwd=tmp_path, check=1).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "immax: No such command 'nothing'"),
        (("compar",), "Did you mean 'compare'?"),
        (("margins",), "immax: Missing argument"),
        (("margins", "3", "--sum", "1"), "immax: No such option: --sum"),
        (("fit", "a.csv", "-t", "y", "--loss", "square"), "'square'"),
        (("compare", "a.csv", "--folds", "1"), "--folds"),
    ],
)
def test_wrong_arguments_are_one_line(tmp_path, arguments, message):
    outcome = immax_here(*arguments, cwd=tmp_path, check=2)
    assert message in outcome.stderr
    assert "--help)" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_a_process_reports_errors_in_the_same_way(tmp_path):
    outcome = immax("fit", "none.csv", "-t", "y", cwd=tmp_path, check=2)
    assert len(outcome.stderr.splitlines()) == 1
    outcome = immax("fit", "none.csv", "-t", "y", "--debug", cwd=tmp_path, check=2)
    assert "Traceback" in outcome.stderr


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    data=st.one_of(
        st.binary(max_size=300),
        st.text(alphabet="ab,;\t\n\"'1.é\0", max_size=120).map(str.encode),
    ),
    kind=st.sampled_from(
        ["csv", "tsv", "parquet", "feather", "jsonl", "csv.gz", "jsonl.xz", "csv.bz2", "txt"]
    ),
)
def test_arbitrary_bytes_are_no_unexpected_error(tmp_path, data, kind):
    table = f"data.{kind}"
    for name in (table, "plan.toml", "model.skops"):
        (tmp_path / name).write_bytes(data)
    for arguments in (
        ("compare", table, "-t", "a", "-o", "out", "--methods", "weights"),
        ("fit", table, "-t", "a", "-o", "fitted.skops"),
        ("predict", "model.skops", table),
        ("explain", "model.skops", table),
        ("bench", "run", "plan.toml", "--store", "plan.db"),
    ):
        outcome = immax_here(*arguments, cwd=tmp_path)
        assert outcome.returncode in (1, 2), (arguments, outcome.stdout)
        assert "Traceback" not in outcome.stderr
        assert "unexpected error" not in outcome.stderr, (arguments, outcome.stderr)


def test_an_operation_that_fails_is_unexpected(capsys):
    with pytest.raises(typer.Exit), report_errors():
        np.zeros(2) + np.zeros(3)
    assert "run again with --debug" in capsys.readouterr().err
    with pytest.raises(typer.Exit), report_errors():
        raise ValueError(
            "the column is empty",
        )
    assert capsys.readouterr().err == "immax: the column is empty\n"
