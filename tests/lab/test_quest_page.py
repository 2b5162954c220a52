# SPDX-License-Identifier: GPL-2.0-only
"""A program that is built outside of the tree runs in a cell, as quest-programs.md says."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from lab.paths import BUILD, TOP
from product import Product
from test_watching import until

PAGE = (TOP / "Documentation/tutorial/quest-programs.md").read_text().split("\n## In a cell\n")[1].split("\n## ")[0]
FENCED = re.compile(r"(?ms)^```\w+\n(.*?)^```$")
BUILDING, PROMPT = ([line.strip() for line in lines.splitlines()]
                    for lines in re.findall(r"(?m)^(?:    \S.*\n)+", FENCED.sub("", PAGE)))
CREATE, QUESH, DESTROY = FENCED.findall(PAGE)[1].splitlines()


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Types the commands of the page where the files of `make install` are."""
    base = tmp_path_factory.mktemp("example")
    stage = base / "stage"
    environment = {**os.environ, "PKG_CONFIG_PATH": str(stage / "usr/share/pkgconfig")}

    def typed(line: str, folder: Path) -> None:
        done = subprocess.run(line, shell=True, cwd=folder, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert done.returncode == 0, f"{line}: {done.stdout}"
    typed(f"make -s -C {TOP}/inmates/quest/user O={BUILD}/lab/page DESTDIR={stage} install", base)
    copy, enter, *build = BUILDING
    typed(copy.replace("/usr", f"{stage}/usr"), base)
    assert enter == "cd hello"
    for line in (*build, "make more.cpio"):
        typed(line, base / "hello")
    return base / "hello"


def screen(qv: Product) -> str:
    return qv.sh(f"{QUESH} --dump")


def started(qv: Product) -> None:
    """Waits until the program that starts at boot has ended, and the shell has said so."""
    try:
        until(lambda: "hello from world" in screen(qv) and "hello has ended" in screen(qv), "the program has run")
    except AssertionError:
        print(screen(qv), *(qv.machine.run(f"qvctl cell {command} hello").out for command in ("show", "stats")),
              qv.machine.run("qvctl log").out[-3000:], sep="\n")
        raise


def test_program_of_the_page_runs_in_a_cell(qv: Product, example: Path) -> None:
    """It starts with its arguments before the first prompt, and again from the same module after a
    restart, although the file has changed."""
    qv.machine.put(example, "/run/hello")
    assert "runs" in qv.sh(f"cd /run/hello && {CREATE}")
    started(qv)
    line, wanted = PROMPT
    assert qv.quesh(line.removeprefix("> "), "hello") == wanted + "\n"
    assert qv.show("hello")["modules"] == [{"args": "hello world", "bytes": (example / "quest/hello").stat().st_size}]
    qv.sh("echo broken >/run/hello/quest/hello")
    qv.do("cell shutdown hello")
    qv.do("cell start hello")
    started(qv)
    assert qv.quesh(line.removeprefix("> "), "hello") == wanted + "\n"
    assert "Linux's again" in qv.sh(DESTROY)


def test_archive_in_a_cell(qv: Product, example: Path) -> None:
    """An archive and a module that Quest cannot use. The latter is named on the console."""
    qv.machine.put(example, "/run/hello")
    qv.sh("cd /run/hello && head -c 200 /dev/zero >zeros && "
          "sed -e 's/^  - file:.*/  - more.cpio/' -e 's/^    args:.*/  - zeros/' "
          "-e '/^cmdline/d' hello.yaml >archive.yaml && cat archive.yaml && qvctl cell create archive.yaml --start")
    until(lambda: "module 2 is not used: it is not cpio" in screen(qv), "the module is refused")
    files = qv.quesh("ls", "hello")
    assert re.search(r"(?m)^hello +\d+ bytes +program$", files) and re.search(r"(?m)^hello.yaml +\d+ bytes +data$", files)
    assert qv.quesh("hello sun", "hello") == "hello from sun\n"


def test_modules_must_fit(qv: Product, example: Path) -> None:
    """The driver refuses what qvctl cannot know: the size of the image in memory."""
    qv.machine.put(example, "/run/hello")
    qv.sh("cd /run/hello && truncate -s 3M big && sed -e 's/64M/4M/' -e 's/^  - file:.*/  - big/' -e '/^    args:/d' hello.yaml >big.yaml")
    said = qv.refused("cell create /run/hello/big.yaml")
    assert "the image 'quest.elf' cannot be loaded: its modules do not fit behind it" in said
    assert "give the cell more memory" in said
