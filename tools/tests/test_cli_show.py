# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell list, show and stats on a driver that exists only here."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest
from running import Run

from qv import abi, condition, output, symbols
from qv.errors import NotLoaded, Refused
from qv.exits import exit_name


def test_list(run: Run) -> None:
    assert run("cell", "list") == 0 and run.out.split() == ["NAME", "STATE", "CPUS", "MEMORY", "IMAGE", "APIC", "LOCK", "FAILURE", "DEVICES"]
    run.create()
    cells = run.json("cell", "list", "--json")["cells"]
    assert [(c["name"], c["state"], c["cpus"], c["memory"]) for c in cells] == [("quest", "loadable", [3], 64 << 20)]
    run("cell", "list")
    assert run.out.splitlines()[1].split() == ["quest", "loadable", "3", "64M", "quest.elf", "x2APIC"]


def test_list_all_has_absent_cells_and_units(run: Run, tmp_path: Path) -> None:
    """Without a driver, too."""
    run.system.root = str(tmp_path)
    cells, wants = tmp_path / "etc/qv/cells", tmp_path / "etc/systemd/system/multi-user.target.wants"
    for folder in (cells, wants):
        folder.mkdir(parents=True)
    for name in ("quest", "camera"):
        (cells / f"{name}.yaml").write_text("")
    (wants / "qv-cell@camera.service").symlink_to("/dev/null")
    run.create()
    assert run("cell", "list", "--all") == 0
    assert run.out.splitlines() == ["NAME    STATE     UNIT", "camera  absent    enabled", "quest   loadable  disabled"]
    found = run.json("cell", "list", "-a", "--json")
    assert [(f["name"], f["enabled"], f["absent"]) for f in found["files"]] == [("camera", True, True), ("quest", False, False)]
    (cells / "quest.yaml").unlink()
    run("cell", "list", "--all")
    assert run.out.splitlines()[2].split() == ["quest", "loadable", "no", "file"]
    run.system.fake = NotLoaded("the driver is not loaded", "modprobe qv")
    assert run("cell", "list") == 1
    assert run("cell", "list", "--all") == 0 and run.out.splitlines()[1:] == ["camera  absent  enabled"]


def test_a_failure_has_one_sentence() -> None:
    """For the log and for events the driver has the same sentences as qvctl for `cell show`."""
    source = (Path(__file__).resolve().parents[2] / "driver/log_sentence.c").read_text()
    table = re.findall(r'\[QV_FAIL_(\w+)\] = ((?:"[^"]*"\s*)+),', source)
    assert {name: "".join(re.findall(r'"([^"]*)"', words)) for name, words in table} == {
        abi.Failure(number).name: words for number, words in condition.FAILURES.items()}


def test_last_failure(run: Run) -> None:
    run.create("--start")
    info = run.device.cells["quest"]
    last = info.last_failure
    last.reason, last.exit_code, info.failures = abi.Failure.WATCHDOG, 0x61, 2
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
    failure.reason, failure.cpu = abi.Failure.MEMORY, 3
    failure.rip, failure.address = 0x101234, 0xdead0000
    failure.exit_code, failure.regs[0] = 0x400, 0xabc
    failure.bytes[0] = 0x8b
    data = run.json("cell", "show", "quest", "--json")["failure"]
    assert (data["reason"], data["rip"], data["address"], data["cpu"]) == ("memory", "0x101234", "0xdead0000", 3)
    assert data["registers"]["rax"] == "0xabc" and data["bytes"].startswith("8b00")
    assert run("cell", "show", "quest") == 0
    for words in ("state:       failed", "memory: it touched memory outside the cell", "0x101234", "0xdead0000",
                  "0x400", "rax 0000000000000abc", "8b 00"):
        assert words in run.out


