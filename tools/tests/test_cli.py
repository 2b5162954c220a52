# SPDX-License-Identifier: GPL-2.0-only
"""qvctl from its command line to a driver that exists only here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeDevice, FakeSystem

from qv import abi, condition, config, device, output
from qv.cli import main
from qv.errors import Refused
from qv.exits import exit_name

TINY = (Path(__file__).resolve().parents[2] / "tests/unit/config/good/tiny.elf").read_bytes()
YAML = "name: quest\ncpus: [3]\nmemory: 64M\nimage: quest.elf\n"
NO_MEMORY = Refused("there are only 20M in 2M pages", "end programs", abi.Reason.E_NO_MEMORY)


class Run:
    """Runs qvctl in a folder with quest.yaml and its image."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.device = FakeDevice()
        self.system = FakeSystem(self.device, folder)
        self.capture = capture
        self.out = self.err = ""
        self.yaml = folder / "quest.yaml"
        self.yaml.write_text(YAML)
        (folder / "quest.elf").write_bytes(TINY)

    def __call__(self, *argv: str) -> int:
        status = main(argv, self.system)  # type: ignore[arg-type]
        self.out, self.err = self.capture.readouterr()
        return status

    def json(self, *argv: str) -> Any:
        assert self(*argv) == 0, self.err
        return json.loads(self.out)

    def create(self, *more: str) -> None:
        assert self("cell", "create", str(self.yaml), *more) == 0, self.err


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(tmp_path, capsys)


def test_create_enables_first(run: Run) -> None:
    run.create()
    assert run.device.calls == ["enable", "create"]
    assert "cell quest is created" in run.out


def test_cpus_outside_are_a_level_that_is_named(run: Run) -> None:
    run.device.outside = 2
    assert run("enable", "--strict") == 0
    assert run.device.calls == ["enable --strict"]
    assert "level: CPUs outside (2): offline" in run.out
    assert run("status") == 0 and "level: CPUs outside (2): offline" in run.out
    assert run.json("--json", "status")["cpus_outside"] == 2
    run.device.outside = 0
    assert run("status") == 0 and "outside" not in run.out


def test_create_leaves_enabled_as_it_is(run: Run) -> None:
    run.device.enabled = True
    run.create("--start")
    assert run.device.calls == ["create", "start"]
    assert run.device.cells["quest"].state == abi.State.RUNNING


def test_refused_create_is_undone(run: Run) -> None:
    run.device.refuse["create"] = NO_MEMORY
    assert run("cell", "create", str(run.yaml)) == 1
    assert run.err == "qvctl: there are only 20M in 2M pages\n  remedy: end programs\n"
    assert run.device.calls == ["enable", "create", "disable"]
    assert not run.device.enabled


def test_refused_start_is_undone(run: Run) -> None:
    run.device.enabled = True
    run.device.refuse["start"] = NO_MEMORY
    assert run("cell", "create", str(run.yaml), "--start") == 1
    assert run.device.calls == ["create", "start", "destroy"]


def test_wrong_configuration_changes_nothing(run: Run) -> None:
    run.yaml.write_text(YAML + "colour: red\n")
    assert run("cell", "create", str(run.yaml)) == 2
    assert run.err.startswith(f"{run.yaml}:5:1: colour: is not a known key (")
    assert run.device.calls == []


@pytest.mark.parametrize("argv", [
    [], ["fly"], ["cell"], ["cell", "fly"], ["cell", "start"], ["cell", "list", "x"], ["config", "check"],
    ["cell", "shutdown", "q", "--timeout", "-1"], ["cell", "stats", "q", "--interval", "0"],
    ["cell", "stats", "q", "-n", "3"], ["--nonsense"]], ids=" ".join)
def test_wrong_usage(run: Run, argv: list[str]) -> None:
    assert run(*argv) == 2
    assert run.err.startswith("qvctl: ")
    assert run.device.calls == []


def test_life_of_a_cell(run: Run) -> None:
    run.create()
    assert run.json("cell", "start", "quest", "--json")["state"] == "running"
    assert run.json("--json", "cell", "shutdown", "quest", "--timeout", "7") == {
        "name": "quest", "state": "shut-down", "forced": False, "changed": True, "duration_ns": 1_500_000, "held_ns": 20_000}
    assert "shutdown 7" in run.device.calls
    assert run("cell", "destroy", "quest") == 0
    assert run("disable") == 0
    assert run("cell", "start", "quest") == 1
    assert "remedy: " in run.err


