"""``immax margins``: the margins that the theory prescribes for class counts."""

from __future__ import annotations

import json
from typing import Annotated

import typer

__all__ = ["commands"]

commands = typer.Typer()


@commands.command()
def margins(
    counts: Annotated[
        list[float], typer.Argument(help="The number of samples of each class.", min=1)
    ],
    balanced: Annotated[
        bool, typer.Option("--balanced", help="For the balanced error instead of the plain one.")
    ] = False,
    total: Annotated[
        float | None,
        typer.Option(
            help="The sum of the margins: 1 for the paper's scaling. By default the number of "
            "classes, so that their mean is one.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the margins as JSON.")] = False,
) -> None:
    """Show the margins that the theory prescribes, and the box in which to search for better ones.

    With two classes, also show the threshold: the probability above which the second class is
    predicted by its score.
    """
    import numpy as np

    from immax.margins import search_box, theory_margins

    m = np.array(counts)
    rho = theory_margins(
        m, costs=1 / m if balanced else None, total=len(counts) if total is None else total
    )
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
        threshold = rho[1] / (rho[0] + rho[1])
        typer.echo(f"class 1 is predicted when its probability exceeds {threshold:.4f}")
