# SPDX-License-Identifier: GPL-2.0-only
"""`recovery`: the components that a cell with Quest watches, in the lines of a recovery file. Quest
gets them as a module of text, and reads them again (inmates/quest/recovery/rule.c)."""

from __future__ import annotations

from .. import abi
from ..admission import Vcpu
from ..nodes import Node, ScalarNode
from ..record import dataclass, field
from ..words import shown
from .key import Context, Key, matched
from .vcpus import LEAST, LONGEST, UNITS, Named, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from . import CellConfig
    from .key import Wrong

EXAMPLE = "lines such as `sensor 1ms/20ms beat=50ms restart=3/10s : sensor` below `recovery: |`"
FILE = "recovery"  # the name of the module, and of the file that Quest finds
WORD = "recovery="  # a word on Quest's command line
TIME = "a time such as 500us, 20ms or 1s, of at most 600s"
# the same limits as in inmates/quest/recovery/rule.h and rule.c
COMPONENTS, LINE, NAME, PROGRAM, CHANNEL = 16, 255, 15, 31, 31
STRATEGIES, TIMES, CHECKPOINT, NUMBER, REPLICAS = 8, 16, 65536, 1_000_000, 3
CELLS = 3  # in which a replicated component runs
PAGE, STATES = 4096, 4  # PAGE_SIZE, VOTE_STATES of inmates/quest/recovery/vote.h
OWN = Vcpu(1000, 10000)  # of its thread, if `vcpus` does not name another: C_US, T_US of recovery.c
ARGS, ARGS_BYTES = 16, 1024  # ARGS_MAX, ARGS_BYTES of inmates/quest/kernel/program.h


@dataclass
class Line:
    """A component, as far as other lines and keys need it."""

    name: str
    budget: int = 0  # microseconds
    period: int = 0
    needs: list[str] = field(default_factory=list)
    checkpoint: bool = False
    bytes: int = 0  # of a checkpoint
    rollback: bool = False
    strategies: int = 0
    channel: str = ""
    send: str = ""  # of `takeover`, and `receive`
    receive: str = ""
    replica: list[str] = field(default_factory=list)  # its channels: of this cell, and two others
    standby: bool = False
    ends: bool = False


def microseconds(raw: str) -> int:
    """Returns a time in microseconds; 0: it is none, or out of range."""
    match = matched(r"0*([0-9]{1,9})(us|ms|s)", raw)  # Quest takes any number of zeros, too
    span = int(match[1]) * UNITS[match[2]] if match else 0
    return span if span <= LONGEST else 0


def _is_time(raw: str) -> bool:
    return microseconds(raw) > 0


def _is_number(raw: str, most: int) -> bool:
    match = matched(r"0*([0-9]{1,9})", raw)
    return match is not None and 0 < int(match[1]) <= most


def _is_limit(raw: str) -> bool:
    times, _, within = raw.partition("/")
    return _is_number(times, TIMES) and _is_time(within)


LIMIT = f"N/TIME with an N of at most {TIMES}, such as 3/10s"


def _needs(line: Line, value: str) -> str | None:
    line.needs += value.split(",")
    return None


def _time(_line: Line, value: str) -> str | None:
    return None if _is_time(value) else TIME


def _number(_line: Line, value: str) -> str | None:
    return None if _is_number(value, NUMBER) else f"a number of 1 to {NUMBER}"


def _channel(line: Line, value: str) -> str | None:
    line.channel, _, time = value.partition(",")
    fits = 0 < len(line.channel.encode()) <= CHANNEL and _is_time(time)
    return None if fits else "channel=NAME,TIME, such as channel=sensor,50ms"


def _checkpoint(line: Line, value: str) -> str | None:
    size, _, age = value.partition(",")
    line.checkpoint = _is_number(size, CHECKPOINT) and _is_time(age)
    line.bytes = int(size) if line.checkpoint else 0
    return (
        None
        if line.checkpoint
        else f"checkpoint=BYTES,AGE with at most {CHECKPOINT} bytes, such as checkpoint=4096,2s"
    )


def _strategy(line: Line) -> str | None:
    line.strategies += 1
    return None if line.strategies <= STRATEGIES else f"at most {STRATEGIES} strategies"


def _restart(line: Line, value: str) -> str | None:
    return _strategy(line) if _is_limit(value) else LIMIT


def _instead(line: Line, value: str) -> str | None:
    program, _, limit = value.partition(",")
    fits = 0 < len(program.encode()) <= PROGRAM and _is_limit(limit)
    return _strategy(line) if fits else "instead=PROGRAM,N/TIME, such as instead=simple,3/10s"


