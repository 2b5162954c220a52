# SPDX-License-Identifier: GPL-2.0-only
"""qvctl config check: files, standard input, existing cells, the schedule."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from running import YAML, Run

from qv import config, network


def test_config_check(run: Run) -> None:
    assert run("config", "check", str(run.yaml)) == 0
    assert run.json("config", "check", "--json", str(run.yaml)) == {"ok": True, "problems": [], "warnings": []}
    run.yaml.write_text("cpus: [0]\n")
    assert run("config", "check", str(run.yaml), "--json") == 2
    assert {p["key"] for p in json.loads(run.out)["problems"]} == {"name", "cpus", "memory", "image"}


def test_file_that_is_not_there_may_be_a_name(run: Run, tmp_path: Path,
                                             monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "FOLDERS", (str(tmp_path / "cells"), str(tmp_path)))
    assert run("cell", "create", "quest") == 2
    assert run.err == f"quest:1:1: file: cannot be read: no such file or directory (perhaps {run.yaml})\n"
    assert run("cell", "create", "other.yaml") == 2 and "(the path of a readable YAML file)" in run.err


def test_config_check_looks_at_existing_cells_and_offline_cpus(run: Run) -> None:
    run.create()
    assert run("config", "check", str(run.yaml)) == 0
    assert f"{run.yaml}: warning: a cell quest exists: `qvctl cell destroy quest` before this one" in run.out
    assert "quest exists" in run.json("config", "check", str(run.yaml), "--json")["warnings"][0]["warning"]
    run.yaml.write_text(YAML.replace("quest\n", "other\n", 1).replace("[3]", "[2, 3]"))
    run.system.offline = frozenset({2, 3})
    assert run("config", "check", str(run.yaml)) == 2
    assert run.err.splitlines() == [
        f"{run.yaml}:2:7: cpus: CPU 2 is offline (1, the only one; or echo 1 >/sys/devices/system/cpu/cpu2/online)",
        f"{run.yaml}:2:7: cpus: CPU 3 belongs to the cell quest (1, the only one)"]


def test_file_of_a_running_cell_is_checked_as_its_replacement(run: Run) -> None:
    """The memory and the CPU of the cell that exists are free for the cell of its file."""
    def memory(file: Path, size: str, name: str = "quest", cpu: int = 3) -> str:
        file.write_text(YAML.replace("64M", size).replace("quest\n", f"{name}\n", 1).replace("[3]", f"[{cpu}]"))
        return str(file)

    second = run.yaml.with_name("second.yaml")
    memory(run.yaml, "600M")
    run.create("--start")
    run.system.memory -= 600 << 20
    assert run("config", "check", memory(run.yaml, "600M")) == 0, run.err
    assert run("config", "check", memory(run.yaml, "1026M")) == 2
    assert "1026M is more than is free (at most 1G, which is free now)" in run.err
    assert run("config", "check", memory(run.yaml, "800M"), memory(second, "300M", "other", 2)) == 2
    assert "all 2 cells together want 1100M (at most 1G" in run.err
    assert run("config", "check", memory(run.yaml, "800M"), memory(second, "200M", "other", 2)) == 0, run.err
    assert run("config", "check", memory(second, "600M", "other", 2)) == 2, "another cell does not replace it"
    assert "600M is more than is free (at most 424M" in run.err


def test_config_check_looks_at_direct_ipis_and_locks_of_existing_cells(run: Run) -> None:
    def create(more: str) -> None:
        run.yaml.write_text(YAML + more)
        run.device.cells.clear()
        run.create()

    def found(more: str) -> list[str]:
        run.yaml.write_text(YAML.replace("quest\n", "other\n", 1).replace("3", "2") + more)
        status = run("config", "check", str(run.yaml))
        lines = [line.removeprefix(f"{run.yaml}:5:") for line in run.err.splitlines()]
        assert status == (2 if lines else 0)
        return lines

    create("")
    assert found("ipi: direct\n") == [
        "6: ipi: direct IPIs would reach the cell quest, which is without them "
        "(create it before cells without direct IPIs, or: qvctl enable --ipi direct)"]
    run.yaml.write_text(YAML + "ipi: direct\n")
    assert run("config", "check", str(run.yaml)) == 0, "the same cell, changed"
    run.device.ipi_direct = True
    assert found("ipi: direct\n") == []
    assert found("lock: may\n") == [
        "7: lock: the direct IPIs of Linux would void the lock (enable QV again without --ipi direct)"]
    run.device.outside = 2
    assert found("ipi: direct\n") == [
        "6: ipi: direct IPIs could start 2 CPUs that are outside the monitor "
        "(filtered, or take nosmt, maxcpus= and nr_cpus= from the kernel's command line)"]
    run.device.outside = 0
    run.device.ipi_direct = False
    create("lock: may\n")
    assert found("ipi: direct\n") == ["6: ipi: direct IPIs would void the lock of the cell quest (one of the two keys)"]
    create("ipi: direct\n")
    assert found("ipi: direct\n") == found("") == []
    assert found("lock: true\n") == ["7: lock: the direct IPIs of the cell quest would void the lock (one of the two keys)"]


def test_warnings_about_real_time(run: Run, tmp_path: Path) -> None:
    run.system.root = str(tmp_path)
    cpus = tmp_path / "sys/devices/system/cpu"
    for cpu, other, node in ((1, 0, 0), (2, 3, 0), (3, 2, 1)):
        (cpus / f"cpu{cpu}/topology").mkdir(parents=True)
        (cpus / f"cpu{cpu}/cpufreq").mkdir()
        (cpus / f"cpu{cpu}/node{node}").mkdir()
        (cpus / f"cpu{cpu}/topology/thread_siblings_list").write_text(f"{min(cpu, other)}-{max(cpu, other)}\n")
        (cpus / f"cpu{cpu}/cpufreq/scaling_governor").write_text("schedutil\n" if cpu == 1 else "performance\n")

    def said(cpus: str) -> list[str]:
        run.yaml.write_text(f"name: quest\ncpus: {cpus}\nmemory: 64M\nimage: quest.elf\n")
        return [found["warning"] for found in run.json("config", "check", str(run.yaml), "--json")["warnings"]]
    shares, governor = said("[1]")
    assert shares == "CPU 1 shares a core with CPU 0, which the cell does not have: work there slows the cell"
    assert governor.startswith("CPU 1 has the frequency governor schedutil")
    assert said("[2, 3]") == ["its CPUs are on NUMA nodes 0 and 1: memory is far from some of them"]


def test_words_that_look_misspelled(run: Run) -> None:
    """Quest ignores words that it does not know, and programs have words of their own."""
    words = "strat=a Vcpu=b,none admission=exat mode=test speed=3 verbose Net=c"
    run.yaml.write_text(f"name: quest\ncpus: [3]\nmemory: 64M\nimage: quest.elf\ncmdline: {words}\n")
    image = run.yaml.parent / "quest.elf"
    assert run("config", "check", str(run.yaml)) == 0 and "warning" not in run.out, "another kernel"
    image.write_bytes(image.read_bytes() + network.WITHOUT)
    found = run.json("config", "check", str(run.yaml), "--json")
    assert found["ok"] and [one["warning"] for one in found["warnings"]] == [
        f"cmdline: Quest does not know the word `{word}` (perhaps `{meant}`)" for word, meant in
        (("strat=a", "start="), ("Vcpu=b,none", "vcpu="), ("admission=exat", "admission=exact"), ("Net=c", "net="))]


def test_a_file_from_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    source, sink = os.pipe()
    os.write(sink, YAML.replace("quest.elf", str(run.yaml.parent / "quest.elf")).encode())
    os.close(sink)
    before = os.dup(0)
    os.dup2(source, 0)
    try:
        assert run("cell", "create", "-") == 0, run.err
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(source)
    assert list(run.device.cells) == ["quest"]


def test_a_pipe_is_read_and_not_waited_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "PIPE_SECONDS", 0.2)
    fifo = run.yaml.parent / "fifo"
    os.mkfifo(fifo)
    assert run("config", "check", str(fifo)) == 2
    assert ":1:1: file: is a pipe, and for 0.2 s nothing came from it" in run.err
    writer = subprocess.Popen(["cp", str(run.yaml), str(fifo)])
    monkeypatch.setattr(config, "PIPE_SECONDS", 20)
    assert run("config", "check", str(fifo)) == 0, run.err
    writer.wait()


def test_config_check_with_the_schedule(run: Run) -> None:
    run.yaml.write_text(YAML + "vcpus: [{name: control, C: 2ms, T: 10ms}]\n")
    assert run("config", "check", "-v", str(run.yaml)) == 0
    lines = run.out.splitlines()
    assert lines[0].startswith(f"{run.yaml}: ok: ") and lines[1].split() == ["VCPU", "TYPE", "C", "T", "LOAD", "RESPONSE"]
    assert lines[6].split() == ["control", "main", "2ms", "10ms", "20.0%", "2400us"]
    assert lines[7].startswith("all: 46.0% of the CPU (bound: 75.7%), admitted by `bound`; ")
    assert lines[8].endswith(": room for 1 at once")
    found = run.json("config", "check", "-v", str(run.yaml), "--json")
    assert found["ok"] and [v["name"] for v in found["schedules"][0]["vcpus"]][-1] == "control"


def test_no_yaml(run: Run) -> None:
    """Without python3-yaml, as on some Debian systems, no file can be read."""
    code = ("import sys; sys.path.insert(0, sys.argv[1]); sys.modules['yaml'] = None; "
            "import generated; from qv.cli import main; sys.exit(main(['config', 'check', sys.argv[2]]))")
    done = subprocess.run([sys.executable, "-c", code, str(Path(__file__).parents[1]), str(run.yaml)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("qvctl: ") and "remedy: apt install python3-yaml" in done.stderr
