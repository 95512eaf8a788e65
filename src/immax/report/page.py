"""The page of a comparison: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from immax.atomic import write_text
from immax.compare import Answer, Comparison
from immax.plots.axes import require_matplotlib
from immax.report.content import About, Page, describe_page

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

__all__ = ["About", "load_libraries", "render_page", "write_report"]


def load_libraries() -> None:
    """Import what writing a report needs, so that it is not missed after the work.

    Raises
    ------
    ImportError
        If Matplotlib or Jinja2 is not installed.
    """
    require_matplotlib()
    import matplotlib.backends.backend_svg
    import matplotlib.figure  # noqa: F401

    _require_jinja()


def write_report(
    path: Path,
    comparison: Comparison,
    answer: Answer,
    models: Mapping[str, Pipeline],
    about: About,
) -> None:
    """Write the page of a comparison atomically.

    Parameters
    ----------
    path : Path
        The HTML file to write.
    comparison : Comparison
        The finished comparison.
    answer : Answer
        Its ranking and recommendation.
    models : mapping of str to Pipeline
        Pipelines fitted to all rows, by method; that of "immax" shows its margins and its search.
    about : About
        Where the comparison comes from.

    Raises
    ------
    ImportError
        If Matplotlib or Jinja2 is not installed.
    """
    write_text(path, render_page(describe_page(comparison, answer, models, about)))


def render_page(page: Page) -> str:
    """Return the HTML of a page.

    Parameters
    ----------
    page : Page
        What the page shows.

    Returns
    -------
    str

    Raises
    ------
    ImportError
        If Jinja2 is not installed.
    """
    jinja2 = _require_jinja()
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("immax.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return str(templates.get_template("page.html").render(page=page))


def _require_jinja() -> ModuleType:
    try:
        import jinja2
    except ModuleNotFoundError as error:
        raise ImportError('reports need Jinja2: pip install "immax[report]"') from error
    return jinja2
