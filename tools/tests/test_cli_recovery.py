# SPDX-License-Identifier: GPL-2.0-only
"""qvctl recovery: the recovery block of a cell, and the entries of its unit."""

from __future__ import annotations

import json
import re
import struct
from contextlib import closing
from pathlib import Path

import pytest
from fakes import FakeService
from prometheus_client.parser import text_string_to_metric_families
from running import Run

from qv import abi, recovery
from qv.cli.recovery import entries
from qv.recovery import COMPONENT, DETECTOR, HEAD, LENGTH, OUTAGE, REPLICA, parse
from qv.transcript import MOST, RECOVERY, Transcript

HEADER = Path(__file__).resolve().parents[2] / "include/qv/cell.h"
BOOT = 1_000_000  # TSC; the fake driver says that it has 2 GHz
MS = 2_000_000


def outage(component: int, strategy: int, at: int, *phases: int) -> bytes:
    fault = BOOT + at
    times = (fault + one if one else 0 for one in phases)
    return OUTAGE.pack(component, 1, strategy, 11, fault, *times)


SOME = [outage(0, 0, 5 * MS, 2000, 4000, 6000, 8000), outage(1, 4, 6 * MS, 2000, 4000, 0, 0)]


def replica(outvoted: tuple[int, int, int], late: tuple[int, int, int]) -> bytes:
    return REPLICA.pack(0, 3, 1000, *outvoted, *late, b"one", b"\x1btwo")


def block(outages: list[bytes], total: int = -1, components: int = 2, seq: int = 4,
          version: int = 2, replicas: list[bytes] | None = None) -> bytes:
    total = len(outages) if total < 0 else total
    raw = HEAD.pack(version, seq, components, 2, total, len(replicas or []), BOOT)
    raw += COMPONENT.pack(b"crash", b"faulty", 1, 17, 2, 1, 8000)
    raw += COMPONENT.pack(b"\x1b[1muser", b"", 4, 0, 1, 1, 0)
    raw += bytes(14 * COMPONENT.size)
    raw += DETECTOR.pack(b"start", 40_000_000, 0, 0, 0, 0, 0)
    raw += DETECTOR.pack(b"exception", 40_000_000, 2000, 10, 400, 2, 0)
    raw += bytes((recovery.DETECTORS_OF[version] - 2) * DETECTOR.size)
    for number in range(16):
        mine = [one for at, one in enumerate(outages) if (total - len(outages) + at) % 16 == number]
        raw += mine[0] if mine else bytes(OUTAGE.size)
    raw += b"".join(replicas or [])
    return raw.ljust(LENGTH, b"\0")


@pytest.fixture
def pages(run: Run, tmp_path: Path) -> Path:
    """A file that is the cell's console pages."""
    (tmp_path / "quest").mkdir()
    file = tmp_path / "quest/console"
    file.write_bytes(bytes(0x8000))
    def opened(name: str) -> Transcript:
        return Transcript(name, str(tmp_path))
    run.system.transcript = opened  # type: ignore[assignment]
    return file


def put(pages: Path, contents: bytes) -> None:
    with open(pages, "r+b") as stream:
        stream.seek(RECOVERY)
        stream.write(contents)


def test_numbers_are_those_of_the_header() -> None:
    text = HEADER.read_text()
    found = {name: int(value, 0) for name, value in re.findall(r"#define QV_RECOVERY_(\w+)\t+(\w+)", text)}
    place = found.pop("GPA")
    assert place - int(re.findall(r"QV_SCREEN_GPA\t(\w+)", text)[0], 0) == RECOVERY
    assert found == {"LEN": LENGTH, "VERSION": recovery.VERSION, "COMPONENTS": recovery.COMPONENTS,
                     "DETECTORS": recovery.DETECTORS, "OUTAGES": recovery.OUTAGES, "NAME": recovery.NAME,
                     "PROGRAM": recovery.PROGRAM, "REPLICAS": recovery.REPLICAS}
    assert sum(part.size * many for part, many in (
        (HEAD, 1), (COMPONENT, recovery.COMPONENTS), (DETECTOR, recovery.DETECTORS),
        (OUTAGE, recovery.OUTAGES), (REPLICA, recovery.REPLICAS))) <= LENGTH
    assert len(re.findall(r"(?m)^\tQV_COMPONENT_", text)) == len(recovery.STATES)
    assert len(re.findall(r"(?m)^\tQV_STRATEGY_", text)) == len(recovery.STRATEGIES)


