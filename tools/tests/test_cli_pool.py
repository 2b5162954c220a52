# SPDX-License-Identifier: GPL-2.0-only
"""qvctl pool, and the pool in status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import Run

from qv.errors import NotLoaded
from qv.machine import Machine


def test_pool_is_set_and_shown(run: Run) -> None:
    assert run.json("--json", "pool") == {"size": 0, "free": 0, "lent": 0, "cpus": [], "changed": False, "duration_ns": 0, "held_ns": 0}
    assert run("pool") == 0 and run.out == "there is no pool of memory for cells\n"
    assert run("pool", "--set", "512M") == 0
    assert run.device.calls == ["pool 512"]
    assert run.out == "the pool has 512M for cells, 512M of it free (1.5 ms)\n"
    run.create()
    assert run("status") == 0 and "the pool has 512M for cells, 448M of it free\n" in run.out
    assert run.json("--json", "status")["pool"] == {"size": 512 << 20, "free": 448 << 20, "lent": 64 << 20}
    assert run("pool", "--set", "0") == 0 and run.device.pool_size == 0


def test_cpus_are_kept_and_shown(run: Run) -> None:
    assert run.json("--json", "pool")["cpus"] == []
    assert run("pool", "--cpus", "2-3") == 0 and run.device.calls == ["keep [2, 3]"]
    assert run.out == "there is no pool of memory for cells; CPUs 2-3 kept ready for cells (1.5 ms)\n"
    assert run("pool") == 0 and "; CPUs 2-3 kept ready for cells\n" in run.out
    assert "cpus" not in run.json("--json", "pool", "--set", "2M"), "an older module has no such call"
    assert run("pool", "--cpus", "2") == 0 and run.out.endswith("; CPU 2 kept ready for cells; CPU 3 given back to Linux (1.5 ms)\n")
    assert run("pool", "--cpus", "none", "--set", "0") == 0
    assert run.out == "there is no pool of memory for cells; CPU 2 given back to Linux (1.5 ms)\n"
    assert run.device.calls[1:] == ["pool 2", "keep [2]", "keep []", "pool 0"]


@pytest.mark.parametrize("cpus", ["3-2", "a", "1,,2", "1-2-3", "-1", "0-99", "2-99999"])
def test_wrong_cpus(run: Run, cpus: str) -> None:
    assert run("pool", f"--cpus={cpus}") == 2 or run("pool", "--cpus", cpus) == 2
    assert f"`{cpus}` is not a list of CPUs such as 2-3 or 1,3, or none" in run.err
    assert not run.device.calls


def test_kept_cpus_are_free_for_cells(tmp_path: Path) -> None:
    (tmp_path / "sys/devices/system/cpu").mkdir(parents=True)
    (tmp_path / "sys/devices/system/cpu/offline").write_text("1-3\n")
    assert Machine.this(str(tmp_path), kept=[2, 3]).offline == {1}


@pytest.mark.parametrize("size", ["", "M", "512", "512K", "-1M", "1.5G", "99999999G"])
def test_wrong_sizes(run: Run, size: str) -> None:
    assert run("pool", "--set", size) == 2
    assert f"--set: `{size}` is not a size such as 512M or 2G" in run.err
    assert not run.device.calls


def test_memory_of_the_pool_is_available_for_cells(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 2048 kB\nMemAvailable: 1024 kB\n")
    assert Machine.this(str(tmp_path), pool=512 << 10).mem_available == 1536 << 10


def test_machine_may_sleep_without_the_monitor(run: Run) -> None:
    assert run("may-sleep") == 0 and run.out == "the machine may sleep\n"
    run.device.enabled = True
    assert run("may-sleep") == 1
    assert "QV is enabled, and sleep would power off the CPUs" in run.err
    run.system.fake = NotLoaded("the module qv is not loaded", "modprobe qv")
    assert run.json("--json", "may-sleep") == {"may_sleep": True}


def test_status_again_and_again(run: Run) -> None:
    def sleep(_seconds: float) -> None:
        run.device.pool_size += 512 << 20
        if run.device.pool_size > 1 << 30:
            raise KeyboardInterrupt
    run.system.sleep = sleep  # type: ignore[method-assign]
    assert run("--json", "status", "--watch") == 130
    assert [json.loads(line)["pool"]["size"] >> 20 for line in run.out.splitlines()] == [0, 512, 1024]


def test_no_pool_needs_no_module(run: Run) -> None:
    run.system.fake = NotLoaded("the module qv is not loaded", "modprobe qv")
    assert run("pool", "--set", "0") == 0 and run.out == "there is no pool of memory for cells\n"
    assert run("pool", "--set", "2M") == 1 and run("pool") == 1
