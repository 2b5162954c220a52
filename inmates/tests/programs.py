# SPDX-License-Identifier: GPL-2.0-only
"""Quest alone and in a fake cell, as the tests of programs use it."""
import re

import pytest

from lab import bare as m

CELL_READY = "> \x04"
CHECKSUM = "6309e484"       # checksum of the edges in user/frame.py's frame


def alone():
    return m.Machine("-kernel", str(m.quest("quest-test32.elf"))), r"(?m)^> "


def fake_cell():
    return m.Machine("-smp", "2", "-kernel", str(m.build_dir() / "inmates/tests/fakecell.elf"),
                     "-initrd", str(m.quest("quest-test.elf")), "-append", "fakecell keys"), CELL_READY


class Programs(m.Shell):
    """A shell whose run() returns a program's output without the line that its VCPU begins late.
    The shell prints this line only on a fast host."""

    def run(self, line: str) -> str:
        return re.sub(r"(?m)^\S+ begins in \d+ ms.*\n", "", super().run(line))


@pytest.fixture(params=[alone, fake_cell], ids=["alone", "cell"])
def shell(request, kept):
    return kept.shell(request.param, Programs)


def in_time(out: str) -> str:
    """Returns the output without the line that a VCPU begins late. That line depends on the
    programs that ran before."""
    return re.sub(r"(?m)^\S+ begins in \d+ ms, .*\n", "", out)


@pytest.fixture
def nothing_lost(shell):
    """Checks after a test that as many pages are free as before, and that no program or thread of a
    program exists."""
    def look():
        return (shell.run("meminfo"), re.findall(r"(?m)^ *\d+ (\S+)", shell.run("ps")))
    before = look()
    assert ", 0 programs" in before[0]
    yield
    assert m.until(lambda: look() == before, timeout=60), (before, look())


def background(shell, line: str) -> int:
    """Starts a program with `&`. Returns its pid."""
    return int(re.search(r"\[(\d+)\]", shell.run(line + " &"))[1])
