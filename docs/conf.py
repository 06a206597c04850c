"""Sphinx configuration. `make docs` builds the site and treats warnings as errors.

The site loads nothing from other sites. MathJax is copied from a package into the site. The
workbench is also copied if it was built (`embedding.py`).
"""

import shutil
import sys
from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

project = "lasthop"
author = "The lasthop authors"
copyright = "2026, the lasthop authors"
release = version_of("lasthop")
version = release

extensions = [
    "embedding",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["requirements.txt"]

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
myst_url_schemes = ("http", "https", "mailto", "workbench")
napoleon_google_docstring = False
autodoc_typehints = "description"
autodoc_member_order = "bysource"

# The pages load MathJax from this site. `enableMenu` turns off the menu and the screen reader
# support of MathJax, because MathJax would load the files of both from another site.
mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {"options": {"enableMenu": False}}
MATHJAX = ("tex-chtml.js", "output/chtml/fonts")
"""Files of MathJax that the pages load: one script and its fonts."""

html_theme = "furo"
html_title = "lasthop"
html_show_sourcelink = False


def copy_mathjax(app: Any, error: Exception | None) -> None:
    """Copy MathJax into the folder of the site's scripts."""
    package = import_module("sphinx-mathjax-offline").__file__
    if error is not None or package is None:
        return
    package_folder = Path(package).parent / "static" / "mathjax"
    here = Path(app.outdir) / "_static" / "mathjax"
    for name in MATHJAX:
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        if (package_folder / name).is_dir():
            shutil.copytree(package_folder / name, here / name, dirs_exist_ok=True)
        else:
            shutil.copy(package_folder / name, here / name)


def setup(app: Any) -> None:
    """Register `copy_mathjax` with Sphinx."""
    app.connect("build-finished", copy_mathjax)