def test_list(run: Run) -> None:
    assert run("cell", "list") == 0 and run.out.split() == ["NAME", "STATE", "CPUS", "MEMORY", "IMAGE", "LOCK", "FAILURE", "DEVICES"]
    run.create()
    cells = run.json("cell", "list", "--json")["cells"]
    assert [(c["name"], c["state"], c["cpus"], c["memory"]) for c in cells] == [("quest", "loadable", [3], 64 << 20)]
    run("cell", "list")
    assert run.out.splitlines()[1].split() == ["quest", "loadable", "3", "64M", "quest.elf"]


def test_lock(run: Run) -> None:
    run.create("--start")
    assert run("cell", "lock", "quest") == 0 and "only it can unlock" in run.out
    assert run.json("cell", "show", "quest", "--json")["locked"] is True
    run("cell", "list")
    assert run.out.splitlines()[1].split() == ["quest", "running", "3", "64M", "quest.elf", "locked"]
    run("cell", "show", "quest")
    assert "lock:        it has locked management" in run.out
    run.device.refuse["unlock 70"] = Refused("cell 'quest' did not agree within 70 ms", "ask it", abi.Reason.E_NOT_AGREED)
    assert run("cell", "unlock", "quest", "--timeout", "70") == 1 and "did not agree" in run.err
    assert run.json("cell", "unlock", "quest", "--json")["locked"] is False
    assert "unlock 5000" in run.device.calls


def test_shutdown_by_force(run: Run) -> None:
    run.create("--start")
    run.device.cells["quest"].forced = 1
    assert run("cell", "shutdown", "quest", "--timeout", "70") == 0
    assert run.out.startswith("cell quest was stopped by force: it had not ended by itself within 70 ms (")
    assert run.json("cell", "show", "quest", "--json")["forced"] is True
    run("cell", "list")
    assert run.out.splitlines()[1].startswith("quest  shut-down (by force)  3 ")
    run("cell", "show", "quest")
    assert "state:       shut-down (by force)\n" in run.out


def test_a_failure_has_one_sentence() -> None:
    """In the log and in events by the driver, in `cell show` by qvctl: the same."""
    source = (Path(__file__).resolve().parents[2] / "driver/log.c").read_text()
    assert {name: words for name, words in re.findall(r'\[QV_FAIL_(\w+)\] = "(.*)",', source)} == {
        abi.Failure(number).name: words for number, words in condition.FAILURES.items()}


def test_failure_during_shutdown(run: Run) -> None:
    run.create("--start")
    run.device.fails = True
    assert run("cell", "shutdown", "quest") == 0 and "has failed meanwhile" in run.out
    run.create("--start")
    assert run.json("cell", "shutdown", "quest", "--json")["state"] == "failed"


def test_last_failure(run: Run) -> None:
    run.create("--start")
    info = run.device.cells["quest"]
    info.last_failure.reason, info.last_failure.exit_code, info.failures = abi.Failure.WATCHDOG, 0x61, 2
    data = run.json("cell", "show", "quest", "--json")
    assert data["failure"] is None and data["failures"] == 2 and data["watchdog_ms"] == 3000
    assert (data["last_failure"]["reason"], data["last_failure"]["exit_name"]) == ("watchdog", "NMI")
    run("cell", "show", "quest")
    assert "last failure: watchdog: its heartbeat stopped" in run.out and "0x61 NMI" in run.out
    assert "failures:    2 since it was created" in run.out and "watchdog:    3s" in run.out


@pytest.mark.parametrize("code,name", [
    (48, "EPT violation"), (0, "exception or NMI"), (18, "VMCALL"), (0x80000021, "invalid guest state, the entry failed"),
    (0x400, "unknown")])
def test_exit_names_of_vtx(code: int, name: str) -> None:
    assert exit_name(code, 2) == name


@pytest.mark.parametrize("code,name", [
    (0x400, "nested page fault"), (0x7f, "shutdown"), (0x7c, "MSR"), (0x4e, "exception #PF"), (0x50, "exception #MF"),
    (0x10, "CR0 write"), (2**64 - 1, "invalid guest state"), (0x999, "unknown"), (0x5f, "exception 31")])
def test_exit_names(code: int, name: str) -> None:
    assert exit_name(code, 1) == name


