# SPDX-License-Identifier: GPL-2.0-only
"""The key `migrate`: links and arenas are channels of the file, between the right cells."""

from __future__ import annotations

import pytest
from running import Run

from qv import abi

LINKS = """channels:
  - {name: there, type: mailbox, item: 4096, writer: quest, readers: [two]}
  - {name: back, type: mailbox, item: 4096, writer: two, readers: [quest]}
  - {name: small, type: mailbox, item: 64, writer: quest, readers: [two]}
  - {name: out, type: mailbox, item: 4096, writer: quest, readers: [linux]}
  - {name: first, type: memory, item: 4194304, writer: quest, readers: [two]}
  - {name: other, type: memory, item: 4194304, writer: quest, readers: [two, three]}
  - {name: second, type: memory, item: 4194304, writer: two, readers: [quest]}
  - {name: more, type: mailbox, item: 4096, writer: quest, readers: [three]}
"""


def check(run: Run, migrate: str, more: str = "") -> str:
    run.yaml.write_text(f"name: quest\ncpus: [3]\nmemory: 64M\nimage: quest.elf\nmigrate: {migrate}\n{more}{LINKS}")
    run("config", "check", str(run.yaml))
    return run.err


def test_links_become_words(run: Run) -> None:
    assert not check(run, "[there, {link: back, arena: second}]", "cmdline: verbose\nvcpus: [{name: a, C: 1ms, T: 100ms}]\n")
    assert run("cell", "create", str(run.yaml)) == 0, run.err
    assert run.json("cell", "show", "quest", "--json")["cmdline"] == "verbose vcpu=a,main,1ms,100ms migrate=there migrate=back,second"


@pytest.mark.parametrize("migrate, wrong", [
    ("there", "migrate: the text `there` is wrong here (a list such as"),
    ("[3]", "migrate: the number `3` is wrong here (the name of a mailbox)"),
    ("[there, there]", "the link there is listed twice"),
    ("[{arena: first}]", "there is no `link`"),
    ("[{link: there, by: first}]", "`by` is not a key of a link"),
    ("[nowhere]", "there is no channel nowhere (a mailbox that `channels` of this file lists)"),
    ("[small]", "small, mailbox, 64 bytes, quest to two is no link (a mailbox with items of at least 256 bytes)"),
    ("[first]", "is no link"),
    ("[out]", "an end of the link out is linux"),
    ("[{link: there, arena: none}]", "there is no channel none (a channel of type memory"),
    ("[{link: there, arena: second}]", "is no arena of programs that move by there (a channel of type memory with writer: quest, readers: [two])"),
    ("[{link: back, arena: first}]", "with writer: two, readers: [quest])"),
    ("[{link: more, arena: first}]", "with writer: quest, readers: [three])"),
])
def test_wrong_links(run: Run, migrate: str, wrong: str) -> None:
    assert wrong in check(run, migrate)


def test_keys_that_contradict(run: Run) -> None:
    assert "cmdline: holds `migrate=...`, and there is the key `migrate`" in check(run, "[there]", "cmdline: migrate=back\n")
    assert "the programs of quest have 2 arenas" in check(
        run, "[{link: there, arena: first}, {link: more, arena: other}]")
    assert "migrate: makes a command line of " in check(run, "[there]", f"cmdline: {'x' * (abi.CMDLINE_LEN - 5)}\n")
