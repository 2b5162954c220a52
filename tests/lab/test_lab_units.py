# SPDX-License-Identifier: GPL-2.0-only
"""Tests that need no machine: the lab's pure functions, and pages that are made from tables."""

import importlib.machinery
import importlib.util
import re
import socket
import struct
import subprocess
import sys
import time
from collections import OrderedDict
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling

from lab import (aptconf, bochs, channelbench, channelprofile, check, cpio, enter, evidence,
                 fixtures, qemu, roots, tar)
from lab.config import Config
from lab.errors import GuestTimeout, LabError, MachineDead
from lab.fixtures import SLOW
from lab.machine import Result
from lab.paths import TOP
from lab.schedule import SlowFirst
from product import Product, no_trouble


def write(apt: Path, name: str, text: str) -> None:
    path = apt / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_apt_one_line_sources_give_mirror(tmp_path: Path) -> None:
    write(tmp_path, "sources.list", "# comment\ndeb-src http://m.test/debian bookworm main\n"
          "deb http://s.test/debian-security bookworm-security main\n"
          "deb [arch=amd64 signed-by=/etc/hostname] http://m.test/debian/ bookworm main contrib # x\n")
    assert aptconf.mirror(tmp_path) == ("http://m.test/debian", "/etc/hostname")


def test_command_that_does_not_end_is_killed_and_named() -> None:
    name = f"{time.time():.0f}"  # of a process that only this test has
    script = f"echo begun; (trap '' TERM INT; sleep {name} & wait); echo ended"
    done = enter.run(roots.ensure("tool"), ["/bin/sh", "-c", script], limit=3)
    assert done.returncode == -9
    assert done.stdout == f"begun\nstopped after 3 s, while this was running: sleep {name}"
    names = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert f"sleep\0{name}\0".encode() not in names
    assert enter.run(roots.ensure("tool"), ["echo", "fast"], limit=60).stdout == "fast\n"


def test_chroot_without_mount_point_is_reported() -> None:
    proc = "22 27 0:21 / /proc rw - proc proc rw\n"
    enter.check_mounts(proc + "27 1 254:0 / / rw - ext4 /dev/vda rw\n")
    with pytest.raises(LabError, match="no mount point"):
        enter.check_mounts(proc)


def test_apt_deb822_sources_give_mirror(tmp_path: Path) -> None:
    write(tmp_path, "sources.list.d/other.sources", "Types: deb\nURIs: http://o.test/node\nSuites: x\nComponents: main\n")
    write(tmp_path, "sources.list.d/debian.sources",
          "Types: deb\nEnabled: no\nURIs: http://off.test/debian\nSuites: trixie\nComponents: main\n\n"
          "Types: deb deb-src\n# a comment\nURIs: http://m.test/debian\nSuites: trixie\n trixie-updates\n"
          "Components: main\nSigned-By: /does/not/exist.gpg\n")
    assert aptconf.mirror(tmp_path) == ("http://m.test/debian", aptconf.KEYRING)


def test_apt_without_debian_archive_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "sources.list", "deb http://o.test/ubuntu noble main\n")
    with pytest.raises(LabError, match="no Debian archive"):
        aptconf.mirror(tmp_path)


def test_cpio_archive_is_read_by_cpio(tmp_path: Path) -> None:
    a = cpio.Archive()
    a.file("deep/er/file", b"content\n", 0o755)
    a.link("deep/link", "er/file")
    done = subprocess.run(["cpio", "-idm", "--quiet"], input=a.data(), cwd=tmp_path, check=False)
    assert done.returncode == 0
    assert (tmp_path / "deep/link").read_text() == "content\n"
    assert (tmp_path / "deep/er/file").stat().st_mode & 0o777 == 0o755


