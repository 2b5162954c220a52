# SPDX-License-Identifier: GPL-2.0-only
"""A component that another cell takes over, when its cell fails, hangs, or hands it over."""

import re
from typing import Any

import pytest

from lab.machine import Machine
from product import HERE, TEST_IMAGE, Product
from test_watching import until

CPU = {"one": 3, "two": 2}
OTHER = {"one": "two", "two": "one"}
GOAL_NS = 50_000_000
BYTES = 4112
CHANNELS = """channels:
  - {name: one-memory, type: memory, item: 20480, writer: one, readers: [two]}
  - {name: two-memory, type: memory, item: 20480, writer: two, readers: [one]}
"""


def write(qv: Product, name: str, words: str, program: str = "duty", time: str = "40ms", age: str = "10s") -> None:
    qv.sh(f"cat >/run/{name}.yaml <<'END'\nname: {name}\ncpus: [{CPU[name]}]\nmemory: 32M\nimage: {TEST_IMAGE}\n"
          f"{CHANNELS}recovery: |\n  duty 2ms/10ms checkpoint={BYTES},{age} {words} "
          f"takeover={name}-memory,{OTHER[name]}-memory,{time} : {program}\nEND")


def two_cells(qv: Product, words: str = "", program: str = "duty") -> None:
    qv.do("enable")
    write(qv, "one", f"beat=30ms {words}", program)
    write(qv, "two", "beat=30ms standby")
    qv.do("cell create /run/two.yaml --start")
    until(lambda: state(qv, "two") == "standby", "the second cell waits", 60)
    qv.do("cell create /run/one.yaml --start")
    until(lambda: state(qv, "one") in ("runs", "standby"), "the first cell has the component", 60)


def state(qv: Product, name: str) -> str:
    [one] = qv.ask(f"recovery {name}")["components"] or [{"state": ""}]
    return str(one["state"])


def taken(qv: Product, name: str) -> dict[str, Any]:
    """Waits until a cell has taken the component over. Returns the outage."""
    found: dict[str, Any] = {}

    def back() -> bool:
        found.update(qv.ask(f"recovery {name}"))
        return bool(found["outages"]) and found["outages"][-1]["back_ns"] is not None
    until(back, f"{name} has taken it over", 60)
    outage = dict(found["outages"][-1])
    assert (outage["detector"], outage["strategy"]) == ("peer", "takeover"), outage
    return outage


