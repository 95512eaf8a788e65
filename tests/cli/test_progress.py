"""Progress bars."""

import io

from rich.console import Console

from immax.cli import progress
from immax.cli.progress import FoldBar, quiet_progress


def test_nothing_is_shown_in_a_pipe(capsys):
    bars = quiet_progress()
    assert bars.disable
    with FoldBar() as bar:
        bar.update("immax", 1, 4)
        bar.describe("writing")
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_a_terminal_shows_the_title_and_the_number_of_fits(monkeypatch):
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80)
    monkeypatch.setattr(progress, "Console", lambda **_: console)
    with FoldBar() as bar:
        bar.update("immax", 3, 12)
    assert "IMMAX logistic" in stream.getvalue()
    assert "3/12" in stream.getvalue()
