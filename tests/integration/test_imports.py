"""Imports follow the direction in which data flow, and no module imports itself in a circle."""

from graphlib import CycleError, TopologicalSorter

import pytest
from source_tree import imports, module_paths, tree_of

# A package may import from the lines above its own. Packages that share a line stand side by side.
LAYERS = (
    (
        "arrays",
        "errors",
        "threads",
        "helper_processes",
        "atomic",
        "optional",
        "foreign_parameters",
        "documentation",
    ),
    ("class_labels", "validation", "callbacks", "routing"),
    ("margins",),
    ("class_weights",),
    ("losses", "penalties"),
    ("compiled",),
    ("markov_chains", "plain_rules"),
    ("temperature_chains",),
    ("links",),
    ("calibration",),
    ("decisions",),
    ("evaluation.metrics",),
    ("solvers",),
    ("linear_base",),
    ("linear", "kernels"),
    ("paths",),
    ("search",),
    ("boosting", "torch"),
    ("distributed",),
    ("theory",),
    ("tabular",),
    ("datasets",),
    ("io", "onnx"),
    ("evaluation",),
    ("plots",),
    ("bench", "compare"),
    ("report",),
    ("cli",),
)
LEVELS = {name: level for level, layer in enumerate(LAYERS) for name in layer}
EXCEPTIONS = {
    ("immax.linear", "immax.distributed.local_copies"): "a fit to files streams them",
    ("immax.linear", "immax.distributed.streaming"): "a fit to files streams them",
    ("immax.search.classifier", "immax.distributed.local_copies"): "so does a search",
    ("immax.search.classifier", "immax.distributed.streaming"): "so does a search",
    ("immax.search.base", "immax.plots.search"): "MarginSearch.plot draws when it is called",
    ("immax.theory.certificates", "immax.plots.bound_curve"): "so does Certificate.plot",
}
MODULES = module_paths()
TOP = ("immax", "immax.__main__")  # the public names, and the command


def package_of(module):
    """Return the package that a module belongs to in the layers above."""
    parts = module.split(".")[1:]
    pair = ".".join(parts[:2])
    return pair if pair in LEVELS else parts[0] if parts else ""


def test_every_package_has_its_place():
    assert {package_of(name) for name in MODULES if name not in TOP} == set(LEVELS)


@pytest.mark.parametrize("module", [name for name in MODULES if name not in TOP])
def test_imports_go_in_one_direction(module):
    own = package_of(module)
    for imported in imports(tree_of(MODULES[module]), MODULES, deferred=True):
        other = package_of(imported)
        if imported in TOP or other == own or (module, imported) in EXCEPTIONS:
            continue
        assert LEVELS[other] < LEVELS[own], f"{module} imports {imported}, against the direction"


def test_exceptions_are_still_needed():
    for module, imported in EXCEPTIONS:
        assert imported in imports(tree_of(MODULES[module]), MODULES, deferred=True)


def test_no_circles():
    graph = {
        name: imports(tree_of(path), MODULES, deferred=False) - {name}
        for name, path in MODULES.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"modules import each other in a circle: {' -> '.join(error.args[1])}")


def test_the_check_sees_deferred_imports_and_not_those_for_types():
    import ast

    tree = ast.parse(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from immax.cli.app import app\n"
        "def f():\n    from immax.bench import plan\n"
    )
    assert imports(tree, MODULES, deferred=True) == {"immax.bench.plan"}
    assert imports(tree, MODULES, deferred=False) == set()
