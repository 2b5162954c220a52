# SPDX-License-Identifier: GPL-2.0-only
"""Tests of scripts/circles: it finds circles of files, ignores calls from assembly, and checks
layers."""

import re
import subprocess
from pathlib import Path

import pytest

from lab.paths import TOP

CIRCLES = TOP / "scripts/circles"


def compiled(folder: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Compiles the sources and runs scripts/circles on them."""
    for name, text in files.items():
        for place in ("src", "obj"):
            (folder / place / name).parent.mkdir(parents=True, exist_ok=True)
        source = folder / "src" / name
        source.write_text(text)
        subprocess.run(["gcc", "-c", "-w", "-o", (folder / "obj" / name).with_suffix(".o"), source], check=True)
    return subprocess.run([CIRCLES, "--sources", folder / "src", "monitor", folder / "obj"],
                          capture_output=True, text=True, check=False)


@pytest.mark.parametrize("back, circle", [("int one(void); int three(void) { return one(); }", True),
                                          ("int three(void) { return 3; }", False)])
def test_circle_of_three_files_is_reported(tmp_path: Path, back: str, circle: bool) -> None:
    done = compiled(tmp_path, {
        "core/one.c": "int two(void); int one(void) { return two(); }",
        "svm/two.c": "int three(void); int two(void) { return three(); }",
        "core/three.c": back,
        "vmx/two.c": "int two(void) { return 2; }",
    })
    assert done.returncode == circle
    assert ("circles: svm: core/one.c core/three.c svm/two.c" in done.stderr) == circle
    assert "vmx: 3 files" in done.stdout and ", 0 circles" in done.stdout


def test_assembly_adds_no_arrow(tmp_path: Path) -> None:
    done = compiled(tmp_path, {
        "core/run.c": "void loop(void); void handle(void) { loop(); }",
        "core/loop.S": ".globl loop\nloop: call handle\n.section .note.GNU-stack\n",
    })
    assert done.returncode == 0 and "svm: 2 files, 1 arrows, 0 circles" in done.stdout


def test_missing_objects_are_reported(tmp_path: Path) -> None:
    (tmp_path / "one.c").touch()
    for words in (["--sources", str(tmp_path), "monitor", str(tmp_path)], ["quest", str(tmp_path)]):
        done = subprocess.run([CIRCLES, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "build it first" in done.stderr


def test_objects_without_sources_are_examined(tmp_path: Path) -> None:
    """Quest's objects are given one by one. Calls from its assembly count, and --why names
    symbols."""
    compiled(tmp_path, {
        "kernel/one.c": "int two(void); int one(void) { return two(); }",
        "kernel/two.c": "int one(void); int two(void) { return one(); }",
        "arch/three.S": ".globl three\nthree: call one\n.section .note.GNU-stack\n",
    })
    objects = sorted((tmp_path / "obj").rglob("*.o"))
    done = subprocess.run([CIRCLES, "--why", "--arrows", "quest", *objects],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "quest: arch/three -> kernel/one\n" in done.stdout
    assert "quest: 3 files, 3 arrows, 1 circles" in done.stdout
    assert "circles: quest: kernel/one kernel/two\n" in done.stderr
    assert "circles:     kernel/two: two\n" in done.stderr


@pytest.mark.parametrize(("folder", "states"), [("cell", "front|manager"), ("front", "cell")])
def test_code_of_one_role_names_no_state_of_another(folder: str, states: str) -> None:
    """The states of all roles are in every instance. An instance uses those of its own role."""
    named = [path.name for path in (TOP / "hypervisor" / folder).glob("*.[ch]")
             if re.search(rf"(me\(\)|inst)(->|\.)({states})\b", path.read_text())]
    assert not named
