"""``immax compare``: from a table of data to an answer, a page and a model."""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from immax.atomic import write_text
from immax.cli.errors import explained
from immax.errors import WrongCall

__all__ = ["compare"]

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def compare(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="CSV, TSV, Parquet, Feather or JSON lines; without it, a data set that comes "
            "with the package."
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column of the labels.")
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            help="What methods are ranked by: accuracy, balanced_accuracy, macro_f1, log_loss, "
            "ece or average_precision."
        ),
    ] = "accuracy",
    methods: Annotated[
        str | None, typer.Option(help="Names, divided by commas, or all of them: all.")
    ] = None,
    folds: Annotated[int, typer.Option(min=2)] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="Of all folds, divided anew.")] = 1,
    time_limit: Annotated[
        str | None, typer.Option(help="Such as 90s, 10m or 1h; what is done by then counts.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")] = Path(
        "comparison"
    ),
    seed: int = 0,
    rows: Annotated[
        int, typer.Option(min=100, help="Of larger tables a sample of so many rows is used.")
    ] = 100_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Compare methods on a table, say which to take, and write report.html and model.skops.

    The same command goes on where it was stopped: finished folds are kept in the folder.
    """
    from immax.compare import Protocol, answer, refit
    from immax.compare import compare as run
    from immax.io import save_model
    from immax.report.page import About, write_report

    start = time.perf_counter()
    with explained():
        limit = _seconds(time_limit)
        protocol = Protocol(metric, folds, repeats, seed)
        X, y, source, label, notices = _data(file, target, rows, seed)
        for notice in notices:
            typer.echo(f"immax: {notice}", err=True)
        with _Bar() as bar:
            found = run(
                X,
                y,
                methods=None if methods is None else [name.strip() for name in methods.split(",")],
                protocol=protocol,
                time_limit=limit,
                keep=out / "folds",
                on_piece=bar.show,
            )
            verdict = answer(found)
            bar.say("fitting the model")
            names = [verdict.recommended, *(["immax"] if "immax" in found.complete else [])]
            begun = time.perf_counter()
            models = {name: refit(found, name) for name in dict.fromkeys(names)}
            fitting = time.perf_counter() - begun
            bar.say("writing the report")
            save_model(
                models[verdict.recommended],
                out / "model.skops",
                schema=found.schema,
                target=label,
                metric=metric,
                counts=found.counts,
            )
            command = shlex.join(["immax", *sys.argv[1:]])
            about = About(source, label, command, time.perf_counter() - start, tuple(notices))
            write_report(out / "report.html", found, verdict, models, about)
        content = {**_content(found, verdict, about), "seconds_refit": fitting}
        content["seconds"] = time.perf_counter() - start
        write_text(out / "results.json", json.dumps(content, indent=1))
    typer.echo(json.dumps(content) if as_json else _shown(found, verdict, out))


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", text)
    if parts is None:
        raise WrongCall(f"--time-limit must be like 90s, 10m or 1h; got {text!r}")
    return float(parts[1]) * UNITS[parts[2]]


def _data(
    file: Path | None, target: str | None, rows: int, seed: int
) -> tuple[Any, Any, str, str, list[str]]:
    """Features, labels, where they come from, the column of the labels, and what to know."""
    from sklearn.model_selection import train_test_split

    from immax.datasets import load_page_blocks, read_table
    from immax.tabular import describe_columns

    if file is None:
        (X, y), source, target = load_page_blocks(), "the page blocks", "kind"
    elif target is None:
        raise WrongCall("say with --target which column has the labels")
    else:
        (X, y), source = read_table(file, target), file.name
    notices = [
        f"left out {column.name!r}: {column.why}" for column in describe_columns(X).left_out()
    ]
    if len(X) > rows:
        notices.append(f"{len(X):,} rows are many: a sample of {rows:,} is used (--rows)")
        common = y.map(y.value_counts()) > 1
        X, _, y, _ = train_test_split(
            X[common], y[common], train_size=rows, stratify=y[common], random_state=seed
        )
    return X.reset_index(drop=True), y.reset_index(drop=True), source, target, notices


class _Bar:
    """A bar for folds on a terminal, nothing in a pipe."""

    def __init__(self) -> None:
        from immax.cli.progress import quiet_progress

        self._progress = quiet_progress()
        self._task = self._progress.add_task("reading", total=None)

    def show(self, name: str, done: int, total: int) -> None:
        from immax.compare import CANDIDATES

        text = CANDIDATES[name].title if name else "done"
        self._progress.update(self._task, description=text, completed=done, total=total)

    def say(self, text: str) -> None:
        self._progress.update(self._task, description=text)

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._progress.stop()


def _content(found: Any, verdict: Any, about: Any) -> dict[str, Any]:
    from dataclasses import asdict

    from immax.evaluation.environment import describe_environment

    return {
        "format": 1,
        **verdict.to_dict(),
        "data": {
            "source": about.source,
            "target": about.target,
            "rows": len(found.codes),
            "classes": dict(zip(found.class_names, found.counts.tolist(), strict=True)),
            "columns": found.schema.to_list(),
        },
        "protocol": asdict(found.protocol),
        "folds": {name: found.scores(name) for name in found.complete},
        "chosen": {
            name: [piece.chosen for piece in pieces] for name, pieces in found.pieces.items()
        },
        "left_out": found.left_out,
        "command": about.command,
        "seconds_folds": sum(row.seconds for row in verdict.rows),
        "environment": describe_environment(),
    }


def _shown(found: Any, verdict: Any, out: Path) -> str:
    from immax.evaluation.metrics import METRICS

    names = [verdict.metric, *(name for name in METRICS if name != verdict.metric)]
    width = max(len(row.title) for row in verdict.rows)
    head = f"{'':{width}} {'gain':>8} {'95 % interval':>19}"
    lines = [head + "".join(f" {name.replace('_', ' '):>{_wide(name)}}" for name in names)]
    for row in verdict.rows:
        gain = f"{row.gain:+8.4f} {f'{row.low:+.4f} to {row.high:+.4f}':>19}"
        gain = gain if row.gain or row.low else f"{'':8} {'':19}"
        values = "".join(
            f" {row.measures[name]:{_wide(name)}.4f}"
            if name in row.measures
            else f" {'–':>{_wide(name)}}"
            for name in names
        )
        lines.append(f"{row.title:{width}} {gain}{values}")
    for name, why in found.left_out.items():
        lines.append(f"not compared: {name} ({why})")
    lines += [
        "",
        verdict.sentence,
        f"See {out / 'report.html'}; the model is {out / 'model.skops'}.",
    ]
    return "\n".join(lines)


def _wide(name: str) -> int:
    return max(8, len(name))
