"""Let links that are right in the repository lead to the pages of the site.

Pages link to each other, to the changelog and to examples by the paths of their files. Some of
these files have another place on the site: an example is a page of the gallery, and the API
reference is made from docstrings.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

PLACES = (
    (re.compile(r"\]\((?:\.\./)*CHANGELOG\.md"), "](/changelog.md"),
    (re.compile(r"\]\((?:\.\./)*CONTRIBUTING\.md"), "](/contributing.md"),
    (re.compile(r"\]\((?:\.\./)*CITATION\.cff"), "](/cite.md"),
    (re.compile(r"\]\((?:\.\./)*README\.md"), "](/index.md"),
    (re.compile(r"\]\((?:\.\./)*(?:docs/)?api\.md"), "](/reference/index.rst"),
    (re.compile(r"\]\((?:\.\./)*examples/gallery/README\.txt"), "](/gallery/index.rst"),
    (re.compile(r"\]\((?:\.\./)*examples/gallery/(\w+/\w+)\.py"), r"](/gallery/\1.rst"),
)


def replace_links(app: Sphinx, docname: str, source: list[str]) -> None:  # noqa: ARG001
    """Replace the links of a page before it is parsed."""
    for pattern, place in PLACES:
        source[0] = pattern.sub(place, source[0])


def replace_included(
    app: Sphinx,
    path: object,  # noqa: ARG001
    docname: str,
    source: list[str],
) -> None:
    """Replace the links of an included file."""
    replace_links(app, docname, source)


def setup(app: Sphinx) -> dict[str, bool]:
    """Read pages and included files with their links replaced."""
    app.connect("source-read", replace_links)
    app.connect("include-read", replace_included)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