def test_show_failure(run: Run) -> None:
    run.create()
    info = run.device.cells["quest"]
    info.state = abi.State.FAILED
    failure = info.failure
    failure.reason, failure.cpu, failure.rip, failure.address = abi.Failure.MEMORY, 3, 0x101234, 0xdead0000
    failure.exit_code, failure.regs[0] = 0x400, 0xabc
    failure.bytes[0] = 0x8b
    data = run.json("cell", "show", "quest", "--json")["failure"]
    assert (data["reason"], data["rip"], data["address"], data["cpu"]) == ("memory", "0x101234", "0xdead0000", 3)
    assert data["registers"]["rax"] == "0xabc" and data["bytes"].startswith("8b00")
    assert run("cell", "show", "quest") == 0
    for words in ("state:       failed", "memory: it touched memory outside the cell", "0x101234", "0xdead0000",
                  "0x400", "rax 0000000000000abc", "8b 00"):
        assert words in run.out


def test_show_where_a_cell_stands(run: Run) -> None:
    """Only of a running cell that allows it; for a CPU that is no longer there a reason is given."""
    run.create()
    info = run.device.cells["quest"]
    info.state = abi.State.RUNNING
    assert run.json("cell", "show", "quest", "--json")["stands"] is None
    info.debug = 1
    [stand] = run.json("cell", "show", "quest", "--json")["stands"]
    assert (stand["cpu"], stand["state"], stand["after_hlt"], stand["rip"]) == (info.cpus[0], "runs", False, "0x100085")
    assert stand["registers"]["rsp"] == "0x103ff0" and stand["bytes"].startswith("eb00") and len(stand["bytes"]) == 30
    run.device.before = 0xF4
    assert run("cell", "show", "quest") == 0
    for words in (f"cpu {info.cpus[0]}:       at 0x100085, behind a HLT\n", "rsp 0x103ff0  rflags 0x2  efer 0x0\n",
                  "cr0 0x11  cr3 0x0  cr4 0x0\n"):
        assert words in run.out
    assert "r15" not in run.out
    assert run("cell", "show", "quest", "-v") == 0
    assert "rsp 0000000000103ff0" in run.out and "eb 00" in run.out
    run.device.stands = abi.CpuState.WAITS
    assert run("cell", "show", "quest") == 0 and "waits for a SIPI\n" in run.out
    run.device.refuse[f"sample {info.cpus[0]}"] = Refused("cell 'quest' is not running", "")
    [stand] = run.json("cell", "show", "quest", "--json")["stands"]
    assert (stand["state"], stand["why"], stand["registers"]) == ("unknown", "cell 'quest' is not running", None)
    assert run("cell", "show", "quest") == 0 and "cell 'quest' is not running\n" in run.out
    info.state = abi.State.FAILED
    assert run.json("cell", "show", "quest", "--json")["stands"] is None


def test_stats(run: Run) -> None:
    data = run.json("cell", "stats", "linux", "--json")
    assert data["exits"]["icr"] == 200 and data["cpus"][1]["exits"]["icr"] == 100
    assert data["exits_total"] == 206 and "per_second" not in data
    assert run("cell", "stats", "linux") == 0
    assert "icr" in run.out and "CPU 1" in run.out


def test_stats_rates(run: Run) -> None:
    assert run("cell", "stats", "linux", "--interval", "2", "-n", "2", "--json") == 0
    first, second = (json.loads(line) for line in run.out.splitlines())
    assert first["per_second"]["icr"] == second["per_second"]["icr"] == 100.0
    assert first["per_second"]["cpuid"] == 0.0


def test_log(run: Run) -> None:
    assert run("log") == 0
    assert run.out.splitlines()[0] == "1.500000 monitor: enters on 4 CPUs"
    assert "\x1b" not in run.out
    lines = run.json("log", "--json")["lines"]
    assert lines[0] == {"time_s": 1.5, "source": "monitor", "text": "enters on 4 CPUs"}


def test_previous_log(run: Run) -> None:
    assert run("log", "--previous") == 0
    assert run.out.splitlines()[-1] == "9.000000 linux: at the end: Linux panicked"
    assert run("log", "--previous", "-f") == 2 and "nothing comes" in run.err
    run.device.previous = Refused("there is no log of an earlier session in this machine's RAM", "-", abi.Reason.E_NO_PREVIOUS)
    assert run("log", "--previous") == 1 and "no log of an earlier session" in run.err


