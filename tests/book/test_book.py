# SPDX-License-Identifier: GPL-2.0-only
"""The book and the manual pages that Documentation/Makefile has made."""

import html
import os
import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
DOC = Path(os.environ["DOC"])


def test_book_has_every_page() -> None:
    pages = {p.relative_to(TOP / "Documentation").with_suffix("") for p in (TOP / "Documentation").rglob("*.md")}
    made = {p.relative_to(DOC / "html").with_suffix("") for p in (DOC / "html").rglob("*.html")}
    assert pages and pages <= made


def test_links_between_pages_stay_in_the_book() -> None:
    """No link leads to a Markdown file, and each leads to a file of the book."""
    for page in (DOC / "html").rglob("*.html"):
        for target in re.findall(r'href="([^"#:?]+)(?:#[^"]*)?"', page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("name, word", [
    ("qvctl.8", "cell shutdown NAME"), ("quesh.1", "detach"), ("qvbench.1", "--settle"), ("qv.conf.5", "QV_RESTARTS"),
    ("qv-cell.5", "watchdog"),
    ("qv-channel.7", "ring"), ("qv.4", "QV_IOC_STATUS"), ("qv-oil.5", "TASK"), ("qv-erika.7", "OSEK")])
def test_manual_page_is_readable(name: str, word: str) -> None:
    made = DOC / "man" / name
    text = subprocess.run(["groff", "-t", "-man", "-Tutf8", "-P-cbou", made],
                          capture_output=True, text=True, check=True)
    assert "error" not in text.stderr, text.stderr  # narrow columns of tables cause warnings
    assert word in re.sub(r"\s+", " ", text.stdout)


def test_messages_of_the_product_are_in_the_book() -> None:
    """Each refusal of the driver, of qvctl and of a file's check has a row, and so have sentences
    that machines have printed."""
    page = html.unescape(re.sub(r"<[^>]+>", "", (DOC / "html/reference/messages.html").read_text()))
    shown = re.sub(r"\s+", " ", page.translate(str.maketrans("‘’“”", "\'\'\"\"")))
    for sentence in ("there is a cell '…' already", "the module qv is not loaded, and only root may load it",
                     "the cell … is shut down", "it sent an IPI to a CPU that is not its own", "no such cell instance",
                     "CPU 0 always stays with Linux", "only a ring has `…`".replace("`", "")):
        assert sentence in shown.replace("`", ""), sentence
    calls = sum(file.read_text().count("qv_refuse(") for file in (TOP / "driver").rglob("*.c"))
    driver = shown[shown.index("The driver¶"):shown.index("The monitor¶")]
    rows = subprocess.run([TOP / "scripts/messages"], capture_output=True, text=True, check=True).stdout
    table = rows[rows.index("## The driver"):rows.index("## The monitor")].splitlines()[5:]
    assert len(driver) > 5000 and len([row for row in table if row]) > calls * 0.9


@pytest.mark.parametrize("page, rows", [("attacks", 500), ("msrs", 100), ("ports", 15), ("erika-conformance", 450)])
def test_tables_are_made_of_the_sources(page: str, rows: int) -> None:
    text = (DOC / f"html/reference/{page}.html").read_text()
    assert text.count("<tr") > rows and "made:" not in text


def test_dead_link_fails_the_build(tmp_path: Path) -> None:
    """The build notices a link to a file that is absent and one to a heading that is absent."""
    (tmp_path / "Documentation").mkdir()
    for file in ("Documentation/conf.py", "README.md", "CONTRIBUTING.md"):
        (tmp_path / file).write_text((TOP / file).read_text() if file.endswith(".py") else "# A page\n")
    index = tmp_path / "Documentation/index.md"
    for text, wrong in (("[here](absent.md)", True), ("[here](#absent)", True), ("[here](#a-page)", False)):
        index.write_text(f"\n{text}\n")
        done = subprocess.run(["python3", "-B", "-m", "sphinx", "-q", "-W", "-b", "html", index.parent, tmp_path / "html"],
                              capture_output=True, text=True, check=False)
        assert bool(done.returncode) == wrong, done.stderr
