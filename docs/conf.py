"""Sphinx configuration; built by `make docs`, warnings as errors."""

from importlib.metadata import version as version_of

project = "lasthop"
author = "The lasthop authors"
copyright = "2026, the lasthop authors"
release = version_of("lasthop")
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["requirements.txt"]

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
napoleon_google_docstring = False
autodoc_typehints = "description"
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = "lasthop"
html_show_sourcelink = False
