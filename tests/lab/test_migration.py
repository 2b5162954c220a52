# SPDX-License-Identifier: GPL-2.0-only
"""Programs that move from one Quest cell to another, and continue there."""

import re
import time
from random import Random

import pytest
from moving import programs
from product import TEST_IMAGE, Product
from test_channels import exits
from test_watching import until

MOVING = r"(?m)^ *(\d+) .* moving "
LARGE_KIB = 8192  # moves long enough to be seen
CELLS = {"one": 3, "two": 2}
LINKS = """
channels:
  - {name: there, type: mailbox, item: 4096, writer: one, readers: [two], bell: true}
  - {name: back, type: mailbox, item: 4096, writer: two, readers: [one], bell: true}
"""
ARENAS = """\
  - {name: first, type: memory, item: 4194304, writer: one, readers: [two]}
  - {name: second, type: memory, item: 4194304, writer: two, readers: [one]}
"""
SHARED = """\
  - {name: tally, type: memory, item: 8192, writers: [one, two], readers: [linux], bell: true}
  - {name: alone, type: memory, item: 4096, writer: one, readers: [two]}
  - {name: talk, type: mailbox, item: 64, writer: one, readers: [two]}
"""
CANNOT = "the program cannot use one of its channels in the other cell"
FAULTS = 25
TRIES = 10  # to end a cell in the middle of a move
PERIOD_US = 5000  # of the program `ticker`
METHODS = ["messages", "copy"]  # the pages of a program are sent, or the destination copies them


def two_cells(qv: Product, method: str = "messages", item: int = 4096, more: str = "", shared: str = "") -> None:
    """Starts two cells with links to and fro, and with the channels `shared`, of which the second
    cell lists two first: so it has other numbers for them."""
    links, channels = "[there, back]", LINKS + shared
    if method == "copy":
        links, channels = "[{link: there, arena: first}, {link: back, arena: second}]", LINKS + shared + ARENAS
    qv.do("enable")
    for name, cpu in CELLS.items():
        if shared and name == "two":
            head, *lines = channels.splitlines(keepends=True)[1:]
            channels = "\n" + "".join([head, *lines[2:], *lines[:2]])
        qv.sh(f"cat >/run/{name}.yaml <<'END'\nname: {name}\ncpus: [{cpu}]\nmemory: 32M\nimage: {TEST_IMAGE}\n"
              f"migrate: {links}\n{more}{channels.replace('4096,', f'{item},')}END")
        qv.do(f"cell create /run/{name}.yaml --start")
    assert [qv.quesh("migrate", name, timeout=120) for name in CELLS] == ["0: to two\n", "0: to one\n"]


def screens(qv: Product) -> dict[str, str]:
    return {name: qv.sh(f"quesh {name} --dump") for name in CELLS}


def wait_for(qv: Product, text: str) -> str:
    """Waits until a cell prints `text`. Returns the cell's name."""
    try:
        until(lambda: any(re.search(text, screen) for screen in screens(qv).values()), text, 1200)
    except AssertionError:
        print(*screens(qv).values(), *(qv.quesh("ps", name) for name in CELLS), sep="\n")
        raise
    return next(name for name, screen in screens(qv).items() if re.search(text, screen))


def free(qv: Product, *names: str) -> list[str]:
    """Returns how much memory is free in the cells. Looks twice: the shell frees what has ended."""
    return [re.findall(r"free (\d+) KiB", qv.quesh("meminfo", name) and qv.quesh("meminfo", name))[0]
            for name in names or CELLS]


@pytest.mark.both_vendors
def test_program_hops_and_counts_on(qv: Product) -> None:
    two_cells(qv)
    assert qv.quesh("hop 6 100", "one").startswith("hop 0 in one\nhop has moved to two\n")
    assert wait_for(qv, "hop ends in one after 6 moves") == "one"
    log = {name: re.findall(r"hop (\d+) in (\w+)", screen) for name, screen in screens(qv).items()}
    assert log == {"one": [(str(n), "one") for n in (0, 2, 4)], "two": [(str(n), "two") for n in (1, 3, 5)]}