def _rollback(line: Line, value: str) -> str | None:
    line.rollback = True
    return _restart(line, value)


def _cell(line: Line, _value: str) -> str | None:
    return _strategy(line)


def _ends(line: Line, _value: str) -> str | None:
    line.ends = True
    return None


def _takeover(line: Line, value: str) -> str | None:
    names = value.split(",")
    fits = (
        len(names) == 3
        and all(0 < len(name.encode()) <= CHANNEL for name in names[:2])
        and _is_time(names[2])
        and not line.send
    )
    if not fits:
        return "takeover=SEND,RECEIVE,TIME once, such as takeover=there,back,50ms"
    line.send, line.receive = names[:2]
    return _strategy(line)


def _replica(line: Line, value: str) -> str | None:
    names = value.split(",")
    fits = (
        len(names) == CELLS + 1
        and all(0 < len(name.encode()) <= CHANNEL for name in names[:CELLS])
        and _is_time(names[CELLS])
        and not line.replica
    )
    line.replica = names[:CELLS]
    return (
        None
        if fits
        else "replica=SEND,RECEIVE,RECEIVE,TIME once, such as replica=mine,one,two,50ms"
    )


def _standby(line: Line, _value: str) -> str | None:
    line.standby = True
    return None


# Each row: whether the word has a value, and the function that reads it. This returns a remedy
WORDS: dict[str, tuple[bool, Callable[[Line, str], str | None]]] = {
    "needs": (True, _needs),
    "beat": (True, _time),
    "late": (True, _time),
    "stall": (True, _time),
    "pages": (True, _number),
    "files": (True, _number),
    "channel": (True, _channel),
    "checkpoint": (True, _checkpoint),
    "ends": (False, _ends),
    "restart": (True, _restart),
    "instead": (True, _instead),
    "rollback": (True, _rollback),
    "cell": (False, _cell),
    "takeover": (True, _takeover),
    "standby": (False, _standby),
    "replica": (True, _replica),
}


def _word(line: Line, word: str) -> tuple[str, str] | None:
    """Reads a word before the colon. Returns the problem and the remedy."""
    key, equals, value = word.partition("=")
    if key not in WORDS:
        return f"`{shown(word)}` is not a word of a component", ", ".join(WORDS)
    valued, read = WORDS[key]
    if valued != bool(equals):
        return f"`{shown(word)}` has {'no' if valued else 'a'} value", f"{key}{'=...' * valued}"
    right = read(line, value)
    return (f"`{shown(word)}` is wrong", right) if right else None


def _head(line: Line, words: list[str]) -> tuple[str, str] | None:
    name = words[0]
    if not name:
        return "the line begins with a colon", "`NAME C/T WORDS : PROGRAM`"
    if len(name.encode()) > NAME:
        return f"the name `{shown(name)}` is too long", f"at most {NAME} bytes"
    budget, _, period = words[1].partition("/") if len(words) > 1 else ("", "", "")
    line.budget, line.period = microseconds(budget), microseconds(period)
    if not line.budget or not line.period:
        return f"behind {shown(name)} there is no VCPU", "C/T, such as 5ms/100ms"
    if not LEAST <= line.budget <= line.period:
        return f"the budget of {shown(name)} is out of range", f"{LEAST}us to its period"
    return None


def _command(words: list[str]) -> tuple[str, str] | None:
    if not words:
        return "behind the colon there is no program", "`: PROGRAM ARGUMENTS`"
    if len(words[0].encode()) > PROGRAM:
        return f"the name `{shown(words[0])}` is too long", f"at most {PROGRAM} bytes"
    if len(words) > ARGS or sum(len(word.encode()) + 1 for word in words) > ARGS_BYTES:
        return "the arguments are too many", f"at most {ARGS - 1}, of 1 KiB together"
    return None


def _component(text: str) -> tuple[Line, tuple[str, str] | None]:
    """Reads a line. Returns the component, and its first problem with a remedy."""
    words = text.split()
    line = Line(words[0])
    if len(text.encode()) > LINE:
        return line, (f"the line has {len(text.encode())} bytes", f"at most {LINE}")
    if ":" not in words:
        return line, ("there is no colon between blanks", "`NAME C/T WORDS : PROGRAM`")
    colon = words.index(":")
    wrong = _head(line, words[:colon] or [""])
    for word in words[2:colon]:
        wrong = wrong or _word(line, word)
    wrong = wrong or _command(words[colon + 1 :])
    if not wrong and line.rollback and not line.checkpoint:
        wrong = "rollback= has no checkpoint=", "checkpoint=BYTES,AGE, such as checkpoint=4096,2s"
    return line, wrong or _pair(line)


