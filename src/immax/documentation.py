"""Links from estimators to their pages in the documentation."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["DocumentationLink", "documentation_address"]

VARIABLE = "IMMAX_DOCS"
BUILT = Path(__file__).parents[2] / "docs" / "_build" / "html"  # in a clone of the repository
TOP_LEVEL = ("linear", "kernels", "search")  # packages whose estimators immax itself exports


def documentation_address() -> str | None:
    """Return where the documentation site is, or None if that is not known.

    It is the address or the folder in the environment variable ``IMMAX_DOCS``; without it, the site
    that ``make docs`` built in a clone of the repository.

    Returns
    -------
    str or None
        Without a slash at the end.

    Examples
    --------
    >>> os.environ["IMMAX_DOCS"] = "https://docs.example.org/immax/"
    >>> documentation_address()
    'https://docs.example.org/immax'
    >>> del os.environ["IMMAX_DOCS"]
    """
    given = os.environ.get(VARIABLE, "").rstrip("/")
    if "://" in given:
        return given
    folder = Path(given) if given else BUILT
    return folder.resolve().as_uri() if (folder / "index.html").exists() else None


class DocumentationLink:
    """Lets the HTML representation of an estimator link to its page in the documentation."""

    _doc_link_module = "immax"

    @property
    def _doc_link_template(self) -> str:
        address = documentation_address()
        return "" if address is None else f"{address}/reference/generated/{{page}}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        """Return the name of the page: that of the public module and of the class."""
        _, package, *_ = type(self).__module__.split(".")
        module = "immax" if package in TOP_LEVEL else f"immax.{package}"
        return {"page": f"{module}.{type(self).__name__}"}
