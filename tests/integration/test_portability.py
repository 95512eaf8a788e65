"""What can be told here about Windows and macOS: imports, encodings, and locks."""

import ast
import re
import subprocess
import sys

import pytest
from source_tree import module_paths, tree_of

UNIX_ONLY = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}
WINDOWS_ONLY = {"msvcrt", "winreg", "_winapi"}
MODULES = module_paths()
TEXT_MODE = re.compile(r"[rwax]\+?t?\+?")


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


def test_no_module_of_one_system_is_imported():
    found = {
        (module, imported)
        for module, path in MODULES.items()
        for imported in top_level_imports(tree_of(path))
    }
    assert ("immax.atomic", "os") in found
    assert [pair for pair in sorted(found) if pair[1] in UNIX_ONLY | WINDOWS_ONLY] == []


def opens_text(call):
    """Whether a call opens, reads or writes a text file by the encoding of the system."""
    if any(keyword.arg == "encoding" for keyword in call.keywords):
        return False
    name = ast.unparse(call.func)
    if name.endswith((".read_text", ".write_text")):
        return not name.startswith("atomic.")
    strings = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
    if name == "open":  # open(path, mode)
        return not any("b" in mode for mode in strings[-1:]) or len(call.args) == 1
    if name.endswith(".open"):  # path.open(mode), or the function of another module
        return not call.args or any(TEXT_MODE.fullmatch(str(mode)) for mode in strings)
    return False


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("open(path)", True),
        ("open(path, 'w')", True),
        ("open(path, 'wb')", False),
        ("open('b.txt')", True),
        ("open(path, encoding='utf-8')", False),
        ("path.open()", True),
        ("path.open('w', newline='')", True),
        ("path.open('rb')", False),
        ("gzip.open(path, 'rt')", True),
        ("tarfile.open(path, 'r|*')", False),
        ("path.read_text()", True),
        ("atomic.write_text(path, text)", False),
    ],
)
def test_text_that_is_opened_is_found(code, expected):
    assert opens_text(ast.parse(code, mode="eval").body) is expected


def test_text_files_are_opened_with_an_encoding():
    calls = [
        f"{module}, line {node.lineno}"
        for module, path in MODULES.items()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and opens_text(node)
    ]
    assert calls == []


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
