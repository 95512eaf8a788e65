"""Matplotlib figures as SVG elements in the colours of the page, with tooltips."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from immax.plots.axes import TOOLTIP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["page_style", "to_svg"]

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
INK = "#010203"  # a colour that no plot uses; it stands for the page's text colour
REFERENCE = re.compile(r"url\(#([^)]+)\)")

ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)


def page_style() -> dict[str, str | float | bool]:
    """Return Matplotlib's settings for figures of the page.

    Returns
    -------
    dict
        For ``matplotlib.rc_context``.
    """
    ink = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    return {
        **dict.fromkeys(ink, INK),
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 11,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
    }


def to_svg(figure: Figure, name: str, text: str) -> str:
    """Return a figure as an SVG element for the page.

    Text is drawn in the page's colour, tooltips become titles, and ids are unique on the page.

    Parameters
    ----------
    figure : matplotlib Figure
        A figure drawn with ``page_style()``.
    name : str
        A prefix for ids, different for every picture of a page.
    text : str
        A description for readers who do not see the picture.

    Returns
    -------
    str
    """
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        root = ElementTree.fromstring(_draw(figure))
    for element in root.findall(f"{{{SVG}}}metadata"):
        root.remove(element)
    referenced = _referenced_ids(root)
    for element in root.iter():
        _rewrite_ids(element, referenced, name)
        for key, value in list(element.attrib.items()):
            if INK in value:
                element.set(key, value.replace(INK, "currentColor"))
    for key in ("width", "height"):
        root.attrib.pop(key, None)
    root.set("role", "img")
    root.set("aria-label", text)
    root.set("class", "figure")
    return ElementTree.tostring(root, encoding="unicode")


def _draw(figure: Figure) -> bytes:
    """Return a figure as an SVG file, drawn once: ``savefig`` draws it twice to arrange it."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    canvas, stream = FigureCanvasSVG(figure), io.BytesIO()
    engine, dpi = figure.get_layout_engine(), figure.dpi
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")
        figure.dpi = dpi  # that of the layout is the file's, of pictures in it the figure's
    canvas.print_svg(stream, metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def _referenced_ids(root: Element) -> set[str]:
    """Return the ids that other elements refer to."""
    ids: set[str] = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            ids.update(REFERENCE.findall(value))
            if _is_internal_link(key, value):
                ids.add(value[1:])
    return ids


def _is_internal_link(key: str, value: str) -> bool:
    """Whether an attribute refers to another element rather than to an image."""
    return key == f"{{{XLINK}}}href" and value.startswith("#")


def _rewrite_ids(element: Element, referenced: set[str], name: str) -> None:
    """Prefix ids that are referred to, turn those of tooltips into titles, drop the others."""
    own = element.attrib.pop("id", "")
    if own.startswith(TOOLTIP):
        title = Element(f"{{{SVG}}}title")
        title.text = own.removeprefix(TOOLTIP)
        element.insert(0, title)
        element.set("class", "has-tooltip")
    elif own in referenced:
        element.set("id", f"{name}-{own}")
    for key, value in list(element.attrib.items()):
        if _is_internal_link(key, value):
            element.set(key, f"#{name}-{value[1:]}")
        elif "url(#" in value:
            element.set(key, REFERENCE.sub(rf"url(#{name}-\1)", value))
