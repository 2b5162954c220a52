# SPDX-License-Identifier: GPL-2.0-only
"""qvctl trace, with a script in place of quesh."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from fakes import fake_quesh
from running import Run

from qv.timeline import step_of

ANSWER = """         0   2 budget shell
       100  -1 idle idle
       400  10 budget load <1>
       600   2 background a thread
       900  10 budget load <1>
"""
SPACE = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def quesh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the file with the answer. The words of the command line are in the file `asked`."""
    return fake_quesh(tmp_path, monkeypatch, ANSWER).parent / "answer"


def test_use_of_each_thread(run: Run, quesh: Path) -> None:
    assert run("trace", "quest", "-n", "5") == 0, run.err
    assert quesh.with_name("asked").read_text() == "quest -c trace 5\n"
    assert run.out.splitlines() == [
        "900 us, of which Quest was idle 300 us",
        "VCPU  THREAD    RUNS   US   SHARE",
        "   2  a thread     1  300  33.3 %",
        "   2  shell        1  100  11.1 %",
        "  10  load <1>     1  200  22.2 %",
    ]
    assert run.json("--json", "trace", "quest")["threads"][2] == {
        "vcpu": 10,
        "thread": "load <1>",
        "runs": 1,
        "us": 200,
    }
    assert quesh.with_name("asked").read_text() == "quest -c trace\n"


def test_picture_and_trace_of_perfetto(run: Run, quesh: Path, tmp_path: Path) -> None:
    assert (
        run(
            "trace",
            "quest",
            "--svg",
            str(tmp_path / "a.svg"),
            "--perfetto",
            str(tmp_path / "a.json"),
        )
        == 0
    ), run.err
    bars = [bar for bar in ElementTree.parse(tmp_path / "a.svg").iter(f"{SPACE}rect") if len(bar)]
    assert [bar[0].text for bar in bars] == [
        "VCPU 2: shell, 0 to 100 us",
        "VCPU 10: load <1>, 400 to 600 us",
        "VCPU 2: a thread, 600 to 900 us",
    ]
    widths = [float(bar.attrib["width"]) for bar in bars]
    assert widths[1] == pytest.approx(2 * widths[0], abs=0.02) and widths[2] == pytest.approx(
        3 * widths[0], abs=0.02
    )
    assert bars[0].attrib["y"] == bars[2].attrib["y"] != bars[1].attrib["y"]
    assert [bar.get("opacity") for bar in bars] == [None, None, "0.3"]
    events = json.loads((tmp_path / "a.json").read_text())["traceEvents"]
    assert [(e["name"], e["ts"], e["dur"], e["cat"]) for e in events if e["ph"] == "X"] == [
        ("shell", 0, 100, "budget"),
        ("load <1>", 400, 200, "budget"),
        ("a thread", 600, 300, "background"),
    ]
    rows = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert rows == {1: "VCPU 2", 2: "VCPU 10"} and {
        e["tid"] for e in events if e["ph"] == "X"
    } == set(rows)


@pytest.mark.parametrize(
    "answer", ["", "{T 0 1 2 3 4}\n", "         5  -1 idle idle\n", "         5   1 budget one\n"]
)
def test_cell_without_trace_is_refused(run: Run, quesh: Path, tmp_path: Path, answer: str) -> None:
    quesh.write_text(answer)
    assert run("trace", "quest", "--svg", str(tmp_path / "a.svg")) == 1
    assert run.err == (
        "qvctl: quest printed no trace\n"
        "  remedy: a cell that runs Quest; `qvoil trace` reads the traces of OSEK applications\n"
    )
    assert not (tmp_path / "a.svg").exists()


@pytest.mark.parametrize(
    "line", ["٣ 2 budget a", "5 2 budget   ", "9" * 19 + " 2 budget a", "5 1234567890 budget a"]
)
def test_line_that_quest_does_not_print_is_left_out(run: Run, quesh: Path, line: str) -> None:
    """Numbers are ASCII and have few digits, and a name has a letter on its own line."""
    quesh.write_text(f"0 2 budget shell\n{line}\n7 2 budget last\n")
    assert run.json("--json", "trace", "quest") == {
        "name": "quest",
        "us": 7,
        "threads": [{"vcpu": 2, "thread": "shell", "runs": 1, "us": 7}],
    }


def test_file_that_cannot_be_written(run: Run, quesh: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    assert run("trace", "quest", "--svg", str(tmp_path / "link")) == 1
    assert "link is no regular file" in run.err and not (tmp_path / "target").exists()
    assert (
        run("trace", "quest", "--perfetto", str(tmp_path / "none/a.json")) == 1
        and "cannot be written" in run.err
    )


def test_axis_has_few_marks() -> None:
    assert [step_of(length) for length in (0.5, 12, 13, 41, 150, 1000, 60000)] == [
        1, 1, 2, 5, 20, 100, 5000]
