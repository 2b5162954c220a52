# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell dump."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from qv import abi
from qv.errors import Refused
from running import Run

REFUSAL = Refused("cell 'quest' has not ended, and its memory is its own until then",
                  "shut it down, or wait until it fails", abi.Reason.E_STATE)


@pytest.fixture
def failed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    run.yaml.write_text(run.yaml.read_text().replace("64M", "4M") + "debug: true\n")
    run.create()
    info = run.device.cells["quest"]
    info.state = abi.State.FAILED
    info.failure.reason, info.failure.cpu, info.failure.rip = abi.Failure.MEMORY, 3, 0x100085
    return run


def test_core_is_in_the_present_folder_and_for_its_owner_only(failed: Run) -> None:
    assert failed("cell", "dump", "quest") == 0, failed.err
    assert failed.out == ("quest.core has the 4M of cell quest, and CPU 3 at 0x100085: "
                          f"gdb {failed.yaml.parent}/quest.elf quest.core\n")
    found = os.stat("quest.core")
    assert found.st_mode & 0o777 == 0o600 and found.st_size == 8 << 20
    assert Path("quest.core").read_bytes()[:4] == b"\x7fELF"


def test_core_replaces_the_one_before(failed: Run) -> None:
    for _ in range(2):
        found = failed.json("cell", "dump", "quest", "--file", "a.core", "--json")
        assert found == {"name": "quest", "file": "a.core", "memory": 4 << 20, "cpu": 3,
                         "rip": "0x100085", "paging": "off", "whole": True}
    assert [name for name in os.listdir(".") if "core" in name] == ["a.core"]


def test_cell_that_runs_is_refused_and_no_file_is_left(failed: Run) -> None:
    failed.device.refuse["memory"] = REFUSAL
    assert failed("cell", "dump", "quest") == 1
    assert failed.err == (f"qvctl: {REFUSAL.sentence}\n  remedy: {REFUSAL.remedy}\n")
    assert not Path("quest.core").exists()


def test_page_tables_that_do_not_fit_are_told(failed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qv.walk.MOST_TABLES", 0)
    failure = failed.device.cells["quest"].failure
    failure.cr0, failure.cr4, failure.efer = 0x80000001, 0x20, 0x500
    assert failed("cell", "dump", "quest") == 0
    assert "it lacks some virtual addresses" in failed.out
    assert failed.json("cell", "dump", "quest", "--json")["whole"] is False


@pytest.mark.parametrize("path", ["/dev/null", "/no/folder/core"])
def test_file_that_cannot_be_replaced_is_refused(failed: Run, path: str) -> None:
    assert failed("cell", "dump", "quest", "--file", path) == 1
    assert failed.err.startswith(f"qvctl: {path} ") and "remedy: name a" in failed.err
