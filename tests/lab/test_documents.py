# SPDX-License-Identifier: GPL-2.0-only
"""Files, functions, tests and attacks that the documents name exist."""

import fnmatch
import re
import subprocess
from pathlib import Path

import pytest

from lab.paths import TOP

PAGES = sorted([*TOP.glob("*.md"), *(TOP / "Documentation").rglob("*.md")])
LINK = re.compile(r"\]\(([^)#]+?)(?:#[^)]*)?\)")
WRITTEN_BY_QVOIL = {"out/os_config.c", "out/os_config.h", "os_config.c", "os_config.h", "lamp.c"}
CODE = re.compile(r"`([^`\n]+)`")


def attacks() -> set[str]:
    """Returns the names of all attacks."""
    printed = subprocess.run([TOP / "tests/attack/table.py"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^\| `([a-z0-9-]+)`", printed, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_have_targets(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    dead = [link for link in links if not (page.parent / link).exists()]
    assert not dead


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_named_files_exist(page: Path) -> None:
    """Each file name in code quotes, such as `front/touch.c`, must be the end of a path in the
    tree, or a file that qvoil writes."""
    known = {p.relative_to(TOP).as_posix() for folder in ("driver", "hypervisor", "include", "inmates", "lib", "tools", "tests", "scripts", "configs")
             for p in (TOP / folder).rglob("*") if p.is_file()} | WRITTEN_BY_QVOIL
    named = {word for word in CODE.findall(page.read_text())
             if re.fullmatch(r"(?:[\w-]+/)*[a-z][a-z0-9_-]*\.(?:c|h|S|py)", word)}
    missing = {word for word in named if not any(f"/{path}".endswith(f"/{word}") for path in known)}
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_named_tests_exist(page: Path) -> None:
    named = {word for word in CODE.findall(page.read_text()) if re.fullmatch(r"test_\w+", word)}
    code = "".join(path.read_text() for path in sources(".py"))
    assert not {word for word in named if f"def {word}(" not in code}


def sources(*suffixes: str) -> list[Path]:
    folders = ("driver", "hypervisor", "include", "inmates", "lib", "tools", "tests")
    return [path for folder in folders for path in (TOP / folder).rglob("*")
            if path.suffix in suffixes or path.name == "Makefile"]


def test_cited_laws_exist() -> None:
    """A law that a comment or a page cites by its number must be in laws.md."""
    laws = re.findall(r"^## Law (\d+):", (TOP / "Documentation/laws.md").read_text(), re.MULTILINE)
    assert laws == [str(n + 1) for n in range(len(laws))] and laws
    for path in [*PAGES, *sources(".c", ".h", ".S", ".py")]:
        cited = re.findall(r"\blaw (\d+)", path.read_text(), re.IGNORECASE)
        assert set(cited) <= set(laws), path


def test_contributing_names_existing_functions() -> None:
    pages = (TOP / "CONTRIBUTING.md", TOP / "Documentation/how-to/yaml-key.md")
    named = [name for page in pages for name in re.findall(r"`(?:\w+\.)?(\w+)\(\)`", page.read_text())]
    code = "".join(path.read_text() for path in sources(".c", ".py"))
    assert named
    assert not [name for name in named if not re.search(rf"\b{name}\(", code)]


def test_security_model_names_existing_attacks() -> None:
    known = attacks()
    families = {name.split("-")[0] for name in known}
    text = (TOP / "Documentation/explanation/security-model.md").read_text()
    named = {word for word in CODE.findall(text) if re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*-(?:[a-z0-9]*\*|[a-z0-9]+)", word)
             and (word.endswith("*") or word.split("-")[0] in families)}
    assert named, "no attack was found in the page"
    missing = {word for word in named if not fnmatch.filter(known, word)}
    assert not missing


def test_hardware_notes_name_existing_functions() -> None:
    """hardware-notes.md: each `file::name` is a function or a test in that file."""
    sources = [path for folder in ("driver", "hypervisor", "tests")
               for path in (TOP / folder).rglob("*") if path.suffix in (".c", ".S", ".py")]
    page = (TOP / "Documentation/how-to/hardware-notes.md").read_text()
    named = re.findall(r"`([\w./-]+)::(\w+)`", page)
    assert len(named) > 30, "almost no function was found in the page"
    missing = [f"{file}::{name}" for file, name in named
               if not any(f"/{path}".endswith(f"/{file}") and re.search(rf"\b{name}\b", path.read_text()) for path in sources)]
    assert not missing


def test_tutorial_programs_equal_shipped_programs() -> None:
    """quest-programs.md: each whole C program equals a file of inmates/quest/user/programs, except
    for the comments at the file's head."""
    page = (TOP / "Documentation/tutorial/quest-programs.md").read_text()
    shown = re.findall(r"^```c\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    shown = [code for code in shown if "int main(" in code]
    assert len(shown) >= 2
    shipped = [path.read_text() for path in (TOP / "inmates/quest/user/programs").glob("*.c")]
    assert [code for code in shown if not any(source.endswith(code) for source in shipped)] == []


def test_channel_format_shows_the_tested_example() -> None:
    """channel-format.md: the C program is lib/examples/lastvalue.c without the head comment."""
    page = (TOP / "Documentation/reference/channel-format.md").read_text()
    shown = re.findall(r"^```c\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(shown) == 1 and (TOP / "lib/examples/lastvalue.c").read_text().endswith(shown[0])