@pytest.mark.parametrize("hops, kib", [(20, 64), pytest.param(1000, 256, marks=pytest.mark.slow),
                                       pytest.param(20, 8192, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", METHODS)
def test_program_moves_with_all_it_has(qv: Product, method: str, hops: int, kib: int) -> None:
    """Threads that wait in every way, VCPUs, FPU registers and memory are the same after each move,
    and the cells have neither more nor less memory than before."""
    two_cells(qv, method)
    before = free(qv)
    qv.quesh(f"moves 5 {hops} {kib} &", "one")
    wait_for(qv, r"moves: \d+ right, \d+ wrong")
    said = re.findall(r"(?m)^.*moves.*$", "".join(screens(qv).values()))
    assert "moves: 33 right, 0 wrong" in said, said
    assert free(qv) == before


def test_pages_in_the_arena_are_not_sent(qv: Product) -> None:
    """The same program needs far fewer messages, of which each rings a bell: 6 exits instead of 25.
    While the other end is awake, bells ring only once. So a few more or less are no fault."""
    bells = {}
    for method in METHODS:
        two_cells(qv, method)
        qv.quesh("hop 1 10 &", "one")
        wait_for(qv, "hop ends in two")
        bells[method] = exits(qv, "one")
        qv.end()
    assert bells["copy"] * 2 < bells["messages"], bells


def moving(qv: Product, name: str) -> str:
    """Waits until a program is on its way from cell `name`. Returns its pid, or nothing if it had
    gone before a look, as the cell has said."""
    shown = ""

    def moves() -> bool:
        nonlocal shown
        shown = qv.quesh("ps", name)
        return bool(re.search(MOVING, shown)) or "moves has moved to" in qv.sh(f"quesh {name} --dump")

    until(moves, "a program moves")
    return "".join(re.findall(MOVING, shown))


def is_stopped_on_its_way(qv: Product) -> bool:
    """Destroys the destination of a program that moves. Returns true if the program stays at the
    source, and false if it had gone before, as the source has said."""
    qv.quesh(f"moves 10 2 {LARGE_KIB} &", "one")
    pid = moving(qv, "one")
    qv.do("cell destroy two")
    said = ""
    stays = False

    # the source has said nothing yet when a program that has gone is no longer in its list
    def is_over() -> bool:
        nonlocal said, stays
        said += qv.sh("quesh one --dump")  # each look scrolls
        stays = bool(pid and re.search(rf"(?m)^ *{pid} .* live ", qv.quesh("ps", "one")))
        return stays or "moves has moved to two" in said

    until(is_over, "the move is over")
    assert not stays or "moves has moved to two" not in said, said
    return stays


def test_program_stays_if_its_destination_ends(qv: Product) -> None:
    """In the middle of a move the program continues at the source. If the source ends, the
    program leaves nothing at the destination, or lives there if all of it had come."""
    for _ in range(TRIES):
        two_cells(qv)
        before = free(qv, "two")
        if is_stopped_on_its_way(qv):
            break
        qv.end()
    else:
        pytest.fail("no move was caught")
    qv.do("cell create /run/two.yaml --start")
    wait_for(qv, r"moves: \d+ right, \d+ wrong")
    assert "moves: 33 right, 0 wrong" in screens(qv)["one"], screens(qv)["one"]
    assert free(qv) == 2 * before
    for name in CELLS:
        qv.quesh("clear", name)
    qv.quesh(f"moves 10 1 {LARGE_KIB} &", "one")
    moving(qv, "one")
    qv.do("cell destroy one")
    said = ""

    def is_over() -> bool:
        nonlocal said
        said += qv.sh("quesh two --dump")  # each look scrolls
        return free(qv, "two") == before

    try:
        until(is_over, "the part that had come is free, or the program has ended")
        said += qv.sh("quesh two --dump")
        assert ("moves has come from one" in said) == ("moves: 33 right, 0 wrong" in said)
    except AssertionError:
        print(qv.quesh("ps", "two"), qv.sh("quesh two --dump"), qv.do("log"), sep="\n")
        raise


@pytest.mark.slow
def test_program_is_in_one_place_after_faults(qv: Product) -> None:
    """The other cell ends at random instants of many moves. Then the program lives here, if and only
    if this cell has not said that it has moved there: it is never twice and never nowhere."""
    two_cells(qv)
    random, lost = Random(1), 0
    for _ in range(FAULTS):
        if not re.search(r"moves.* (live|moving) ", qv.quesh("ps", "one")):
            qv.quesh("moves 3600 100000 512 &", "one")
        qv.quesh("clear", "one")
        time.sleep(random.uniform(0, 1.5))
        qv.do("cell destroy two")
        until(lambda: " moving " not in qv.quesh("ps", "one"), "no program moves")
        said = re.findall(r"moves has (moved to|come from) two", qv.sh("quesh one --dump"))
        away = bool(said) and said[-1] == "moved to"
        assert len(re.findall(r"moves.* live ", qv.quesh("ps", "one"))) == (not away), screens(qv)
        lost += away
        qv.do("cell create /run/two.yaml --start")
    assert 0 < lost < FAULTS


def test_program_stays_that_cannot_go(qv: Product) -> None:
    two_cells(qv)
    qv.quesh("spinner &", "one")
    [pid] = re.findall(r"(?m)^ *(\d+) .*spinner.* live ", qv.quesh("ps", "one"))
    assert "no program can move there" in qv.quesh(f"migrate {pid} three", "one")
    assert "there is no such program" in qv.quesh("migrate 999 two", "one")
    qv.quesh("load 25 100", "two")
    before = exits(qv, "one")
    assert "not admitted" in qv.quesh(f"migrate {pid} two", "one")
    assert exits(qv, "one") - before < 5, "its pages were sent in vain"
    qv.quesh("load stop", "two")
    until(lambda: "not admitted" not in qv.quesh(f"migrate {pid} two", "one"), "the past use is over")
    assert re.search(r"spinner.* live ", qv.quesh("ps", "two"))
    assert "spinner" not in qv.quesh("ps", "one")
    qv.quesh("pipes flood | spinner &", "one")
    [pid] = re.findall(r"(?m)^ *(\d+) .*spinner.* live ", qv.quesh("ps", "one"))
    assert "pipes" in qv.quesh(f"migrate {pid} two", "one")


def in_linux(qv: Product) -> int:
    """Returns the first word of the channel `tally`, which Linux reads."""
    return int(qv.sh("""python3 -c "
import mmap, os
m = mmap.mmap(os.open('/dev/qv-channel/tally', os.O_RDONLY), 8192, mmap.MAP_SHARED, mmap.PROT_READ)
print(int.from_bytes(m[4096:4104], 'little'))" """))


@pytest.mark.parametrize("method", ["messages", pytest.param("copy", marks=pytest.mark.slow)])
def test_channel_of_memory_moves_with_its_program(qv: Product, method: str) -> None:
    """The program counts on in the channel, which the other cell knows by another number."""
    two_cells(qv, method, shared=SHARED)
    before = free(qv)
    assert in_linux(qv) == 0
    qv.quesh("tally tally 3 &", "one")
    assert wait_for(qv, r"tally has counted to 80\ntally: \d+ right, 0 wrong") == "two"
    assert in_linux(qv) == 80
    assert all("used by" not in line for name in CELLS for line in qv.quesh("channels", name).splitlines() if "tally" in line)
    assert free(qv) == before


def test_program_stays_if_its_channel_cannot_go(qv: Product) -> None:
    """Nothing is sent if the other cell may not write the channel, or has an end of its own. A
    program there that uses the channel keeps it."""
    two_cells(qv, shared=SHARED)
    for channel in ("alone", "talk"):
        before = exits(qv, "one")
        said = qv.quesh(f"tally {channel} 1", "one")
        assert f"tally stays in one: {CANNOT}" in said and "tally has counted to 40" in said and " 0 wrong" in said
        assert exits(qv, "one") == before
    qv.quesh("tally tally -1 &", "two")
    until(lambda: "(used by" in qv.quesh("channels", "two"), "a program there has the channel")
    # Both write, so each prints up to 40 lines, more than the screen has
    assert f"tally stays in one: {CANNOT}" in qv.quesh("tally tally 1", "one")


def test_another_build_refuses_politely(qv: Product) -> None:
    two_cells(qv)
    qv.do("cell destroy two")
    qv.sh(f"sed -i 's/{TEST_IMAGE}/quest.elf/' /run/two.yaml")
    qv.do("cell create /run/two.yaml --start")
    assert "hop stays in one: the channel is damaged, or the other cell has another version" in qv.quesh("hop 1", "one")


def latest(qv: Product, meanwhile: str = "") -> dict[str, float]:
    """Runs a program with a period of 5 ms in each cell, and a command in the first cell. Returns
    how late each woke at most, in us."""
    for name in CELLS:
        qv.quesh("clear", name, timeout=120)
    if meanwhile:
        qv.quesh(meanwhile, "one", timeout=120)
    for name in CELLS:
        qv.quesh("vcpu=tick ticker 400 &", name, timeout=120)
    if meanwhile:
        wait_for(qv, r"moves: \d+ right")
    found = {}
    for name in CELLS:
        until(lambda: "us at most" in qv.sh(f"quesh {name} --dump"), "ticker ends", 1200)
        found[name] = float(re.findall(r"([\d.]+) us at most", qv.sh(f"quesh {name} --dump"))[0])
    return found


@pytest.mark.slow
@pytest.mark.machine(icount=True)
@pytest.mark.parametrize("method", METHODS)
def test_other_programs_miss_no_period(qv: Product, method: str) -> None:
    """While a program moves to and fro, a periodic program in each cell has every period. The
    machine's clock counts instructions, and the emulator executes its CPUs in turns: so a program
    may be late by such a turn."""
    two_cells(qv, method, more="vcpus: [{name: tick, C: 2ms, T: 20ms}]\n")
    busy = latest(qv, "moves 3 10 64 &")
    assert "moves: 33 right, 0 wrong" in "".join(screens(qv).values())
    assert all(late < PERIOD_US for late in busy.values()), (busy, latest(qv))


@pytest.mark.machine(icount=True)
def test_moves_that_meet(qv: Product) -> None:
    """A program in each cell asks for a move to the other cell before either has arrived. Both
    arrive and continue there, in one place each, with the same results. A third program in each
    cell has all its budgets."""
    two_cells(qv, more="admission: exact\ncmdline: background=off\n"
              "vcpus: [{name: load, C: 10ms, T: 100ms}]\n")
    before = free(qv)
    for name in CELLS:
        qv.quesh("vcpu=load budget 30 20 &", name, timeout=120)
    # at the same time: between two commands the clock can advance by more than a move takes
    qv.sh("quesh one -c 'edges 1 0 relax 4096 &' & quesh two -c 'sieve 1 0 relax 4096 &' && wait $!", timeout=120)
    until(lambda: all(" lost" in screen for screen in screens(qv).values()), "the budgets have been used", 1200)
    shown = screens(qv)
    print(*shown.values(), sep="\n")
    found = [one for screen in shown.values() for one in programs(screen)]
    assert sorted((one["program"], one["cell"], one["moves"]) for one in found) == [("edges", "two", 1), ("sieve", "one", 1)]
    asked = [one["begin"] + one["wish_ns"] for one in found]
    arrived = [one["begin"] + one["moved_at_ns"] + one["moved_ns"] for one in found]
    assert max(asked) < min(arrived), found
    for name, screen in shown.items():
        assert "another result" not in screen
        assert re.search(rf"(?s)in {name}, 1 moves.* 0 lost", screen), "the budgets ended before the move"
        assert not re.search("edges|sieve", qv.quesh("ps", name))
    assert free(qv) == before


def test_strict_move_that_cannot_be_says_so(qv: Product) -> None:
    """The program sleeps 5 ms at a time. The VCPUs `migration` have 10 ms in 200, so a move may take
    longer. The program asks without a limit of time, and has its answer soon."""
    two_cells(qv, "copy", item=1 << 17)
    assert "hop stays in one: a move takes longer than the program can be away" in qv.quesh("hop 1 5 strict", "one", timeout=120)


@pytest.mark.slow
@pytest.mark.machine(icount=True)
def test_strict_move_is_on_time(qv: Product) -> None:
    """A program with a period of 200 ms moves with MIG_STRICT while it sleeps, and wakes on time: its
    budget does not suffer. If a message has not room for the program, it stays and says why."""
    short = "vcpus: [{name: migration, C: 10ms, T: 50ms}]\n"
    two_cells(qv, "copy", item=1 << 17, more=short)
    qv.quesh("hop 10 200 strict &", "one", timeout=120)
    name = wait_for(qv, r"hop woke \d+ us late at most")
    screen = screens(qv)[name]
    assert "hop ends in one after 10 moves" in screen
    assert int(re.findall(r"hop woke (\d+) us late", screen)[0]) < PERIOD_US
    qv.end()
    two_cells(qv, "copy", more=short)
    assert "hop stays in one: that is not the size" in qv.quesh("hop 1 200 strict", "one", timeout=120)
