# SPDX-License-Identifier: GPL-2.0-only
"""The page with all figures."""

import html
import re
from collections.abc import Sequence
from pathlib import Path

from figure import Shown

STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 60rem; margin: 2rem auto;
       padding: 0 1rem; color: #1f2933 }
table { border-collapse: collapse; font-size: 14px } th, td { padding: 2px 10px; text-align: right }
th { border-bottom: 1px solid #7b8794 } code { background: #f5f7fa }
svg { max-width: 100%; height: auto }
.broken { color: #b5332e; font-weight: bold } .about { color: #52606d; font-size: 14px }
"""


def _table(one: Shown) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in one.head)
    rows = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>\n" for row in one.rows)
    return f"<table><tr>{head}</tr>\n{rows}</table>\n" if one.head else ""


def _svg(folder: Path, name: str) -> str:
    """Returns the picture as a part of the page. Its ids get the file's name, so that they differ
    from those of other pictures."""
    if not name:
        return ""
    text = (folder / name).read_text()
    text = text[text.index("<svg"):]
    stem = Path(name).stem
    return re.sub(r'(id="|href="#|url\(#)', rf"\1{stem}-", text)


def _figure(folder: Path, one: Shown, command: str) -> str:
    verdict = "" if one.holds else '<p class="broken">A promise is broken here.</p>\n'
    return (f"<h3>{html.escape(one.title)}</h3>\n{verdict}<p>{html.escape(one.says)}</p>\n{_svg(folder, one.svg)}\n"
            f"{_table(one)}<p>{html.escape(one.agrees)}</p>\n"
            f'<p class="about">{one.observations} observations; again by <code>{html.escape(command)}</code></p>\n')


def page(folder: Path, parts: Sequence[tuple[str, str, Sequence[Shown]]], about: str) -> str:
    """Returns the page. Each part has a title, a command and its figures, whose pictures are in
    `folder`."""
    body = "".join(f"<h2>{html.escape(title)}</h2>\n" + "".join(_figure(folder, one, command) for one in shown)
                   for title, command, shown in parts)
    return (f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>QV: evaluation</title>\n<style>{STYLE}</style>\n'
            f"<h1>The experiments of the Quest-V papers, with QV</h1>\n<p>{html.escape(about)}</p>\n{body}</html>\n")