def elf(bits: int) -> bytes:
    """Returns an image with the function `poll` at 0x101000, of 0x40 bytes."""
    names = b"\0poll\0"
    if bits == 64:
        symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0x101000, 0x40)
        head, section, where = 64, "<IIQQQQIIQQ", (0x28, "<Q", 0x3A)
    else:
        symbols = bytes(16) + struct.pack("<IIIBBH", 1, 0x101000, 0x40, 0x12, 0, 1)
        head, section, where = 52, "<IIIIIIIIII", (0x20, "<I", 0x2E)
    size = struct.calcsize(section)
    image = bytearray(head)
    image[:6] = b"\x7fELF" + bytes((bits // 32, 1))
    struct.pack_into(where[1], image, where[0], head + len(symbols) + len(names))
    struct.pack_into("<HH", image, where[2], size, 2)
    table = struct.pack(section, 0, 2, 0, 0, head, len(symbols), 1, 0, 0, 0)
    strings = struct.pack(section, 0, 3, 0, 0, head + len(symbols), len(names), 0, 0, 0, 0)
    return bytes(image) + symbols + names + table + strings


@pytest.mark.parametrize("bits", [32, 64])
def test_failure_has_a_time_and_a_function(
        run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    run.create()
    info = run.device.cells["quest"]
    info.state, info.failure.reason, info.failure.rip = abi.State.FAILED, abi.Failure.MSR, 0x101012
    assert run.json("cell", "show", "quest", "--json")["failure"]["symbol"] is None
    (tmp_path / "quest.elf").write_bytes(elf(bits))
    info.failed_ns = 5 * 10**9
    monkeypatch.setattr(output.time, "clock_gettime_ns", lambda _clock: 7 * 10**9)
    monkeypatch.setattr(output.time, "time_ns", lambda: 1_700_000_002_250_000_000)
    found = run.json("cell", "show", "quest", "--json")["failure"]
    assert (found["symbol"], found["failed_ns"]) == ("poll+0x12", 5 * 10**9)
    run("cell", "show", "quest")
    assert "0x101012, in poll+0x12\n" in run.out
    assert re.search(r"^failed 2023-11-1[45] \d\d:\d\d:20\.250: msr: ", run.out, re.M), run.out
    info.failure.rip = 0x101040
    assert run.json("cell", "show", "quest", "--json")["failure"]["symbol"] is None


def test_hostile_symbols_neither_control_the_terminal_nor_take_long(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small image may say that it has 65535 tables of symbols, which are one."""
    file, good = tmp_path / "image", elf(64)
    file.write_bytes(good.replace(b"poll", b"\x1b[3m"))
    assert symbols.function_at(str(file), 0x101012) == "?[3m+0x12"
    many = bytearray(good)
    struct.pack_into("<Q", many, 0x28, len(good) - 128)
    struct.pack_into("<HH", many, 0x3A, 0, 0xFFFF)
    file.write_bytes(many)
    looks: list[int] = []
    real = struct.unpack_from
    monkeypatch.setattr(symbols.struct, "unpack_from", lambda *args: looks.append(1) or real(*args))
    assert symbols.function_at(str(file), 0x999) == ""
    assert 0xFFFF < len(looks) < 0xFFFF + 10


def test_hostile_image_has_no_function(tmp_path: Path) -> None:
    """Every byte of a small image is changed."""
    file, good = tmp_path / "image", elf(64)
    for at in range(len(good)):
        for byte in (0, 0xFF):
            file.write_bytes(good[:at] + bytes((byte,)) + good[at + 1:])
            symbols.function_at(str(file), 0x101012)
        file.write_bytes(good[:at])
        symbols.function_at(str(file), 0x101012)
    file.write_bytes(good[:-64])
    assert symbols.function_at(str(file), 0x101012) == ""


def test_level_of_protection_from_dma_is_shown(run: Run) -> None:
    run.create()
    for owned, level, why in ((False, "none", "no IOMMU"), (True, "full", "")):
        run.device.iommu = owned
        assert run.json("--json", "cell", "show", "quest")["dma_level"] == level
        assert run("cell", "show", "quest") == 0 and f"dma:         level {level}\n" in run.out
        assert run("cell", "list") == 0 and f"level: DMA {level}\n" in run.out
        assert run.json("--json", "cell", "list")["dma_level"] == level
        assert why in run.json("--json", "status")["dma_obstacle"]


def test_level_of_a_cell_with_a_virtual_function_is_its_own(run: Run) -> None:
    run.device.without_iommu = b""
    run.create()
    info = run.device.cells["quest"]
    assert run("cell", "list") == 0 and "level of cell" not in run.out
    assert run.json("--json", "status")["dma_lower"] == {}
    info.num_devices, info.devices[0].state = 1, abi.DEVICE_VIRTUAL
    wanted = "level: DMA full\nlevel of cell quest: DMA devices (a hostile Linux could lead the DMA"
    assert run("cell", "list") == 0 and wanted in run.out
    assert run("status") == 0 and "level: DMA full" in run.out
    assert "level of cell quest: DMA devices" in run.out
    assert run.json("--json", "status")["dma_lower"] == {"quest": "devices"}
    listed = run.json("--json", "cell", "list")
    assert (listed["dma_level"], listed["cells"][0]["dma_level"]) == ("full", "devices")
    assert run.json("--json", "cell", "show", "quest")["dma_level"] == "devices"
    assert run("cell", "show", "quest") == 0 and "dma:         level devices\n" in run.out
    run.device.iommu = False
    assert run("cell", "list") == 0 and "level of cell" not in run.out, "no cell is below none"


def test_mode_of_the_apics_is_shown(run: Run) -> None:
    run.create()
    info = run.device.cells["quest"]
    for x2apic, mode in ((1, "x2APIC"), (0, "xAPIC")):
        info.x2apic = x2apic
        data = run.json("cell", "show", "quest", "--json")
        assert (data["apic"], data["x2apic"]) == ("best", bool(x2apic))
        assert run("cell", "show", "quest") == 0 and f"apic:        {mode} mode\n" in run.out
        assert run("cell", "list") == 0 and mode in run.out.splitlines()[1].split()


def test_show_where_a_cell_stands(run: Run) -> None:
    """RIP is shown only if the cell runs and allows it. If a CPU cannot be sampled, the reason is shown."""
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


@pytest.mark.parametrize("nanoseconds,text", [
    (999, "999 ns"), (999_499, "999 us"), (999_500, "1 ms"), (12_345_678, "12.3 ms"),
    (999_499_999, "999 ms"), (999_500_000, "1.000 s"), (1_204_000_000, "1.204 s")])
def test_a_duration_has_the_unit_that_suits_it(nanoseconds: int, text: str) -> None:
    """A span that would be rounded to 1000 of a unit has the next unit, and never an exponent."""
    assert output.duration(nanoseconds) == text
