"""The modules of the package as syntax trees: names, imports and ``__all__`` without importing."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"


def module_paths():
    """Return the file of every module of the package by its dotted name."""
    found = {}
    for path in sorted((SOURCE / "immax").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path
    return found


@cache
def tree_of(path):
    """Return the syntax tree of a file, which nobody changes."""
    return ast.parse(path.read_text(encoding="utf-8"))


def exported_names(tree):
    """Return the entries of a module's ``__all__``, in order."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [element.value for element in node.value.elts]
    return []


def imports(tree, modules, *, deferred):
    """Return the modules of the package that a module imports when it runs.

    With ``deferred`` also those that its functions import when they are called. What is imported
    for type checking alone does not count.
    """
    found = set()
    pending = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += node.orelse
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and not deferred:
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names if alias.name.startswith("immax"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("immax"):
            for alias in node.names:
                own = f"{node.module}.{alias.name}"
                found.add(own if own in modules else node.module)
        pending += ast.iter_child_nodes(node)
    return found