def _pair(line: Line) -> tuple[str, str] | None:
    if line.standby and not line.send:
        return "standby has no takeover=", "takeover=SEND,RECEIVE,TIME"
    if line.send and (line.needs or line.ends):
        return "takeover= is together with needs= or ends", "a component without both"
    if line.replica and (line.send or not line.checkpoint):
        return "replica= needs checkpoint=, and no takeover=", "checkpoint=BYTES,AGE"
    return None


def _circle(start: str, by_name: dict[str, Line]) -> list[str]:
    """Returns the names on a way from a component back to it, along `needs`; empty: none."""
    ways = [[start]]
    seen: set[str] = set()
    while ways:
        way = ways.pop()
        for need in by_name[way[-1]].needs if way[-1] in by_name else ():
            if need == start:
                return [*way, need]
            if need not in seen:
                seen.add(need)
                ways.append([*way, need])
    return []


def _needs_problem(line: Line, above: set[str], by_name: dict[str, Line]) -> tuple[str, str] | None:
    for need in line.needs:
        circle = _circle(line.name, by_name)
        if circle:
            return f"components need each other in a circle: {shown(', '.join(circle), 80)}", (
                "no way from a component back to itself"
            )
        if need not in above:
            where = "only a line below" if need in by_name else "no line"
            return (
                f"`{shown(line.name)}` needs `{shown(need)}`, which {where} declares",
                f"a line for `{shown(need)}` above",
            )
    return None


def _twice(line: Line, above: set[str]) -> tuple[str, str] | None:
    if line.name not in above:
        return None
    return f"the component {shown(line.name)} is there twice", "a name of its own for each"


def _is_blank(text: str) -> bool:
    return not text.strip() or text.strip().startswith("#")


def _bad(node: Node, number: int, context: Context, wrong: tuple[str, str]) -> None:
    """Reports a problem of a line of the text, which begins below its key."""
    place = Node(node.tag, node.value, node.line + number, 1 if node.block else node.column)
    context.bad(place, *wrong)


@dataclass
class Components:
    """`text` is the module, and `channels` are those that its lines name. `pairs`: the channels
    SEND and RECEIVE of components that another cell takes over. `replicas`: the channels of those
    that run in three cells, with the size of their state. Empty: no key."""

    text: str = ""
    vcpus: dict[str, Vcpu] = field(default_factory=dict)
    channels: list[str] = field(default_factory=list)
    pairs: list[tuple[str, str]] = field(default_factory=list)
    replicas: list[tuple[list[str], int]] = field(default_factory=list)


def read(text: str) -> tuple[Components | None, list[tuple[int | None, str, str]]]:
    """Reads the lines. Returns their problems with the number of the line from 0; None: of all."""
    there = [
        (number, *_component(line))
        for number, line in enumerate(text.split("\n"))
        if not _is_blank(line)
    ]
    by_name = {line.name: line for _, line, _ in there}
    above: set[str] = set()
    found: list[tuple[int | None, str, str]] = []
    for number, line, problem in there:
        wrong = problem or _twice(line, above) or _needs_problem(line, above, by_name)
        above.add(line.name)
        if wrong:
            found.append((number, *wrong))
    if not there or len(there) > COMPONENTS:
        found.append((None, f"{len(there)} components are listed", f"1 to {COMPONENTS}"))
    lines = [line for _, line, _ in there]
    replicas = [(line.replica, line.bytes) for line in lines if line.replica]
    if not found and len(replicas) > REPLICAS:
        what = f"{len(replicas)} components have replica="
        found.append((None, what, f"at most {REPLICAS}"))
    if found:
        return None, found
    channels = [line.channel for line in lines if line.channel]
    vcpus = {line.name: Vcpu(line.budget, line.period) for line in lines}
    pairs = [(line.send, line.receive) for line in lines if line.send]
    return Components(f"{text}\n", vcpus, channels, pairs, replicas), []


def parse(node: Node, context: Context) -> Components | None:
    if not isinstance(node, ScalarNode) or node.tag != "str" or not node.value.strip():
        context.bad_kind(node, EXAMPLE)
        return None
    if not all(c == "\n" or c == "\t" or c.isprintable() for c in node.value):
        context.bad(node, "the text is not printable", EXAMPLE)
        return None
    components, found = read(node.value)
    for number, what, right in found:
        if number is None:
            context.bad(node, what, right)
        else:
            _bad(node, number + int(node.block), context, (what, right))
    return components


