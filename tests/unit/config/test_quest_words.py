# SPDX-License-Identifier: GPL-2.0-only
"""The words `start=`, `vcpu=`, `migrate=` and `recovery=` of a cell with Quest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_config import TOP
from test_net import cell, said

from qv import network, questwords
from qv.keys import cmdline, migrate, recovery, vcpus

QUEST = TOP / "inmates/quest"
PROGRAM = "modules: [{file: mine, args: bin/mydriver -q}, {file: watch, args: watch}, more.cpio]\n"
CHANNELS = """channels:
  - {name: there, type: mailbox, item: 4096, writer: web, readers: [other]}
  - {name: back, type: mailbox, item: 64, writer: other, readers: [web]}
  - {name: pages, type: memory, item: 65536, writer: web, readers: [other]}
"""
ALL = PROGRAM + CHANNELS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine").write_bytes(b"\x7fELF")
    (tmp_path / "watch").write_text("# text\nsensor 1ms/20ms beat=50ms : mydriver\n")
    (tmp_path / "more.cpio").write_bytes(b"070701...theirs\0...")
    return tmp_path


@pytest.mark.parametrize("word", [
    "start=mydriver", "start=theirs", "start=inside", "start=mydriver,quick vcpu=quick,main,1ms,10ms",
    "vcpu=a,io.net.usb,500us,1s vcpu=shell,none vcpu=input,io,1ms,20ms", "admission=exact vcpu=a,main,60ms,100ms", "vcpu=a,main,00000000001ms,100ms",
    "migrate=there", "migrate=there,pages", "migrate=there,", "recovery=watch", "recovery=theirs", "start", "quick xapic",
    "background=off"])
def test_right_words(folder: Path, word: str) -> None:
    for image in (network.QUEST, network.WITHOUT):
        assert said(cell(folder, f"'{word}'", ALL, image=image + b"\0inside")) == []


@pytest.mark.parametrize(("word", "wrong"), [
    ("start=", "names no program or no VCPU (start=PROGRAM or start=PROGRAM,VCPU)"),
    ("start=mydriver,", "names no program or no VCPU (start=PROGRAM or start=PROGRAM,VCPU)"),
    ("start=,quick", "names no program or no VCPU (start=PROGRAM or start=PROGRAM,VCPU)"),
    ("start=mine", "there is no program mine, in the image or under `modules` (its file or its archive under `modules`)"),
    ("start=watch", "watch is no program, in the image or under `modules` (its file or its archive under `modules`)"),
    ("start=mydriver,shell", "there is no VCPU shell for programs (a VCPU of `vcpus` with another name than Quest's own)"),
    ("vcpu=a", "has not the form of a VCPU (vcpu=NAME,main,C,T or vcpu=NAME,io,C,T or vcpu=NAME,none)"),
    ("vcpu=a?,none", "`a?` is not the name of a VCPU (1 to 15 letters, digits, -, _ and .)"),
    ("vcpu=a,disk,1ms,2ms", "`disk` is not a type of VCPU (main or io, or io.CLASS with ata, net, usb, disk, cdrom, gpio, input)"),
    ("vcpu=a,main,1,2ms", "C or T is not a time (a time such as 500us, 20ms or 1s, of at most 600s)"),
    ("vcpu=a,main,3ms,2ms", "the budget C is out of range (10us to T, and less than T for io)"),
    ("vcpu=a,io,2ms,2ms", "the budget C is out of range (10us to T, and less than T for io)"),
    ("vcpu=shell,io,1ms,2ms", "`shell` is one of Quest's own, and main (main)"),
    ("migrate=", "names no channel (migrate=MAILBOX, each once)"),
    ("recovery=", "has no name of a file (1 to 31 bytes)"),
    ("recovery=" + "x" * 32, "has no name of a file (1 to 31 bytes)"),
    ("recovery=gone", "there is no file gone, in the image or under `modules` (a text under `modules`, or the key `recovery`)"),
    ("recovery=mydriver", "mydriver is a program (a text with lines of components)"),
])
def test_wrong_word(folder: Path, word: str, wrong: str) -> None:
    assert said(cell(folder, f"more {word}", ALL)) == [f"cmdline: `{word}`: {wrong}"]


@pytest.mark.parametrize(("line", "wrong"), [
    ("vcpu=a,none vcpu=a,main,1ms,9ms", "`vcpu=a,main,1ms,9ms`: there are two VCPUs a ("),
    ("vcpu=a,main,60ms,100ms", "`vcpu=...`: with Quest's own they load the CPU with 8"),
    ("migrate=there migrate=there,pages", "`migrate=there,pages`: the link there is named twice ("),
    ("migrate=gone", "`migrate=...`: there is no channel gone ("),
    ("migrate=back", "`migrate=...`: back, mailbox, 64 bytes, other to web is no link"),
    ("migrate=there,back", "`migrate=...`: back, mailbox, 64 bytes, other to web is no arena"),
    ("recovery=watch recovery=watch", "`recovery=...`: is there twice ("),
    ("start=mydriver,fast vcpu=quick,main,1ms,10ms", "`start=mydriver,fast`: there is no VCPU fast for programs (quick)"),
])
def test_wrong_words(folder: Path, line: str, wrong: str) -> None:
    [message] = said(cell(folder, line, ALL))
    assert message.startswith(f"cmdline: {wrong}"), message


def test_archive_that_is_called_as_its_program(folder: Path) -> None:
    """The archive is no file of Quest. Its text is the line that `start=` runs."""
    more = "modules: [{file: more.cpio, args: theirs -q}]\n"
    assert said(cell(folder, "start=theirs recovery=theirs", more)) == []
    [message] = said(cell(folder, "start=mine", more.replace("theirs", "mine")))
    assert "there is no program mine" in message


def test_last_file_of_a_name(folder: Path) -> None:
    """It replaces those before it, as in Quest."""
    text, line = "{file: watch, args: theirs}", "start=theirs recovery=theirs"
    assert said(cell(folder, line, f"modules: [{text}, more.cpio, {{file: mine, args: mydriver}}]\n")) == []
    [message] = said(cell(folder, line, f"modules: [more.cpio, {text}, {{file: mine, args: mydriver}}]\n"))
    assert "theirs is no program" in message


def test_blanks_before_the_name_of_a_module(folder: Path) -> None:
    """Quest skips them."""
    more = "modules: [{file: mine, args: '  bin/mydriver -q'}, {file: watch, args: ' watch'}]\n"
    assert said(cell(folder, "'  start=mydriver   recovery=watch '", more)) == []


def test_declarations_in_a_module(folder: Path) -> None:
    """They are read as those of the key `recovery`, with the channels that they name."""
    for text, wrong in (("a : x", "line 1: behind a there is no VCPU"), (": x", "line 1: the line begins with a colon"),
                        ("a 00000000001ms/9ms pages=0000000000 : a", "line 1: `pages=0000000000` is wrong"), ("\na 1ms/9ms bat=1ms : a", "line 2: `bat=1ms` is not a word"),
                        ("# none", "0 components are listed"), ("a 1ms/9ms channel=gone,1ms : a", "there is no channel gone"),
                        ("a 80ms/100ms : a", "with Quest's own they load the CPU")):
        (folder / "watch").write_text(text)
        [message] = said(cell(folder, "recovery=watch", ALL))
        assert message.startswith(f"cmdline: `recovery=watch`: {wrong}"), message


def test_line_of_a_program(folder: Path) -> None:
    for count, fits in ((13, True), (14, False)):
        words = " ".join("x" * count)
        more = f"modules: [{{file: mine, args: mine {words}}}]\nvcpus: [{{name: quick, C: 1ms, T: 10ms}}]\n"
        found = said(cell(folder, "start=mine,quick", more))
        assert found == ([] if fits else ["cmdline: `start=mine,quick`: makes a line of 17 words (at most 16, with `&` and the VCPU)"])
    [message] = said(cell(folder, "start=mine", "modules: [{file: mine, args: mine ä}]\n"))
    assert "is not ASCII" in message


def test_wrong_keys_are_reported_once(folder: Path) -> None:
    """A program, a VCPU or a channel of an entry that is wrong is not missed again."""
    for line, key in (("start=gone recovery=gone", "modules: [gone]\n"), ("migrate=there", "channels: [{name: there}]\n"),
                      ("start=inside,quick", "vcpus: [{name: quick}]\n")):
        found = said(cell(folder, line, key, image=network.QUEST + b"\0inside"))
        assert [message.partition(":")[0] for message in found] == [key.partition(":")[0]]


def test_another_kernel_has_words_of_its_own(folder: Path) -> None:
    assert said(cell(folder, "start=x vcpu=x migrate=x recovery=x", "", image=b"another kernel")) == []


def test_all_words_of_quest_are_known() -> None:
    """A file of Quest that reads words of the command line has a key that is checked."""
    readers = {str(file.relative_to(QUEST)) for file in QUEST.rglob("*.c") if "boot_word(" in file.read_text()}
    assert readers == {"kernel/module.c", "kernel/vcpu/namedvcpu.c", "migration/migration.c", "net/net.c", "net/none.c", "recovery/recovery.c",
                       "shell/shell.c"}
    assert set(cmdline.WORDS) == {questwords.START, vcpus.WORD, migrate.WORD, recovery.WORD}
    sources = "".join(file.read_text() for file in QUEST.rglob("*.[ch]"))
    for word in (*cmdline.WORDS, network.KEY):
        assert re.search(rf'#define \w+\s+"{word}"', sources), word
    limits = {"WORDS_MAX": questwords.LINE_WORDS, "ARCHIVE_NAME": questwords.FILE_NAME + 1, "VCPUWORD_MAX": questwords.VCPU_WORD + 1}
    for name, limit in limits.items():
        assert re.search(rf"#define {name}\s+{limit}\b", sources), name


def test_vcpus_are_read_as_by_quest() -> None:
    """The words in the test of Quest's parser have the same verdict."""
    source = (TOP / "inmates/tests/unit_vcpuword.c").read_text()
    wrong = set(re.findall(r'says\("vcpu=([^"]*)"', source)) - {""}
    right = set(re.findall(r'reads\("vcpu=([^"]*)"', source)) - {"a,main,2s,1s", "A-1_b.c,main,1us,600s"}
    assert len(wrong) >= 22 and len(right) >= 8
    assert [word for word in wrong if isinstance(questwords.vcpu_of(word), vcpus.Named)] == []
    assert [word for word in right if not isinstance(questwords.vcpu_of(word), vcpus.Named)] == []