def test_tar_archive_is_read_by_tar(tmp_path: Path) -> None:
    (tmp_path / "in/sub").mkdir(parents=True)
    (tmp_path / "in/sub/tool").write_bytes(b"tool\n")
    (tmp_path / "in/sub/tool").chmod(0o755)
    a = tar.Archive()
    a.file("lay/deep/file", b"content\n")
    a.link("lay/deep/link", "file")
    a.tree(tmp_path / "in", "lay")
    out = tmp_path / "out"
    out.mkdir()
    done = subprocess.run(["tar", "-C", str(out), "-x", "--strip-components=1"], input=a.data(), check=False)
    assert done.returncode == 0
    assert (out / "deep/link").read_text() == "content\n"
    assert (out / "sub/tool").stat().st_mode & 0o777 == 0o755


def test_program_of_a_root_is_patched_or_refused(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"before" + b"\x0f\x84" + b"after")
    roots.patch(tmp_path, "bochs", "program", "0f 84", "90 90")
    assert program.read_bytes() == b"before\x90\x90after"
    with pytest.raises(LabError, match="0 times"):
        roots.patch(tmp_path, "bochs", "program", "0f 84", "90 90")


def test_faults_of_qemu_are_mended() -> None:
    """In the QEMU of the tool root, the function that changes a word of CPU 0 is there, and returns
    at once; and the code that delivers an injected interrupt is the known one."""
    said = enter.run(roots.ensure("tool"), ["qemu-system-x86_64", "--version"],
                     {"LD_PRELOAD": str(qemu.mend()), "QV_SAY": "1"})
    assert said.returncode == 0 and "cpu_clear_ignne: returns at once" in said.stdout, said.stdout
    assert "helper_vmrun: delivers an interrupt once" in said.stdout, said.stdout


def test_bochs_registers_are_parsed() -> None:
    saved = "cpu0 = {\n  RAX = 0x1\n  RIP = 0xfff0\n  CR0 = 0x60000010\n  VMX = {\n    vmcsptr = 0x2000\n" \
            "    in_vmx_guest = true\n    VMCS_CACHE = {\n      RIP = 0xbad\n"
    assert bochs.registers(saved, "CPU 3") == "CPU 3: RIP=0xfff0 CR0=0x60000010 vmcsptr=0x2000 in_vmx_guest=true"


def test_log_of_the_monitor_is_found_in_ram() -> None:
    numbers = {name: number for number, (name, _) in evidence.events().items()}
    ram = bytearray(4 * evidence.HUGE)

    def entry(seq: int, what: str, a: int, b: int = 0) -> None:
        number = numbers[what]
        at = block + evidence.entry_place(number >> evidence.RING_SHIFT, seq)
        evidence.ENTRY.pack_into(ram, at, seq, 1000 + seq, 3, number, a, b)
    for block, number, name in ((3 * evidence.HUGE, 0, b""), (evidence.HUGE, 2, b"quest")):
        struct.pack_into("<2Q", ram, block + evidence.MARK, evidence.MAGIC, block)
        struct.pack_into("<Q8s", ram, block + evidence.MARK + 48, number, name)
        words = struct.unpack_from("<11Q", ram, block + evidence.MARK)
        struct.pack_into("<Q", ram, block + evidence.MARK + 88, ~sum(words) & (1 << 64) - 1)
        struct.pack_into("<2I", ram, block, 2, 1)
        struct.pack_into("<2Q", ram, block + evidence.LOG, 600, 599)
        entry(600, "QV_LOG_SHUTDOWN", 0x40000010 if number else 0xFFFFFFFF81000000)
        entry(599, "QV_LOG_MSR_DENIED", 0x1B, 7)
    # a copy at another place, and a mark with a wrong checksum
    struct.pack_into("<2Q", ram, 2 * evidence.HUGE + evidence.MARK, evidence.MAGIC, 0)
    struct.pack_into("<2Q", ram, evidence.MARK, evidence.MAGIC, 0)
    found = evidence.blocks(lambda at, size: bytes(ram[at:at + size]), [range(len(ram))])
    assert [(b.number, b.name, b.state, b.cpus) for b in found] == [(0, "", "running", 1), (2, "quest", "running", 1)]
    denied, end = map(str, found[0].log())
    assert "cpu 3: QV_LOG_MSR_DENIED: access to MSR 0x1b refused (value 0x7)" in denied
    assert "Linux had a triple fault at 0xffffffff81000000" in end and evidence.IMPOSSIBLE not in end
    assert evidence.IMPOSSIBLE in str(found[1].log()[1])


