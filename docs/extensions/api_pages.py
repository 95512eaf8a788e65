"""Write the API reference of the site: a page for each public module, one for each of its names."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from api_reference import PUBLIC, Package

PUBLIC_MODULES = {module for module, _ in PUBLIC}
INDEX = """API reference
=============

Every public name of immax, by module.

.. toctree::
   :maxdepth: 1

{pages}
"""
PAGE = """{title}
{line}

.. currentmodule:: {module}

.. autosummary::
   :toctree: generated/
   :nosignatures:

{names}
"""


def _indented(lines: list[str]) -> str:
    return "\n".join(f"   {line}" for line in lines)


def _write(path: Path, text: str) -> None:
    """Write a page if it changed, so that Sphinx reads only new pages again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _new_names(module: str, names: list[str], seen: set[int]) -> list[str]:
    """Return the names of a module whose objects no module before it exports."""
    new = []
    for name in sorted(names, key=str.lower):
        value = getattr(import_module(module), name)
        has_page = f"{module}.{name}" in PUBLIC_MODULES
        if name != "__version__" and id(value) not in seen and not has_page:
            new.append(name)
            seen.add(id(value))
    return new


def write_pages(app: Sphinx, config: object) -> None:  # noqa: ARG001
    """Write the pages from the table of public modules in ``tools/api_reference.py``."""
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    package, seen, wanted = Package(), set(), set()
    for module, title in PUBLIC:
        heading = f"{title}: ``{module}``"
        names = _new_names(module, package.exported(module), seen)
        wanted |= {f"{module}.{name}.rst" for name in names}
        shown = _indented(names)
        text = PAGE.format(title=heading, line="=" * len(heading), module=module, names=shown)
        _write(folder / f"{module}.rst", text)
    for page in (folder / "generated").glob("*.rst"):
        if page.name not in wanted:
            page.unlink()
    _write(folder / "index.rst", INDEX.format(pages=_indented([module for module, _ in PUBLIC])))


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for its sources."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
