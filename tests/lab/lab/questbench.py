# SPDX-License-Identifier: GPL-2.0-only
"""What Quest's services cost, alone on an emulated machine and in a cell on the same: what is asked, what it says, and
what follows from it. The ratio of the two is the cost of QV."""

import hashlib
import json
import math
import re
from collections.abc import Callable
from typing import Any

from . import build, enter, roots
from .errors import LabError
from .paths import LAB

GOAL = 1.02
DIGEST = f"sha256sum /usr/share/qv/images/{build.TEST_IMAGE} | cut -c-64"  # in the machine, of what its cell runs
COMMANDS = ("measure", "bench switch", "bench sched", "bench timer", "bench share")
PERCENTILES = ("min", "p50", "p99", "p99.99", "max")
VCPUS = (1, 4, 16, 64, 256)

# What is compared: name in the numbers, and for people.
COMPARED = {
    "system-call": "system call",
    "sleep-0": "sleep of no time: a decision",
    "thread-create-join": "thread: create, run, join",
    "fork-wait": "fork, wait",
    "fork-exec-wait": "fork, exec, wait",
    "switch-threads": "switch to a thread of the same VCPU",
    "switch-vcpus": "switch to another VCPU",
    **{f"decision-{n}": f"decision among {n} VCPU{'s' if n > 1 else ''}" for n in VCPUS},
    **{f"timer-{p}": f"wake-up error, {p}" for p in PERCENTILES},
    "share-ppm": "deciding, millionths of all time",
}


def numbers(said: dict[str, str]) -> dict[str, int]:
    """All that COMPARED names, out of what Quest's shell said to COMMANDS. Of a service the least counts, and of a switch
    the median: in a cell CPUs take turns, and what Linux does in its own turn would count too."""
    text = "".join(said.values())
    found = {name: int(n) for name, n in re.findall(r"(?m)^(\S+) rounds=\d+ least=(\d+) ", text)}
    for name, *spread in re.findall(r"(?m)^(\S+) rounds=\d+ min=(\d+) p50=(\d+) p99=(\d+) p99\.99=(\d+) max=(\d+)$", text):
        if name == "timer":
            found |= {f"timer-{p}": int(n) for p, n in zip(PERCENTILES, spread)}
        else:
            found[name] = int(spread[1])
    found |= {f"decision-{n}": int(mean) for n, mean in re.findall(r"(?m)^sched vcpus=(\d+) mean=(\d+) ", text)}
    found |= {"share-ppm": int(n) for n in re.findall(r"(?m)^share vcpus=24 .* ppm=(\d+)$", text)}
    if sorted(found) != sorted(COMPARED):
        raise LabError(f"Quest did not say all that was asked, or more:\n{text}", "see what it says")
    return found


def alone(mode: str, digest: str) -> dict[str, int]:
    """Quest with nothing under it, its APIC in that mode ("xapic", "x2apic"): the same as in the cell, whose image has
    that SHA-256."""
    image, kernel = (build.OUT / f"inmates/quest/{name}" for name in (build.TEST_IMAGE, "quest-test32.elf"))
    if hashlib.sha256(image.read_bytes()).hexdigest() != digest:
        raise LabError("Quest was built anew since the machine with the cell was started", "measure again")
    done = enter.run(roots.ensure("tool"), ["python3", "-B", "-m", "lab.alone", mode, str(kernel), *COMMANDS],
                     {"PYTHONPATH": str(LAB)})
    if done.returncode:
        raise LabError(f"Quest alone ({mode}) did not do it:\n{done.stdout[-2000:]}", "see what it says")
    return numbers(json.loads(done.stdout.splitlines()[-1]))


def in_cell(shell: Callable[[str], str], exits: Callable[[], int]) -> tuple[dict[str, int], dict[str, int]]:
    """The numbers of a running cell, and the exits while each command ran; a few are those of the console."""
    said, counts = {}, [exits()]
    for command in COMMANDS:
        said[command] = shell(command)
        counts.append(exits())
    return numbers(said), {command: after - before for command, before, after in zip(COMMANDS, counts, counts[1:])}


def ratios(base: dict[str, int], cell: dict[str, int]) -> dict[str, float]:
    return {name: round(cell[name] / base[name], 4) for name in COMPARED}


def logarithmic(found: dict[str, int]) -> dict[str, Any]:
    """Does a decision grow no faster than the depth of a balanced tree, log2(n + 1)? Judged from 4 VCPUs on; and the line
    a + b * log2(n + 1) that is nearest."""
    depth = {n: math.log2(n + 1) for n in VCPUS}
    cost = {n: found[f"decision-{n}"] for n in VCPUS}
    x, y = sum(depth.values()) / len(VCPUS), sum(cost.values()) / len(VCPUS)
    slope = sum((depth[n] - x) * (cost[n] - y) for n in VCPUS) / sum((depth[n] - x) ** 2 for n in VCPUS)
    return {"a": round(y - slope * x), "b": round(slope),
            "kept": all(cost[n] <= cost[4] * depth[n] / depth[4] for n in VCPUS if n > 4)}