def _refused(cell: CellConfig) -> Iterator[Wrong]:
    """Applies the admission test to all VCPUs that Quest creates at boot."""
    own = [one for one in [Named("recovery", OWN)] if one.name not in {v.name for v in cell.vcpus}]
    mine = [Named(f"component {name}", vcpu) for name, vcpu in cell.recovery.vcpus.items()]
    refused = refusal([*cell.vcpus, *own, *mine], cell.admission)
    if refused and not refusal(cell.vcpus, cell.admission):
        yield ("recovery", *refused)


def _pairs_refused(cell: CellConfig) -> Iterator[Wrong]:
    """Each channel of a pair is memory with a writer and a reader: the two cells."""
    there = {channel.name: channel for channel in cell.channels}
    used: set[str] = set()
    for pair in cell.recovery.pairs:
        for name, writes in zip(pair, (True, False)):
            channel = there.get(name)
            right = (
                channel is not None
                and channel.type == "memory"
                and channel.writers == 1
                and len(channel.ends) == 2
                and (channel.ends[0] == cell.name) is writes
            )
            if not right or name in used:
                who = "this cell" if writes else "the other cell"
                yield (
                    "recovery",
                    f"takeover= names {shown(name)}",
                    f"a channel of its own, of type memory, that {who} alone writes, and "
                    "the other end reads",
                )
            used.add(name)


def _replicas_refused(cell: CellConfig) -> Iterator[Wrong]:
    """Each channel of a replica is memory with a writer and two readers: the same three cells."""
    there = {channel.name: channel for channel in cell.channels}
    used = {name for pair in cell.recovery.pairs for name in pair}
    for names, state in cell.recovery.replicas:
        room = PAGE + STATES * -(-state // PAGE) * PAGE
        cells = {end for name in names if name in there for end in there[name].ends}
        writers: set[str] = set()
        for name, writes in zip(names, (True, False, False)):
            channel = there.get(name)
            right = (
                channel is not None
                and channel.type == "memory"
                and channel.writers == 1
                and len(channel.ends) == CELLS == len(cells)
                and (channel.ends[0] == cell.name) is writes
                and channel.ends[0] not in writers
            )
            if not right or name in used:
                who = "this cell" if writes else "another cell"
                yield (
                    "recovery",
                    f"replica= names {shown(name)}",
                    f"a channel of its own, of type memory, that {who} alone writes, and the two "
                    "other ones of the same three cells read",
                )
            elif channel is not None and channel.item < room:
                yield (
                    "recovery",
                    f"replica= names {shown(name)}, with an item of {channel.item} bytes",
                    f"an item of at least {room}: 4 KiB, and {STATES} states in whole pages",
                )
            used.add(name)
            writers.update(channel.ends[:1] if channel is not None else ())


def needs(cell: CellConfig) -> Iterator[Wrong]:
    """Yields what is wrong with the channels and VCPUs of the components."""
    there = {channel.name for channel in cell.channels}
    for name in cell.recovery.channels:
        if name not in there:
            yield (
                "recovery",
                f"there is no channel {shown(name)}",
                "a channel that `channels` of this file lists",
            )
    yield from _pairs_refused(cell)
    yield from _replicas_refused(cell)
    yield from _refused(cell)


def check(cell: CellConfig, _values: dict[str, Node]) -> Iterator[Wrong]:
    if not cell.recovery.text:
        return
    if any(word.startswith(WORD) for word in cell.cmdline.split(" ")):
        yield "cmdline", f"holds `{WORD}...`, and there is the key `recovery`", "one of the two"
    if any(module.args.split(" ")[0] == FILE for module in cell.modules):
        yield (
            "recovery",
            f"is a file {FILE} for Quest, and a module has that name",
            "another name for the module",
        )
    if len(cell.modules) == abi.MAX_MODULES:
        yield (
            "recovery",
            f"is a module, and there are {abi.MAX_MODULES} others",
            f"at most {abi.MAX_MODULES - 1} under `modules`",
        )
    yield from needs(cell)
    length = len(cell.command_line().encode())
    if length >= abi.CMDLINE_LEN and len(cell.cmdline.encode()) < abi.CMDLINE_LEN:
        yield (
            "recovery",
            f"makes a command line of {length} bytes, with other keys",
            f"at most {abi.CMDLINE_LEN - 1}: a shorter `cmdline`",
        )


KEY = Key(
    "recovery",
    "components that its Quest watches: see [Recover programs](../how-to/recovery.md)",
    "text: a line for each component",
    "none",
    EXAMPLE,
    parse,
    check=check,
)
