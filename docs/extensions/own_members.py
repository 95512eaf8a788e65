"""Document the members of a class that immax defines, and none of those of other libraries."""

from __future__ import annotations

from sphinx.application import Sphinx


def skip_foreign(
    app: Sphinx,  # noqa: ARG001
    kind: str,
    name: str,
    member: object,
    skip: bool,
    options: object,  # noqa: ARG001
) -> bool | None:
    """Leave out a member of a class if it comes from another library."""
    if kind != "class" or skip:
        return None
    if "<locals>" in getattr(member, "__qualname__", ""):
        return True  # methods that a loop makes, to refuse those of CatBoost
    function = getattr(member, "fget", None) or getattr(member, "func", None) or member
    module = getattr(function, "__module__", None) or ""
    return None if module.startswith("immax") and not name.endswith("_request") else True


def setup(app: Sphinx) -> dict[str, bool]:
    """Ask for every member."""
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
