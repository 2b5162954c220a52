# SPDX-License-Identifier: GPL-2.0-only
"""Three Quest cells tell each other their load, and programs go where there is room."""

import re

from product import TEST_IMAGE, Product
from test_watching import until

CELLS = {"one": 3, "two": 2, "three": 1}
CHANNEL = "{{name: {a}-{b}, type: mailbox, item: 4096, writer: {a}, readers: [{b}], bell: true}}"
ROW = r"(?m)^(\w+) +load (\d+\.\d) % of bound, (\d+) VCPUs, (\d+) programs, \d+ KiB free$"


def links(name: str) -> list[tuple[str, str]]:
    """Programs move between cell one and each other cell."""
    both = [(a, b) for other in ("two", "three") for a, b in (("one", other), (other, "one"))]
    return [link for link in both if name in link]


def three_cells(qv: Product) -> None:
    qv.do("enable")
    for name, cpu in CELLS.items():
        channels = "".join(f"  - {CHANNEL.format(a=a, b=b)}\n" for a, b in links(name))
        names = ", ".join(f"{a}-{b}" for a, b in links(name))
        qv.sh(f"cat >/run/{name}.yaml <<'END'\nname: {name}\ncpus: [{cpu}]\nmemory: 32M\n"
              f'image: {TEST_IMAGE}\nmigrate: [{names}]\nchannels:\n{channels}END')
        qv.do(f"cell create /run/{name}.yaml --start")
    assert [len(qv.quesh("migrate", name, timeout=120).splitlines()) for name in CELLS] == [2, 1, 1]


def top(qv: Product) -> dict[str, tuple[float, int]]:
    """Returns the load and the number of programs of each cell that answers cell one."""
    shown = qv.quesh("top all", "one", timeout=120)
    return {name: (float(load), int(count)) for name, load, _, count in re.findall(ROW, shown)}


def top_of_all(qv: Product) -> dict[str, tuple[float, int]]:
    """The same, when all cells answer: a busy host may stop a cell's CPU for longer than cell one waits."""
    found: dict[str, tuple[float, int]] = {}

    def answered() -> bool:
        found.clear()
        found.update(top(qv))
        return list(found) == list(CELLS)
    until(answered, "all cells answer")
    return found


def spinners(qv: Product, name: str) -> list[str]:
    return re.findall(r"(?m)^ *(\d+) .*spinner.* live ", qv.quesh("ps", name))


def test_programs_go_where_there_is_room(qv: Product) -> None:
    three_cells(qv)
    loads = top_of_all(qv)
    assert len({load for load, _ in loads.values()}) == 1, loads
    # the least loaded cell is the third, then the first
    qv.quesh("load 15 100", "two")
    assert "runs in one" in qv.quesh("run --anywhere spinner", "one", timeout=120)
    assert len(spinners(qv, "one")) == 1
    qv.quesh("run --anywhere=balance spinner", "one", timeout=300)
    assert [len(spinners(qv, name)) for name in CELLS] == [1, 0, 1]
    after = top_of_all(qv)
    assert after["two"][0] == loads["two"][0] + 15 and after["three"] == after["one"] == (loads["one"][0] + 20, 1)
    # of three programs, cell one admits two: one leaves, so that the new one has its guarantee
    qv.quesh("run --anywhere spinner", "one", timeout=120)
    assert "] to two" in qv.quesh("run --anywhere spinner", "one", timeout=300)
    assert [len(spinners(qv, name)) for name in CELLS] == [2, 1, 1]
    assert all(load < 75 for load, _ in top_of_all(qv).values())


def test_rebalance_and_a_cell_that_does_not_answer(qv: Product) -> None:
    three_cells(qv)
    for _ in range(2):
        qv.quesh("spinner &", "one")
    assert "no such program" in qv.quesh("run --anywhere nothing", "one", timeout=120)
    assert "(first, near or balance)" in qv.quesh("run --anywhere=best spinner", "one", timeout=120)
    assert "| is between programs" in qv.quesh("run --anywhere spinner | spinner", "one", timeout=120)
    said = qv.quesh("rebalance", "one", timeout=300)
    assert len(re.findall(r"(?m)^moves \[\d+\] to (?:two|three)$", said)) == 1, said
    assert "no move reduces a load by 1 %" in said
    qv.do("cell destroy two")
    assert re.search(r"(?m)^two +no answer: ", qv.quesh("top all", "one", timeout=120))
    until(lambda: "three" in top(qv), "cell three still answers")
