"""Show the short formulas of a text, such as m_k^{1/3}, with subscripts and superscripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docutils import nodes
from sphinx.addnodes import desc_signature
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

SCRIPT = re.compile(
    r"""
      _ \{ (?P<sub> (?: [^{}] | \{[^{}]*\} )+ ) \}              # max_{j≠y}
    | (?<![^\W\d]\w)(?<!\.\w)(?<=\w) _ (?P<letter>\w) (?![^\W²³])  # h_j and 2r_k, but not n_jobs
    | (?<=\S) \^ \{ (?P<sup> (?: [^{}] | \{[^{}]*\} )+ ) \}   # n^{−u}
    | (?<=\S) \^ (?P<plain> [-−]? \w+ )                       # n^t
    """,
    re.VERBOSE,
)
VERBATIM = (
    nodes.literal,
    nodes.FixedTextElement,
    nodes.Invisible,
    nodes.math,
    nodes.raw,
    desc_signature,
)


def typeset(text: str) -> Iterator[nodes.Node]:
    """Yield the parts of a text, those after ``_`` and ``^`` as subscripts and superscripts."""
    end = 0
    for match in SCRIPT.finditer(text):
        if match.start() > end:
            yield nodes.Text(text[end : match.start()])
        found = match.groupdict()
        below = found["sub"] or found["letter"]
        script = nodes.subscript() if below else nodes.superscript()
        script += list(typeset(below or found["sup"] or found["plain"]))
        yield script
        end = match.end()
    if end < len(text):
        yield nodes.Text(text[end:])


class Formulas(SphinxPostTransform):
    """Typeset the texts of a page that are not code."""

    default_priority = 900
    formats = ("html",)

    def run(self, **_options: object) -> None:
        """Replace the texts that have subscripts or superscripts."""
        for text in list(self.document.findall(nodes.Text)):
            if SCRIPT.search(text) and not _is_verbatim(text):
                text.parent.replace(text, list(typeset(text)))


def _is_verbatim(node: nodes.Node) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, VERBATIM):
            return True
    return False


def setup(app: Sphinx) -> dict[str, bool]:
    """Typeset formulas when pages are written."""
    app.add_post_transform(Formulas)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
