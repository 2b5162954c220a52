# SPDX-License-Identifier: GPL-2.0-only
"""A soak of a service: a web server or its whole cell fails every ten seconds, and Linux asks it all
the time.

pytest's option --soak N sets the number of failures: --soak 360 is an hour of the machine's time,
which takes somewhat longer. The clock counts instructions, so times do not depend on the host."""

import itertools
import json
import statistics
from typing import Any

import pytest

from devices import BEHIND_IOMMU, given
from product import HERE, Product
from test_cell_net import CELL, CELL_IP, linux_up
from test_iommu import dma
from test_soak import SAMPLES, compare, state
from test_watching import until

CARDS = BEHIND_IOMMU[-8:]  # two network functions on a cable, without the host
# Without x2APIC mode, with which the emulator would boot for minutes in counted time
QEMU = ("-device", "amd-iommu,intremap=on,xtsup=off,dma-remap=on", *CARDS)
FAILURES = 6  # by default
EACH_S = 10
RATE = 10  # requests a second
BYTES = 17675  # of an answer, as in the papers
AT_ONCE, TRIES = 1000, 3
GOAL_MS = 50  # until the server is back
LONGEST_MS = GOAL_MS + 2 * 1000 / RATE  # without an answer
FREE_KIB = 64  # by so much the cell's free memory may differ
FILE = f"""standby: 4/60s
admission: exact
recovery: |
  httpd 20ms/100ms restart=8/60s : httpd
cmdline: net={CELL_IP}/24
"""
HEAD = "number failure  gap/ms restart/ms free/KiB exits"


def run(qv: Product, first: int, count: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Linux asks, while failures from number `first` come. Returns what the client says, with the
    longest time between two answers, and the failures, each with that time around it."""
    seconds = count * EACH_S
    ask = qv.machine.start(
        f"/run/requests http://{CELL_IP}/bytes/{BYTES} {RATE} {seconds} {AT_ONCE} /run/each {TRIES} >/run/asked")
    fail = qv.machine.start(f"/run/failures quest {first} {count} {EACH_S} /run/failed")
    for command in (fail, ask):
        qv.machine.finish(command, 20 * seconds + 300)
        assert command.rc == 0, command.output.decode()
    asked, each, failed = (json.loads(qv.sh(f"cat /run/{name}")) for name in ("asked", "each", "failed"))
    answers = sorted(answered for _, answered in each if answered)
    gaps = [(b - a, b) for a, b in itertools.pairwise(answers)]
    asked["gap_ms"] = max(gaps)[0] / 1e6
    for one in failed:
        one["gap_ms"] = max(gap for gap, end in gaps if 0 < end - one["at"] < EACH_S / 2 * 1e9) / 1e6
    return asked, failed


def check(qv: Product, failed: list[dict[str, Any]]) -> None:
    """Each failure was what it was to be, and has left nothing."""
    for number, one in enumerate(failed, 1):
        killed, crashes = number % 2 == 0, (number + 1) // 2
        assert (one["what"] == "kill") == killed, (number, one)
        assert (one["failures"], one["restarts"]) == (crashes, crashes), (number, one)
        assert (one["starts"], one["faults"]) == (1 + killed, killed), (number, one)
        assert not any(one[name] for name in ("denied", "blocked", "bad", "full")), (number, one)
    for name, kind in (("life", 1), ("life with a kill", 0)):
        free = [one["free"] for number, one in enumerate(failed, 1) if number % 2 == kind]
        assert max(free) - min(free) <= FREE_KIB, (name, free)


@pytest.mark.slow
@pytest.mark.machine(icount=True, qemu_args=QEMU, boot_args=("iommu=pt",))
def test_soak_of_a_service(qv: Product, request: pytest.FixtureRequest) -> None:
    """The cell fails by a wild access, a panic or a triple fault. After each of these its server is
    killed. Each request is answered, with a short gap. Neither Linux nor the cell loses memory."""
    rounds = int(request.config.getoption("--soak")) or FAILURES
    linux_up(qv)
    qv.do("enable --strict --iommu")
    path = given(qv, dma(CELL, "protected"))
    qv.sh(f"sed -i '/^cmdline:/d' {path}; cat >>{path} <<'END'\n{FILE}END")
    qv.do(f"cell create {path} --start")
    until(lambda: "httpd: serves port 80" in qv.sh("quesh quest --dump"), "httpd")
    for name in ("requests", "failures"):
        qv.machine.put(HERE / "inside" / name, f"/run/{name}")
    asked: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    linux, used = [], []
    step = max(4, rounds // SAMPLES)
    for first in range(1, rounds + 1, step):
        got, fails = run(qv, first, min(step, rounds + 1 - first))
        asked.append(got)
        linux.append(state(qv))
        print(got, HEAD, sep="\n")
        before = None
        for number, one in enumerate(fails, first):
            exits = one["exits"] - before if before else 0
            before = one["exits"]
            if number % 2 == 0 and exits:
                used.append(exits)
            print(f"{number:6} {one['what']:7} {one['gap_ms']:7.1f} {one['restart_ns'] / 1e6:10.1f} {one['free']:8} {exits:5}")
        failed += fails
    sums = {name: sum(one[name] for one in asked) for name in ("asked", "answered", "again")}
    longest = max(one["gap_ms"] for one in asked)
    print(f"{rounds} failures in {rounds * EACH_S} s: {sums}, at most {longest:.1f} ms without an answer; exits in {EACH_S} s: {used}")
    assert sums["answered"] == sums["asked"] == rounds * EACH_S * RATE
    assert sums["again"] <= rounds, "a failure hits one request at most"
    assert longest <= LONGEST_MS
    check(qv, failed)
    few = max(1, len(used) // 3)
    assert not used or statistics.median(used[-few:]) < 1.1 * statistics.median(used[:few]), used
    compare(linux)
