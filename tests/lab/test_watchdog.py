# SPDX-License-Identifier: GPL-2.0-only
"""A heartbeat that stops is a failure with the CPU's registers. A cell without one is not watched."""

import json
import re
import time

import pytest

from product import CONFIGS, Product
from test_watching import shows, until

# VT-x has one exit reason for both kinds of exit
EXIT = {"amd": "NMI", "intel": "exception or NMI"}


def described(qv: Product, name: str, cpu: int, watchdog: str, more: str = "") -> str:
    """Writes a copy of a configuration with another CPU and watchdog, and more lines. Returns its
    path in the machine."""
    path = f"/run/{name}-watched.yaml"
    qv.sh(f"sed 's/^cpus:.*/cpus: [{cpu}]/; /^watchdog:/d' {CONFIGS}/{name}.yaml >{path}; "
          f"printf 'watchdog: {watchdog}\\n{more}' >>{path}")
    return path


def run(qv: Product, name: str, cpu: int, watchdog: str, more: str = "") -> None:
    qv.do(f"cell create {described(qv, name, cpu, watchdog, more)} --start")
    assert qv.quesh("echo up", name) == "up\n"
    until(lambda: qv.show(name)["heartbeat"] > 1, "a heartbeat")


def hang(qv: Product, name: str) -> None:
    shell = qv.machine.start(["quesh", name, "-t", "120", "-c", "hang"])
    until(lambda: b"hanging" in shell.output, f"{name} hangs")
    shell.kill(15)
    qv.machine.finish(shell, 60)


def failed(qv: Product, name: str) -> None:
    until(lambda: qv.show(name)["state"] == "failed", f"the failure of {name}")


@pytest.mark.both_vendors
def test_hang_becomes_failure(qv: Product) -> None:
    # a busy host may let the CPUs of Linux run for a second or two, and not a cell's CPU
    run(qv, "quest", 3, "2s" if qv.machine.config.machine == "intel" else "5s")
    run(qv, "quest2", 2, "30s")
    events = qv.machine.start("exec qvctl --json events -f")
    until(lambda: qv.machine.run("ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q ' /dev/qv$'").rc == 0, "events")
    found = re.search(r"kernel +([0-9a-f]+)-([0-9a-f]+)", qv.quesh("mem"))
    assert found
    hang(qv, "quest")
    failed(qv, "quest")
    cell = qv.show()
    failure = cell["failure"]
    assert failure["reason"] == "watchdog" and failure["cpu"] == 3 and failure["exit_name"] == EXIT[qv.machine.config.machine]
    assert int(found[1], 16) <= int(failure["rip"], 16) < int(found[2], 16), failure
    assert re.match("f390|eb", failure["bytes"]), "not the loop in which it hangs"
    assert int(failure["registers"]["rflags"], 16) & 0x200 == 0, "interrupts are on"
    assert int(failure["registers"]["rsp"], 16) and int(failure["registers"]["efer"], 16) & 0x500 == 0x500
    assert "quest: failed: its heartbeat stopped" in qv.do("log")
    assert qv.show("quest2")["state"] == "running", "the other cell failed, too"
    assert "failed" in qv.machine.run("quesh quest -c help").out, "quesh does not report the failure"

    qv.do("cell start quest")
    cell = qv.show()
    assert cell["failure"] is None and cell["last_failure"] == failure and cell["failures"] == 1
    assert qv.quesh("echo again") == "again\n"
    qv.do("cell destroy quest2")
    until(lambda: shows(events, b"destroyed"), "the event of the cell that was destroyed")
    events.kill(2)
    qv.machine.finish(events, 120)
    seen = [json.loads(line) for line in events.output.splitlines()]
    assert [(e["name"], e["state"]) for e in seen] == [
        ("quest", "failed"), ("quest", "running"), ("quest2", "destroyed")]


@pytest.mark.both_vendors
@pytest.mark.slow
def test_watchdog_timeout_is_per_cell(qv: Product) -> None:
    """quest2 hangs later and fails first. quest has no watchdog, so its hang is never a failure."""
    run(qv, "quest", 3, "off")
    run(qv, "quest2", 2, "2s")
    hang(qv, "quest")
    hang(qv, "quest2")
    failed(qv, "quest2")
    assert qv.show("quest")["state"] == "running"
    qv.do("cell start quest2")
    assert qv.show("quest")["state"] == "running"


@pytest.mark.both_vendors
@pytest.mark.slow
def test_busy_cell_is_not_failed(qv: Product) -> None:
    """The cell is busy for longer than the watchdog's time; then its shell must work. Then Linux is
    busy and checks the heartbeat late."""
    run(qv, "quest", 3, "5s")
    assert qv.show()["watchdog_ms"] == 5000
    qv.quesh("spin 7000")
    work = qv.busy()
    beats = qv.show()["heartbeat"]
    until(lambda: qv.show()["heartbeat"] > beats + 12, "three of its seconds")
    qv.calm(work)
    cell = qv.show()
    assert (cell["state"], cell["failures"]) == ("running", 0)


@pytest.mark.slow
def test_paused_machine_is_no_hang(qv: Product) -> None:
    """The machine pauses for longer than the watchdog's time. That time is long, since a busy host
    may let the CPUs of Linux run for a second or two, and not the cell's CPU."""
    run(qv, "quest", 3, "8s")
    qv.machine.qmp("stop")
    time.sleep(10)
    qv.machine.qmp("cont")
    beats = qv.show()["heartbeat"]
    until(lambda: qv.show()["heartbeat"] > beats, "the next heartbeat")
    assert qv.show()["failures"] == 0
