# SPDX-License-Identifier: GPL-2.0-only
"""Components of Quest: each detector finds its fault, and each strategy brings the program back. The
components are those of recovery/, their faults those of programs/faulty.c."""
import re
from collections import Counter

import pytest

from lab import bare as m

pytestmark = pytest.mark.usefixtures("built")

PERIOD_US = 10_000      # of the VCPU `recovery`
BACK_US = 50_000
# component: detector, strategies
FAULTS = {
    "crash": ("exception", ["restart"]), "exit": ("exit", ["restart"]), "hang": ("beat", ["restart"]),
    "late": ("late", ["restart"]), "stall": ("stall", ["restart"]), "leak": ("pages", ["restart"]),
    "files": ("files", ["restart"]), "state": ("exception", ["rollback"]),
    "loop": ("exception", ["restart", "restart", "instead"]),
}


class Outage:
    """A line of the command `recovery`. Times are us after the fault; -1: it did not come so far."""

    def __init__(self, line: str) -> None:
        words = line.split()
        self.component, self.detector, _, self.strategy = words[1:5] if "given up" not in line else (
            *words[1:4], "given up")
        self.detected, self.stopped, self.started, self.alive = (
            -1 if word == "-" else int(word) for word in words[-4:])


def outages(text: str) -> list[Outage]:
    return [Outage(line) for line in text.partition("OUTAGE")[2].splitlines()[1:]]


def states(text: str) -> dict[str, tuple[str, int, int]]:
    """Returns the state of each component, its starts and its faults."""
    rows = re.findall(r"(?m)^(\S+) +(\w+) +\d+ \S+ +(\d+) +(\d+) +\d+$", text.partition("DETECTOR")[0])
    return {name: (state, int(starts), int(faults)) for name, state, starts, faults in rows}


def test_each_detector_finds_its_fault() -> None:
    """An instruction takes 1 ns in this machine, so the times do not depend on the host."""
    with m.Machine("-smp", "2", *m.COUNTED, "-kernel", str(m.build_dir() / "inmates/tests/fakecell.elf"),
                   "-initrd", str(m.quest("quest-test.elf")), "-append", "fakecell") as machine:
        shell = m.Shell(machine, "> \x04")
        *wrong, end = shell.run("recovery start frame.pgm").splitlines()
        assert wrong[0].startswith("recovery: frame.pgm, line 1: ") and end == "frame.pgm: no component starts"
        assert shell.run("recovery start faults") == ""
        for _ in range(6):
            shell.run("sleep 50")
        text = shell.run("recovery")
        print(text)
        found = outages(text)
        for name, (detector, strategies) in FAULTS.items():
            own = [one for one in found if one.component == name]
            assert [one.strategy for one in own][:len(strategies)] == strategies, name
            assert own[0].detector == detector
        for one in found:
            assert 0 <= one.detected <= 2 * PERIOD_US and one.detected <= one.stopped <= one.started
            assert one.alive < BACK_US and (one.alive > 0 or one.component == "loop")
        assert "faulty: resumes at its count" in machine.text
        now = states(text)
        # a missing implementation is a fault, too; then the next one runs
        assert [one.detector for one in found if one.component == "loop"] == ["exception"] * 3 + ["start"]
        assert now["loop"] == ("runs", 5, 4)
        assert now["user"] == ("runs", 2, 0), "it was restarted with the component that it needs"
        assert now["once"] == ("ended", 1, 0)
        assert now["leaver"] == ("ended", 1, 0)
        programs = re.findall(r"(?m)^ *\d+ +\S+ (\w+) +live ", shell.run("ps"))
        assert sorted(programs) == ["faulty"] * 10 + ["steady"], "the child of `leaver` has ended with it"
        machine.send("\x1dp")
        machine.expect("recovery: channel: channel [0-9]+: given up")
        machine.send("\x1dp")
        assert states(shell.run("recovery"))["channel"] == ("lost", 2, 2)
        assert shell.run("recovery restart channel") == ""
        assert m.until(lambda: states(shell.run("recovery"))["channel"] == ("runs", 3, 2), 60)


# Faults of `faulty random`, in its order, and the detectors that may find them. A program that has
# used its budget is also late, has no turn and misses its heartbeat; a flipped bit may do anything
DEPLETED = {"late", "stall", "beat"}
RANDOM_KINDS = {
    "crash": {"exception"}, "exit": {"exit"}, "hang": {"beat"}, "stall": {"stall", "beat"}, "leak": {"pages"} | DEPLETED,
    "files": {"files"} | DEPLETED, "late": DEPLETED, "flip": {"exception", "exit", "pages", "files"} | DEPLETED,
}


def random_kind(seed: int, start: int) -> str:
    """Returns the fault that faulty.c has at its start number `start`."""
    state = seed << 32 | start
    for _ in range(2):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
    return list(RANDOM_KINDS)[(state >> 33) % len(RANDOM_KINDS)]


def by_kind(text: str, names: tuple[str, ...]) -> dict[str, Counter[str]]:
    """Returns for each kind of fault how often each detector has found it."""
    found: dict[str, Counter[str]] = {kind: Counter() for kind in RANDOM_KINDS}
    for seed, name in enumerate(names, 1):
        for start, detector in enumerate(re.findall(rf"recovery: {name}: (\w+) \d+: restart", text), 1):
            found[random_kind(seed, start)][detector] += 1
    return found


@pytest.mark.slow
def test_storm_of_faults_is_survived() -> None:
    """500 seeded faults in three programs, flipped bits of their memory included: all are found and
    recovered, each by a detector of its kind, and a fourth program is never late."""
    with m.Machine("-smp", "2", *m.COUNTED, "-kernel", str(m.build_dir() / "inmates/tests/fakecell.elf"),
                   "-initrd", str(m.quest("quest-test.elf")), "-append", "fakecell") as machine:
        shell = m.Shell(machine, "> \x04")
        assert shell.run("recovery start storm") == ""
        storm = ("one", "two", "three")
        for _ in range(100):
            shell.run("sleep 200")
            now = states(shell.run("recovery"))
            if sum(now[name][2] for name in storm) >= 500:
                break
        print(shell.run("recovery"), shell.run("vcpus"))
        kinds = by_kind(machine.text, storm)
        for kind, detectors in kinds.items():
            print(f"{kind:6} {detectors.total():4} found and recovered, by {dict(detectors)}")
            assert detectors and set(detectors) <= RANDOM_KINDS[kind], (kind, detectors)
        assert sum(one.total() for one in kinds.values()) >= 500
        assert sum(now[name][2] for name in storm) >= 500
        assert all(now[name][1] == now[name][2] + 1 for name in storm)
        assert now["witness"] == ("runs", 1, 0)
        assert "given up" not in machine.text and "recovery: one: start" not in machine.text


def test_cell_fails_with_its_component() -> None:
    """The file is named on the command line."""
    with m.Machine(*m.COUNTED, "-kernel", str(m.quest("quest-test32.elf")), "-append", "recovery=last") as machine:
        machine.expect("recovery: only: exception 11: restart\n")
        machine.expect("recovery: only: exception 11: restart of the cell\n")
        machine.expect("panic: component only has failed, and the cell with it")
