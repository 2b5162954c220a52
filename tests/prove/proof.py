# SPDX-License-Identifier: GPL-2.0-only
"""What a proof's head comment says, and what CBMC says of it."""

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from lab.errors import LabError

# The trees a proof's code comes from; twins are made in copies of them.
SOURCES = ["hypervisor", "include", "driver"]
INCLUDES = ["include", "hypervisor", "driver", "include/uapi"]
CHECKS = ["--bounds-check", "--pointer-check", "--pointer-overflow-check", "--signed-overflow-check",
          "--undefined-shift-check", "--div-by-zero-check", "--no-malloc-may-fail",
          "--drop-unused-functions"]
# A proof looks at every check; of a twin the first fault is enough, and what it unrolls too far is none.
WHOLE = ["--unwinding-assertions"]
FIRST = ["--no-unwinding-assertions", "--stop-on-fail"]
REQUIRED = ["Property", "Bound", "Assumed", "Enough", "Twin"]
HEAD = re.compile(r"^/\*\n(.*?)^ \*/", re.DOTALL | re.MULTILINE)
CHANGE = re.compile(r"^(\S+): `(.+?)` -> `(.*?)`(?:: (.*?)(?: \(case (\d+)\))?)?$")
FAILURE = re.compile(r"^\[(\S+)\] .*: FAILURE$", re.MULTILINE)
COUNT = re.compile(r"^\*\* \d+ of (\d+) failed", re.MULTILINE)
VIOLATED = re.compile(r"^Violated property:\n.*\n +(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Change:
    """One piece of text in one file that becomes another."""
    file: str
    old: str
    new: str
    what: str
    case: str  # of a proof that has cases: the one that has to notice it

    def apply(self, top: Path) -> None:
        path = top / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise LabError(f"{self.file} has {text.count(self.old)} times what a twin changes: {self.old}",
                           "bring the proof's head in line with the code")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


@dataclass
class Proof:
    """One prove_*.c."""
    path: Path
    text: dict[str, str] = field(default_factory=dict)
    code: list[str] = field(default_factory=list)  # compiled beside the proof
    options: list[str] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    twins: list[Change] = field(default_factory=list)
    cases: list[str] = field(default_factory=lambda: [""])  # runs of their own, told apart by CASE

    @property
    def name(self) -> str:
        return self.path.stem.removeprefix("prove_")

    @property
    def quick(self) -> bool:
        return self.text.get("Quick") == "yes"

    @property
    def seconds(self) -> int:
        return int(self.text.get("Seconds", "300"))

    def tasks(self) -> list["Task"]:
        return [*(Task(self, case) for case in self.cases),
                *(Task(self, twin.case, n) for n, twin in enumerate(self.twins))]

    def arguments(self, here: Path, place: Path, case: str, checks: list[str]) -> list[str]:
        return [str(self.path), *(str(place / c) for c in self.code),
                *(f"-I{place / i}" for i in INCLUDES), f"-I{here}", *CHECKS, *checks, *self.options,
                *([f"-DCASE={case}"] if case else [])]


@dataclass(frozen=True)
class Task:
    """A proof as it is, or one of its twins; in one case, if it has cases."""
    proof: Proof
    case: str
    twin: int | None = None

    @property
    def name(self) -> str:
        if self.twin is not None:
            return f"{self.proof.name}-twin{self.twin + 1}"
        return self.proof.name + (f"-case{self.case}" if self.case else "")


@dataclass(frozen=True)
class Outcome:
    fine: bool
    why: str
    seconds: float
    checks: int
    log: Path


def _change(path: Path, text: str) -> Change:
    found = CHANGE.match(text)
    if not found:
        raise LabError(f"{path.name}: `{text}` is no change", "FILE: `from` -> `to`: what that is")
    return Change(*(g or "" for g in found.groups()))


def _entries(path: Path) -> list[tuple[str, str]]:
    """The head comment's `Key: text`, with lines that continue joined."""
    found = HEAD.search(path.read_text(encoding="utf-8"))
    entries: list[tuple[str, str]] = []
    for line in found.group(1).splitlines() if found else []:
        line = line.removeprefix(" *").strip()
        start = re.match(r"([A-Z][a-z]+): +(.*)", line)
        if start:
            entries.append((start.group(1), start.group(2)))
        elif entries and line:
            entries[-1] = (entries[-1][0], f"{entries[-1][1]} {line}")
    return entries


def _read_entries(proof: Proof, path: Path) -> None:
    for key, value in _entries(path):
        match key:
            case "Code":
                proof.code += value.split()
            case "Options":
                proof.options += value.split()
            case "Changed":
                proof.changed.append(_change(path, value))
            case "Cases":
                proof.cases = value.split()
            case "Twin":
                proof.twins.append(_change(path, value))
            case "With":
                _read_entries(proof, path.with_name(value))
            case _:
                proof.text[key] = value


def read_proof(path: Path) -> Proof:
    proof = Proof(path)
    _read_entries(proof, path)
    if any(twin.case not in proof.cases for twin in proof.twins):
        raise LabError(f"{path.name}: a twin is of no case", "end its line with (case N)")
    missing = [k for k in REQUIRED if k not in proof.text and not (k == "Twin" and proof.twins)]
    if missing:
        raise LabError(f"{path.name} does not say: {', '.join(missing)}",
                       "see Documentation/explanation/proofs.md")
    return proof


def shadow(top: Path, place: Path, task: Task) -> None:
    """Copies of the sources, changed as the proof wants them, broken as the twin does."""
    shutil.rmtree(place, ignore_errors=True)
    for tree in SOURCES:
        shutil.copytree(top / tree, place / tree, ignore=shutil.ignore_patterns("*.o", "*.ko"))
    for change in task.proof.changed:
        change.apply(place)
    if task.twin is not None:
        task.proof.twins[task.twin].apply(place)


def judge(task: Task, status: int | None, text: str, seconds: float, log: Path) -> Outcome:
    """A proof has to hold; a twin has to fail, by what it does wrong."""
    count = COUNT.search(text)
    checks = int(count.group(1)) if count else 0
    violated = VIOLATED.search(text)
    if status is None:
        why = f"{task.name}: not done after {task.proof.seconds} s"
    elif status not in (0, 10):
        why = f"{task.name}: CBMC gave up (status {status})"
    elif task.twin is None:
        why = ""
        if status or not checks:
            why = f"{task.name}: {', '.join(FAILURE.findall(text)[:5]) or 'there is nothing to prove'}"
    else:
        twin = task.proof.twins[task.twin]
        # a function without a body would fail in the proof itself as well
        why = "" if violated else f"{task.name}: is not noticed: {twin.what or twin.new} in {twin.file}"
    return Outcome(not why, why, seconds, checks, log)