@pytest.mark.parametrize("version", [1, 2])
def test_block_is_shown(run: Run, pages: Path, version: int) -> None:
    put(pages, block(SOME, version=version))
    run.create("--start")
    assert run("recovery", "quest") == 0, run.err
    assert run.out.splitlines() == [
        "COMPONENT  STATE  PROGRAM  STARTS  FAULTS  LONGEST",
        "crash      runs   faulty        2       1     4 us",
        "?[1muser   lost   (1)           1       1        -",
        "",
        "DETECTOR   BOUND  LATEST  FOUND  LOOKS   MEAN",
        "exception  20 ms    1 us      2     10  20 ns",
        "",
        "  AT  COMPONENT  DETECTOR   VALUE  STRATEGY  DETECTED  STOPPED  STARTED  BACK",
        "5 ms  crash      exception     11  restart       1 us     2 us     3 us  4 us",
        "6 ms  ?[1muser   exception     11  given up      1 us     2 us        -     -",
    ]
    data = run.json("--json", "recovery", "quest")
    assert data["total"] == 2 and data["outages"][0] == {
        "number": 0, "component": "crash", "detector": "exception", "value": 11, "strategy": "restart",
        "at_ns": 5_000_000, "detected_ns": 1000, "stopped_ns": 2000, "started_ns": 3000, "back_ns": 4000}
    assert data["components"][1]["state"] == "lost" and data["outages"][1]["back_ns"] is None


def test_it_is_shown_after_a_failure(run: Run, pages: Path) -> None:
    put(pages, block(SOME, seq=5))
    run.create("--start")
    run.device.cells["quest"].state = abi.State.FAILED
    assert run.json("--json", "recovery", "quest")["total"] == 2, "a block that stays odd can be read"


