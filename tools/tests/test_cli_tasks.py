# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell tasks, with a script in place of quesh."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import fake_quesh
from running import Run

ANSWER = """TASK                     LEVEL STATE     ACT.     USED    STACK SET/AWAITED
Toggle                       1 suspended    0      168     8192
blink 7: on
Lamp                         2 waiting      1      600     8192 0/1f
(interrupts)                 - -            -      216     8192
"""


@pytest.fixture
def quesh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the script; it writes the words of its command line to the file `asked`."""
    return fake_quesh(tmp_path, monkeypatch, ANSWER)


def test_tasks_are_shown_without_other_output(run: Run, quesh: Path) -> None:
    assert run("cell", "tasks", "erika") == 0
    assert (quesh.parent / "asked").read_text() == "erika -c tasks\n"
    assert [line.split() for line in run.out.splitlines()] == [
        ["TASK", "LEVEL", "STATE", "ACTIVATIONS", "USED", "STACK", "SET/AWAITED"],
        ["Toggle", "1", "suspended", "0", "168", "8192"],
        ["Lamp", "2", "waiting", "1", "600", "8192", "0/1f"],
        ["(interrupts)", "216", "8192"]]


def test_tasks_as_data(run: Run, quesh: Path) -> None:
    found = run.json("cell", "tasks", "erika", "--json")
    assert found["isr_stack"] == {"used": 216, "size": 8192} and found["cell"] == "erika"
    assert found["tasks"][1] == {"name": "Lamp", "level": 2, "state": "waiting", "activations": 1,
                                 "stack": {"used": 600, "size": 8192}, "set": 0, "awaited": 0x1F}


@pytest.mark.parametrize(("script", "sentence"), [
    ("echo there is no command; exit 127", "erika does not know the line `tasks`"),
    ("echo 'quesh: erika: no such cell' >&2; exit 1", "erika: no such cell"),
    ("echo hello", "erika did not answer with its tasks")])
def test_cell_without_console_is_refused(run: Run, quesh: Path, script: str,
                                         sentence: str) -> None:
    quesh.write_text(f"#!/bin/sh\n{script}\n")
    assert run("cell", "tasks", "erika") == 1
    assert run.err.startswith(f"qvctl: {sentence}\n  remedy: ") and "CONSOLE = TRUE" in run.err


@pytest.mark.parametrize("command", [("cell", "tasks", "erika"), ("trace", "erika")])
def test_remedy_of_quesh_itself_is_kept(run: Run, quesh: Path, command: tuple[str, ...]) -> None:
    quesh.write_text("#!/bin/sh\nprintf 'quesh: you may not open it\\n  remedy: join the group\\n' >&2; exit 1\n")
    assert run(*command) == 1
    assert run.err == "qvctl: you may not open it\n  remedy: join the group\n"
