# SPDX-License-Identifier: GPL-2.0-only
"""qvoil trace: reads records, finds each rule that is broken, draws."""

import json
import re
import xml.etree.ElementTree
from pathlib import Path

import pytest
from oil import cli
from oil.emit import map as map_file
from oil.trace import Objects, Replay, WrongMap, read, replay

HEADER = Path(cli.__file__).parents[1] / "include/erika/trace.h"
# Two tasks, an ISR, two resources; B is more urgent
MAP = {
    "trace_kinds": map_file.TRACE_KINDS,
    "trace_timer": map_file.TRACE_TIMER,
    "timer_level": 141,
    "tasks": [{"name": "A", "level": 1, "activations": 1}, {"name": "B", "level": 2, "activations": 2}],
    "isrs": [{"name": "I", "level": 131}],
    "resources": [{"name": "R", "ceiling": 2}, {"name": "S", "ceiling": 131}],
    "alarms": [{"name": "M"}],
    "tables": [{"name": "T"}],
    "modes": ["normal"],
    "events": {"E": "0x1"},
}
RUNS = "START; ACTIVATE 0; RUN 0; "


def lines(text: str, first: int = 0) -> str:
    """Returns the lines of the records `KIND [ID [VALUE]]; ...`, 1 us after each other."""
    out = "{K 3e8}\n"
    for number, words in enumerate(text.strip(" ;").split(";"), first):
        kind, id_, value = [*words.split(), "0", "0"][:3]
        index = map_file.TRACE_KINDS.index(kind)
        out += f"{{T {number:x} {number:x} {index:x} {int(id_):x} {int(value):x}}}\n"
    return out


def replayed(text: str) -> Replay:
    objects = Objects(MAP)
    return replay(read(lines(text), objects), objects)


def said(text: str) -> list[str]:
    return [broken.sentence for broken in replayed(text).broken]


@pytest.mark.parametrize("right", [
    RUNS + "ACTIVATE 1; PREEMPT 0; RUN 1; END 1; RUN 0; END 0; IDLE",
    RUNS + "ACTIVATE 1; ACTIVATE 1; PREEMPT 0; RUN 1; END 1; RUN 1; END 1; RUN 0; END 0; IDLE",
    RUNS + "WAIT 0 1; IDLE; ENTER 0; SET 0 1; READY 0; LEAVE 0; RUN 0; CLEAR 0 1; END 0; IDLE",
    RUNS + "TAKE 0; ACTIVATE 1; GIVE 0; PREEMPT 0; RUN 1; TAKE 0; TAKE 1; GIVE 1; GIVE 0; END 1; RUN 0",
    RUNS + "ENTER 0; ENTER 65535; ALARM 0; POINT 0 1; LEAVE 65535; TAKE 1; GIVE 1; LEAVE 0; END 0; IDLE",
    "LOST 0 7; GIVE 0; END 1; RUN 0; LEAVE 0; SET 0 1; END 0; IDLE",
    RUNS + "ERROR 1 4; STOP 0 4",
])
def test_right_trace_breaks_no_rule(right: str) -> None:
    assert not said(right)


@pytest.mark.parametrize(("wrong", "sentence"), [
    ("START; SET 0 1", "the event E is set for A, which is suspended"),
    (RUNS + "TAKE 0; TAKE 1; GIVE 0", "the resource R is released, but the last one taken is S"),
    (RUNS + "GIVE 0", "the resource R is released, but the last one taken is none"),
    (RUNS + "TAKE 0; TAKE 0", "the resource R is taken twice"),
    (RUNS + "TAKE 0; END 0", "A ends with the resource R"),
    (RUNS + "TAKE 0; WAIT 0 1", "A waits with the resource R"),
    (RUNS + "ACTIVATE 0", "A has 2 activations of 1"),
    ("START; RUN 0", "A is suspended and runs, but only a ready task may"),
    (RUNS + "ACTIVATE 1; RUN 1", "B runs while A runs"),
    ("START; ACTIVATE 0; ACTIVATE 1; RUN 0", "A runs while B, which is more urgent, is ready"),
    (RUNS + "TAKE 0; PREEMPT 0; ACTIVATE 1; RUN 0; END 1", "B is ready, not running"),
    ("START; ACTIVATE 0; IDLE", "the CPU is idle while A is ready"),
    ("START; READY 0", "A becomes ready and did not wait"),
    ("START; LEAVE 0", "the ISR I ends and did not begin"),
    ("START; ENTER 65535; ENTER 0", "the ISR I interrupts (system timer), whose class is not lower"),
    ("START; ENTER 0; ENTER 65535; LEAVE 0", "the ISR I ends before (system timer), which interrupted it"),
    ("START; ENTER 0; TAKE 1; LEAVE 0", "the ISR I ends with a resource"),
    ("START; ENTER 0; ACTIVATE 0; RUN 0", "A runs before the ISR I has ended"),
    (RUNS + "TAKE 1; ENTER 0", "the ISR I comes while S is taken, which blocks it"),
])
def test_broken_rule_is_found(wrong: str, sentence: str) -> None:
    assert said(wrong)[0] == sentence


