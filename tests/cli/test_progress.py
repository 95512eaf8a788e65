"""Progress bars."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from immax.cli import progress
from immax.cli.progress import Bars, FoldBar, quiet_progress
from immax.compare.fold_queue import FoldProgress


def test_nothing_is_shown_in_a_pipe(capsys):
    bars = quiet_progress()
    assert bars.disable
    with FoldBar() as bar:
        bar.update("immax", 1, 4)
        bar.describe("writing")
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@pytest.fixture
def terminal(monkeypatch):
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80)
    monkeypatch.setattr(progress, "Console", lambda **_: console)
    return stream


def test_a_terminal_shows_the_title_and_the_number_of_fits(terminal):
    with FoldBar() as bar:
        bar.update("immax", 3, 12)
    assert "IMMAX logistic" in terminal.getvalue()
    assert "3/12" in terminal.getvalue()


def test_what_runs_and_how_long_it_will_take(terminal):
    with FoldBar() as bar:
        bar.show(FoldProgress(("immax", "xgb"), 3, 12, 42.4))
    with FoldBar() as bar:
        bar.show(FoldProgress(("immax",), 4, 12, 300.0))
    assert "IMMAX logistic, XGBoost, about 42 s left" in terminal.getvalue()
    assert "about 5 min left" in terminal.getvalue()


def test_what_was_read_of_a_streamed_table(terminal):
    with FoldBar() as bar:
        bar.show(FoldProgress((), 3, 12, 42.4, "pass 7, 1.5 GiB read"))
    assert "pass 7, 1.5 GiB read, about 42 s left" in terminal.getvalue()


def test_the_cells_of_a_plan_are_counted_as_they_end(terminal):
    counts = {"done": 1, "failed": 0, "open": 3}
    cell = SimpleNamespace(label=lambda: "digits, immax")
    with Bars(SimpleNamespace(counts=lambda: counts), 5) as bars:
        bars.cell(cell, "begun")
        counts.update(done=2, open=2)
        bars.cell(cell, "done")
    assert "digits, immax" in terminal.getvalue()
    assert "2/4" in terminal.getvalue()
