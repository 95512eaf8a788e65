"""Pictures as parts of a page: in its colours, with what their parts say."""

from __future__ import annotations

import io
import re
from typing import Any
from xml.etree import ElementTree

from immax.plots.axes import TOOLTIP

__all__ = ["page_style", "to_svg"]

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
INK = "#010203"  # a colour that no picture uses: that of the page's text
REFERENCE = re.compile(r"url\(#([^)]+)\)")

ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)


def page_style() -> dict[str, Any]:
    """Settings of Matplotlib for pictures that go to a page."""
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


def to_svg(figure: Any, name: str, text: str) -> str:
    """An element for a page.

    Parameters
    ----------
    figure : Figure
    name : str
        Different for all pictures of a page.
    text : str
        What a person who does not see the picture should know.
    """
    from matplotlib import rc_context

    stream = io.BytesIO()
    with rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    root = ElementTree.fromstring(stream.getvalue())
    for unwanted in [one for one in root if one.tag == f"{{{SVG}}}metadata"]:
        root.remove(unwanted)
    used = _references(root)
    for element in root.iter():
        _own_ids(element, used, name)
        for key, value in list(element.attrib.items()):
            if INK in value:
                element.set(key, value.replace(INK, "currentColor"))
    for key in ("width", "height"):
        root.attrib.pop(key, None)
    root.set("role", "img")
    root.set("aria-label", text)
    root.set("class", "figure")
    return ElementTree.tostring(root, encoding="unicode")


def _references(root: Any) -> set[str]:
    """The ids that something in the picture refers to."""
    found: set[str] = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            found.update(REFERENCE.findall(value))
            if _inner(key, value):
                found.add(value[1:])
    return found


def _inner(key: str, value: str) -> bool:
    """Whether an attribute refers to another element, rather than to an image."""
    return key == f"{{{XLINK}}}href" and value.startswith("#")


def _own_ids(element: Any, used: set[str], name: str) -> None:
    """Ids that no other picture of the page has; those that carry a text become it."""
    own = element.attrib.pop("id", "")
    if own.startswith(TOOLTIP):
        title = ElementTree.Element(f"{{{SVG}}}title")
        title.text = own.removeprefix(TOOLTIP)
        element.insert(0, title)
        element.set("class", "tip")
    elif own in used:
        element.set("id", f"{name}-{own}")
    for key, value in list(element.attrib.items()):
        if _inner(key, value):
            element.set(key, f"#{name}-{value[1:]}")
        elif "url(#" in value:
            element.set(key, REFERENCE.sub(rf"url(#{name}-\1)", value))