def test_ceiling_keeps_its_owner_running() -> None:
    """A task that is ready and below the ceiling of a resource does not run before its owner."""
    assert not said(RUNS + "TAKE 0; ENTER 0; ACTIVATE 1; LEAVE 0; GIVE 0; PREEMPT 0; RUN 1")
    assert said(RUNS + "TAKE 1; PREEMPT 0; ACTIVATE 1; RUN 1") == ["B runs while A, which is more urgent, is ready"]


def test_clock_that_goes_back_is_found() -> None:
    objects = Objects(MAP)
    text = lines(RUNS).replace("{T 2 2 ", "{T 2 0 ")
    assert [b.sentence for b in replay(read(text, objects), objects).broken] == ["the clock goes back"]


def test_lost_records_are_counted_and_break_no_rule() -> None:
    """Of overwritten ones the kernel says how many; lines that the text lacks show by the numbers."""
    objects = Objects(MAP)
    log = read(lines("LOST 0 7; RUN 0") + lines("END 1; IDLE", 10) + "{T 12 zz}", objects)
    assert (log.lost, log.missing, log.damaged) == (7, 8, 1)
    assert not replay(log, objects).broken


def test_other_text_around_the_lines_is_ignored() -> None:
    objects = Objects(MAP)
    log = read("hello " + lines(RUNS).replace("\n", " blink 1: on\n"), objects)
    assert len(log.records) == 3 and log.khz == 1000


@pytest.mark.parametrize("wrong", ["", "[]", "{}", '{"trace_kinds": 5}'])
def test_file_that_is_no_map_is_refused(wrong: str) -> None:
    with pytest.raises(WrongMap):
        Objects.load(wrong)


def test_object_that_the_map_lacks_is_refused() -> None:
    with pytest.raises(WrongMap, match="the trace has task 9"):
        said("START; ACTIVATE 9")


def test_kinds_are_those_of_the_kernel() -> None:
    text = HEADER.read_text()
    names = re.findall(r"^\tOS_TRACE_(\w+),", text, re.MULTILINE)
    assert names == map_file.TRACE_KINDS
    timer = re.search(r"OS_TRACE_TIMER\t(0x\w+)u", text)
    assert timer and int(timer[1], 16) == map_file.TRACE_TIMER
    assert all(hasattr(Replay, name.lower()) for name in names)


def command(tmp_path: Path, text: str, *options: str) -> int:
    (tmp_path / "log").write_text(lines(text))
    (tmp_path / "map").write_text(json.dumps(MAP))
    return cli.main(["trace", str(tmp_path / "log"), "--map", str(tmp_path / "map"), *options])


def test_command_prints_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    svg, chrome = tmp_path / "t.svg", tmp_path / "t.json"
    status = command(tmp_path, RUNS + "TAKE 0; GIVE 0; END 0; SET 0 1", "--list", "--svg", str(svg), "--perfetto",
                     str(chrome))
    out = capsys.readouterr().out
    assert status == 1
    assert "         1.000 us  ACTIVATE A\n" in out and "         6.000 us  SET A E\n" in out
    assert "the event E is set for A, which is suspended" in out
    assert out.splitlines()[-1] == (
        "7 records, 6.000 us, 0 overwritten, 0 missing, 0 lines damaged, 1 rules broken")
    picture = xml.etree.ElementTree.fromstring(svg.read_text())
    titles = [(title.text or "").partition(",")[0] for title in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert {"A: running", "A: ready", "resource R: taken", "activated"} <= set(titles)
    events = json.loads(chrome.read_text())["traceEvents"]
    runs = [event for event in events if event["ph"] == "X" and event["name"] == "running"]
    assert [(event["ts"], event["dur"]) for event in runs] == [(2.0, 3.0)]


def test_text_without_a_trace_is_refused(tmp_path: Path,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log").write_text("hello\n")
    (tmp_path / "map").write_text(json.dumps(MAP))
    assert cli.main(["trace", str(tmp_path / "log"), "--map", str(tmp_path / "map")]) == 2
    assert "there is no trace in it\n  remedy: TRACE = TRUE" in capsys.readouterr().err
