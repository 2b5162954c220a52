# SPDX-License-Identifier: GPL-2.0-only
"""QV in a machine, as tests use it: qvctl, quesh, and the state of Linux."""

import functools
import json
import queue
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lab import build, enter, images
from lab.channel import Running
from lab.errors import GuestTimeout, MachineDead
from lab.machine import Machine, Result
from lab.memory import PAGES_KIB
from lab.paths import BUILD

HERE = Path(__file__).resolve().parent
CONFIGS = "/usr/share/qv/configs"
TEST_IMAGE = build.TEST_IMAGE
KERNEL_TROUBLE = re.compile(
    r"WARNING|\bBUG\b|Oops|unchecked MSR|rcu.*stall|lockup|LOCKUP|general protection|Call Trace"
    r"|blocked for more than|No irq handler|nobody cared|NMI received for unknown|failed to report alive")

# Hypervisor instructions of AMD and Intel that modules/qvtouch can execute
HYPERVISOR = ("vmrun", "vmload", "vmsave", "stgi", "clgi", "invlpga", "skinit",
              "vmxon", "vmclear", "vmptrld", "vmptrst", "vmread", "vmwrite", "vmlaunch", "vmresume", "vmxoff", "invept", "invvpid", "vmfunc",
              "getsec")


class Vendor(NamedTuple):
    """Names and MSRs of a processor vendor."""

    name: str  # the virtualization extension in the output of qvctl
    feature: str  # the extension's CPUID flag
    kvm: str  # the Linux module that uses the extension
    dropped: tuple[int, ...]  # MSRs of which every write by Linux is dropped
    # MSRs that Linux may read, and to which it may write only their present value
    kept: tuple[int, ...]


VENDORS = {
    # VM_HSAVE_PA, VM_CR; APIC_BASE, a variable and a fixed MTRR, SYSCFG, TOP_MEM
    "AuthenticAMD": Vendor("AMD-V", "SVM", "kvm_amd", (0xC0010117, 0xC0010114), (0x1B, 0x200, 0x250, 0xC0010010, 0xC001001A)),
    # MSRs of the microcode loader; APIC_BASE, the MTRRs, FEATURE_CONTROL, MISC_ENABLE
    "GenuineIntel": Vendor("VT-x", "VMX", "kvm_intel", (0x79,), (0x1B, 0x200, 0x250, 0x3A, 0x1A0)),
}

# Each kind of interrupt controller, each number of CPUs and each kernel occurs at least once
MACHINES: dict[str, dict[str, Any]] = {
    "xapic": {},
    "x2apic": {"iommu": "intel"},
    "x2apic-8": {"cpus": 8, "iommu": "intel"},
    "6.1-xapic": {"kernel": "6.1"},
    "6.1-x2apic-2": {"kernel": "6.1", "cpus": 2, "iommu": "amd"},
    "rt": {"kernel": "rt", "iommu": "intel"},
    "sid": {"kernel": "sid", "iommu": "amd"},
    "intel": {"machine": "intel"},
}


def on_machines(*names: str, slow: Sequence[str] = ()) -> pytest.MarkDecorator:
    """Runs the test on each of these machines, and on those of `slow` as a slow test. The test's
    argument `name` is the machine's name."""
    def marks(name: str) -> list[pytest.MarkDecorator]:
        more = [pytest.mark.slow] if name in slow else []
        return [pytest.mark.machine(**MACHINES[name]), *more]
    return pytest.mark.parametrize("name", [
        pytest.param(name, marks=marks(name), id=name) for name in (*names, *slow)])


def program(name: str, with_channels: bool = False) -> Path:
    """Compiles programs/NAME.c so that it runs in any machine. Returns the program's path."""
    source, place = HERE / f"programs/{name}.c", BUILD / f"lab/programs/{name}"
    library = HERE.parents[1] / "lib"
    sources = [source, *(sorted(library.glob("channel/*.c")) if with_channels else [])]
    includes = [HERE.parents[1] / "include/uapi",
                *([HERE.parents[1] / "include", library / "tests"] if with_channels else [])]
    read = [*sources, *(library.glob("tests/*.h") if with_channels else [])]
    if not place.exists() or place.stat().st_mtime < max(file.stat().st_mtime for file in read):
        place.parent.mkdir(parents=True, exist_ok=True)
        # two workers may compile the file at the same time
        with tempfile.TemporaryDirectory(dir=place.parent) as folder:
            fresh = Path(folder) / name
            subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-pthread", "-mavx",
                            *(f"-I{folder}" for folder in includes),
                            "-o", str(fresh), *map(str, sources)], check=True)
            fresh.rename(place)
    return place


