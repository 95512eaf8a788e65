"""Every name that a module exports is documented, in its docstring and in the API reference."""

import ast
import importlib
import inspect
import re
import subprocess
import sys

import pytest
from source_tree import ROOT, exported_names, module_paths, tree_of

MODULES = module_paths()
TREES = {name: tree_of(path) for name, path in MODULES.items()}
DEFINITIONS = [
    (module, node)
    for module, tree in TREES.items()
    for node in tree.body
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in exported_names(tree)
]
FUNCTIONS = [pair for pair in DEFINITIONS if isinstance(pair[1], ast.FunctionDef)]


def name_of(pair):
    return f"{pair[0]}.{pair[1].name}"


def sections_of(docstring):
    """Return the numpydoc sections of a docstring by title."""
    parts = re.split(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", docstring, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def parameters_of(function):
    """Return the names of a function's parameters, without ``self``."""
    own = function.args
    names = [arg.arg for arg in (*own.posonlyargs, *own.args, *own.kwonlyargs)]
    return [name for name in names if name not in ("self", "cls")]


@pytest.mark.parametrize("module", MODULES)
def test_exported_names_exist(module):
    tree = TREES[module]
    if any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body):
        return  # names that are imported when they are asked for
    defined = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
    assert set(exported_names(tree)) <= defined


@pytest.mark.parametrize("pair", DEFINITIONS, ids=name_of)
def test_exported_names_have_docstrings(pair):
    text = ast.get_docstring(pair[1])
    assert text, f"{name_of(pair)} has no docstring"
    first = text.splitlines()[0]
    assert first.endswith((".", ":", "!", "?")), f"{name_of(pair)}: {first!r} is not a sentence"


@pytest.mark.parametrize("pair", FUNCTIONS, ids=name_of)
def test_exported_functions_have_numpydoc_sections(pair):
    function = pair[1]
    sections = sections_of(ast.get_docstring(function) or "")
    names = parameters_of(function)
    if names:
        described = sections.get("Parameters", "")
        missing = [name for name in names if not re.search(rf"\b{name}\b", described)]
        assert not missing, f"{name_of(pair)} does not describe {missing}"
    returns = function.returns
    nothing = returns is None or ast.unparse(returns) in ("None", "NoReturn", "Never")
    if not nothing:
        has = {"Returns", "Yields"} & set(sections)
        assert has, f"{name_of(pair)} does not say what it returns"


def public_classes():
    """Return the classes of the API reference by their full names."""
    sys.path.insert(0, str(ROOT / "tools"))
    from api_reference import PUBLIC

    found = {}
    for module in (importlib.import_module(name) for name, *_ in PUBLIC):
        for name in module.__all__:
            own = getattr(module, name)
            if inspect.isclass(own) and own.__module__.startswith("immax."):
                found[f"{own.__module__}.{name}"] = own
    return found


def test_public_classes_describe_their_parameters():
    missing = {}
    for name, own in public_classes().items():
        try:
            parameters = inspect.signature(own).parameters
        except ValueError:
            continue  # exceptions
        sections = sections_of(inspect.cleandoc(own.__doc__ or ""))
        described = sections.get("Parameters", "") + sections.get("Attributes", "")
        lines = " ".join(re.findall(r"^(?! )[\w*, ]+", described.replace("\\\n", ""), re.MULTILINE))
        undescribed = [
            parameter
            for parameter in parameters
            if not parameter.startswith(("_", "args", "kwargs"))
            and not re.search(rf"\b{parameter}\b", lines)
        ]
        if undescribed:
            missing[name] = undescribed
    assert not missing


@pytest.mark.parametrize("module", [name for name in MODULES if "." in name])
def test_no_function_has_the_name_of_its_module(module):
    own = module.rsplit(".", 1)[-1]
    defined = [
        node.name
        for node in TREES[module].body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    ]
    assert own not in defined


def test_the_api_reference_is_current():
    done = subprocess.run(
        [sys.executable, "tools/api_reference.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_modules_of_the_readme_are_in_the_api_reference():
    cells = re.findall(r"^\| (`immax[^|]*) \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    names = {name for cell in cells for name in re.findall(r"`(immax\.[\w.]+)`", cell)}
    assert {"immax.solvers", "immax.evaluation.metrics"} <= names
    modules = {name for name in names if name in MODULES}
    assert names - modules <= {f"immax.{name}" for name in exported_names(TREES["immax"])}
    # Modules under "Inside the package" have smaller headings.
    page = (ROOT / "docs" / "api.md").read_text()
    public = set(re.findall(r"^## .*: `([\w.]+)`$", page, re.MULTILINE))
    assert modules <= public


def test_sections_are_found():
    text = "Do it.\n\nParameters\n----------\nx : int\n\nReturns\n-------\nint\n"
    assert sections_of(text) == {"Parameters": "x : int\n\n", "Returns": "int\n"}
