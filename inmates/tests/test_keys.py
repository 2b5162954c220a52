# SPDX-License-Identifier: GPL-2.0-only
"""Programs in ring 3 open channels at run time, by a key.

In the fake cell image/fakekeys.c plays the manager and the other ends. Quest alone has no such
channels. tests/lab/test_channel_keys.py has a real cell."""
import re

import pytest

from lab import bare as m
from programs import fake_cell, in_time, nothing_lost as nothing_lost, Programs, shell as shell

pytestmark = pytest.mark.usefixtures("built")

ABSENT = "1 mailbox fake:running absent:absent"


@pytest.fixture
def cell(kept):
    """The fake cell, in which no program has a channel before and after."""
    shell = kept.shell(fake_cell, Programs)
    yield shell
    assert m.until(lambda: shell.run("key") == ""), shell.run("key")


def checks(out: str) -> list[str]:
    """The lines of a program that checks, without those about children that are killed."""
    return [line for line in in_time(out).splitlines() if "is killed" not in line]


@pytest.fixture
def warm(shell):
    """The kernel and the other ends have the memory that they keep."""
    shell.run("key open 1 absent write mailbox 32")
    shell.run("key close 1")


def test_keys(shell, warm, nothing_lost):
    for _ in range(2):
        lines = checks(shell.run("run keys"))
        assert re.fullmatch(r"keys: \d+ right, 0 wrong", "\n".join(lines)), lines
        assert m.until(lambda: shell.run("key") == "")


def test_calls_of_quest_v_open_keys(cell):
    """vshm.h: a key that the cell's file does not list is one at run time."""
    lines = checks(cell.run("run keys vshm"))
    assert re.fullmatch(r"keys: \d+ right, 0 wrong", "\n".join(lines)), lines


FAULTS = {"life": r"wrote [0-9a-f]{16} \(read-only\)", "peer": r"wrote [0-9a-f]{16} \(read-only\)",
          "closed": r"read [0-9a-f]{16} \(nothing is mapped there\)"}


@pytest.mark.parametrize("way", FAULTS)
def test_key_is_protected_from_its_program(cell, way):
    assert re.search(FAULTS[way], cell.run(f"run keys {way}")), way


def test_key_of_a_killed_program_is_closed(cell):
    """It is not the shell's meanwhile."""
    cell.run("run keys wait &")
    assert m.until(lambda: cell.run("key").startswith(f"{ABSENT} (used by pid "))
    [pid] = re.findall(r"\(used by pid (\d+)\)", cell.run("key"))
    assert "a program uses it" in cell.run("key close 1")
    assert "it is in use" in cell.run("key open 1 absent write mailbox 32")
    assert "shared memory or channels" in cell.run(f"detach {pid}")
    cell.run(f"kill {pid}")
    assert m.until(lambda: cell.run("key") == "")
    assert cell.run("key open 1 absent write mailbox 32") == ""
    assert cell.run("key") == f"{ABSENT}\n"
    assert cell.run("key close 1") == ""


def test_key_that_comes_after_its_program_is_closed(cell):
    """The manager answers four seconds after the request. The program is killed before."""
    [pid] = re.findall(r"\[(\d+)\]", cell.run("run keys slow &"))
    cell.run("sleep 300")
    assert cell.run("key") == ""
    cell.run(f"kill {pid}")
    # the next request waits for the answer to that of the program
    cell.run("key open 2 absent write mailbox 32")
    assert cell.run("key") == "2 mailbox fake:running absent:absent\n"
    cell.run("key close 2")


def test_shell_uses_a_key(cell):
    assert "does not list that end" in cell.run("key open 7 stranger write ring 64 4")
    assert "(mailbox, four-slot, ring or memory)" in cell.run("key open 7 echo read queue 64 4")
    assert "described this key differently" in cell.run("key open 7 words write ring 64 4")
    assert cell.run("key open 7 echo read ring 64 4") == ""
    assert cell.run("key") == "7 ring echo:running fake:running\n"
    assert m.until(lambda: cell.run("key read 7") == "\x01\n")
    assert cell.run("key open 8 absent write ring 64 4") == cell.run("key write 8 hello") == ""
    assert "all memory of `dynamic-channels` is in use" in cell.run("key open 9 absent read ring 64 4")
    assert cell.run("key close 7") == cell.run("key close 8") == ""
    assert "it is not open" in cell.run("key read 7")
