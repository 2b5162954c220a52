# SPDX-License-Identifier: GPL-2.0-only
"""debian/leave, which packages run before their removal, with commands that exist only in a test."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "debian/leave"
HEAD = """echo '{"cells": []}'"""
CELLS = """echo '{"cells": [{"name": "quest"}, {"name": "b"}]}'"""
STOP, DISABLE, UNLOAD = "systemctl stop qv.service", "qvctl disable", "rmmod qv"


def leave(folder: Path, cell_list: str, rmmod: str = "exit 0",
          loaded: bool = True) -> tuple[int, str, list[str]]:
    """Returns the status, the output, and the commands that ran after `cell list`."""
    programs = {"qvctl": f'case "$*" in "cell list --json") {cell_list};; esac', "systemctl": "exit 0", "rmmod": rmmod}
    for name, body in programs.items():
        (folder / name).write_text(f'#!/bin/sh\necho "{name} $*" >>{folder}/calls\n{body}\n')
        (folder / name).chmod(0o755)
    if loaded:
        (folder / "device").touch()
    (folder / "calls").touch()
    code = SCRIPT.read_text()
    for path, fake in (("/dev/qv", "device"), ("/usr/sbin/qvctl", "qvctl"), ("/run/systemd/system", "")):
        assert path in code
        code = code.replace(path, str(folder / fake))
    done = subprocess.run(["sh", "-c", code, "leave", "qv-tools"], env={"PATH": f"{folder}:/usr/bin:/bin"},
                          text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    calls = (folder / "calls").read_text().splitlines()
    return done.returncode, done.stdout, [call for call in calls if call != "qvctl cell list --json"]


def test_machine_without_cells_is_given_back(tmp_path: Path) -> None:
    assert leave(tmp_path, HEAD) == (0, "", [STOP, DISABLE, UNLOAD])


def test_without_module_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert leave(tmp_path, HEAD, loaded=False) == (0, "", [])


def test_removal_with_cells_is_refused(tmp_path: Path) -> None:
    status, said, calls = leave(tmp_path, CELLS)
    assert "qv-tools: not removed, since there are cells: quest b\n" in said
    assert (status, calls) == (1, [])


@pytest.mark.parametrize("fails", ["exit 1", f"{HEAD}; exit 1", "echo NAME", "echo '{}'", "exit 0"])
def test_removal_is_refused_if_the_cells_are_unknown(tmp_path: Path, fails: str) -> None:
    status, said, calls = leave(tmp_path, fails, rmmod="exit 1")
    assert "qv-tools: not removed, since there may be cells" in said
    assert (status, calls) == (1, [UNLOAD])


def test_module_that_linux_unloads_has_no_cells(tmp_path: Path) -> None:
    assert leave(tmp_path, "exit 1") == (0, "", [UNLOAD])


def test_module_in_use_stays_and_qvctl_names_the_program(tmp_path: Path) -> None:
    disable = '"disable") echo QV is disabled; echo "  up is open in cat (process 9)"'
    status, said, calls = leave(tmp_path, f"{HEAD};; {disable}", rmmod="exit 1")
    assert said == "qv-tools: the module qv is still in use; it goes with the next boot\n  up is open in cat (process 9)\n"
    assert (status, calls) == (0, [STOP, DISABLE, UNLOAD, DISABLE])
