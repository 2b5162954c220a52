# SPDX-License-Identifier: GPL-2.0-only
"""Messages to users without root: about consoles, and about CPUs that cells may have."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from running import YAML, Run

from qv import device
from qv.system import System

DENIED = "qvctl: you may not open the console of quest\n  remedy: run it with sudo, or join the group qv-console\n"


@pytest.mark.parametrize("words", [["latency", "quest"], ["recovery", "quest"], ["cell", "console-log", "quest", "--stream"]])
def test_console_that_a_user_may_not_open(run: Run, words: list[str]) -> None:
    """The group qv looks at cells, and opens no console: the file of the cell is right."""
    run.create("--start")
    run.system.denied = True
    assert run(*words) == 1 and run.err == DENIED
    run.system.denied = False
    assert run(*words) == 1 and "console: true" in run.err and "may not open" not in run.err


def test_denied_console_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = System()
    system.root = str(tmp_path)
    (tmp_path / "dev/qv-cell/quest").mkdir(parents=True)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert not system.console_denied("quest")
    (tmp_path / "dev/qv-cell/quest/console").touch()
    assert system.console_denied("quest")
    monkeypatch.setattr(os, "access", lambda path, mode: True)
    assert not system.console_denied("quest")


@pytest.mark.parametrize("exists, offline", [(True, frozenset()), (False, frozenset({3}))])
def test_cpus_of_cells_that_a_user_cannot_see(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                              exists: bool, offline: frozenset[int]) -> None:
    """An offline CPU may belong to a cell: then `echo 1 >online` is the wrong remedy."""
    from qv import machine

    (tmp_path / "qv").touch()
    monkeypatch.setattr(device, "DEVICE", str(tmp_path / ("qv" if exists else "none")))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(machine, "read_text", lambda path: "3" if path.endswith("offline") else "0-3")
    assert System().running().offline == offline


def test_apply_needs_root(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_words: object, **_more: object) -> None:
        raise PermissionError(13, "Permission denied")

    run.yaml.write_text(YAML)
    assert run("enable") == 0
    monkeypatch.setattr(os, "makedirs", denied)
    for words in (["cell", "apply"], ["cell", "run"]):
        assert run(*words, str(run.yaml)) == 1
        assert run.err == "qvctl: this needs root\n  remedy: run it with sudo, or as root\n"
