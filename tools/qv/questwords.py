# SPDX-License-Identifier: GPL-2.0-only
"""Checks the words `start=`, `vcpu=`, `migrate=` and `recovery=` on the command line of a cell with
Quest, by the rules of Quest's own parsers. So a word that Quest would refuse at boot,
or in which it would find nothing, is reported before the cell starts. netneeds.py checks `net=`.
Quest ignores words that it does not know: warnings() names those that look misspelled."""

from __future__ import annotations

import copy

from . import admission, netneeds
from .admission import Vcpu
from .keys import migrate, recovery, vcpus
from .keys.cmdline import NET, WORDS
from .keys.key import matched
from .nodes import SequenceNode
from .words import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .keys import CellConfig
    from .keys.key import Wrong
    from .nodes import Node

    Said = tuple[str, str, str]  # the word, its problem, the remedy

START = "start="
# the same limits as in inmates/quest: shell/words.h, kernel/archive.h, kernel/vcpu/vcpuword.h
LINE_WORDS, FILE_NAME, VCPU_WORD = 16, 31, 63
ELF, CPIO = b"\x7fELF", b"0707"  # how modules begin that are programs, archives; others are texts
SHAPE = "vcpu=NAME,main,C,T or vcpu=NAME,io,C,T or vcpu=NAME,none"
FILES = "its file or its archive under `modules`"


def _holds(raw: bytes, name: str) -> bool:
    """Archives hold names as they are. So a name that is in no file is not there."""
    return name.encode() + b"\0" in raw


class _Files:
    """The files that Quest finds: in the archive of its image, and under `modules`."""

    def __init__(self, cell: CellConfig) -> None:
        paths = {cell.image, *(one.path for one in cell.modules)}
        self._contents = {path: netneeds.contents(path) for path in paths}
        self.lines = {netneeds.file_name(one.args): one.args for one in cell.modules}
        self._named: dict[str, bytes] = {}
        for one in cell.modules:  # the last file of a name replaces those before it
            raw = self._contents[one.path]
            if raw.startswith(CPIO):
                self._named = {n: d for n, d in self._named.items() if not _holds(raw, n)}
            else:
                self._named[netneeds.file_name(one.args)] = raw

    def has(self, name: str) -> bool:
        return name in self._named or any(_holds(raw, name) for raw in self._contents.values())

    def is_program(self, name: str) -> bool:
        return self._named[name].startswith(ELF) if name in self._named else self.has(name)

    def is_text(self, name: str) -> bool:
        return not self._named[name].startswith(ELF) if name in self._named else self.has(name)

    def text(self, name: str) -> str | None:
        """Returns a text that is a module. None: it is in an archive."""
        return self._named[name].decode("utf-8", "replace") if name in self._named else None


def _values(cell: CellConfig, key: str) -> list[str]:
    """Returns the values of all words of a key."""
    words = cell.cmdline.split(" ")
    return [word.removeprefix(key) for word in words if word.startswith(key)]


def _whole(found: Sequence[object], listed: Node | None) -> bool:
    """Returns whether all entries of a key could be read. Those that could not are reported."""
    return listed is None or (isinstance(listed, SequenceNode) and len(listed.value) == len(found))


def vcpu_of(value: str) -> vcpus.Named | tuple[str, str]:
    """Reads the value of a word `vcpu=`. Returns the VCPU, or the problem and its remedy."""
    name, *rest = value.split(",")
    if len(rest) not in (1, 3) or (len(rest) == 1 and rest != [vcpus.NONE]):
        return "has not the form of a VCPU", SHAPE
    if len(f"{vcpus.WORD}{value}".encode()) > VCPU_WORD:
        return "is too long", f"at most {VCPU_WORD} bytes"
    if not matched(r"[A-Za-z0-9._-]+", name) or len(name) > vcpus.NAME_LEN:
        what = f"`{shown(name)}` is not the name of a VCPU"
        return what, f"1 to {vcpus.NAME_LEN} letters, digits, -, _ and ."
    if len(rest) == 1:
        return vcpus.Named(name, None)
    kind, *classes = rest[0].split(".")
    if kind not in vcpus.TYPES or (kind == "main" and classes) or not _are_classes(classes):
        names = ", ".join(vcpus.CLASSES)
        return f"`{shown(rest[0])}` is not a type of VCPU", f"main or io, or io.CLASS with {names}"
    return _with_budget(name, kind == "io", classes, rest[1:])


