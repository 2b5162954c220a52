# SPDX-License-Identifier: GPL-2.0-only
"""The cost of QV for Quest: the same Quest alone on the emulated machine and in a cell.

Both machines have a clock that counts instructions, and are in xAPIC mode. With x2APIC QEMU is ten
times slower; `make bench` measures that."""

import json

import pytest

from lab import questbench
from lab.errors import LabError
from lab.paths import BUILD
from product import TEST_IMAGE, Product

OUT = BUILD / "bench-quest.json"
# Each wake-up sets the timer for the end of the budget, sets it for the next wake-up, and ends an
# interrupt. These are three writes to the APIC, and in xAPIC mode each is an exit. The only other
# exits are for the console.
PER_WAKE_UP, CONSOLE = 3, 300
WAKE_UPS = 10000
# In a cell Quest also counts each wake-up in the latency page, in so many instructions at most
HISTOGRAM = 40


@pytest.mark.machine(icount=True)
@pytest.mark.slow
def test_quest_in_cell_is_nearly_as_fast_as_alone(qv: Product) -> None:
    base = questbench.alone("xapic", qv.sh(questbench.DIGEST).strip())
    qv.run_cell(image=TEST_IMAGE)
    cell, exits = questbench.in_cell(lambda command: qv.quesh(command, timeout=240),
                                     lambda: int(qv.ask("cell stats quest")["exits_total"]))
    ratio = questbench.ratios(base, cell)
    OUT.write_text(json.dumps({"alone": base, "cell": cell, "ratio": ratio, "exits": exits}, indent=2) + "\n")
    over = {name: r for name, r in ratio.items()
            if r > questbench.GOAL and not name.startswith(("timer-", "share-"))
            and not (name == "sleep-0" and cell[name] - base[name] <= HISTOGRAM)}
    assert not over, (over, base, cell)
    assert questbench.logarithmic(base)["kept"] and questbench.logarithmic(cell)["kept"], (base, cell)
    # the share includes the time slices of Linux's CPUs in between
    assert cell["share-ppm"] < 10000
    # Two exits precede the wake-up. Without correction for the late start of the counter the ratio
    # is 6.
    assert ratio["timer-p50"] <= 5
    assert exits.pop("bench timer") <= PER_WAKE_UP * WAKE_UPS + CONSOLE
    # Each scheduling decision among threads that never sleep causes two exits: about 350 decisions
    assert exits.pop("bench share") <= 1500
    # Each end of a budget causes three exits. The 4000 switches have about 520 exits.
    assert exits.pop("bench switch") <= 3 * CONSOLE
    assert all(n <= CONSOLE for n in exits.values()), exits


SAID = {
    "measure": "".join(f"{name} rounds=50 least=100 median=120\n"
                       for name in ("system-call", "sleep-0", "thread-create-join", "fork-wait", "fork-exec-wait")),
    "bench switch": "".join(f"switch-{what} rounds=2000 min=10 p50=20 p99=30 p99.99=40 max=50\n" for what in ("threads", "vcpus")),
    "bench sched": "".join(f"sched vcpus={n} mean={mean} max=9999\n" for n, mean in
                           ((1, 342), (4, 424), (16, 656), (64, 973), (256, 1317))),
    "bench timer": "timer rounds=10000 min=1 p50=2 p99=3 p99.99=4 max=5\n",
    "bench share": "share vcpus=24 decisions=353 cycles=227857 of=1000000421 ppm=227\n",
}


def test_quest_bench_output_is_parsed() -> None:
    found = questbench.numbers(SAID)
    assert (found["fork-wait"], found["switch-vcpus"], found["timer-p99.99"], found["share-ppm"]) == (100, 20, 4, 227)
    with pytest.raises(LabError, match="did not say all"):
        questbench.numbers(SAID | {"bench share": "no VCPU for it\n"})


def test_growth_beyond_logarithm_is_noticed() -> None:
    found = questbench.numbers(SAID)
    assert questbench.logarithmic(found) == {"a": 131, "b": 143, "kept": True}
    assert not questbench.logarithmic(found | {"decision-256": 1500})["kept"]
    linear = {f"decision-{n}": 300 + 12 * n for n in questbench.VCPUS}
    assert not questbench.logarithmic(found | linear)["kept"]
