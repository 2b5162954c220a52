# SPDX-License-Identifier: GPL-2.0-only
"""VCPUs that a cell's YAML file lists: qvctl passes them to Quest, Quest creates them, programs run
in them."""

import re

import pytest

from product import CONFIGS, Product


def rows(qv: Product) -> dict[str, list[str]]:
    """Returns the rows of `vcpus` by name: id, name, type, C, T, used, background ..."""
    lines = qv.quesh("vcpus", "quest-rt").splitlines()[1:-1]
    return {line.split()[1]: line.split() for line in lines}


def use(row: list[str]) -> float:
    """Returns the CPU time in ms that the VCPU used at its priority and in the background."""
    return float(row[5]) + float(row[6])


def test_programs_run_on_listed_vcpus(qv: Product) -> None:
    qv.run_cell("quest-rt")
    words = "vcpu=control,main,1ms,10ms vcpu=vision,main,5ms,100ms vcpu=log,main,500us,200ms"
    assert qv.show("quest-rt")["cmdline"] == words
    before = rows(qv)
    assert [before[name][0] for name in ("control", "vision", "log")] == ["4", "5", "6"]
    assert [[round(float(x), 2) for x in before[name][3:5]] for name in ("control", "vision", "log")] == [
        [1, 10], [5, 100], [0.5, 200]]
    assert use(before["vision"]) == 0
    assert "751 edge points, checksum 6309e484" in qv.quesh("run vcpu=vision canny", "quest-rt", timeout=120)
    after = rows(qv)
    assert use(after["vision"]) > 1 and use(after["control"]) == use(after["log"]) == 0
    assert "canny" not in after


@pytest.mark.slow
def test_two_programs_share_one_vcpu(qv: Product) -> None:
    qv.run_cell("quest-rt")
    assert re.fullmatch(r"\[\d+\] spinner\n", qv.quesh("vcpu=control spinner &", "quest-rt"))
    assert "25 primes below 100" in qv.quesh("vcpu=control prime 100", "quest-rt", timeout=120)
    assert re.search(r"(?m)^ +\d+ +0 spinner +live +4 ", qv.quesh("ps", "quest-rt"))
    assert "no VCPU of that name" in qv.quesh("run vcpu=nobody prime", "quest-rt")


@pytest.mark.slow
def test_overloaded_vcpu_set_is_rejected_by_qvctl(qv: Product) -> None:
    """The error message names file, line and key, and nothing changes. For a valid set, `config
    check -v` prints how many more commands can run."""
    qv.sh("modprobe qv")
    qv.sh(f"sed 's/C: 1ms/C: 5ms/' {CONFIGS}/quest-rt.yaml >/tmp/over.yaml")
    r = qv.machine.run("qvctl cell create /tmp/over.yaml", merge=False)
    assert r.rc == 2
    assert re.match(r"/tmp/over.yaml:\d+:3: vcpus: with Quest's own they load the CPU with 81\.2 %, above the bound of 73\.5 %", r.err), r.err
    assert not qv.ask("status")["enabled"]
    assert "room for 1 at once" in qv.do(f"config check -v {CONFIGS}/quest-rt.yaml")
