"""Tests mirror modules: ``tests/x/test_y.py`` tests ``src/immax/x/y.py``."""

from source_tree import ROOT, module_paths

# Folders and files of tests that are not about one module, each with its reason.
ACROSS = {
    "tests/integration": "what holds for the package as a whole",
    "tests/browser": "pages in a real browser",
    "tests/boosting/test_inherited_methods.py": "the methods of the three base classes",
    "tests/compiled/test_compiled.py": "the functions of the package itself",
    "tests/losses/test_one_kernel.py": "counts the places of the formulas",
    "tests/torch/test_buffer_edits.py": "every loss by every route",
    "tests/torch/test_derivatives.py": "every loss by every route",
    "tests/torch/test_exports.py": "probabilities in exported programs",
    "tests/torch/test_methods.py": "every method of the catalogue against NumPy",
    "tests/torch/test_training.py": "training of networks",
    "tests/torch/test_transforms.py": "compilers, transforms, devices and processes",
}
# Modules without a file of tests of their own, each with its reason.
WITHOUT = {
    "immax.arrays": "types alone",
    "immax.errors": "an exception alone",
    "immax.decisions.aim": "an interface alone",
    "immax.boosting.catboost": "tests/boosting/test_estimator.py runs over the three libraries",
    "immax.boosting.lightgbm": "tests/boosting/test_estimator.py runs over the three libraries",
    "immax.boosting.xgboost": "tests/boosting/test_estimator.py runs over the three libraries",
    "immax.compiled.block_descent": "tests/solvers/test_gram_descent.py runs both versions",
    "immax.compiled.column_descent": "tests/solvers/test_column_descent.py: no use by itself",
    "immax.compiled.csc_columns": "tests/solvers/test_feature_columns.py runs both versions",
    "immax.compiled.dual_sweep": "tests/solvers/test_dual_ascent.py: a sweep has no use by itself",
    "immax.compiled.max_hinge": "tests/solvers/test_compiled_max_risks.py",
    "immax.compiled.working_set": "tests/kernels/test_working_set.py runs both versions",
    "immax.evaluation.kernel_methods": "tests/evaluation/test_estimators.py runs over the methods",
    "immax.evaluation.linear_methods": "tests/evaluation/test_estimators.py runs over the methods",
    "immax.evaluation.tree_methods": "tests/evaluation/test_estimators.py runs over the methods",
    "immax.kernels.machine": "dataclasses alone",
    "immax.losses.curvatures": "tests/losses/test_risks.py runs over the curvatures of all risks",
    "immax.linear_base": "tests/test_linear.py runs over its subclasses",
}


def _expected(module):
    parts = module.split(".")[1:]
    return ROOT.joinpath("tests", *parts[:-1], f"test_{parts[-1]}.py")


def _modules():
    return {
        name: path
        for name, path in module_paths().items()
        if path.name not in ("__init__.py", "__main__.py")
    }


def test_every_module_has_its_tests():
    missing = [name for name in _modules() if name not in WITHOUT and not _expected(name).exists()]
    assert not missing


def test_every_file_of_tests_has_its_module():
    expected = {_expected(name) for name in _modules()}
    strangers = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if path not in expected
        and not any(str(path.relative_to(ROOT)).startswith(one) for one in ACROSS)
    ]
    assert not strangers


def test_exceptions_are_still_needed():
    for name in WITHOUT:
        assert name in module_paths()
        assert not _expected(name).exists()
    for one in ACROSS:
        assert (ROOT / one).exists()