def test_ring_of_outages_has_turned(run: Run, pages: Path) -> None:
    there = [outage(0, 0, at * MS, 1, 2, 3, 4) for at in range(40)][-16:]
    found = parse(block(there, total=40)).outages
    assert [one.number for one in found] == list(range(24, 40))
    assert [one.at // MS for one in found] == list(range(24, 40))


@pytest.mark.parametrize("contents", [
    b"\xff" * LENGTH, b"\1\0\0\0" + b"\xff" * (LENGTH - 4), b"\2\0\0\0" + b"\xff" * (LENGTH - 4),
    block([], total=2**32 - 1, components=2**32 - 1)])
def test_any_block_can_be_read(run: Run, pages: Path, tmp_path: Path, contents: bytes) -> None:
    put(pages, contents)
    run.create("--start")
    run.device.enabled = True
    for argv in (["recovery", "quest"], ["--json", "recovery", "quest"], ["metrics"],
                 ["report", str(tmp_path / "r.html"), "-n", "1"]):
        unknown = contents[:4] == b"\xff" * 4 and "recovery" in argv
        assert run(*argv) == unknown, run.err
        assert "\x1b" not in run.out + run.err
        assert not unknown or "in version 4294967295, and this qvctl reads versions 1 to 2" in run.out + run.err


def test_cells_without_components(run: Run, pages: Path) -> None:
    run.create("--start")
    assert run("recovery", "quest") == 0 and run.out == "the inmate of quest watches no component\n"
    run.system.transcript = lambda name: None
    assert run("recovery", "quest") == 1 and "cell quest has no console, whose pages tell" in run.err
    assert run("recovery", "other") == 1 and "there is no cell named other" in run.err


def numbers(run: Run) -> dict[tuple[str, ...], float]:
    """Returns the value of each sample that `qvctl metrics` prints: each occurs once."""
    assert run("metrics") == 0, run.err
    samples = [sample for family in text_string_to_metric_families(run.out)
               for sample in family.samples]
    found = {(sample.name, *sample.labels.values()): sample.value for sample in samples}
    assert len(found) == len(samples)
    return found


def test_metrics_and_report_have_components(run: Run, pages: Path, tmp_path: Path) -> None:
    put(pages, block(SOME))
    run.create("--start")
    run.device.enabled = True
    found = numbers(run)
    assert found["qv_component_runs", "quest", "crash"] == 1 and found["qv_component_runs", "quest", "?[1muser"] == 0
    assert found["qv_component_starts_total", "quest", "crash"] == 2
    assert found["qv_component_faults_total", "quest", "crash"] == 1
    # a detector without a look is not in use
    assert {key: value for key, value in found.items() if key[0] == "qv_detector_faults_total"} == {
        ("qv_detector_faults_total", "quest", "exception"): 2}
    assert run("report", str(tmp_path / "r.html"), "-n", "1") == 0, run.err
    text = (tmp_path / "r.html").read_text()
    assert "recovery of quest" in text and "<td>given up</td>" in text


def test_unit_tells_recoveries(run: Run, pages: Path) -> None:
    """Each outage once, when it is over. Those of an earlier life or process are not told."""
    run.device.enabled = True
    manager: FakeService = run.system.manager
    open_one = outage(0, 0, 9 * MS, 2000, 4000, 6000, 0)
    again = outage(0, 0, 10 * MS, 2000, 4000, 6000, 9000)
    many = [outage(0, 0, 20 * MS, 2, 4, 6, 8)] * 16

    def shows(contents: bytes) -> object:
        return lambda: put(pages, contents)

    start = run.device.start

    def cleared(name: str) -> abi.Reply:
        """The driver clears the pages before each life."""
        put(pages, bytes(LENGTH))
        return start(name)
    run.device.start = cleared  # type: ignore[method-assign]

    def fails() -> None:
        put(pages, block([outage(0, 3, 5 * MS, 2000, 4000, 0, 0)]))
        run.device.cells["quest"].state = abi.State.FAILED
    manager.script = [shows(block(SOME)), shows(block([*SOME, open_one])),
                      shows(block([*SOME, open_one, again])), lambda: None,
                      shows(block(many, total=100)), shows(bytes(LENGTH)), fails]
    assert run("cell", "run", str(run.yaml)) == 0, run.err
    said = [line for line in run.out.splitlines() if "component" in line]
    whose = "component crash of cell quest"
    assert said[:4] == [
        f"{whose} is back after 4 us (exception 11: restart)",
        "component ?[1muser of cell quest is given up (exception 11: given up)",
        f"{whose} failed again before it was back (exception 11: restart)",
        f"{whose} is back after 4.5 us (exception 11: restart)"]
    assert said[4] == "80 more faults of components of cell quest came too fast to tell each"
    assert said[5:-1] == [f"{whose} is back after 4 ns (exception 11: restart)"] * 16 and MOST >= 16
    assert said[-1] == f"{whose} failed, and the cell with it (exception 11: cell)"


def test_flood_of_outages_leaves_room_for_other_entries(pages: Path, run: Run) -> None:
    """The journal drops entries of a unit that has too many. None is forgotten: the rest is counted."""
    seen = Transcript("quest", str(pages.parents[1]))
    many = [outage(0, 0, 20 * MS, 2, 4, 6, 8)] * 16
    found = []
    for look in range(1, 101):
        put(pages, block(many, total=50 * look))
        found += seen.recoveries(100 + look / 200)
    assert MOST <= len(found) <= MOST + 16 + 1
    last = seen.recoveries(100.7, end=True)
    assert len(last) == 16 + 1
    assert sum(one if isinstance(one, int) else 1 for one in [*found, *last]) == 5000
    put(pages, block(many, total=5001))
    assert not seen.recoveries(100.8) and len(seen.recoveries(101.1)) == 1
    seen.close()


def test_block_that_changes_is_copied_again(pages: Path, run: Run) -> None:
    put(pages, block(SOME, seq=3))
    seen = Transcript("quest", str(pages.parents[1]))
    import threading
    timer = threading.Timer(0.005, lambda: put(pages, struct.pack("<2I", 2, 4) + block([])[8:]))
    timer.start()
    assert seen.recovery().total == 0
    timer.join()
    seen.close()


def test_events_tell_of_outages(run: Run, pages: Path) -> None:
    """Those that there were are not told; the next life of the cell begins with none."""
    put(pages, block(SOME))
    run.create("--start")
    run("events", "--json")
    found = [json.loads(line) for line in run.out.splitlines()]
    assert [(one["name"], one["state"], one["text"]) for one in found if one["type"] == "component"] == [
        ("quest", "runs", "component crash, 1 fault"), ("quest", "lost", "component ?[1muser, 1 fault")]
    news = outage(0, 0, 9 * MS, 2000, 4000, 6000, 8000)

    def begin() -> None:
        put(pages, block([news]))
        run.device.coming = [
            abi.Event(seq=1, type=abi.EventType.CELL, state=abi.State.RUNNING, name=b"quest")]

    def stop() -> None:
        raise KeyboardInterrupt
    for first, words in ((lambda: put(pages, block([*SOME, news])), []), (begin, ["quest running"])):
        put(pages, block(SOME))
        run.device.script = [first, stop]
        run("events", "-f")
        said = [line.partition(" ")[2] for line in run.out.splitlines()]
        assert said == [*words, "quest recovered: component crash of cell quest is back after 4 us (exception 11: restart)"]


def test_events_keep_the_consoles_open(run: Run, pages: Path) -> None:
    """While nothing comes, they call neither the driver nor open() again. A cell that is destroyed
    and created again has another console, and all its outages are printed."""
    run.create("--start")
    opened: list[Transcript] = []
    calls: list[str] = []
    outer, names = run.system.transcript, run.device.names

    def transcript(name: str) -> Transcript | None:
        opened.append(outer(name))  # type: ignore[arg-type]
        return opened[-1]

    def counted() -> list[str]:
        calls.append("names")
        return names()

    def again() -> None:
        pages.unlink()
        pages.write_bytes(bytes(0x8000))
        put(pages, block([outage(0, 0, 9 * MS, 2000, 4000, 6000, 8000)]))
        states = 0, abi.State.LOADABLE, abi.State.RUNNING
        run.device.coming = [
            abi.Event(seq=seq, type=abi.EventType.CELL, state=state, name=b"quest")
            for seq, state in enumerate(states, 1)]

    def nothing() -> None:
        run.device.coming = []

    def stop() -> None:
        raise KeyboardInterrupt

    run.system.transcript = transcript  # type: ignore[assignment]
    run.device.names = counted  # type: ignore[method-assign]
    run.device.script = [nothing, nothing, nothing, stop]
    run("events", "-f")
    assert (len(opened), len(calls)) == (1, 1)
    run.device.script = [again, nothing, nothing, stop]
    run("events", "-f")
    words = [line.split()[2] for line in run.out.splitlines()]
    assert words == ["destroyed", "loadable", "running", "recovered:"]
    assert (len(opened), len(calls)) == (3, 3)
    with pytest.raises(ValueError):
        opened[1].pages()  # it is closed


def test_component_is_left_to_another_cell(run: Run, pages: Path) -> None:
    put(pages, block([outage(0, 5, 5 * MS, 2000, 4000, 0, 0)]))
    with closing(run.system.transcript("quest")) as it:
        found = parse(it.pages()[RECOVERY:RECOVERY + LENGTH]).outages
        assert found[0].is_final() and found[0].strategy == "takeover"
        assert entries("quest", [*found], 2_000_000)[0][:2] == (
            "component-left", "component crash of cell quest is left to another cell (exception 11: takeover)")
    back = parse(block([outage(0, 5, 5 * MS, 2000, 4000, 6000, 0)])).outages
    assert not back[0].is_final(), "here it was taken over, and its first heartbeat has not come"


def test_replicas_are_shown(run: Run, pages: Path, tmp_path: Path) -> None:
    put(pages, block(SOME, replicas=[replica((2, 0, 70), (1, 0, 5))]))
    run.create("--start")
    run.device.enabled = True
    assert run("recovery", "quest") == 0, run.err
    table = run.out.split("\n\n")[1]
    assert table.splitlines() == [
        "REPLICA  CELL         VOTES  OUTVOTED  LATE",
        "crash    (this cell)   1000         2     1",
        "crash    one              -         0     0",
        "crash    ?two             -        70     5"]
    [one] = run.json("--json", "recovery", "quest")["replicas"]
    assert one["votes"] == 1000 and one["page"] == 3 and one["component"] == "crash"
    assert one["cells"][2] == {"cell": "?two", "outvoted": 70, "late": 5} and one["cells"][0]["cell"] is None
    assert run("report", str(tmp_path / "r.html"), "-n", "1") == 0 and "OUTVOTED" in (tmp_path / "r.html").read_text()


def test_metrics_have_replicas(run: Run, pages: Path) -> None:
    """The cell's own replica has its name. An inmate that gives others this name replaces none."""
    put(pages, block(SOME, replicas=[replica((2, 0, 70), (1, 0, 5))]))
    run.create("--start")
    run.device.enabled = True
    kinds = ("qv_replica_votes_total", "qv_replica_outvoted_total", "qv_replica_late_total")

    def found() -> dict[tuple[str, ...], float]:
        return {(kinds.index(key[0]), *key[3:]): value for key, value in numbers(run).items()
                if key[0] in kinds and key[1:3] == ("quest", "crash")}
    assert found() == {(0,): 1000, (1, "quest"): 2, (1, "one"): 0, (1, "?two"): 70,
                       (2, "quest"): 1, (2, "one"): 0, (2, "?two"): 5}
    same = REPLICA.pack(0, 0, 7, 1, 2, 3, 4, 5, 6, b"quest", b"quest")
    put(pages, block(SOME, replicas=[same, same]))
    assert found() == {(0,): 7, (1, "quest"): 1, (2, "quest"): 4}


def test_journal_tells_of_replicas_when_their_counts_double(run: Run, pages: Path) -> None:
    """Counts of before are not told, nor those of the cell itself, which has an outage for each."""
    put(pages, block([], replicas=[replica((0, 1, 0), (0, 0, 0))]))
    seen = Transcript("quest", str(pages.parents[1]))
    said = []
    for number in range(100):
        put(pages, block([], replicas=[replica((number, 1, number), (number, 0, 0))]))
        said += entries("quest", seen.recoveries(100.0 + number), 2_000_000)
    assert [(kind, fields["QV_OUTVOTED"]) for kind, _, fields in said] == [
        ("replica-outvoted", str(1 << n)) for n in range(7)]
    assert said[1][1] == "component crash of cell ?two: 2 times outvoted, 0 times late, as cell quest counts"
    seen.close()
