"""Tests mirror modules: ``tests/x/test_y.py`` tests ``src/immax/x/y.py``."""

from source_tree import ROOT, module_paths

# Folders and files of tests that are not about one module, each with its reason.
ACROSS = {
    "tests/integration": "what holds for the package as a whole",
    "tests/browser": "pages in a real browser",
}
# Modules without a file of tests of their own, each with its reason.
WITHOUT = {}


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
    missing = [
        name for name in _modules() if name not in WITHOUT and not _expected(name).exists()
    ]
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