def _are_classes(names: Sequence[str]) -> bool:
    return set(names) <= set(vcpus.CLASSES) and len(set(names)) == len(names)


def _with_budget(
    name: str, io: bool, classes: Sequence[str], times: Sequence[str]
) -> vcpus.Named | tuple[str, str]:
    budget, period = (recovery.microseconds(time) for time in times)
    if not budget or not period:
        return "C or T is not a time", recovery.TIME
    own = vcpus.OWN.get(name)
    if own and own.io is not io:
        kind = vcpus.TYPES[own.io]
        return f"`{name}` is one of Quest's own, and {kind}", kind
    most = period - io
    if not vcpus.LEAST <= budget <= most:
        right = f"{vcpus.written(vcpus.LEAST)} to T, and less than T for io"
        return "the budget C is out of range", right
    return vcpus.Named(name, Vcpu(budget, period, io), tuple(classes))


def _vcpus(cell: CellConfig, found: list[vcpus.Named]) -> Iterator[Said]:
    """Reads all words `vcpu=`, and adds the VCPUs to `found`."""
    wrong = False
    for value in _values(cell, vcpus.WORD):
        one = vcpu_of(value)
        if isinstance(one, vcpus.Named) and one.name in (other.name for other in found):
            one = (f"there are two VCPUs {one.name}", "a name of its own for each")
        if isinstance(one, vcpus.Named):
            found.append(one)
        else:
            wrong = True
            yield (vcpus.WORD + value, *one)
    if len(found) > admission.MAX_VCPUS - len(vcpus.OWN):
        most = admission.MAX_VCPUS - len(vcpus.OWN)
        yield f"{vcpus.WORD}...", f"there are {len(found)} VCPUs", f"at most {most}"
    elif found and not wrong:
        refused = vcpus.refusal(found, cell.admission)
        if refused:
            yield (f"{vcpus.WORD}...", *refused)


def _start(files: _Files, value: str, named: Sequence[str] | None) -> tuple[str, str] | None:
    """`named`: the VCPUs on which a program can run; None: unknown."""
    program, comma, vcpu = value.partition(",")
    if not program or bool(comma) is not bool(vcpu):
        return "names no program or no VCPU", f"{START}PROGRAM or {START}PROGRAM,VCPU"
    if not files.is_program(program):
        there = files.has(program)
        name = shown(program)
        what = f"{name} is no program" if there else f"there is no program {name}"
        return f"{what}, in the image or under `modules`", FILES
    if named is not None and vcpu and vcpu not in named:
        what = f"there is no VCPU {shown(vcpu)} for programs"
        return what, ", ".join(named) or "a VCPU of `vcpus` with another name than Quest's own"
    line = files.lines.get(program, program)
    if not (value + line).isascii():
        return "is not ASCII, or the text of its module is not", "letters of ASCII"
    count = len(line.split()) + bool(vcpu) + 1
    if count > LINE_WORDS:
        return f"makes a line of {count} words", f"at most {LINE_WORDS}, with `&` and the VCPU"
    return None


def _starts(cell: CellConfig, nodes: dict[str, Node], known: bool) -> Iterator[Said]:
    """`known`: all VCPUs of the cell could be read."""
    values = _values(cell, START)
    if not values or not _whole(cell.modules, nodes.get("modules")):
        return
    named = [one.name for one in cell.vcpus if one.name not in vcpus.OWN]
    files = _Files(cell)
    for value in values:
        wrong = _start(files, value, named if known else None)
        if wrong:
            yield (START + value, *wrong)


