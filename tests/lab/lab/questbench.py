# SPDX-License-Identifier: GPL-2.0-only
"""Measures the cost of Quest's services, alone on an emulated machine and in a cell on it.

Types commands in Quest's shell and parses their output. The ratio of both costs is the cost of
QV."""

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
# Command in the machine: prints the digest of the image that its cell runs
DIGEST = f"sha256sum /usr/share/qv/images/{build.TEST_IMAGE} | cut -c-64"
COMMANDS = ("measure", "bench switch", "bench sched", "bench timer", "bench share")
PERCENTILES = ("min", "p50", "p99", "p99.99", "max")
VCPUS = (1, 4, 16, 64, 256)

# The costs that are compared. Each has a name in the data and a name in tables
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
    """Returns all numbers of COMPARED from the output of COMMANDS in Quest's shell. For a service the
    minimum counts, for a switch the median, because the emulator executes CPUs round-robin, and
    larger values may include time slices of Linux's CPUs."""
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
    """Measures Quest without QV, with its APIC in a mode: "xapic" or "x2apic". Raises LabError if its
    image is not the image of the cell, whose SHA-256 is `digest`."""
    image, kernel = (build.OUT / f"inmates/quest/{name}" for name in (build.TEST_IMAGE, "quest-test32.elf"))
    if hashlib.sha256(image.read_bytes()).hexdigest() != digest:
        raise LabError("Quest was built anew since the machine with the cell was started", "measure again")
    done = enter.run(roots.ensure("tool"), ["python3", "-B", "-m", "lab.alone", mode, str(kernel), *COMMANDS],
                     {"PYTHONPATH": str(LAB)})
    if done.returncode:
        raise LabError(f"Quest alone ({mode}) did not do it:\n{done.stdout[-2000:]}", "see what it says")
    return numbers(json.loads(done.stdout.splitlines()[-1]))


def in_cell(shell: Callable[[str], str], exits: Callable[[], int]) -> tuple[dict[str, int], dict[str, int]]:
    """Returns the numbers of a running cell, and the number of exits during each command. The
    console causes a few of these exits."""
    said, counts = {}, [exits()]
    for command in COMMANDS:
        said[command] = shell(command)
        counts.append(exits())
    return numbers(said), {command: after - before for command, before, after in zip(COMMANDS, counts, counts[1:])}


def ratios(base: dict[str, int], cell: dict[str, int]) -> dict[str, float]:
    return {name: round(cell[name] / base[name], 4) for name in COMPARED}


def logarithmic(found: dict[str, int]) -> dict[str, Any]:
    """Checks that the cost of a decision grows no faster than the depth of a balanced tree, log2(n +
    1), from 4 VCPUs on. Returns the result as `kept`, and the line a + b * log2(n + 1) that fits
    best."""
    depth = {n: math.log2(n + 1) for n in VCPUS}
    cost = {n: found[f"decision-{n}"] for n in VCPUS}
    x, y = sum(depth.values()) / len(VCPUS), sum(cost.values()) / len(VCPUS)
    slope = sum((depth[n] - x) * (cost[n] - y) for n in VCPUS) / sum((depth[n] - x) ** 2 for n in VCPUS)
    return {"a": round(y - slope * x), "b": round(slope),
            "kept": all(cost[n] <= cost[4] * depth[n] / depth[4] for n in VCPUS if n > 4)}
