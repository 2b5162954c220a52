# SPDX-License-Identifier: GPL-2.0-only
"""Linux makes hypercalls to the monitor."""

import arena

from .linux import HUGE, Linux, ONES, attack


@attack("front-hypercall-numbers", "its kernel makes hypercalls that do not exist",
        "an error code each")
def hypercall_numbers(linux: Linux) -> None:
    linux.refuses([(number, 1, 1) for number in (0x20, 0x40, 0xFF, 0x100, 0xFFFF, 1 << 31, 1 << 32,
                                                 1 << 63, ONES)])


@attack("front-hypercall-instances",
        "its kernel starts, stops, destroys and rings cells that do not exist",
        "an error code each")
def hypercall_instances(linux: Linux) -> None:
    linux.refuses([(number, instance) for number in (3, 4, 5, 6, 8)
                   for instance in (0, 2, 15, 16, 17, 255, 1 << 31, 1 << 32, (1 << 32) + 1, 1 << 63,
                                    ONES)])


@attack(
    "front-hypercall-pointers",
    "its kernel has a cell created from requests in the monitor, in a cell, in holes, across ends",
    "an error code each")
def hypercall_pointers(linux: Linux) -> None:
    hidden = linux.hidden()
    linux.refuses([(2, pa)
                   for pa in (*hidden, hidden[0] + HUGE - 8, 1, 7, 0, 0xFEE00000, 0xFEC00000,
                              0xA0000, 1 << 40, 1 << 52, 1 << 63, ONES, ONES - 7)])


@attack("front-ipi-direct", "its kernel asks for direct IPIs, which enable did not choose",
        "an error code")
def ipi_direct(linux: Linux) -> None:
    linux.refuses([(12, direct) for direct in (1, 2, 1 << 32, ONES)])


@attack("front-hypercall-leave", "a CPU of its leaves the monitor while a cell lives",
        "an error code")
def hypercall_leave(linux: Linux) -> None:
    linux.refuses([(1, )])


@attack("front-hypercall-start-running", "its kernel starts the witness, which runs",
        "an error code")
def hypercall_start(linux: Linux) -> None:
    linux.refuses([(3, 1)])


@attack(
    "front-doorbell-flood", "its kernel rings the witness's doorbell as fast as it can",
    "10 bells a millisecond, as the witness's file has it; the others get an error code, and no line in the log"
)
def doorbell_flood(linux: Linux) -> None:
    linux.do("flood", 6, 1, 5000)
    rung, micros = linux.value(), int(
        linux.machine.run("cat /sys/module/qvfront/parameters/micros").out)
    assert 1 <= rung <= 10 * micros / 1000 * 1.01 + 1, (rung, micros)
    # the rate lets 5,000 bells pass in half a second
    assert rung < 5000 or micros > 490_000, "it was fast enough to be held back"
    assert "hypercall 6 refused" not in linux.arena.ask("neighbours")["log"]


@attack("front-look", "its kernel has the monitor show the witness's registers, in many ways",
        "an error code each: its file does not say `debug: true`")
def look(linux: Linux) -> None:
    linux.refuses([(11, 1 | cpu << 8) for cpu in (0, 1, 255, 1 << 32, ONES >> 8)])
    linux.refuses([(11, instance) for instance in (0, 2, 15, 16, 255)])


@attack("front-hypercall-user", "a program makes hypercalls", "#UD for it")
def hypercall_user(linux: Linux) -> None:
    linux.machine.put(arena.lab_program("hypercall"), "/run/attack/hypercall")
    assert linux.machine.run("/run/attack/hypercall").out == "0 done\n"
