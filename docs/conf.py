"""How the site is built: ``make docs``. Every number and picture on it is made by the build."""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

import selfselect

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "selfselect"
author = "The selfselect developers"
copyright = "The selfselect developers"
release = version = selfselect.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx_click",
    "commands",
]
exclude_patterns = ["_build", "gallery/README.rst", "**/GALLERY_HEADER.rst"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]
nitpicky = False

autosummary_generate = True
# the reference of selfselect.torch is made without PyTorch, too
autodoc_mock_imports = [name for name in ("torch", "skorch") if importlib.util.find_spec(name) is None]
autodoc_typehints = "none"  # numpydoc has the types, in words
numpydoc_show_class_members = True
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "selfselect"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
    "show_version_warning_banner": False,
    "use_edit_page_button": False,
    "logo": {"text": "selfselect"},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_show_sourcelink = False

# a quick build (SELFSELECT_DOCS=quick) leaves out what takes long: examples are shown, and not run
QUICK = os.environ.get("SELFSELECT_DOCS") == "quick"
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": "never" if QUICK else "/plot_",
    "within_subsection_order": "FileNameSortKey",
    "subsection_order": ExplicitOrder(["*"]),
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,  # that page would load scripts from elsewhere
    "abort_on_example_error": True,
    "plot_gallery": not QUICK,
    "min_reported_time": 60,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
    "copyfile_regex": "",
    "doc_module": (),
    "inspect_global_variables": False,
}
warnings.filterwarnings("ignore", category=UserWarning, message="FigureCanvasAgg is non-interactive")
