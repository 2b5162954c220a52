# SPDX-License-Identifier: GPL-2.0-only
"""Fuzzes the path from a cell's YAML to the driver's request with mutations.

Keeps a mutation that reaches new lines.
Takes the options of libFuzzer and prints its words, as the other targets do. Starts from its own
corpus and from the files of tests/unit/config and configs/.
"""

import os
import random
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import generated  # noqa: F401
from qv import abi, config
from qv.machine import Machine

TOP = Path(__file__).resolve().parents[2]

MIB = 1 << 20
GIVEN = TOP / "tests/unit/config"
MACHINE = Machine(frozenset(range(8)), 2048 * MIB, 1700 * MIB, (GIVEN / "images",))
OURS = str(TOP / "tools/qv") + os.sep
TOOL = sys.monitoring.COVERAGE_ID
TOKENS = [
    b"name", b"cpus", b"memory", b"image", b"boot", b"cmdline", b"console", b"ports", b"devices", b"pci",
    b"unsafe-dma", b": ", b"- ", b"[", b"]", b"{", b"}", b", ", b"\n", b"\n  ", b"&a ", b"*a", b"!!int ", b"!!str ",
    b"!!binary ", b"<<: ", b"0x3f8-0x3ff", b"0xffff", b"0x10000", b"-1", b"0", b"1", b"3", b"7", b"8", b"64", b"65535",
    b"18446744073709551616", b"64M", b"1G", b"2M", b"3M", b"999999999G", b"tiny.elf", b"shared.elf", b"../good/tiny.elf",
    b"\"", b"'", b"\\x00", b"\\u2028", b"\xc3\xa9", b"\xff", b"\0", b"\t", b"#", b"---", b"...", b"|", b">", b"true", b"null",
    b"~", b"1e9", b".inf", b"2026-01-01", b"00:03.0", b"0000:00:1f.7", b"ff:1f.8", b"quest", b"linux", b"=", b"%YAML 1.1\n",
    b"vcpus", b"admission", b"none", b"exact", b"bound", b"{name: a, C: 1ms, T: 9ms}", b"type", b"io", b"600s", b"0us",
]


class Wrong(Exception):
    """The result for an input is wrong."""


VCPU_WORD = r"admission=exact|vcpu=[A-Za-z0-9._-]{1,15},(main|io),[0-9]+(us|ms|s),[0-9]+(us|ms|s)"


def expect(condition: bool, what: str) -> None:
    if not condition:
        raise Wrong(what)


def judge_request(cell: config.CellConfig) -> None:
    """Checks a request by the rules of the driver's header, not by the parser's code."""
    q = cell.request()
    cpus = list(q.cpus)[:q.num_cpus]
    expect(1 <= q.num_cpus <= abi.MAX_CPUS and len(set(cpus)) == q.num_cpus, "CPUs: number, or twice")
    expect(0 not in cpus and set(cpus) <= MACHINE.cpus, "CPUs: there, and not 0")
    expect(4 * MIB <= q.memory <= MACHINE.mem_available and q.memory % (2 * MIB) == 0, "memory")
    name = bytes(q.name)
    expect(bool(re.fullmatch(rb"[a-z0-9][a-z0-9_-]{0,30}", name)) and name != b"linux", "name")
    expect(q.console in (0, 1) and q.boot in set(abi.Boot), "console, boot")
    ports = [(p.first, p.last) for p in q.ports[:q.num_ports]]
    expect(ports == cell.ports and all(first <= last for first, last in ports), "ports: as they were written")
    line = q.cmdline.decode()
    expect(line.startswith(cell.cmdline) and line.isprintable() or not line, "command line: whole")
    words = line.removeprefix(cell.cmdline).split()
    expect(len(words) == len(cell.vcpus) + ("admission=exact" in words), "command line: a word for each VCPU")
    expect(all(re.fullmatch(VCPU_WORD, word) for word in words), "command line: words that Quest knows")
    expect(q.image_name.decode(errors="replace") != "", "image")


def one_input(data: bytes, place: Path) -> None:
    """Any file must give either problems, each with a place and a sentence, or a sound request."""
    place.write_bytes(data)
    found, problems = config.check_files([str(place)], MACHINE)
    lines = data.count(b"\n") + data.count(b"\r") + data.count(b"\xc2\x85") + data.count(b"\xe2\x80") + 2
    for problem in problems:
        text = str(problem)
        expect(text.isprintable() and len(text) < 1000, f"a line that can be printed: {text!r:.200}")
        expect(1 <= problem.place.line <= lines and problem.place.column >= 1, f"a place in the file: {text}")
        expect(bool(problem.wrong and problem.right and problem.key), f"what, and what instead: {text}")
    if not problems:
        judge_request(found[0])


