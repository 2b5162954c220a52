# SPDX-License-Identifier: GPL-2.0-only
"""Saves the files and types the commands of Documentation/tutorial/inmates.md, verbatim."""

import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.paths import BUILD, TOP
from product import Product
from test_watching import until

PAGE = (TOP / "Documentation/tutorial/inmates.md").read_text()
TINY = PAGE.partition("## A silent inmate")[0]
IN_THE_TREE = re.compile(r"^    (gcc .*)$", re.MULTILINE)
IN_LINUX = re.compile(r"^    ((?:qvctl|quesh) .*)$", re.MULTILINE)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def tiny(folder: Path, change: Callable[[str], str] = str) -> Path:
    (folder / "tiny.c").write_text(change(blocks("c")[0]))
    (line,) = IN_THE_TREE.findall(PAGE)
    words = [str(TOP / "include") if word == "include" else word for word in shlex.split(line)]
    subprocess.run(words, cwd=folder, check=True)
    return folder / "tiny.elf"


def small(folder: Path) -> Path:
    (folder / "small.c").write_text(blocks("c")[1])
    (folder / "Makefile").write_text(blocks("make")[0])
    subprocess.run(["make", "-s", f"TOP={TOP}", f"O={BUILD}/lab/page"], cwd=folder, check=True)
    return folder / "small.elf"


@pytest.mark.both_vendors
@pytest.mark.parametrize("make", [
    pytest.param(tiny, id="tiny"), pytest.param(small, id="small", marks=pytest.mark.slow)])
def test_smallest_inmate_builds_and_runs(qv: Product, tmp_path: Path, make: type) -> None:
    elf = make(tmp_path)
    qv.machine.put(elf, "/run/page/tiny.elf")
    (tmp_path / "tiny.yaml").write_text(blocks("yaml")[0])
    qv.machine.put(tmp_path / "tiny.yaml", "/run/page/tiny.yaml")
    create, terminal, shutdown, destroy = (
        line.split("  ")[0] for line in IN_LINUX.findall(TINY) if "NAME" not in line)
    assert terminal == "quesh tiny"
    qv.sh(f"cd /run/page && {create}")
    until(lambda: qv.show("tiny")["heartbeat"] > 1, "a heartbeat", 60)
    shown = qv.machine.start(terminal, tty=(25, 80))
    until(lambda: b"hello from" in shown.output, "its greeting on the terminal", 60)
    shown.write(b"\x1d")
    qv.machine.finish(shown, 120)
    qv.sh(shutdown)
    assert qv.show("tiny")["state"] == "shut-down"
    qv.sh(destroy)