def _links(cell: CellConfig, nodes: dict[str, Node]) -> Iterator[Said]:
    values = _values(cell, migrate.WORD)
    probe = copy.copy(cell)
    probe.migrate = []
    for value in values:
        name, _, arena = value.partition(",")
        if not name or name in (link.link for link in probe.migrate):
            what = "names no channel" if not name else f"the link {shown(name)} is named twice"
            yield migrate.WORD + value, what, f"{migrate.WORD}MAILBOX, each once"
            return
        probe.migrate.append(migrate.Link(name, arena))
    if len(values) > migrate.MOST:
        yield f"{migrate.WORD}...", f"there are {len(values)} links", f"at most {migrate.MOST}"
    elif _whole(cell.channels, nodes.get("channels")):
        for _, what, right in migrate.needs(probe):
            yield f"{migrate.WORD}...", what, right


def _components(cell: CellConfig, nodes: dict[str, Node]) -> Iterator[Said]:
    """The declarations in a text that is a module are read, too."""
    values = _values(cell, recovery.WORD)
    if not values or not _whole(cell.modules, nodes.get("modules")):
        return
    files, name = _Files(cell), values[0]
    word = recovery.WORD + name
    if len(values) > 1:
        yield f"{recovery.WORD}...", "is there twice", "one: Quest takes the first that is there"
    elif not 0 < len(name.encode()) <= FILE_NAME:
        yield word, "has no name of a file", f"1 to {FILE_NAME} bytes"
    elif not files.has(name):
        what = f"there is no file {shown(name)}, in the image or under `modules`"
        yield word, what, "a text under `modules`, or the key `recovery`"
    elif not files.is_text(name):
        yield word, f"{shown(name)} is a program", "a text with lines of components"
    else:
        yield from _declared(cell, nodes, word, files.text(name))


def _declared(
    cell: CellConfig, nodes: dict[str, Node], word: str, text: str | None
) -> Iterator[Said]:
    if text is None:
        return
    components, wrong = recovery.read(text)
    for number, what, right in wrong:
        yield word, f"line {number + 1}: {what}" if number is not None else what, right
    if components is None or not _whole(cell.channels, nodes.get("channels")):
        return
    probe = copy.copy(cell)
    probe.recovery = components
    for _, what, right in recovery.needs(probe):
        yield word, what, right


def check(cell: CellConfig, nodes: dict[str, Node]) -> Iterator[Wrong]:
    """Yields the problems of the words. A word next to the key for the same is reported with it."""
    if not netneeds.is_quest(cell):
        return
    with_words = copy.copy(cell)
    with_words.vcpus = list(cell.vcpus)
    if vcpus.EXACT_WORD in cell.cmdline.split(" "):
        with_words.admission = "exact"
    said: list[Said] = []
    if "vcpus" in nodes:
        known = _whole(cell.vcpus, nodes["vcpus"])
    else:
        said += _vcpus(with_words, with_words.vcpus)
        known = not said
    said += _starts(with_words, nodes, known)
    said += _links(with_words, nodes) if not cell.migrate else []
    said += _components(with_words, nodes) if not cell.recovery.text else []
    for word, what, right in said:
        yield "cmdline", f"`{shown(word, 80)}`: {what}", right


def warnings(cell: CellConfig) -> Iterator[str]:
    """Yields words that Quest would ignore, and that look like those that it knows."""
    if "=" not in cell.cmdline or not netneeds.is_quest(cell):
        return
    import difflib

    exact, _, _ = vcpus.EXACT_WORD.partition("=")
    known = [exact, *(word.removesuffix("=") for word in (NET, *WORDS))]
    for word in cell.cmdline.split(" "):
        key, equals, _ = word.partition("=")
        if not equals or word == vcpus.EXACT_WORD or (key in known and key != exact):
            continue
        for close in difflib.get_close_matches(key.lower(), known, 1, 0.75):
            meant = vcpus.EXACT_WORD if close == exact else f"{close}="
            yield f"cmdline: Quest does not know the word `{shown(word)}` (perhaps `{meant}`)"
