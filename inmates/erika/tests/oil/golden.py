# SPDX-License-Identifier: GPL-2.0-only
"""The golden files of inmates/erika, made by the present compiler.

`make -C inmates/erika golden` writes them.
"""

from __future__ import annotations

from pathlib import Path

from oil.reference import page

import oilcases

TOP = Path(__file__).resolve().parents[4]
PAGES = TOP / "Documentation/reference"
TABLES = "## Objects and attributes of every dialect\n"


def golden() -> dict[Path, str]:
    """Returns the texts of the files: the messages of malformed.txt and the tables of the page of OIL."""
    manual = PAGES / "oil.md"
    return {
        oilcases.TABLE: oilcases.text(),
        manual: manual.read_text().partition(TABLES)[0] + page(),
    }


if __name__ == "__main__":
    for path, text in golden().items():
        path.write_text(text)