@functools.cache
def module(name: str, kernel: str) -> Path:
    """Builds modules/NAME for one of the lab's kernels. Returns the path of the module."""
    with build.lock():
        place = BUILD / f"lab/modules/{name}-{kernel}"
        shutil.copytree(HERE / "modules" / name, place, dirs_exist_ok=True)
        found = images.kernel(kernel)
        flags = " ".join(f"-I{HERE.parents[1] / folder}" for folder in ("include", "include/uapi", "hypervisor"))
        done = enter.run(found.root, ["make", "-s", "-C", f"/lib/modules/{found.version}/build",
                                      f"M={place}", f"KCFLAGS={flags}", "modules"])
        assert done.returncode == 0, done.stdout
    return place / f"{name}.ko"


# The driver gave up its wait for CPUs of Linux. Their registers say what they do
CPUS_MISSING = re.compile(r"did not answer within \d+ ms")


class Server:
    """A process in the machine that runs qvctl commands without starting Python for each."""

    def __init__(self, machine: Machine) -> None:
        self._machine = weakref.proxy(machine)
        self._answers: queue.Queue[bytes] = queue.Queue()
        self._partial = b""
        self.boot = machine.boots
        machine.put(HERE / "inside/qvctl-server", "/run/qvctl-server")
        # A high priority, since some tests keep all CPUs busy
        self._running = machine.start("exec nice -n -15 python3 /run/qvctl-server", sink=self._take, merge=False)

    def _take(self, data: bytes) -> None:
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            self._answers.put(line)

    def ask(self, argv: list[str], timeout: float) -> Result:
        self._running.write(json.dumps(argv).encode() + b"\n")
        deadline = time.monotonic() + timeout * self._machine.config.patience
        while time.monotonic() < deadline and not self._running.ended.is_set():
            try:
                return Result(**json.loads(self._answers.get(timeout=0.5)))
            except queue.Empty:
                if self._machine.dead:
                    raise MachineDead(self._machine.evidence(
                        f"the machine died (qvctl {shlex.join(argv)}): {self._machine.dead}")) from None
        raise GuestTimeout(self._machine.evidence(
            f"no end of: qvctl {shlex.join(argv)} {self._running.errors.decode(errors='replace')}"))


_servers: "weakref.WeakKeyDictionary[Machine, Server]" = weakref.WeakKeyDictionary()


class Moment(NamedTuple):
    """A reading of the machine's clock, and the host's clock before and after it."""

    before: float
    guest: float
    after: float


