"""Every name that a module exports is documented, in its docstring and in the API reference.

So is every public method and property of an exported class, if the package defines it.
"""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from functools import cached_property

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
CLASSES = [pair for pair in DEFINITIONS if isinstance(pair[1], ast.ClassDef)]
NOTHING = ("None", "NoReturn", "Never")
SENTENCE_ENDS = (".", ":", "!", "?")


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


def lacking(docstring, names, returns):
    """Return what the numpydoc sections of a docstring do not say."""
    sections = sections_of(docstring)
    described = sections.get("Parameters", "")
    found = [name for name in names if not re.search(rf"\b{name}\b", described)]
    refuses = docstring.startswith("Raise ")  # and returns nothing, whatever its base returns
    if returns not in NOTHING and not refuses and not {"Returns", "Yields"} & set(sections):
        found.append("what is returned")
    return found


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
    assert first.endswith(SENTENCE_ENDS), f"{name_of(pair)}: {first!r} is not a sentence"


@pytest.mark.parametrize("pair", FUNCTIONS, ids=name_of)
def test_exported_functions_have_numpydoc_sections(pair):
    function = pair[1]
    returns = "None" if function.returns is None else ast.unparse(function.returns)
    text = ast.get_docstring(function) or ""
    assert not lacking(text, parameters_of(function), returns), name_of(pair)


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


def function_of(member):
    """Return the function of the package behind a method or a property, or None."""
    if isinstance(member, property):
        member = member.fget
    elif isinstance(member, cached_property):
        member = member.func
    elif isinstance(member, (classmethod, staticmethod)):
        member = member.__func__
    member = inspect.unwrap(member)  # from available_if and contextmanager
    ours = inspect.isfunction(member) and member.__module__.startswith("immax.")
    return member if ours else None


def public_methods():
    """Return the public methods and properties of exported classes: their class and their name."""
    found = {}
    for module, node in CLASSES:
        own = getattr(importlib.import_module(module), node.name)
        for kind in own.__mro__:
            if not kind.__module__.startswith("immax."):
                continue
            for name, member in vars(kind).items():
                if not name.startswith("_") and function_of(member) is not None:
                    found[f"{kind.__module__}.{kind.__name__}.{name}"] = kind, name
    return found


def docstring_of(kind, name):
    """Return a method's docstring, or that of the method of the package that it overrides."""
    functions = [function_of(vars(base).get(name)) for base in kind.__mro__]
    texts = (function.__doc__ for function in functions if function is not None)
    return inspect.cleandoc(next(filter(None, texts), ""))


def faults_of_method(kind, name):
    """Return what is wrong with the docstring of a method or a property."""
    text = docstring_of(kind, name)
    if not text:
        return ["no docstring"]
    first, member = text.splitlines()[0], vars(kind)[name]
    found = [] if first.endswith(SENTENCE_ENDS) else [f"{first!r} is not a sentence"]
    if isinstance(member, (property, cached_property)):
        return found
    function = function_of(member)
    names = [
        parameter
        for parameter in inspect.signature(function).parameters
        if parameter not in ("self", "cls") and not parameter.startswith("_")
    ]
    return found + lacking(text, names, str(function.__annotations__.get("return")))


def test_public_methods_have_numpydoc_docstrings():
    methods = public_methods()
    assert {
        "immax.linear_base.LinearClassifier.predict_proba",  # only if it is available
        "immax.losses.spec.LossSpec.convex",
        "immax.decisions.rules.Rule.from_dict",
        "immax.callbacks.Task.passed_to",
    } <= set(methods)
    faults = {path: faults_of_method(*method) for path, method in methods.items()}
    assert {path: found for path, found in faults.items() if found} == {}


def test_docstrings_are_those_of_overridden_methods_of_the_package():
    class Base:
        def fit(self, X):
            """Fit."""

        def score(self, X, y) -> float:
            pass

    class Own(Base):
        def fit(self, X):
            pass

    for method in (Base.fit, Base.score, Own.fit):
        method.__module__ = "immax.example"
    assert faults_of_method(Own, "fit") == ["X"]
    assert faults_of_method(Base, "score") == ["no docstring"]
    Base.score.__doc__ = "Score\n\nParameters\n----------\nX, y : array"
    assert faults_of_method(Base, "score") == ["'Score' is not a sentence", "what is returned"]


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
