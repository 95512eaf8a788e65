"""What can be told here about Windows and macOS: imports, encodings, and locks."""

import ast
import subprocess
import sys

import pytest
from source_tree import module_paths, tree_of

UNIX_ONLY = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}
WINDOWS_ONLY = {"msvcrt", "winreg", "_winapi"}
MODULES = module_paths()


def top_level_imports(tree):
    """Return the modules that are imported when a module is."""
    guarded = {
        id(inner)
        for node in tree.body
        if isinstance(node, (ast.Try, ast.If))
        for inner in ast.walk(node)
    }
    for node in tree.body:
        for inner in ast.walk(node) if isinstance(node, ast.ClassDef) else [node]:
            if id(inner) in guarded:
                continue
            if isinstance(inner, ast.Import):
                yield from (alias.name.split(".")[0] for alias in inner.names)
            elif isinstance(inner, ast.ImportFrom) and inner.module:
                yield inner.module.split(".")[0]


@pytest.mark.parametrize("module", MODULES)
def test_no_module_of_one_system_is_imported(module):
    found = set(top_level_imports(tree_of(MODULES[module])))
    assert not found & (UNIX_ONLY | WINDOWS_ONLY)


def test_text_files_are_opened_with_an_encoding():
    for name, path in MODULES.items():
        for node in ast.walk(tree_of(path)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if node.func.attr in ("read_text", "write_text"):
                given = {keyword.arg for keyword in node.keywords}
                atomic = name == "immax.atomic" or ast.unparse(node.func).startswith("atomic")
                assert "encoding" in given or atomic, f"{name}:{node.lineno}"


def test_imports_work_where_unix_modules_are_missing():
    script = (
        "import sys\n"
        f"for name in {sorted(UNIX_ONLY)}: sys.modules[name] = None\n"
        "import immax, immax.atomic, immax.margins, immax.threads, immax.cli.entry_point\n"
        "from immax import IMMAXClassifier\n"
        "print(IMMAXClassifier.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "IMMAXClassifier", done.stderr


def test_signals_are_sent_in_one_place():
    """On Windows ``os.kill`` sends Ctrl-C or ends the process, whatever the signal."""
    callers = {
        name
        for name, path in MODULES.items()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.kill", "os.killpg")
    }
    assert callers <= {"immax.bench.workers"}
