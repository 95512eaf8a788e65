"""Settings of the documentation site; `make docs` builds it."""

import sys
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

import immax

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "extensions"))

project = "immax"
author = "The immax developers"
copyright = "The immax developers"  # noqa: A001
version = release = immax.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "api_pages",
    "formulas",
    "own_members",
    "repository_links",
]
exclude_patterns = ["_build", "extensions", "templates", "api.md", "results/*.words.md"]
exclude_patterns += ["**/sg_execution_times.rst", "sg_execution_times.rst"]
exclude_patterns += ["gallery/**/*.ipynb", "gallery/**/*.py"]
templates_path = ["templates"]
root_doc = "index"
nitpicky = True
smartquotes = False
toc_object_entries_show_parents = "hide"
suppress_warnings = ["config.cache"]  # the order of the gallery is an object

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

SECTIONS = ("margins", "probabilities", "decisions", "models", "networks", "scale", "theory")
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": "plot_",
    "subsection_order": ExplicitOrder(
        [f"../examples/gallery/{name}" for name in SECTIONS],
    ),
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 0,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "immax"
html_static_path = ["static"]
html_css_files = ["immax.css"]
html_favicon = "static/logo.svg"
html_copy_source = False
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "immax", "image_light": "static/logo.svg", "image_dark": "static/logo.svg"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navigation_depth": 2,
    "collapse_navigation": True,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "getting-started": [], "cite": [], "changelog": []}