def counts(qv: Product, name: str) -> list[tuple[int, int]]:
    """Returns the count of each start at a checkpoint, and how old the checkpoint was in ns."""
    khz = int(qv.ask("status")["tsc_khz"])
    said = qv.sh(f"quesh {name} --dump")
    return [(int(count), int(cycles) * 1_000_000 // khz)
            for count, cycles in re.findall(r"duty resumes at (\d+) after (\d+) cycles", said)]


@pytest.mark.machine(icount=True)
def test_other_cell_continues_at_the_checkpoint(qv: Product) -> None:
    """The cell fails: its component is back in the other cell within 50 ms of virtual time, at its
    last checkpoint. When the cell is back, it waits; and it takes the component when the other cell
    hangs."""
    two_cells(qv)
    assert qv.machine.run("quesh one -c 'crash memory'").rc == 1
    outage = taken(qv, "two")
    [(count, gap)] = counts(qv, "two")
    print(outage, count, gap)
    assert 0 <= outage["detected_ns"] <= outage["stopped_ns"] <= outage["started_ns"] <= outage["back_ns"] < GOAL_NS
    assert count > 10 and 0 < gap < GOAL_NS
    qv.do("cell start one")
    until(lambda: state(qv, "one") == "standby", "the cell is back", 60)
    assert state(qv, "two") == "runs" and "duty" not in qv.quesh("ps", "one")
    assert qv.machine.run("quesh two -c 'crash memory'").rc == 1
    back = taken(qv, "one")
    [(later, gap)] = counts(qv, "one")
    print(back, later, gap)
    assert back["back_ns"] < GOAL_NS and later > count and 0 < gap < GOAL_NS


@pytest.mark.slow
@pytest.mark.machine(icount=True)
def test_other_cell_takes_what_a_hung_cell_or_a_fault_leaves(qv: Product) -> None:
    """A component that crashes for the second time is left to the other cell, after one restart
    where it was. When that cell hangs, the first one takes the component again, within the time of
    the pair and the goal."""
    two_cells(qv, "restart=1/60s", "duty 100")
    outage = taken(qv, "two")
    [(count, gap)] = counts(qv, "two")
    print(outage, count, gap)
    assert count == 100 and gap < GOAL_NS and outage["back_ns"] < GOAL_NS
    kinds = [one["strategy"] for one in qv.ask("recovery one")["outages"]]
    assert kinds == ["restart", "takeover"] and state(qv, "one") == "standby"
    hung = qv.machine.start("quesh two -c hang")
    until(lambda: state(qv, "one") == "runs", "the first cell takes it again", 300)
    outage = taken(qv, "one")
    [(later, gap)] = counts(qv, "one")
    print(outage, later, gap)
    assert later > count and gap < 40_000_000 + GOAL_NS and outage["back_ns"] < GOAL_NS
    qv.do("cell destroy two")
    qv.machine.finish(hung, 120)


@pytest.mark.slow
@pytest.mark.machine(icount=True)
def test_cell_on_standby_continues_at_its_saves(qv: Product) -> None:
    """The cell fails again and again, and begins again by itself within milliseconds, often before
    the other one has looked. Then either of them has the component, at its last save."""
    qv.do("enable")
    write(qv, "one", "")
    qv.sh("echo 'standby: 16/60s' >>/run/one.yaml")
    write(qv, "two", "standby")
    qv.do("cell create /run/two.yaml --start")
    qv.do("cell create /run/one.yaml --start")
    saved, holders = 0, ["one"]
    for failures in range(1, 5):
        until(lambda: "runs" in (state(qv, "one"), state(qv, "two")), "a cell has the component", 60)
        qv.sh("sleep 0.3")
        holders.append("one" if state(qv, "one") == "runs" else "two")
        if holders[-1] == "two":
            break
        qv.machine.run("quesh one -c 'crash memory'")
        until(lambda failures=failures: qv.show("one")["failures"] == failures, "the failure is known", 60)  # type: ignore[misc]
        until(lambda: "runs" in (state(qv, "one"), state(qv, "two")), "a cell has the component again", 60)
        qv.sh("sleep 0.1")
        found = counts(qv, "one") + counts(qv, "two")
        print(failures, state(qv, "one"), state(qv, "two"), found)
        assert [state(qv, "one"), state(qv, "two")].count("runs") == 1
        assert found and max(count for count, _ in found) > saved + 10
        assert all(gap < GOAL_NS for _, gap in found)
        saved = max(count for count, _ in found)


SCREEN, RECOVERY = 0, 0x2400  # in the console pages: of text, and struct qv_recovery of qv/cell.h
STATE = RECOVERY + 32 + 48  # of component 0
OUTAGE = RECOVERY + 32 + 16 * 72 + 13 * 56  # number 0
RUNS, STANDBY = 1, 5  # QV_COMPONENT_*
PEER, TAKEOVER = 9, 5  # index of the detector, QV_STRATEGY_TAKEOVER
SECONDS = 30  # until the component fails, at least


@pytest.mark.slow
@pytest.mark.parametrize("words", ["cell", ""], ids=["cell-fails", "component-left"])
@pytest.mark.machine(reboots=True, fresh=True)
def test_other_cell_continues_after_linux_has_died(machine: Machine, words: str) -> None:
    """Linux panics, and later the component crashes. Its cell fails with it, or leaves it to the
    other one. No driver marks a cell as failed then, so the other one finds that by the time of the
    pair. It continues at the last save. QEMU reads the other cell's recovery block and screen,
    since no program of Linux runs. The clock is that of the host, so the times are long."""
    qv = Product(machine)
    machine.put(HERE / "inside/physical", "/run/physical")
    qv.do("enable")
    write(qv, "two", "standby", time="60s", age="600s")
    write(qv, "one", words, f"duty {SECONDS * 1000}", time="60s", age="600s")
    for name in ("two", "one"):
        qv.do(f"cell create /run/{name}.yaml --start")
    until(lambda: state(qv, "one") == "runs", "the first cell has the component", 60)
    console = "/dev/qv-cell/two/console"
    places = {at: int(qv.sh(f"/run/physical {console} {at:#x}"), 16) for at in (SCREEN, STATE, OUTAGE)}

    def memory(at: int, count: int = 1) -> bytes:
        said = machine.qmp("human-monitor-command", **{"command-line": f"xp /{count}gx {places[at]:#x}"})
        return b"".join(int(one, 16).to_bytes(8, "little") for one in re.findall("0x([0-9a-f]{16})", said))

    def now() -> int:
        return int.from_bytes(memory(STATE)[:4], "little")
    assert now() == STANDBY
    machine.start("echo 1 >/proc/sys/kernel/sysrq; echo c >/proc/sysrq-trigger")
    until(lambda: "end Kernel panic" in machine.console_text(), "the panic")
    assert now() == STANDBY, "the first cell has failed before Linux"
    until(lambda: now() == RUNS, "the other cell takes the component", 600)
    assert int.from_bytes(memory(OUTAGE), "little") == PEER << 32 | TAKEOVER << 48

    def screen() -> str:
        return memory(SCREEN, 500)[::2].decode("cp437")
    until(lambda: "is back" in screen(), "the first heartbeat", 60)
    found = re.findall(r"duty (begins|resumes at \d+) ", screen())
    assert found == [f"resumes at {SECONDS * 1000}"], screen()
