"""Sphinx configuration."""

import warnings

import matplotlib

import lessnaive
from lessnaive import datasets

matplotlib.use("Agg")  # no screen is needed

project = "lessnaive"
author = "The lessnaive developers"
copyright = f"2026, {author}"
version = release = lessnaive.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]
nitpicky = True  # every reference leads somewhere

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
autodoc_mock_imports = ["river"]  # whose own methods are not to be described here


def can_be_had(table: str) -> bool:
    """Whether a table that an example needs is at hand or on OpenML."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about retries
            datasets.load(table)
    except FileNotFoundError as error:
        print(f"An example is shown but not run. {error}")
        return False
    return True


# Examples by the table that they need.
needed = {"heart": "heart-statlog", "spam": "spambase"}
absent = [example for example, table in needed.items() if not can_be_had(table)]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": f"/plot_(?!{'|'.join(absent)})" if absent else "/plot_",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": float("inf"),
    "show_signature": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"lessnaive {release}"
html_theme_options = {
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_sourcelink = False
# Pages that stand alone have no section to navigate.
html_sidebars = {
    page: [] for page in ("index", "getting_started", "one_idea", "development", "changelog")
}