def test_events(run: Run) -> None:
    run.device.coming = [
        abi.Event(seq=1, time_ns=10**18, type=abi.EventType.ENABLED, text=b"the monitor runs"),
        abi.Event(seq=5, time_ns=10**18, type=abi.EventType.CELL, state=abi.State.FAILED, name=b"quest"),
        abi.Event(seq=6, time_ns=10**18, type=abi.EventType.CELL, state=0, name=b"quest")]
    run.device.coming.append(abi.Event(seq=7, time_ns=10**18, type=abi.EventType.LOCK, state=1, name=b"quest"))
    assert run("events", "-f") == 0
    lines = run.out.splitlines()
    assert lines[4].endswith("quest locked")
    assert "qv enabled: the monitor runs" in lines[0]
    assert "3 events were lost" in lines[1]
    assert lines[2].endswith("quest failed") and lines[3].endswith("quest destroyed")
    run("events", "-f", "--json")
    assert json.loads(run.out.splitlines()[1])["state"] == "failed"


def test_events_at_present(run: Run) -> None:
    run.create()
    run("events", "--json")
    assert [(e["type"], e["state"]) for e in map(json.loads, run.out.splitlines())] == [
        ("enabled", None), ("cell", "loadable")]


def test_config_check(run: Run) -> None:
    assert run("config", "check", str(run.yaml)) == 0
    assert run.json("config", "check", "--json", str(run.yaml)) == {"ok": True, "problems": [], "warnings": []}
    run.yaml.write_text("cpus: [0]\n")
    assert run("config", "check", str(run.yaml), "--json") == 2
    assert {p["key"] for p in json.loads(run.out)["problems"]} == {"name", "cpus", "memory", "image"}


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
        f"{run.yaml}:2:7: cpus: CPU 3 is the cell quest's (1, the only one)"]


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


def test_an_image_that_is_none_takes_nothing(run: Run) -> None:
    (run.yaml.parent / "quest.elf").write_text("no kernel")
    assert run("cell", "create", str(run.yaml)) == 2
    assert "quest.elf is not an ELF file (a multiboot2 kernel, such as quest.elf)" in run.err
    assert run.device.calls == []


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


def test_vcpus_that_are_refused_never_reach_create(run: Run) -> None:
    run.yaml.write_text(YAML + "vcpus: [{name: a, C: 20ms, T: 100ms}, {name: b, C: 30ms, T: 100ms}]\n")
    assert run("cell", "create", str(run.yaml)) == 2
    assert ": vcpus: with Quest's own they load the CPU with 76.0 %, above the bound" in run.err
    assert run.device.calls == []


def test_no_module(run: Run) -> None:
    run.system.fake = Refused("the module qv is not loaded: there is no /dev/qv", device.MODULE_REMEDY)
    assert run("cell", "list") == 1
    assert "modprobe qv" in run.err


def test_device_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="not loaded") as refusal:
        device.Device(str(tmp_path / "qv"))
    assert "modprobe qv" in refusal.value.remedy


def test_driver_of_another_kind() -> None:
    """An unknown ioctl results in a sentence and a remedy, not in an errno."""
    with pytest.raises(Refused, match="does not know this request") as refusal:
        device.Device("/dev/null").status()
    assert refusal.value.remedy


@pytest.mark.parametrize("number", [1, 2, 12, 13, 16, 22, 25, 110])
def test_every_errno_becomes_a_sentence(number: int) -> None:
    refusal = device.refusal_from(abi.Reply(), OSError(number, "x"))
    assert refusal.sentence and refusal.remedy


def test_the_drivers_sentence_comes_first() -> None:
    answer = abi.Reply(code=abi.Reason.E_BUSY, text=b"another call\x1b is under way", remedy=b"wait")
    refusal = device.refusal_from(answer, OSError(16, "x"))
    assert (refusal.sentence, refusal.remedy, refusal.code) == ("another call? is under way", "wait", 20)


def test_no_yaml(run: Run) -> None:
    """As on a Debian without python3-yaml: unusual files cannot be read."""
    run.yaml.write_text(YAML.replace("name: ", "name: &n "))
    code = ("import sys; sys.path.insert(0, sys.argv[1]); sys.modules['yaml'] = None; "
            "from qv.cli import main; sys.exit(main(['config', 'check', sys.argv[2]]))")
    done = subprocess.run([sys.executable, "-c", code, str(Path(__file__).parents[1]), str(run.yaml)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("qvctl: ") and "remedy: apt install python3-yaml" in done.stderr


@pytest.mark.parametrize("nanoseconds,text", [
    (999, "999 ns"), (999_499, "999 us"), (999_500, "1 ms"), (12_345_678, "12.3 ms"),
    (999_499_999, "999 ms"), (999_500_000, "1.000 s"), (1_204_000_000, "1.204 s")])
def test_a_duration_has_the_unit_that_suits_it(nanoseconds: int, text: str) -> None:
    """A span that is rounded to 1000 of a unit has the next one, and never an exponent."""
    assert output.duration(nanoseconds) == text