def test_fields_of_the_evidence_are_those_of_the_monitor() -> None:
    """gdb leaves a field out that it does not know."""
    head = (TOP / "hypervisor/core/instance.h").read_text(encoding="utf-8")
    record = head.partition("struct pcpu {")[2].partition("\n};")[0]
    assert [field for field in evidence.FIELDS if not re.search(rf"\b{field}\b[^/]*;", record)] == []


class _Between:
    """A machine between two tests."""

    def __init__(self, dead: str = "", hangs: bool = False, found: Path | None = None) -> None:
        self.dead, self.hangs, self.found = dead, hangs, found
        self.config, self.spoilt, self.closed = Config(), False, False

    def evidence(self, why: str) -> str:
        return f"{why} (evidence: a file)"

    def run(self, command: str, timeout: float) -> SimpleNamespace:
        if self.hangs:
            raise GuestTimeout(self.evidence(f"no end of: {command}"))
        return SimpleNamespace(rc=0)

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("ended, error", [({"dead": "it reset"}, MachineDead),
                                          ({"hangs": True}, GuestTimeout)])
def test_machine_that_ends_between_two_tests_fails_the_next(ended: dict[str, Any],
                                                            error: type[Exception]) -> None:
    held, machine = fixtures.Machines(), _Between(**ended)
    held._machine = machine  # type: ignore[assignment]
    with pytest.raises(error, match="evidence: a file"):
        held.get(machine.config, False)
    assert machine.closed and held._machine is None


