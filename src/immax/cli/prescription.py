"""``immax margins``: what the theory prescribes for class counts."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from immax.cli.errors import explained

__all__ = ["margins"]


def margins(
    counts: Annotated[list[float], typer.Argument(help="Samples of each class.", min=1)],
    balanced: Annotated[
        bool, typer.Option("--balanced", help="For the balanced error, not the plain one.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """The theory's margins for class counts, and the box in which to search.

    With two classes, also the threshold: what probability of the second class the rule by score
    asks for.
    """
    import numpy as np

    from immax.margins import search_box, theory_margins

    with explained():
        m = np.array(counts)
        rho = theory_margins(m, costs=1 / m if balanced else None)
        box = search_box(rho)
    if as_json:
        content = {"counts": counts, "margins": rho.tolist()}
        content |= {"low": box[:, 0].tolist(), "high": box[:, -1].tolist()}
        typer.echo(json.dumps(content))
        return
    typer.echo(f"{'class':>5}  {'samples':>10}  {'margin':>8}  search from … to")
    for k, (count, margin) in enumerate(zip(counts, rho, strict=True)):
        typer.echo(f"{k:>5}  {count:>10g}  {margin:>8.4f}  {box[k, 0]:.4f} … {box[k, -1]:.4f}")
    if len(counts) == 2:
        typer.echo(f"class 1 is said where its probability is above {rho[1] / rho.sum():.4f}")
