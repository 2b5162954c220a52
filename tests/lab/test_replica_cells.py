# SPDX-License-Identifier: GPL-2.0-only
"""A component that runs in three cells, which vote on its state."""

import re
from typing import Any

import pytest

from product import TEST_IMAGE, Product
from test_watching import until

CPU = {"one": 3, "two": 2, "three": 1}
ITEM = 4096 + 4 * 8192
SPOILT = 500  # the count at which the first cell's state is spoilt
BACK_NS = 50_000_000


def others(name: str) -> list[str]:
    return [one for one in CPU if one != name]


CHANNELS = "channels:\n" + "".join(
    f"  - {{name: {name}-votes, type: memory, item: {ITEM}, writer: {name}, readers: [{', '.join(others(name))}]}}\n"
    for name in CPU)


def write(qv: Product, name: str, program: str) -> None:
    memories = ",".join(f"{one}-votes" for one in [name, *others(name)])
    qv.sh(f"cat >/run/{name}.yaml <<'END'\nname: {name}\ncpus: [{CPU[name]}]\nmemory: 32M\nimage: {TEST_IMAGE}\n"
          f"{CHANNELS}recovery: |\n  triple 2ms/10ms beat=200ms checkpoint=8192,10s restart=3/60s "
          f"replica={memories},60ms : {program}\nEND")


def counts(qv: Product, name: str) -> dict[int, str]:
    """Returns a word of the program's state for each hundredth count."""
    return {int(count): word for count, word in re.findall(r"triple: (\d+) (\w+)", qv.sh(f"quesh {name} --dump"))}


def replica(qv: Product, name: str) -> dict[str, Any]:
    [one] = qv.ask(f"recovery {name}")["replicas"] or [{"cells": [], "votes": 0}]
    return dict(one)


@pytest.mark.slow
@pytest.mark.machine(icount=True)
def test_outvoted_replica_begins_at_the_state_of_the_others(qv: Product) -> None:
    """A bit of the state flips in the first cell. That cell starts its replica again at the state on
    which the others agree, and they continue. Then the cell fails, and is back after its start."""
    qv.do("enable")
    for name in CPU:
        write(qv, name, f"triple {SPOILT}" if name == "one" else "triple")
        qv.do(f"cell create /run/{name}.yaml --start")
    until(lambda: bool(qv.ask("recovery one")["outages"]), "the first cell is outvoted", 300)
    until(lambda: qv.ask("recovery one")["outages"][0]["back_ns"] is not None, "it is back", 60)
    [outage] = qv.ask("recovery one")["outages"]
    print(outage, replica(qv, "one"))
    assert (outage["detector"], outage["value"], outage["strategy"]) == ("replica", 2, "restart")
    assert outage["back_ns"] < BACK_NS
    assert replica(qv, "one")["page"] == 2 and replica(qv, "one")["cells"][0]["outvoted"] == 1
    until(lambda: max(counts(qv, "one"), default=0) >= SPOILT + 200, "the first cell acts again", 120)
    for name in others("one"):
        mine = replica(qv, name)
        print(name, mine)
        [one] = [cell for cell in mine["cells"] if cell["cell"] == "one"]
        assert one["outvoted"] == 1 and not any(cell["outvoted"] for cell in mine["cells"] if cell is not one)
        assert not qv.ask(f"recovery {name}")["outages"], "the others continue"
    done = [counts(qv, name) for name in CPU]
    both = set(done[0]) & set(done[1]) & set(done[2])
    assert 600 in both and all(len({one[count] for one in done}) == 1 for count in both)
    assert "triple resumes at" in qv.sh("quesh one --dump")
    assert qv.machine.run("quesh one -c 'crash memory'").rc == 1
    before = replica(qv, "two")["votes"]
    qv.do("cell start one")
    until(lambda: replica(qv, "one")["votes"] > 10, "the cell votes again", 120)
    assert "triple begins" not in qv.sh("quesh one --dump").rpartition("triple resumes")[2]
    assert replica(qv, "two")["votes"] > before and not qv.ask("recovery two")["outages"]