@pytest.mark.parametrize("ended", [{"dead": "it reset"}, {"hangs": True}])
def test_machine_whose_end_a_test_expected_is_replaced(ended: dict[str, Any],
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    held, machine, fresh = fixtures.Machines(), _Between(found=Path("file"), **ended), _Between()
    held._machine = machine  # type: ignore[assignment]
    monkeypatch.setattr(held, "_boot", lambda config: fresh)
    assert held.get(machine.config, False) is fresh  # type: ignore[comparison-overlap]
    assert machine.closed


@pytest.mark.parametrize("dead, kind, number, at, theirs", [
    ("it reset", "amd", 0, 0x40000010, True), ("", "amd", 0, 0x40000010, False), ("it reset", "intel", 0, 0x40000010, False),
    ("it reset", "amd", 1, 0x40000010, False), ("it reset", "amd", 0, 0x3FFFFFFF, False)])
def test_only_this_end_is_the_emulators_fault(dead: str, kind: str, number: int, at: int,
                                              theirs: bool) -> None:
    part = bytearray(evidence.OPEN)
    struct.pack_into("<Q", part, evidence.LOG, 1)
    [what] = [number for number, (name, _) in evidence.events().items() if name == "QV_LOG_SHUTDOWN"]
    evidence.ENTRY.pack_into(part, evidence.entry_place(0, 1), 1, 0, 0, what, at, 0)
    machine = SimpleNamespace(dead=dead, config=Config(machine=kind))
    found = [evidence.Block(evidence.HUGE, number, "", bytes(part))]
    assert evidence.emulators_fault(machine, found) is theirs  # type: ignore[arg-type]


@pytest.mark.parametrize("asked", [{"iommu": "amd"}, {"icount": True}, {"cpu_flags": "-vmx"}, {"qemu_args": ("-s",)}])
def test_bochs_rejects_options_of_qemu(asked: dict[str, object]) -> None:
    with pytest.raises(LabError, match="the machine 'intel' has no .*take the machine 'amd'"):
        bochs.Bochs.check(Config(machine="intel", **asked))  # type: ignore[arg-type]


def size_script() -> Any:
    loader = importlib.machinery.SourceFileLoader("size", str(TOP / "scripts/size"))
    spec = importlib.util.spec_from_loader("size", loader)
    assert spec
    size = importlib.util.module_from_spec(spec)
    sys.modules["size"] = size  # its data classes look there
    loader.exec_module(size)
    return size


def test_source_lines_exclude_comments_and_blanks() -> None:
    size = size_script()
    assert size.source_lines('a; /* x\n y */\n\n// z\n  b; // c\n"/*"; d;\n/* e */ f;\n') == 4


def test_size_of_a_cell_with_channels_is_measured() -> None:
    """The functions that are called for cells with channels only, and those that they call, count apart."""
    size = size_script()
    calls = {"vendor_run": ["vector_stubs", "exit_known"], "vector_stubs": ["vector_rest"], "vector_rest": [],
             "exit_known": ["cell_channel_call", "return_to_front"], "return_to_front": [],
             "cell_channel_call": ["ring"], "ring": []}
    starts = {name: 0x1000 * number for number, name in enumerate(calls, 1)}
    image = size.Image([size.Function(name, starts[name], starts[name] + 16, {starts[to] for to in calls[name]})
                        for name in calls], [])
    plain = size.reach(image, {*size.NOT_BY_A_CELL, *size.WITH_CHANNELS})
    channels = size.reach(image, size.NOT_BY_A_CELL)
    assert {starts["cell_channel_call"], starts["ring"]} == set(channels) - set(plain)
    assert (size.reached_bytes(image, plain), size.reached_bytes(image, channels)) == (4 * 16, 6 * 16)
    assert size.LIMITS[-2][1:] == ("bytes more with channels", 1024)


def test_crossover_of_copies_is_the_last_change() -> None:
    said = "tick second=1000 instructions=1000.0\n" + "".join(
        f"copy {size} {op} rounds=9 min=1 p50={ticks} p99=9\n" for size, of_size in {
            8: (10, 12, 9, 9), 64: (20, 19, 12, 12), 128: (20, 20, 15, 14), 256: (30, 25, 20, 16)}.items()
        for op, ticks in zip(("write", "claim", "read", "peek"), of_size))
    found = channelbench.numbers(said)
    assert channelbench.crossover(found, "write", "claim") == "claim is faster than write from 256 bytes on"
    assert channelbench.crossover(found, "read", "peek") == "peek is faster than read from 128 bytes on"
    assert channelbench.crossover(found, "claim", "write") == "write is faster than claim at no size"
    assert channelbench.copies(found)[0] == ("8 bytes", "10", "12", "9", "9")


def test_instructions_belong_to_the_first_part_of_their_functions() -> None:
    listed = ("0x0000000000401000\nshared_load\nshared.h:9\nend_life\ninternal.h:9\nring_read\nring.c:9\n"
              "0x0000000000401004\n??\n??:0\n0x0000000000401008\nend_section\ninternal.h:1\nqv_end_rings\nend.c:1\n")
    functions = channelprofile.functions_of(listed)
    assert functions == {0x401000: ["shared_load", "end_life", "ring_read"], 0x401004: ["??"],
                         0x401008: ["end_section", "qv_end_rings"]}
    assert [channelprofile.part(functions[at]) for at in sorted(functions)] == [
        "the life word of the other end", "the copy", "whether to ring"]
    with pytest.raises(LabError, match="main belong to no part"):
        channelprofile.part(["main"])


def test_turns_of_a_way_become_their_median() -> None:
    turns = [channelbench.numbers(f"tick second=1000000 instructions=1000.0\npipe 64 round-trip rounds=9 min={p50 - 1} "
                                  f"p50={p50} p99=900\npipe 64 batch rounds=9 min=1 p50={10 * p50} p99=900\n")
             for p50 in (40, 900, 20)]
    found = channelbench.medians(turns)
    assert found["ways"]["pipe"]["64"]["round-trip"] == {"rounds": 9, "min": 39, "p50": 40, "p99": 900,
                                                         "turns": [20, 40, 900]}
    assert channelbench.times(found, {"pipe": "pipe"}) == [("pipe, 64 bytes", "39.00", "40.00", "900.00", "250000")]


def test_iommu_objects_are_in_both_images() -> None:
    """Law 3: the folder iommu/ is compiled once, and linked into both images. It depends on no vendor's folder."""
    rules = subprocess.run(["make", "-C", TOP / "hypervisor", "-pnq", "O=/none"], capture_output=True, text=True,
                           check=False).stdout
    linked = {vendor: {path for path in needs.split() if "/iommu/" in path}
              for vendor, needs in re.findall(r"^\S*/qv-(amd|intel)\.elf: (.*)$", rules, re.MULTILINE)}
    sources = list((TOP / "hypervisor/iommu").glob("*.c"))
    objects = {f"/none/hypervisor/iommu/{source.stem}.o" for source in sources}
    assert objects and linked == {"amd": objects, "intel": objects}
    for file in (TOP / "hypervisor/iommu").glob("*.[ch]"):
        assert not re.search(r'#include "(svm|vmx)/', file.read_text()), file


def test_msr_table_is_made_or_rejected(tmp_path: Path) -> None:
    """A row that the script cannot read is an error, so none is left out silently."""
    tables, script = ["hypervisor/svm/msr.c", "hypervisor/vmx/msr.c"], str(TOP / "scripts/msrs")
    made = subprocess.run([script, *tables], cwd=TOP, capture_output=True, text=True,
                          check=True).stdout
    rows = sum((TOP / name).read_text().count("\n\t{ 0x") for name in tables)
    assert rows > 50 and len(re.findall(r"(?m)^\| (?:[0-9A-F]{8}|all others)", made)) == rows
    for name in tables:
        broken = tmp_path / name
        broken.parent.mkdir(parents=True)
        broken.write_text((TOP / name).read_text().replace("{ 0x00000010,", "{0x00000010,", 1))
        odd = subprocess.run([script, str(broken)], capture_output=True, text=True, check=False)
        assert odd.returncode == 2 and "write the row" in odd.stderr


def test_port_table_is_the_one_of_qvctl() -> None:
    """qvctl refuses the ports that the monitor refuses, and the page shows each."""
    table = TOP / "hypervisor/core/ports.c"
    made = subprocess.run([str(TOP / "scripts/ports"), str(table)], capture_output=True, text=True,
                          check=True).stdout
    rows = re.findall(r"\{ 0x([0-9a-f]{4}), 0x([0-9a-f]{4}) \}", table.read_text())
    assert rows and len(re.findall(r"(?m)^\| 0x", made)) == len(rows)
    keys = (TOP / "tools/qv/keys/ports.py").read_text()
    known = re.findall(r"\(0x([0-9A-F]+), 0x([0-9A-F]+), \"", keys[keys.index("NEVER_PORTS"):])
    assert [(int(a, 16), int(b, 16)) for a, b in rows] == [
        (int(a, 16), int(b, 16)) for a, b in known]


def test_exit_reason_page_agrees_with_abi() -> None:
    """instructions.md lists all exit reasons of the ABI in the order of the ABI."""
    header = (TOP / "include/uapi/linux/qv_report.h").read_text()
    body = header[header.index("enum qv_exit {"):]
    known = re.findall(r"^\tQV_EXIT_(\w+)(?: = 0)?,", body[:body.index("};")], re.MULTILINE)
    known = [name.lower().replace("_", "-") for name in known if name not in ("COUNT", "SLOTS")]
    page = (TOP / "Documentation/reference/instructions.md").read_text()
    assert re.findall(r"^\| ([\w-]+) \|", page[page.index("\n## Exit reasons"):], re.MULTILINE)[1:] == known


def test_slow_machines_are_scheduled_first(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    monkeypatch.setattr(LoadGroupScheduling, "_assign_work_unit",
                        lambda self, node: taken.append(self.workqueue.popitem(last=False)[0]))
    order = SlowFirst.__new__(SlowFirst)
    order.workqueue = OrderedDict((name, {}) for name in ("large", "middle", f"{SLOW}lab", "Config(1)", "small", f"{SLOW}attack"))
    for _ in range(6):
        order._assign_work_unit(None)
    assert taken == [f"{SLOW}lab", f"{SLOW}attack", "Config(1)", "large", "middle", "small"]


def test_late_qemu_socket_is_awaited(tmp_path: Path) -> None:
    """QEMU creates its sockets one after another, so connect() waits until its socket exists."""
    there = tmp_path / "qmp"

    def alive() -> bool:
        if not there.exists():
            listening.bind(str(there))
            listening.listen()
        return True
    with socket.socket(socket.AF_UNIX) as listening:
        qemu.connect(there, alive, time.monotonic() + 60).close()
    with pytest.raises(OSError):
        qemu.connect(tmp_path / "none", lambda: False, time.monotonic() + 60)


def test_groups_are_assigned_before_xdist_reads_them() -> None:
    """Without groups, xdist would give each worker tests of every machine, in any order."""
    assert getattr(fixtures.pytest_collection_modifyitems, "pytest_impl")["tryfirst"]


def test_each_inmate_test_is_part_of_check() -> None:
    """`make -C inmates check` runs the tests of the scheduler; `make check` runs the others in
    machines. Each test file is in exactly one of the two lists."""
    in_machines = {Path(name).name for name in check.with_machines() if "/inmates/" in name}
    on_the_host = re.findall(r"\$\(HERE\)/(test_\S+\.py)", (TOP / "inmates/tests/Makefile").read_text())
    assert {"test_alone.py", "test_fakecell.py", "test_programs.py"} <= in_machines
    for file in (TOP / "inmates/tests").glob("test_*.py"):
        named = any(fnmatch(file.name, pattern) for pattern in on_the_host)
        assert named != (file.name in in_machines), file.name


def test_refusal_for_missing_cpus_leaves_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command ends, but only the registers of the CPUs say why some did not answer."""
    machine = SimpleNamespace(config=Config(), evidence=lambda why: f"{why} (evidence: here)")
    said = {"disable": "qvctl: 3 of 4 CPUs have left the monitor, but these did not answer within 2000 ms: 2\n",
            "enable": "qvctl: QV is enabled already\n"}
    monkeypatch.setattr(Product, "qvctl", lambda _self, line, _timeout: Result(1, "", said[line]))
    with pytest.raises(AssertionError, match=r"within 2000 ms: 2\n \(evidence: here\)"):
        Product(machine).do("disable")  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="enabled already\n$"):
        Product(machine).do("enable")  # type: ignore[arg-type]


def test_warning_about_the_fair_server_is_no_trouble_and_others_are() -> None:
    log = ("[ 1.0] ------------[ cut here ]------------\n[ 1.1] Dying CPU not properly vacated!\n"
           "[ 1.2] WARNING: CPU: 3 PID: 39 at kernel/sched/core.c:8365 sched_cpu_dying.cold+0xc\n"
           "[ 1.3] Call Trace:\n[ 1.4] ---[ end trace 0000000000000000 ]---\n"
           "[ 1.5] CPU3 enqueued tasks (2 total):\n[ 1.6] \tpid: 39, name: migration/3\n")
    no_trouble(log + "[ 1.7] smpboot: CPU 3 is now offline\n")
    for other in (log + "[ 1.7] \tpid: 77, name: sh\n", log.replace("(2 total)", "(3 total)"),
                  log + "[ 2.0] WARNING: CPU: 0 PID: 1 at kernel/irq/manage.c:1\n",
                  log.replace("migration/3", "sh")):
        with pytest.raises(AssertionError, match="the kernel complains"):
            no_trouble(other)
