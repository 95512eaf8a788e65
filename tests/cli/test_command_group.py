"""Commands that are imported when they are called."""

import subprocess
import sys

from commands import immax_here
from typer.main import get_command

from immax.cli.app import app
from immax.cli.command_group import COMMANDS


def test_the_list_says_what_the_commands_say():
    group = get_command(app)
    for name, listed in COMMANDS.items():
        command = group.get_command(None, name)
        assert command.name == name
        text = " ".join(command.help.split("\n\n")[0].split())
        assert text == listed.help, name
    assert group.get_command(None, "nothing") is None


def test_help_imports_nothing_large():
    script = (
        "import sys; from immax.cli.app import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "large = {'numpy', 'scipy', 'sklearn', 'pandas', 'pyarrow', 'torch'} & set(sys.modules)\n"
        "assert not large, large"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(f" {name} " in done.stdout for name in COMMANDS)


def test_an_unknown_command_is_named(tmp_path):
    outcome = immax_here("predcit", cwd=tmp_path, check=2)
    assert "Did you mean 'predict'?" in outcome.stderr