# ---- coverage: lines of tools/qv ----

class Coverage:
    """Records the lines that were reached. Each line is reported only once, to save time."""

    def __init__(self) -> None:
        self.lines: set[tuple[str, int]] = set()
        sys.monitoring.use_tool_id(TOOL, "fuzz")
        sys.monitoring.register_callback(TOOL, sys.monitoring.events.LINE, self._line)
        sys.monitoring.set_events(TOOL, sys.monitoring.events.LINE)

    def _line(self, code: object, line: int) -> object:
        name = getattr(code, "co_filename")
        if name.startswith(OURS):
            self.lines.add((name, line))
        return sys.monitoring.DISABLE


# ---- inputs ----

def mutate(data: bytes, others: list[bytes], rnd: random.Random) -> bytes:
    text = bytearray(data)
    for _ in range(rnd.choice((1, 1, 2, 4, 8))):
        at, end = sorted(rnd.randrange(len(text) + 1) for _ in range(2))
        end = min(end, at + 16)
        match rnd.randrange(7):
            case 0:
                text[at:at] = rnd.choice(TOKENS)
            case 1:
                text[at:end] = rnd.choice(TOKENS)
            case 2:
                del text[at:end]
            case 3:
                text[at:at + 1] = bytes([rnd.randrange(256)])
            case 4:
                text[at:at] = text[at:end] * rnd.randrange(1, 4)
            case 5:
                other = rnd.choice(others).splitlines(keepends=True) or [b"\n"]
                text[at:at] = rnd.choice(other)
            case 6:
                lines = bytes(text).splitlines(keepends=True)
                rnd.shuffle(lines)
                text = bytearray(b"".join(lines))
    return bytes(text[:4096])


def seeds(folders: list[Path]) -> Iterator[bytes]:
    given = [*GIVEN.glob("*/*.yaml"), *(TOP / "configs").glob("*.yaml")]
    for path in [*sorted(given), *(p for f in folders for p in sorted(f.iterdir()))]:
        yield path.read_bytes()


def option(argv: list[str], name: str, default: str) -> str:
    return next((a.partition("=")[2] for a in argv if a.startswith(f"-{name}=")), default)


def fuzz(argv: list[str], folders: list[Path], place: Path) -> int:
    rnd = random.Random(int(option(argv, "seed", "1")))
    end = time.monotonic() + float(option(argv, "max_total_time", "60"))
    coverage = Coverage()
    corpus = list(seeds(folders))
    executed, reached = 0, 0
    queue = list(corpus)
    status = 0
    while queue or time.monotonic() < end:  # first all seeds, however long they take
        data = queue.pop() if queue else mutate(rnd.choice(corpus), corpus, rnd)
        executed += 1
        try:
            one_input(data, place)
        except Exception:  # any exception is a finding
            traceback.print_exc(file=sys.stdout)
            kept = Path(option(argv, "artifact_prefix", "./") + "crash")
            kept.write_bytes(data)
            print(f"its input is {kept}")
            status = 1
            break
        if len(coverage.lines) > reached:
            reached = len(coverage.lines)
            if not queue and executed > len(corpus):
                corpus.append(data)
                (folders[0] / f"{hash(data) & (1 << 64) - 1:016x}").write_bytes(data)
    print(f"#{executed} DONE cov: {reached} corp: {len(corpus)}")
    print(f"stat::number_of_executed_units: {executed}")
    return status


def merge(folders: list[Path], place: Path) -> int:
    """The inputs that reach lines which earlier inputs and the given files do not reach."""
    coverage = Coverage()
    fresh, *old = folders
    for data in seeds([]):
        one_input(data, place)
    reached = len(coverage.lines)
    for path in (p for f in old for p in sorted(f.iterdir(), key=lambda p: p.stat().st_size)):
        one_input(path.read_bytes(), place)
        if len(coverage.lines) > reached:
            reached = len(coverage.lines)
            (fresh / path.name).write_bytes(path.read_bytes())
    return 0


def main(argv: list[str]) -> int:
    folders = [Path(a) for a in argv if not a.startswith("-")]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "cell.yaml"
        (Path(folder) / "tiny.elf").write_bytes(b"\x7fELF tiny")
        return merge(folders, place) if "-set_cover_merge=1" in argv else fuzz(argv, folders, place)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
