"""``immax export``: a model file as an ONNX file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["commands"]

commands = typer.Typer()


@commands.command()
def export(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The ONNX file to write.")] = Path(
        "model.onnx"
    ),
    max_model_size: Annotated[
        int,
        typer.Option(min=1, help="The largest size of the model file in MiB, packed and unpacked."),
    ] = 512,
) -> None:
    """Write a model as an ONNX file, with its preprocessing, probabilities and decision rule."""
    from immax.cli.output_files import check_output
    from immax.errors import WrongCall
    from immax.io import load_model
    from immax.onnx import save_onnx

    if out.suffix != ".onnx":
        raise WrongCall(f"an ONNX file has the ending .onnx; got {out}")
    check_output(out, [model])
    file = load_model(model, max_bytes=max_model_size * 2**20)
    try:
        save_onnx(file.model, out)
    except (TypeError, NotImplementedError) as error:
        raise WrongCall(str(error)) from error
    typer.echo(f"wrote {out}", err=True)
