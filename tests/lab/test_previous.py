# SPDX-License-Identifier: GPL-2.0-only
"""The monitors' log survives a warm reset, and can be read after it."""

import re
from collections.abc import Callable

import pytest

from lab.machine import Machine
from product import Product

pytestmark = pytest.mark.machine(reboots=True, boot_args=("panic=1",))


def sysrq(letter: str, before: str = "") -> Callable[[Machine], object]:
    return lambda m: m.start(f"{before}echo 1 >/proc/sys/kernel/sysrq; echo {letter} >/proc/sysrq-trigger")


# Name: the action that ends Linux; the words of the log about the end of the front end
ENDS: dict[str, tuple[Callable[[Machine], object], str]] = {
    "reset button": (lambda m: m.qmp("system_reset"), "with no word from Linux"),
    "sysrq b": (sysrq("b"), "with no word from Linux"),
    "triple fault": (sysrq("b", "echo triple >/sys/kernel/reboot/type; echo 1 >/sys/kernel/reboot/force; "), "with no word from Linux"),
    "panic": (sysrq("c"), "Linux panicked"),
    "reboot": (lambda m: m.start("reboot -f"), "Linux was restarted"),
}


def previous(qv: Product) -> str:
    return qv.do("log --previous")


# The new kernel is at a random address and may overwrite a cell's log (see CAVEATS.md). It is
# unlikely to do so in each of three boots.
TRIES = 3


def down_and_up(qv: Product, go_down: Callable[[Machine], object]) -> tuple[str, dict[str, str]]:
    """Resets a machine that has a failed cell and a running cell. Returns the log of the time before
    the reset, and the failure of the failed cell."""
    qv.run_cell("quest")
    qv.quesh("echo up")
    qv.run_cell("quest2")
    qv.machine.run("quesh quest -c 'crash memory'")
    failure = qv.show()["failure"]
    assert failure["reason"] == "memory"

    qv.machine.restart(lambda: go_down(qv.machine))
    qv.sh("modprobe qv")
    found = qv.qvctl("log --previous")
    assert found.rc == 0 or "there is no log of an earlier session" in found.err, found.err
    return found.out, failure


@pytest.mark.slow
@pytest.mark.parametrize("how", ENDS)
def test_log_survives_warm_reset(machine: Machine, how: str) -> None:
    qv = Product(machine)
    go_down, words = ENDS[how]
    for _ in range(TRIES):
        said, failure = down_and_up(qv, go_down)
        # If the boot has overwritten the latest log, qvctl shows an earlier one or none
        if words in said if how == "reboot" else "quest: at the end" in said and "quest2: at the end" in said:
            break
    lines = said.splitlines()
    assert lines, f"{TRIES} boots have overwritten the log"
    assert re.fullmatch(r"[\d.]+ driver: QV was enabled on \d{4}-\d\d-\d\d at \d\d:\d\d:\d\d UTC; \d+ entries are left", lines[0])
    times = [float(line.split()[0]) for line in lines]
    assert times == sorted(times)
    assert any("linux: at the end: " in line and words in line for line in lines), said
    assert "cpu 0: CPU is under the monitor (apic id 0)" in said
    second = "instance 2" if how == "reboot" else "quest2"  # a reboot scrubs the name
    assert "linux: cpu" in said and f"cell {second} starts" in said
    assert (how == "triple fault") == ("Linux had a triple fault at 0x" in said)
    if how != "reboot":  # a reboot destroys the cells and scrubs their memory
        assert "quest: cpu 3: cell failed: it touched memory outside the cell (address 0x400000000)" in said
        assert f"quest: cpu 3: it was at RIP {failure['rip']}, exit 0x400" in said
        assert "quest: at the end: it had failed" in said and "quest2: at the end: it was running" in said
    data = qv.ask("log --previous")["lines"]
    assert len(data) == len(lines) and {"driver", "linux"} <= {line["source"] for line in data}

    qv.run_cell("quest")  # QV can be used after the reset
    assert qv.quesh("echo again") == "again\n"
    assert previous(qv) == said
    qv.do("cell destroy quest")
    qv.do("disable")
    qv.sh("rmmod qv")


@pytest.mark.slow
def test_disable_leaves_no_previous_log(machine: Machine) -> None:
    qv = Product(machine)
    qv.run_cell("quest")
    qv.do("cell destroy quest")
    qv.do("disable")
    machine.restart(lambda: machine.qmp("system_reset"))
    qv.sh("modprobe qv")
    said = qv.qvctl("log --previous")
    if said.rc == 1:
        assert "there is no log of an earlier session" in said.err and "remedy: " in said.err
    else:  # this is the log of an earlier test's session
        assert "QV was enabled on" in said.out
