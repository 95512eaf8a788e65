"""Write docs/api.md: every exported name with the first sentence of its docstring.

    python tools/api_reference.py [--check]

With ``--check`` nothing is written, and the exit code says whether the page is current.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "api.md"
PUBLIC = (
    ("immax", "Estimators"),
    ("immax.margins", "Margins"),
    ("immax.losses", "Losses"),
    ("immax.losses.catalog", "The catalogue of methods"),
    ("immax.penalties", "Penalties"),
    ("immax.paths", "Paths of lambda"),
    ("immax.links", "Probabilities and decisions"),
    ("immax.decisions", "Aims and decision rules"),
    ("immax.search", "Searches"),
    ("immax.solvers", "Solvers"),
    ("immax.boosting", "Boosting"),
    ("immax.torch", "PyTorch"),
    ("immax.torch.functional", "PyTorch, as functions"),
    ("immax.torch.norms", "Norms of networks"),
    ("immax.distributed", "Dask"),
    ("immax.theory", "Theory"),
    ("immax.datasets", "Data sets"),
    ("immax.tabular", "Tables"),
    ("immax.io", "Model files"),
    ("immax.onnx", "ONNX"),
    ("immax.evaluation.metrics", "Metrics"),
    ("immax.evaluation.statistics", "Statistical tests"),
    ("immax.evaluation.candidates", "Candidates of comparisons"),
    ("immax.compare", "Comparisons"),
    ("immax.plots", "Plots"),
    ("immax.report", "Reports"),
)
HEAD = """# API reference

Made by `python tools/api_reference.py` from the docstrings. `help(name)` shows the whole of them.
"""


class Package:
    """The modules of the package, read without importing them."""

    def __init__(self) -> None:
        self.trees: dict[str, ast.Module] = {}
        for path in sorted((ROOT / "src" / "immax").rglob("*.py")):
            parts = path.relative_to(ROOT / "src").with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            self.trees[name] = ast.parse(path.read_text(encoding="utf-8"))

    def exported(self, module: str) -> list[str]:
        """Return a module's ``__all__``."""
        for node in self.trees[module].body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                return list(ast.literal_eval(node.value))
        return []

    def summary(self, module: str, name: str) -> str:
        """Return the first sentence about a name, from where it is defined."""
        body = self.trees[module].body
        for place, node in enumerate(body):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
                return _first(ast.get_docstring(node))
            if name in _assigned(node):
                return _first(_string(body[place + 1])) if place + 1 < len(body) else ""
            if isinstance(node, ast.ImportFrom) and node.module in self.trees:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        inner = f"{node.module}.{alias.name}"
                        if inner in self.trees:
                            return _first(ast.get_docstring(self.trees[inner]))
                        return self.summary(node.module, alias.name)
        for other in self.trees:  # names that a package imports when they are asked for
            if other.startswith(f"{module}.") and name in self.exported(other):
                return self.summary(other, name)
        return ""


def _assigned(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Assign):
        return [ast.unparse(target) for target in node.targets]
    return [ast.unparse(node.target)] if isinstance(node, ast.AnnAssign) else []


def _string(node: ast.stmt) -> str | None:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return str(node.value.value)
    return None


def _first(docstring: str | None) -> str:
    return (docstring or "").strip().split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def _table(package: Package, module: str) -> list[str]:
    rows = [
        f"| `{name}` | {package.summary(module, name)} |"
        for name in sorted(package.exported(module), key=str.lower)
        if name != "__version__"
    ]
    return ["| name | what it is |", "| --- | --- |", *rows, ""]


def page() -> str:
    """Return the text of the page."""
    package = Package()
    lines = [HEAD]
    for module, title in PUBLIC:
        lines += [f"## {title}: `{module}`", "", *_table(package, module)]
    public = {module for module, _ in PUBLIC}
    lines += ["## Inside the package", "", "For those who work on immax itself.", ""]
    for module in package.trees:
        if module not in public and package.exported(module):
            lines += [f"### `{module}`", "", *_table(package, module)]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Write the page, or check that it is current."""
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        raise SystemExit("docs/api.md is not current: run python tools/api_reference.py")


if __name__ == "__main__":
    main()
