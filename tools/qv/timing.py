# SPDX-License-Identifier: GPL-2.0-only
"""The facts of a machine that decide about real time: CPUs that share a core, how they sleep and
how fast they run, NUMA nodes, interrupts of the firmware (SMIs). The files of Linux are below a
root."""

from __future__ import annotations

import os
import re

from .machine import parse_cpu_list, read_text
from .words import cpu_list, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CPUS = "sys/devices/system/cpu"
NODES = "sys/devices/system/node"
SLOW_US = 20  # a CPU that sleeps deeper than this wakes late
MSR_SMI_COUNT = 0x34  # of Intel's processors


class Timing:
    def __init__(self, root: str) -> None:
        self.root = root

    def _read(self, *path: str) -> str:
        return (read_text(os.path.join(self.root, *path)) or "").strip()

    def _names(self, *path: str) -> list[str]:
        try:
            return sorted(os.listdir(os.path.join(self.root, *path)))
        except OSError:
            return []

    def shares_cores(self) -> bool:
        return self._read(CPUS, "smt/active") == "1"

    def siblings(self, cpu: int) -> list[int]:
        """Returns the other CPUs of its core. Linux says it of CPUs that are online."""
        listed = self._read(CPUS, f"cpu{cpu}/topology/thread_siblings_list")
        return sorted(parse_cpu_list(listed) - {cpu})

    def node(self, cpu: int) -> str:
        """Returns the number of its NUMA node, or an empty text."""
        found = [
            name for name in self._names(CPUS, f"cpu{cpu}") if re.fullmatch("node[0-9]+", name)
        ]
        return found[0].removeprefix("node") if found else ""

    def nodes(self) -> dict[str, str]:
        """Returns the CPUs of each NUMA node."""
        names = [name for name in self._names(NODES) if re.fullmatch("node[0-9]+", name)]
        return {name: self._read(NODES, name, "cpulist") for name in names}

    def deepest_sleep(self, cpu: int) -> tuple[str, int]:
        """Returns the name and the time to wake up, in us, of the deepest state that is allowed."""
        found = [("", 0)]
        for state in self._names(CPUS, f"cpu{cpu}/cpuidle"):
            folder = (CPUS, f"cpu{cpu}/cpuidle", state)
            latency = self._read(*folder, "latency")
            if self._read(*folder, "disable") != "1" and latency.isdigit():
                found.append((self._read(*folder, "name") or state, int(latency)))
        return max(found, key=lambda one: one[1])

    def governor(self, cpu: int) -> str:
        return self._read(CPUS, f"cpu{cpu}/cpufreq/scaling_governor")

    def smis(self) -> int | None:
        """Returns how many SMIs CPU 0 has had since it was reset; None if that is not known."""
        try:
            with open(os.path.join(self.root, "dev/cpu/0/msr"), "rb", buffering=0) as stream:
                return int.from_bytes(os.pread(stream.fileno(), 8, MSR_SMI_COUNT)[:4], "little")
        except OSError:
            return None


# ---- for qvctl doctor: check, whether it is fine, sentence, remedy ----

Line = tuple[str, bool, str, str]


def _smt(timing: Timing) -> Line:
    if not timing.shares_cores():
        return ("smt", True, "no two CPUs share a core", "")
    return (
        "smt",
        False,
        "CPUs share cores (SMT): work on one slows a cell on its sibling",
        "give a cell all CPUs of a core (`qvctl config check` names them), "
        "or switch SMT off in the firmware set-up",
    )


def _sleep(timing: Timing, cpus: Sequence[int]) -> Line:
    name, latency = max((timing.deepest_sleep(cpu) for cpu in cpus), key=lambda one: one[1])
    if latency <= SLOW_US:
        return ("c-states", True, "no CPU of Linux sleeps deeply", "")
    return (
        "c-states",
        False,
        f"a CPU of Linux that sleeps in {name} needs {latency} us to wake, "
        "so bells to Linux come late",
        f"cpupower idle-set --disable-by-latency {SLOW_US}, or processor.max_cstate=1 "
        "on the kernel's command line",
    )


def _speed(timing: Timing, cpus: Sequence[int]) -> Line:
    found = sorted({timing.governor(cpu) for cpu in cpus} - {"", "performance"})
    if not found:
        return ("p-states", True, "no governor changes the frequency of CPUs", "")
    return (
        "p-states",
        False,
        f"the frequency governor is {', '.join(found)}: "
        "a CPU of a cell keeps the frequency that it had in Linux",
        "cpupower frequency-set --governor performance, before cells are created",
    )


def _numa(timing: Timing) -> Line:
    nodes = timing.nodes()
    if len(nodes) < 2:
        return ("numa", True, "all memory is as near to each CPU", "")
    listed = "; ".join(f"{name}: CPUs {cpus}" for name, cpus in nodes.items())
    return (
        "numa",
        False,
        f"there are {number(len(nodes), 'NUMA node')}: a cell's memory may be far from its CPUs",
        f"give a cell CPUs of one node ({listed}), and measure",
    )


def _smi(timing: Timing, maker: str) -> Line:
    if maker != "GenuineIntel":
        return ("smi", True, "this processor does not count interrupts of the firmware (SMIs)", "")
    count = timing.smis()
    if count is None:
        return (
            "smi",
            False,
            "interrupts of the firmware (SMIs), which stop every CPU, were not counted",
            "modprobe msr, then qvctl doctor as root",
        )
    return (
        "smi",
        count == 0,
        f"{number(count, 'interrupt')} of the firmware (SMI) since the start: each stops every CPU",
        "qvctl doctor again, later: if the number grows, "
        "switch off in the firmware set-up what you do not need (USB legacy, power management)"
        if count
        else "",
    )


def findings(root: str, cpus: Sequence[int], maker: str) -> list[Line]:
    timing = Timing(root)
    return [
        _smt(timing),
        _sleep(timing, cpus),
        _speed(timing, cpus),
        _numa(timing),
        _smi(timing, maker),
    ]


# ---- for qvctl config check ----


def warnings(root: str, cpus: Sequence[int]) -> Iterator[str]:
    """Yields sentences about the CPUs of a cell."""
    timing = Timing(root)
    for cpu in cpus:
        others = [other for other in timing.siblings(cpu) if other not in cpus]
        if others:
            yield (
                f"CPU {cpu} shares a core with CPU {cpu_list(others)}, "
                "which the cell does not have: work there slows the cell"
            )
    nodes = sorted({node for cpu in cpus if (node := timing.node(cpu))})
    if len(nodes) > 1:
        yield f"its CPUs are on NUMA nodes {' and '.join(nodes)}: memory is far from some of them"
    strange = [cpu for cpu in cpus if timing.governor(cpu) not in ("", "performance")]
    if strange:
        yield (
            f"CPU {cpu_list(strange)} has the frequency governor {timing.governor(strange[0])}: "
            "the cell gets the frequency of that moment (cpupower frequency-set -g performance)"
        )
