"""Counts the places in which the formulas of the kernel are written.

Each stands once in NumPy, once in compiled form and once in PyTorch operations; everything else
calls these. A place is found by its syntax, whatever its variables are called beyond the names of
LossSpec's columns. The division of scores by a margin alone is too short to be called in all
places; those that write it again are listed with their reasons.
"""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import immax

ROOT = Path(immax.__file__).parent
# Everything that computes with a LossSpec; elsewhere the same names mean other things.
USERS = ("losses/", "compiled/", "boosting/", "torch/", "links")
ADDITIONS, DIFFERENCES = (ast.Add,), (ast.Sub,)


def mentions(tree: ast.AST, *names: str) -> bool:
    """Return whether an identifier or attribute of these names occurs in a syntax tree."""
    return any(
        (isinstance(node, ast.Name) and node.id in names)
        or (isinstance(node, ast.Attribute) and node.attr in names)
        for node in ast.walk(tree)
    )


def operations(tree: ast.AST, kinds: tuple[type, ...]) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield the operands of the operations of these kinds, ``a - b`` as well as ``a -= b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, kinds):
            yield node.left, node.right
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, kinds):
            yield node.target, node.value


def calls(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    """Yield the calls of functions or methods of these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in names:
                yield node


def has_focal_factor(tree: ast.AST) -> bool:
    """``… ** focus`` or ``….pow(focus)``, whatever is done to the exponent."""
    powers = [right for _, right in operations(tree, (ast.Pow,))]
    powers += [argument for call in calls(tree, "pow", "power") for argument in call.args]
    return any(mentions(exponent, "focus") for exponent in powers)


def has_adjustment(tree: ast.AST) -> bool:
    """``… + offset``, the last step of the adjustment of scores."""
    added = [right for _, right in operations(tree, ADDITIONS)]
    added += [call.args[0] for call in calls(tree, "addcmul")]
    return any(mentions(operand, "offset") for operand in added)


def has_division_by_margin(tree: ast.AST) -> bool:
    """``h / rho`` or ``h * slope``: scores divided by a margin, or by its inverse."""
    scores = ("h", "z", "logits", "scores", "score", "rows", "features", "top")
    margins, slopes = ("rho", "temperature", "margin", "margins"), ("slope", "slopes")
    divisions = list(operations(tree, (ast.Div,)))
    products = list(operations(tree, (ast.Mult,)))
    for names, pairs in (
        (("div", "div_", "divide", "true_divide"), divisions),
        (("mul", "mul_", "multiply"), products),
    ):
        for call in calls(tree, *names):
            is_method = isinstance(call.func, ast.Attribute) and len(call.args) == 1
            sides = [call.func.value, *call.args] if is_method else call.args
            pairs += [(sides[0], sides[1])] if len(sides) > 1 else []
    products += [(right, left) for left, right in products]
    return any(
        mentions(left, *scores) and mentions(right, *by)
        for pairs, by in ((divisions, margins), (products, slopes))
        for left, right in pairs
    )


def has_target_offset(tree: ast.AST) -> bool:
    """``… - target_offset``, or the addition of its negative."""
    taken = [right for _, right in operations(tree, DIFFERENCES)]
    taken += [
        node.operand
        for node in ast.walk(tree)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    ]
    return any(mentions(operand, "target_offset") for operand in taken)


def has_softmax_of_others(tree: ast.AST) -> bool:
    """``others - (1 - target)``, by which ``-log p`` keeps its precision near ``p = 1``."""

    def is_one(node: ast.AST) -> bool:
        return (isinstance(node, ast.Constant) and node.value == 1) or mentions(node, "one")

    return any(
        isinstance(right, ast.BinOp) and isinstance(right.op, ast.Sub) and is_one(right.left)
        for _, right in operations(tree, DIFFERENCES)
    )


def has_guard(tree: ast.AST) -> bool:
    """A lower bound of ``1 - p``."""
    bounds = calls(tree, "max", "maximum", "clip", "clamp", "clamp_min", "where")
    bounded = [ast.Tuple(elts=list(call.args)) for call in bounds]
    return mentions(tree, "SMALLEST_PROBABILITY") or any(
        mentions(arguments, "rest", "share") for arguments in bounded
    )


FOCAL = {"losses/focal.py", "torch/focal.py"}  # compiled/focal.py compiles the first of them
ROWS = {"losses/softmax.py", "compiled/softmax.py"}
DIVISIONS = {
    "losses/softmax.py": "the kernel in NumPy",
    "compiled/softmax.py": "the kernel in compiled form",
    "torch/composite.py": "the kernel in PyTorch operations",
    "compiled/softmax_means.py": "margins alone, with less work for a row; tested against softmax",
    "torch/quick.py": "margins alone, in as few operations as it takes; tested against composite",
    "torch/vocabulary.py": "scores whose classes are spread over processes",
    "torch/scaled_features.py": "features, not scores, for the kernels of other libraries",
    "links.py": "the link, another function of the same quotients",
    "torch/links.py": "the link in PyTorch operations",
    "losses/margin_risks.py": "two classes with a single score",
    "torch/binary_loss.py": "two classes with a single logit",
    "losses/max_risks.py": "the max form, of differences of scores",
    "losses/surrogates.py": "other surrogates than the logistic one",
    "torch/surrogates.py": "other surrogates in PyTorch operations",
    "compiled/working_set.py": "the hinge, of differences of scores",
}
PLACES: dict[Callable[[ast.AST], bool], set[str]] = {
    has_focal_factor: FOCAL,
    has_guard: FOCAL,
    has_adjustment: ROWS | {"torch/composite.py"},
    has_division_by_margin: set(DIVISIONS),
    # Some closed forms of it are no adjustments: a method for two classes as the shift of a single
    # score (softmax_risks), and the stationary distribution for a single temperature (links, in
    # NumPy and in PyTorch); the divisor of soft targets needs the sum over the other classes.
    has_target_offset: ROWS
    | {"torch/composite.py", "losses/softmax_risks.py", "links.py", "torch/links.py"},
    has_softmax_of_others: ROWS,
}


@pytest.mark.parametrize("formula", PLACES, ids=lambda f: f.__name__)
def test_each_formula_is_written_only_in_these_files(formula):
    files = {path.relative_to(ROOT).as_posix(): path for path in ROOT.rglob("*.py")}
    places = {
        name
        for name, path in files.items()
        if name.startswith(USERS) and formula(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert places == PLACES[formula]


COPIES = {
    "slope = share**focus * nll": has_focal_factor,
    "bend = rest.pow(spec.focus - 1)": has_focal_factor,
    "z = h / temperature[y] + spec.offset": has_adjustment,
    "z += table.offset": has_adjustment,
    "z[j] = (h[i, j] - top) * slope": has_division_by_margin,
    "z = slope[t] * h": has_division_by_margin,
    "z = logits / rho.index_select(0, target).unsqueeze(1)": has_division_by_margin,
    "logits.div_(rho[y])": has_division_by_margin,
    "np.multiply(scores, slopes, out=z)": has_division_by_margin,
    "z[t] -= target_offset[t]": has_target_offset,
    "nll = top - z_y + np.log1p(rest - (1 - target))": has_softmax_of_others,
    "rest = max(rest, 1e-12)": has_guard,
    "q = np.clip(rest, 1e-12, 1)": has_guard,
}


@pytest.mark.parametrize("source", COPIES)
def test_a_copy_would_be_found(source):
    assert COPIES[source](ast.parse(source))
