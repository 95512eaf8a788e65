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
    ("class_labels",),
    ("validation", "callbacks", "routing", "class_vectors"),
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
    ("model_types",),
    ("io", "onnx"),
    ("evaluation",),
    ("plots",),
    ("bench", "compare"),
    ("report",),
    ("cli",),
)
LEVELS = {name: level for level, layer in enumerate(LAYERS) for name in layer}
EXCEPTIONS = {
    ("immax.linear", "immax.distributed.parted_classifiers"): "a fit to files streams them",
    ("immax.linear", "immax.tabular.table_fits"): "a fit to files prepares their columns",
    ("immax.linear_base", "immax.tabular.table_fits"): "so do predictions for files",
    ("immax.search.classifier", "immax.distributed.parted_search"): "a search streams files",
    ("immax.search.classifier", "immax.tabular.table_fits"): "and prepares their columns",
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


def against_the_direction(module, imported):
    """Whether a module imports from a line below its own, or from its own line."""
    own, other = package_of(module), package_of(imported)
    allowed = imported in TOP or other == own or (module, imported) in EXCEPTIONS
    return not allowed and LEVELS[other] >= LEVELS[own]


def test_imports_go_in_one_direction():
    assert against_the_direction("immax.margins", "immax.links")
    assert against_the_direction("immax.bench.run", "immax.compare.protocol")
    found = [
        f"{module} imports {imported}"
        for module, path in MODULES.items()
        if module not in TOP
        for imported in imports(tree_of(path), MODULES, deferred=True)
        if against_the_direction(module, imported)
    ]
    assert found == []


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
