# SPDX-License-Identifier: GPL-2.0-only
"""Types the commands of Documentation/tutorial/osek.md in a fresh folder, and those for the cell."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from lab.bare import Machine as Alone
from lab.paths import BUILD, TOP
from product import Product

PAGE = (TOP / "Documentation/tutorial/osek.md").read_text()
LINES = re.findall(r"^    (\S.*)$", PAGE, re.MULTILINE)
COMMANDS = [line.split("  #")[0].strip() for line in LINES]
SHOWN = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
IN_CELL = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CODE = re.findall(r"^```c\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


class Folder:
    """A folder outside the tree, with the installed files of QV in the path."""

    def __init__(self, base: Path) -> None:
        stage = base / "stage"
        self.path = base / "a b"
        self.path.mkdir()
        self.environment = {
            **os.environ, "PATH": f"{stage}/usr/bin:{os.environ['PATH']}",
            "PKG_CONFIG_PATH": str(stage / "usr/share/pkgconfig")
        }
        self.type(f"make -s -C {TOP}/inmates/erika/sdk O={BUILD}/lab/page DESTDIR={stage} install")

    def type(self, line: str, status: int = 0) -> str:
        if line.startswith("cd "):
            self.path /= line.split()[1]
            return ""
        done = subprocess.run(line, shell=True, cwd=self.path, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert done.returncode == status, f"{line}: {done.stdout}"
        return done.stdout

    def change(self, name: str, old: str, new: str) -> None:
        text = (self.path / name).read_text()
        assert old in text
        (self.path / name).write_text(text.replace(old, new))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def prints(image: Path, *lines: str) -> None:
    """Boots an image alone, as `make run` does, until it has printed these lines in this order."""
    with Alone("-kernel", str(image)) as machine:
        for line in lines:
            machine.expect(f"(?m)^{re.escape(line)}$")


def test_application_outside_the_tree(folder: Folder) -> None:
    """All of the page but the cell: the mistake has the message of the page, the changes work."""
    assert COMMANDS[1:3] == ["qvoil new lamp", "cd lamp"] and COMMANDS.count("make") == 1
    for line in (*COMMANDS[1:3], "make"):
        folder.type(line)
    mistake, screen, more = SHOWN
    prints(folder.path / "lamp32.elf", *screen.splitlines())
    folder.change("lamp.oil", "PRIORITY = 1;", "PRIORTY = 1;")
    assert mistake in folder.type("make", status=2)
    folder.change("lamp.oil", "PRIORTY = 1;", "PRIORITY = 1;")
    folder.change("lamp.oil", "= 500; CYCLETIME = 500;", "= 250; CYCLETIME = 250;")
    folder.change("lamp.oil", "\n};\n", f"\n{more}}};\n")
    (folder.path / "lamp.c").write_text((folder.path / "lamp.c").read_text() + CODE[0])
    folder.type("make")
    prints(folder.path / "lamp32.elf", "1 s", "2 s")
    for name in re.findall(r"^\| `([\w.]+)` \|", PAGE, re.MULTILINE):
        assert (folder.path / name).exists() or (folder.path / "out" / name).exists(), name


@pytest.mark.slow
def test_cell_of_the_page(qv: Product, folder: Folder) -> None:
    """The commands as root, typed where the files are. Only the terminal is left out."""
    for line in (*COMMANDS[1:3], "make"):
        folder.type(line)
    for name in ("lamp.elf", "lamp.yaml"):
        qv.machine.put(folder.path / name, f"/run/lamp/{name}")
    qv.do("enable")
    lines = [line.split("  #")[0].strip() for line in IN_CELL[0].splitlines()]
    assert len(lines) == 5 and lines[1] == "quesh lamp"
    create, tasks, latency, destroy = (
        qv.sh(f"cd /run/lamp && {line}") for line in lines if line != "quesh lamp")
    assert "runs" in create and re.search(r"(?m)^Lamp +\d", tasks), (create, tasks)
    assert "Half" in latency and "Linux's again" in destroy, (latency, destroy)
