"""Every name that a module exports is documented, in its docstring and in the API reference.

So is every public method and property of an exported class, if the package defines it.
"""

import ast
import importlib
import inspect
import re
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


def undefined(tree):
    """Return the exported names of a module that it neither defines nor imports."""
    if any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body):
        return set()  # names that are imported when they are asked for
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
    return set(exported_names(tree)) - defined


def without_faults(faults):
    """Return the names that have faults, with these."""
    return {name: found for name, found in faults.items() if found}


def test_exported_names_exist():
    assert without_faults({module: undefined(tree) for module, tree in TREES.items()}) == {}


def faults_of_docstring(text):
    """Return what is wrong with a docstring, whatever it belongs to."""
    if not text:
        return ["no docstring"]
    first = text.splitlines()[0]
    return [] if first.endswith(SENTENCE_ENDS) else [f"{first!r} is not a sentence"]


def test_exported_names_have_docstrings():
    assert len(DEFINITIONS) > 500
    faults = {
        name_of(pair): faults_of_docstring(ast.get_docstring(pair[1])) for pair in DEFINITIONS
    }
    assert without_faults(faults) == {}


def faults_of_function(function):
    """Return what the numpydoc sections of a function do not say."""
    returns = "None" if function.returns is None else ast.unparse(function.returns)
    return lacking(ast.get_docstring(function) or "", parameters_of(function), returns)


def test_exported_functions_have_numpydoc_sections():
    assert len(FUNCTIONS) > 300
    faults = {name_of(pair): faults_of_function(pair[1]) for pair in FUNCTIONS}
    assert without_faults(faults) == {}


def test_faults_are_found():
    tree = ast.parse(
        '__all__ = ["a", "b", "c"]\n'
        'def a(x) -> int:\n    """Return it\n    """\n'
        "def b() -> None: pass\n"
    )
    assert undefined(tree) == {"c"}
    a, b = tree.body[1:]
    assert faults_of_docstring(ast.get_docstring(a)) == ["'Return it' is not a sentence"]
    assert faults_of_docstring(ast.get_docstring(b)) == ["no docstring"]
    assert faults_of_function(a) == ["x", "what is returned"]
    assert faults_of_function(b) == []


def api_reference():
    """Return the program that writes the API reference, as a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        return importlib.import_module("api_reference")


def public_classes():
    """Return the classes of the API reference by their full names."""
    found = {}
    for module in (importlib.import_module(name) for name, *_ in api_reference().PUBLIC):
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
    text, member = docstring_of(kind, name), vars(kind)[name]
    found = faults_of_docstring(text)
    if not text or isinstance(member, (property, cached_property)):
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
    assert without_faults(faults) == {}


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


def test_no_function_has_the_name_of_its_module():
    found = [
        name_of((module, node))
        for module, tree in TREES.items()
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and node.name == module.rsplit(".", 1)[-1]
    ]
    assert found == []


def test_the_api_reference_is_current(monkeypatch, tmp_path):
    reference = api_reference()
    monkeypatch.setattr(sys, "argv", ["api_reference.py", "--check"])
    reference.main()
    monkeypatch.setattr(reference, "PAGE", tmp_path / "api.md")
    with pytest.raises(SystemExit, match="not current"):
        reference.main()


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
