# SPDX-License-Identifier: GPL-2.0-only
"""The APICs of a cell are in x2APIC mode although Linux runs its own in xAPIC mode."""

import re
import time

import pytest

from product import Product, module, on_machines
from test_watching import until

SECONDS = 3
CELL = 3  # the CPU of the cell; its APIC id is the same
TOUCH = "/sys/module/qvtouch/parameters"
BOUND = "the processors lack x2APIC mode, or one of the cell's would take interrupts for a logical id of Linux"


def exits(qv: Product) -> int:
    return int(qv.ask("cell stats quest")["exits_total"])


def name_cpu(qv: Product, cpu: int, name: int) -> None:
    """Gives a CPU of Linux another logical id, as another kernel may do."""
    qv.sh(f"taskset -c {cpu} bash -c 'echo {name:x} >{TOUCH}/ldr'")


@on_machines("xapic", slow=["intel"])
@pytest.mark.slow
def test_cell_has_mode_that_its_file_asks_for(qv: Product, name: str) -> None:
    """In x2APIC mode there is no exit, at rest and under load with keys. After each cell its CPU is
    Linux's again, in xAPIC mode."""
    qv.sh("modprobe msr")
    for key, mode in (("", "x2APIC"), ("apic: x2apic", "x2APIC"), ("apic: machine", "xAPIC")):
        qv.do(f"cell create {qv.config('quest', CELL, more=key)}")
        for life in range(1 if name == "intel" else 2):  # Bochs is slow
            qv.do("cell start quest")
            assert f"{mode}, id {CELL}," in qv.quesh("cpu"), f"{key}, life {life}"
            shown = qv.show()
            assert (shown["x2apic"], shown["apic"]) == (mode == "x2APIC", key[6:] or "best")
            assert f"apic:        {mode} mode" in qv.do("cell show quest")
            assert re.search(rf"^quest +running .* {mode}\b", qv.do("cell list"), re.M)
            before, beats = exits(qv), shown["heartbeat"]
            time.sleep(SECONDS)
            until(lambda b=beats: qv.show()["heartbeat"] > b + SECONDS, "it lives")  # type: ignore[misc]
            assert "primes below 10000" in qv.quesh("prime 10000")
            assert (exits(qv) == before) == (mode == "x2APIC")
            qv.do("cell shutdown quest")
        qv.do("cell destroy quest")
        assert qv.online() == qv.all_online and qv.runs_on(CELL)
        bases = qv.sh(f"for c in 0 {CELL}; do dd if=/dev/cpu/$c/msr bs=8 count=1 skip=27 iflag=skip_bytes "
                      "status=none | od -An -v -tx8; done").split()
        assert [int(base, 16) & 0xc00 for base in bases] == [0x800] * 2, bases
    said = [line["text"] for line in qv.ask("log")["lines"] if "image loaded" in line["text"]]
    assert [re.search(r"in (x2?APIC) mode", text)[1] for text in said] == ["x2APIC", "x2APIC", "xAPIC"]  # type: ignore[index]


@pytest.mark.both_vendors
def test_cell_in_x2apic_mode_ends_by_a_crash(qv: Product) -> None:
    """The CPU of a cell that has failed comes back too."""
    for _ in range(2):
        qv.run_cell("quest", CELL)
        assert "x2APIC" in qv.quesh("cpu")
        qv.machine.run(["quesh", "quest", "-t", "30", "-c", "crash memory"], 60)
        until(lambda: qv.show()["state"] == "failed", "it fails")
        qv.do("cell start quest")
        assert "x2APIC" in qv.quesh("cpu") and qv.show()["state"] == "running"
        qv.do("cell destroy quest")
        assert qv.runs_on(CELL)


@pytest.mark.slow
def test_logical_id_of_linux_forbids_x2apic_mode(qv: Product) -> None:
    """CPU 1 of Linux has the logical id 1 << 3 as well, to which APIC id 3 would answer in x2APIC
    mode. Without the key the cell gets xAPIC mode, and the log says why."""
    qv.machine.put(module("qvtouch", qv.machine.config.kernel), "/run/qvtouch.ko")
    qv.sh("insmod /run/qvtouch.ko")
    qv.do("enable")
    name_cpu(qv, 1, 1 << 1 | 1 << CELL)
    assert BOUND in qv.refused(f"cell create {qv.config('quest', CELL, more='apic: x2apic')}")
    assert qv.online() == qv.all_online
    qv.run_cell("quest", CELL)
    assert "xAPIC" in qv.quesh("cpu") and not qv.show()["x2apic"]
    assert [line for line in qv.ask("log")["lines"]
            if line["source"] == "quest" and "stay in xAPIC mode" in line["text"]]
    qv.do("cell destroy quest")
    name_cpu(qv, 1, 1 << 1)
    qv.run_cell("quest", CELL)
    assert "x2APIC" in qv.quesh("cpu")
    qv.do("cell destroy quest")
    qv.sh("rmmod qvtouch")