class Product:
    """The actions of a user in the machine, each as one method."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.cpus = machine.config.cpus
        self.all_online = "0" if self.cpus == 1 else f"0-{self.cpus - 1}"

    @functools.cached_property
    def vendor(self) -> Vendor:
        return VENDORS[self.sh("awk '/vendor_id/ { printf $3; exit }' /proc/cpuinfo")]

    # qvctl

    def qvctl(self, line: str, timeout: float = 60.0) -> Result:
        server = _servers.get(self.machine)
        if not server or server.boot != self.machine.boots:
            server = _servers[self.machine] = Server(self.machine)
        return server.ask(shlex.split(line), timeout)

    def do(self, line: str, timeout: float = 60.0) -> str:
        """Runs a qvctl command, which must succeed with an empty stderr. Returns its output."""
        r = self.qvctl(line, timeout)
        failed = f"qvctl {line}: status {r.rc}: {r.out}{r.err}"
        if r.rc and CPUS_MISSING.search(r.err):
            failed = self.machine.evidence(failed)
        assert (r.rc, r.err) == (0, ""), failed
        return r.out

    def ask(self, line: str) -> Any:
        """Returns the data of a qvctl command with --json."""
        return json.loads(self.do(f"--json {line}"))

    def refused(self, line: str) -> str:
        """Runs a qvctl command, which must be refused. Returns the sentence and the remedy."""
        r = self.qvctl(line)
        assert r.rc == 1, f"qvctl {line}: status {r.rc}, not refused: {r.out}{r.err}"
        assert re.fullmatch(r"qvctl: \S.*\n  remedy: \S.*\n", r.err), r.err
        assert r.out == ""
        return r.err

    def config(self, name: str, cpu: int, image: str = "", more: str = "") -> str:
        """Copies an installed configuration with another CPU or image, and with a line more. Returns
        the path of the copy."""
        path = f"/run/{name}-{cpu}.yaml"
        changes = [f"s/^cpus:.*/cpus: [{cpu}]/"] if cpu else []
        changes += [f"s/^image:.*/image: {image}/"] if image else []
        changes += [f"$ a {more}"] if more else []
        self.sh(f"sed '{'; '.join(changes)}' {CONFIGS}/{name}.yaml >{path}")
        return path

    def run_cell(self, name: str = "quest", cpu: int = 0, image: str = "") -> None:
        """Creates and starts one of the installed cells, with another CPU or image if given."""
        self.do(f"cell create {self.config(name, cpu, image) if cpu or image else f'{CONFIGS}/{name}.yaml'}")
        self.do(f"cell start {name}")

    def show(self, name: str = "quest") -> Any:
        return self.ask(f"cell show {name}")

    # Methods for the shell of a cell

    def quesh(self, line: str, name: str = "quest", timeout: float = 30.0) -> str:
        """Types a line in a cell's shell. Returns the output, for any status of the command.
        Fails if quesh itself fails, which then writes to stderr."""
        r = self.machine.run(["quesh", name, "-t", f"{timeout:g}", "-c", line], timeout + 10, merge=False)
        assert r.err == "", f"quesh {name} -c {line!r}: status {r.rc}: {r.out}{r.err}"
        return r.out

    def count(self, name: str = "quest") -> int:
        """Returns how far a cell has counted since its shell command `count`."""
        found = re.fullmatch(r"count=(\d+)\n", self.quesh("count show", name))
        assert found
        return int(found[1])

    def assert_counting(self, name: str = "quest") -> None:
        """Waits until a cell counts on. Its shell may run before the counting thread, so one look
        after a fixed time is not enough on a busy host."""
        before, deadline = self.count(name), time.monotonic() + 60
        while self.count(name) <= before:
            assert time.monotonic() < deadline, f"{name} does not count"
            time.sleep(0.1)

    # Linux

    def sh(self, script: str, timeout: float = 60.0) -> str:
        """Runs a shell command, which must succeed. Returns its output."""
        r = self.machine.run(script, timeout)
        assert r.rc == 0, f"{script}: status {r.rc}: {r.out}"
        return r.out

    def online(self) -> str:
        return self.sh("cat /sys/devices/system/cpu/online").strip()

    def pages_kib(self) -> int:
        return int(self.sh(f"echo 3 >/proc/sys/vm/drop_caches; {PAGES_KIB}"))

    def objects_kib(self) -> int:
        """Returns the size of the kernel's small objects (kmalloc and similar)."""
        return int(self.sh("""awk '/^SUnreclaim:/ { printf "%d", $2 }' /proc/meminfo"""))

    def uptime(self) -> Moment:
        before = time.monotonic()
        guest = float(self.sh("cut -d' ' -f1 /proc/uptime"))
        return Moment(before, guest, time.monotonic())

    def runs_on(self, cpu: int) -> bool:
        """Returns whether Linux can run a program on this CPU."""
        return self.machine.run(f"taskset -c {cpu} true").rc == 0

    def busy(self) -> Running:
        """Keeps every CPU busy until calm(). Returns the running command."""
        for name in ("vectors", "clock"):
            self.machine.put(program(name), f"/run/{name}")
        self.machine.put(HERE / "inside/busy", "/run/busy")
        work = self.machine.start("exec bash /run/busy")
        deadline = time.monotonic() + 60 * self.machine.config.patience
        while b"busy\n" not in work.output:
            assert time.monotonic() < deadline and not work.ended.is_set(), work.output
            time.sleep(0.1)
        return work

    def calm(self, work: Running) -> str:
        """Ends the work that busy() began. Fails if a process died or found an error. Returns the
        output."""
        work.write(b"\n")
        self.machine.finish(work, 60)
        said = work.output.decode()
        assert work.rc == 0, said
        return said

    # between tests

    def begin(self) -> None:
        self.sh("dmesg -C")

    def end(self) -> None:
        """Destroys all cells, disables and unloads QV. Each step must succeed, all CPUs must be
        online, and the kernel log must be clean."""
        if self.machine.run("test -e /dev/qv").rc == 0:
            for cell in self.ask("cell list")["cells"]:
                self.do(f"cell destroy {cell['name']}")
            if self.ask("status")["enabled"]:
                self.do("disable")
        # All in one command, since each command takes seconds in Bochs
        left, online, log = self.sh("if test -e /dev/qv; then rmmod qv || exit; fi; grep '^qv ' /proc/modules; ls -d /dev/qv* 2>/dev/null; "
                                    "echo ----; cat /sys/devices/system/cpu/online; echo ----; dmesg").split("----\n", 2)
        assert left == "", f"left behind: {left}"
        assert online.strip() == self.all_online
        no_trouble(log)

    def check_kernel_log(self) -> None:
        no_trouble(self.sh("dmesg"))


# Linux 6.12 counts its fair server (kernel/sched/deadline.c) among a CPU's tasks, and stops it only
# after sched_cpu_dying() has counted. If it is due while a CPU goes offline, Linux warns, lists no
# task but the CPU's own migration thread, stops the server, and continues.
FAIR_SERVER = re.compile(
    r"^[^\n]*cut here[^\n]*\n[^\n]*Dying CPU not properly vacated!\n(?:(?!cut here)[^\n]*\n)*?"
    r"[^\n]*CPU(\d+) enqueued tasks \(2 total\):\n[^\n]*pid: \d+, name: migration/\1\n"
    r"(?![^\n]*pid: \d+, name: )", re.M)


def no_trouble(log: str) -> None:
    lines = FAIR_SERVER.sub("", log).splitlines()
    trouble = [i for i, line in enumerate(lines) if KERNEL_TROUBLE.search(line)]
    assert not trouble, "the kernel complains:\n" + "\n".join(lines[trouble[0]:trouble[0] + 60])
