# SPDX-License-Identifier: GPL-2.0-only
"""A cell locks management. The monitor then refuses calls by Linux, and only the cell can
unlock."""

import time

import pytest

from lab.machine import Machine
from product import CONFIGS, Product
from test_watchdog import failed, hang, run
from test_watching import until

QUEST2 = f"{CONFIGS}/quest2.yaml"
REFUSED = ("cell destroy quest", "cell destroy quest2", "cell shutdown quest", "cell shutdown quest2 --timeout 0",
           "cell start quest2", "disable")


def assert_locked(qv: Product) -> None:
    for line in REFUSED:
        said = qv.refused(line)
        assert "cell 'quest' has locked management" in said and "qvctl cell unlock" in said, line
    assert "has locked management" in qv.refused(f"cell create {QUEST2}")
    assert qv.machine.run("rmmod qv").rc != 0


@pytest.mark.parametrize("by", [
    "the cell", pytest.param("Linux", marks=pytest.mark.slow),
    pytest.param("its description", marks=pytest.mark.slow)])
def test_lock_refuses_management_until_cell_agrees(qv: Product, by: str) -> None:
    qv.run_cell("quest2")
    qv.do("cell shutdown quest2")
    run(qv, "quest", 3, "off", f"lock: {'true' if by == 'its description' else 'may'}\\n")
    if by == "the cell":
        assert qv.quesh("lock") == "management is locked\n"
    elif by == "Linux":
        qv.do("cell lock quest")
        assert "locked management already" in qv.refused("cell lock quest --strict")
    assert_locked(qv)
    assert [(c["name"], c["locked"]) for c in qv.ask("cell list")["cells"]] == [("quest2", False), ("quest", True)]
    qv.quesh("count")
    qv.assert_counting()
    assert "did not agree within 300 ms" in qv.refused("cell unlock quest --timeout 300")
    assert_locked(qv)
    assert qv.quesh("agree") == "the next request to unlock is agreed to\n"
    qv.do("cell unlock quest --timeout 60000", 90)
    assert "has not locked management" in qv.refused("cell unlock quest --strict")
    qv.do("cell start quest2")
    log = qv.do("log")
    assert "quest: has locked management" in log and "quest: management is unlocked" in log


@pytest.mark.both_vendors
@pytest.mark.slow
def test_linux_cannot_release_lock(qv: Product) -> None:
    """The flag `locked` is in a page that Linux can only read, so Linux cannot forge an unlock."""
    assert "is not loaded" in qv.refused("cell lock quest")
    qv.run_cell("quest2")
    qv.do("cell shutdown quest2")
    assert "does not run" in qv.refused("cell lock quest2")
    assert "no cell 'other'" in qv.refused("cell lock other")
    assert "no cell 'other'" in qv.refused("cell unlock other")
    run(qv, "quest", 3, "3s", "lock: may\\n")
    qv.quesh("lock")
    assert qv.quesh("agree no") == "a request to unlock is ignored\n"
    for _ in range(3):
        assert "did not agree" in qv.refused("cell unlock quest --timeout 100")
    assert qv.quesh("unlock") == "management is unlocked\n"
    qv.do("cell shutdown quest")


@pytest.mark.slow
def test_failed_cell_loses_its_lock(qv: Product) -> None:
    """A failed cell can no longer agree to unlock. The cell's monitor found the failure, so Linux
    cannot open the lock by a false failure."""
    run(qv, "quest", 3, "3s", "lock: may\\n")
    qv.quesh("lock")
    assert_locked_for(qv, "quest")
    qv.machine.run("quesh quest -c 'crash memory'")
    until(lambda: qv.show()["state"] == "failed", "the failure of the cell")
    assert not qv.show()["locked"]
    qv.do("cell start quest")
    assert not qv.show()["locked"], "the restarted cell is locked"


def assert_locked_for(qv: Product, name: str) -> None:
    assert f"cell '{name}' has locked management" in qv.refused(f"cell destroy {name}")


@pytest.mark.slow
def test_hung_cell_is_stopped_after_unlock_of_another(qv: Product) -> None:
    """quest2 hangs while quest holds the lock. quest2 becomes `failed` at once, and its CPU is
    stopped after the unlock."""
    run(qv, "quest", 3, "off", "lock: may\\n")
    run(qv, "quest2", 2, "2s")
    qv.quesh("lock")
    hang(qv, "quest2")
    failed(qv, "quest2")
    assert "continues, management is locked" in qv.do("log")
    assert "cell quest2 stopped" not in qv.do("log")
    qv.quesh("unlock")
    until(lambda: "cell quest2 stopped" in qv.do("log"), "the stop of quest2")
    qv.do("cell start quest2")
    assert qv.quesh("echo again", "quest2") == "again\n"


@pytest.mark.slow
def test_cell_without_lock_key_cannot_lock(qv: Product) -> None:
    """The key `lock: may` is required, since a hostile cell could lock management permanently."""
    qv.run_cell("quest")
    assert "without the right to lock" in qv.refused("cell lock quest")
    assert "may not lock management" in qv.quesh("lock")
    assert not qv.show()["locked"]
    qv.do("cell shutdown quest")


@pytest.mark.machine(fresh=True)
@pytest.mark.slow
def test_hung_cell_keeps_its_lock(machine: Machine) -> None:
    """Linux runs the watchdog and could lie, so the watchdog cannot stop a cell that holds the lock.
    The machine cannot be used after this test."""
    qv = Product(machine)
    qv.begin()
    run(qv, "quest", 3, "2s", "lock: may\\n")
    qv.quesh("lock")
    hang(qv, "quest")
    failed(qv, "quest")
    cell = qv.show()
    assert cell["failure"]["reason"] == "watchdog" and cell["locked"]
    for line in ("cell destroy quest", "cell start quest", "disable"):
        assert "has locked management" in qv.refused(line), line
    before = time.monotonic()
    assert "did not agree within 4000 ms" in qv.refused("cell unlock quest --timeout 4000")
    assert time.monotonic() - before > 3.5, "a cell that recovers late could not agree"
    assert "management is locked" in qv.do("log")
    qv.check_kernel_log()
