# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx: the documents as a book (HTML) and as manual pages. `make doc` runs it.

README and CONTRIBUTING are chapters too. A link to any other file outside this folder becomes plain
text, and a link to a file that does not exist is a warning."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

project = "QV"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["Makefile"]
myst_heading_anchors = 4
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "description": "cells next to a running Linux"}
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

# page, name, description, authors, section of the manual
man_pages = [
    ("reference/qvctl", "qvctl", "manage QV and its cells", "", 8),
    ("reference/qvbench", "qvbench", "measure QV on this machine", "", 1),
    ("reference/quesh", "quesh", "a virtual terminal to a cell", "", 1),
    ("reference/configuration", "qv-cell", "the file that describes a cell", "", 5),
    ("reference/qv-conf", "qv.conf", "settings of QV's services", "", 5),
    ("reference/channel-format", "qv-channel", "the format of shared memory between cells", "", 7),
    ("reference/device-files", "qv", "device files of QV", "", 4),
    ("reference/oil", "qv-oil", "OIL files for erika", "", 5),
    ("reference/erika", "qv-erika", "an OSEK kernel for cells", "", 7),
]

FOLDER = Path(__file__).resolve().parent
# in a page: the command, run at the top of the tree, that prints the tables for this place
MADE = re.compile(r"<!-- made: ([^\n]+) -->\n")
CHAPTERS = {"index": FOLDER.parent / "README.md", "contributing": FOLDER.parent / "CONTRIBUTING.md"}
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")
logger = logging.getLogger(__name__)


def page_of(file: Path) -> Path | None:
    """Returns the page that shows a file, or None."""
    for name, chapter in CHAPTERS.items():
        if file == chapter:
            return FOLDER / f"{name}.md"
    return file if file.is_relative_to(FOLDER) and file.suffix != ".c" else None


def made(command: str) -> str:
    """Returns the tables that a command prints."""
    return subprocess.run(command.split(), cwd=FOLDER.parent, capture_output=True, text=True,
                          check=True).stdout


def link_inside(app: Sphinx, name: str, source: list[str]) -> None:
    """Makes the links of a page lead to pages of the book."""
    here = FOLDER / f"{name}.md"
    origin = CHAPTERS.get(name, here)
    text = source[0] if origin == here else origin.read_text() + source[0]

    def link(found: re.Match[str]) -> str:
        words, target, anchor = found[1], found[2], found[3] or ""
        file = Path(os.path.normpath(origin.parent / target))
        if not file.exists():
            logger.warning("%s: a link to %s, which does not exist", origin.name, target, type="qv")
        page = page_of(file)
        if page is None or not page.is_file():
            return words
        return f"[{words}]({os.path.relpath(page, here.parent)}{anchor})"

    source[0] = LINK.sub(link, text)
    source[0] = MADE.sub(lambda found: made(found[1]), source[0])



def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", link_inside)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
