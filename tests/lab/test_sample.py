# SPDX-License-Identifier: GPL-2.0-only
"""Samples of a running cell's registers. The tests do the steps of
Documentation/tutorial/inmates.md for a silent inmate. Linux also samples a cell at a high rate, and
while the cell restarts."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from product import HERE, Product, module
from test_inmates_page import PAGE, blocks, tiny
from test_quest_time import FIRST_CELL, QVCALL, late, linux_repeats, prime
from test_watching import until

SAMPLE = 11     # number of the hypercall QV_HC_SAMPLE
[SHOW] = re.findall(r"(?m)^    (qvctl .*)$", PAGE.partition("## A silent inmate")[2].partition("\n## ")[0])


def function(elf: Path, name: str) -> range:
    """Returns the addresses of a function in an image."""
    done = subprocess.run(["nm", "-S", elf], text=True, capture_output=True, check=True)
    for words in (line.split() for line in done.stdout.splitlines()):
        if words[-1] == name and len(words) == 4:
            return range(int(words[0], 16), int(words[0], 16) + int(words[1], 16))
    raise AssertionError(f"{elf} has no {name}")


def put(qv: Product, elf: Path, folder: Path) -> None:
    qv.machine.put(elf, "/run/page/tiny.elf")
    (folder / "tiny.yaml").write_text(blocks("yaml")[0])
    qv.machine.put(folder / "tiny.yaml", "/run/page/tiny.yaml")


def begin(qv: Product, elf: Path, folder: Path) -> None:
    """Starts the cell of the page, with `debug: true` added to its file as the page says."""
    put(qv, elf, folder)
    qv.sh("echo 'debug: true' >>/run/page/tiny.yaml")
    qv.do("cell create /run/page/tiny.yaml --start")


def stand_of(qv: Product) -> Any:
    """Returns where the cell's CPU is. On a busy host it may not answer within the driver's second:
    the refusal says to try again."""
    found: list[Any] = []

    def answered() -> bool:
        [stand] = qv.show("tiny")["stands"]
        found.append(stand)
        return bool(stand["state"] != "unknown")
    until(answered, "a sample", 120)
    return found[-1]


@pytest.mark.slow
def test_sample_without_debug_key_is_refused(qv: Product, tmp_path: Path) -> None:
    put(qv, tiny(tmp_path), tmp_path)
    qv.do("cell create /run/page/tiny.yaml --start")
    assert qv.show("tiny")["debug"] is False and qv.show("tiny")["stands"] is None
    code = ("from qv.device import Device; from qv.errors import Refused\n"
            "try: Device().sample('tiny', 1)\n"
            "except Refused as refusal: print(refusal.code, refusal.sentence)")
    answer = qv.sh(f"python3 -c {shlex.quote(code)}")
    assert answer.startswith("31 cell 'tiny' does not show its registers while it runs")
    assert qv.ask("cell stats tiny")["exits"]["nmi"] == 0


@pytest.mark.both_vendors
def test_sample_shows_registers_of_inmate(qv: Product, tmp_path: Path) -> None:
    """A sample shows an address in the inmate's loop or, when the inmate halts, behind the HLT."""
    elf = tiny(tmp_path)
    begin(qv, elf, tmp_path)
    until(lambda: qv.show("tiny")["heartbeat"] > 1, "a heartbeat", 60)
    until(lambda: re.search(r"(?m)^cpu 1: +at 0x[0-9a-f]+$", qv.sh(SHOW)), "a sample", 120)
    loop = function(elf, "tiny")
    stand = stand_of(qv)
    assert stand["state"] == "runs" and not stand["after_hlt"]
    assert int(stand["rip"], 16) in loop, (stand, loop)
    registers = {name: int(value, 16) for name, value in stand["registers"].items()}
    assert registers["cr0"] & 0x80000001 == 1 and registers["efer"] & 0x500 == 0
    stack = function(elf, "stack")
    assert registers["rsp"] in range(stack.start, stack.stop + 1)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", elf, tmp_path / "text"], check=True)
    assert bytes.fromhex(stand["bytes"])[:2] in (tmp_path / "text").read_bytes()
    assert qv.show("tiny")["state"] == "running"
    qv.do("cell destroy tiny")
    halts = tmp_path / "halts"
    halts.mkdir()
    elf = tiny(halts, lambda code: code.replace('"pause"', '"cli; hlt"'))
    begin(qv, elf, tmp_path)
    until(lambda: "behind a HLT" in qv.do("cell show tiny"), "a HLT", 60)
    stand = stand_of(qv)
    assert int(stand["rip"], 16) in function(elf, "tiny") and stand["after_hlt"]


@pytest.mark.slow
def test_sampling_during_restarts_has_no_side_effect(qv: Product, tmp_path: Path) -> None:
    """Each sample returns the registers, or the reason why it cannot. The cell is not affected."""
    elf = tiny(tmp_path)
    begin(qv, elf, tmp_path)
    qv.machine.put(HERE / "inside/look", "/run/look")
    qv.sh("touch /run/go-on")
    look = qv.machine.start("exec python3 /run/look tiny 1", merge=False)
    for _ in range(10):
        qv.do("cell shutdown tiny --timeout 0")
        qv.do("cell start tiny")
        qv.do("cell destroy tiny")
        qv.do("cell create /run/page/tiny.yaml --start")
    until(lambda: qv.show("tiny")["heartbeat"] > 1, "a heartbeat", 60)
    qv.sh("rm /run/go-on")
    qv.machine.finish(look, 60)
    assert (look.rc, look.errors) == (0, b"")
    found = json.loads(look.output)
    print(found)
    # E_CPU_STUCK: no answer within a second, since the host was busy
    assert set(found["answers"]) <= {"RUNS", "STOPPED", "E_STATE", "E_NO_CELL", "E_CPU_STUCK"}
    assert found["answers"]["RUNS"] > 10 * found["answers"].get("E_CPU_STUCK", 1)
    # the function begins after the first lines of assembly
    assert function(elf, "tiny").start - 32 <= found["low"]
    assert found["high"] < function(elf, "tiny").stop
    assert qv.show("tiny")["state"] == "running"


@pytest.mark.machine(icount=True)
@pytest.mark.slow
def test_sampling_flood_delays_cell_within_bound(qv: Product) -> None:
    """Samples are limited to the rate of doorbells. The bounds are those of test_quest_time.py."""
    qv.sh("sed '$ a debug: true' /usr/share/qv/configs/quest.yaml >/run/debug.yaml")
    qv.do("cell create /run/debug.yaml --start")
    qv.machine.put(module("qvcall", qv.machine.config.kernel), "/run/qvcall.ko")
    qv.sh("insmod /run/qvcall.ko")
    with linux_repeats(qv, ":"):
        quiet, quiet_late = prime(qv), late(qv)
    with linux_repeats(qv, f"echo 1000 {SAMPLE:x} {FIRST_CELL:x} >{QVCALL}/again"):
        before = qv.ask("cell stats quest")["exits"]["nmi"]
        flooded, flooded_late = prime(qv), late(qv)
        looks = qv.ask("cell stats quest")["exits"]["nmi"] - before
    qv.sh("rmmod qvcall")
    print(f"prime {quiet} {flooded} us, late {quiet_late} {flooded_late} ns, {looks} looks")
    assert looks > 1000
    assert flooded <= 1.15 * quiet, (flooded, quiet)
    assert 50_000 + flooded_late <= 1.25 * (50_000 + quiet_late), (flooded_late, quiet_late)
