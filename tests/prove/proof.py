# SPDX-License-Identifier: GPL-2.0-only
"""Reads the head comment of a proof, and judges the output of CBMC."""

import re
import shutil
import signal
from dataclasses import dataclass, field
from pathlib import Path

from lab.errors import LabError

# The trees that hold the code of proofs. Mutants are made in copies of them.
SOURCES = ["hypervisor", "include", "driver", "lib/channel"]
INCLUDES = ["include", "hypervisor", "driver", "include/uapi"]
CHECKS = ["--bounds-check", "--pointer-check", "--pointer-overflow-check", "--signed-overflow-check",
          "--undefined-shift-check", "--div-by-zero-check", "--no-malloc-may-fail",
          "--drop-unused-functions"]
# A proof reports every failed check. A mutant stops at the first failed check. A loop that is
# unrolled too far does not count as a failure.
WHOLE = ["--unwinding-assertions"]
FIRST = ["--no-unwinding-assertions", "--stop-on-fail"]
# Compiler options of a program that explores all executions on x86-TSO (tso.h)
EXPLORE = ["-std=gnu11", "-O2", "-w", "-DQV_CHAN_HOOKS"]
REQUIRED = ["Property", "Bound", "Assumed", "Enough", "Mutation"]
HEAD = re.compile(r"^/\*\n(.*?)^ \*/", re.DOTALL | re.MULTILINE)
CHANGE = re.compile(r"^(\S+): `(.+?)` -> `(.*?)`(?:: (.*?)(?: \(case (\d+)\))?)?$")
FAILURE = re.compile(r"^\[(\S+)\] .*: FAILURE$", re.MULTILINE)
# how a run ends at its limit: alone, under a shell, or because its hard limit is the same
OUT_OF_TIME = (-signal.SIGXCPU, 128 + signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGKILL)
COUNT = re.compile(r"^\*\* \d+ of (\d+) failed", re.MULTILINE)
VIOLATED = re.compile(r"^Violated property:\n.*\n +(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Change:
    """Replaces one text in one file by another."""
    file: str
    old: str
    new: str
    what: str
    case: str  # the case that must fail, if the proof has cases

    @property
    def of_proof(self) -> bool:
        """True if it changes the model in the proof, not the code."""
        return self.file.startswith("tests/prove/")

    def apply(self, top: Path) -> None:
        path = top / self.file
        text = path.read_text(encoding="utf-8")
        if self.of_proof:
            text = HEAD.sub("", text, count=1)  # the head names the change
        if text.count(self.old) != 1:
            raise LabError(f"{self.file} has {text.count(self.old)} times the text of a change: {self.old}",
                           "adapt the head of the proof to the code")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


@dataclass
class Proof:
    """One prove_*.c"""
    path: Path
    text: dict[str, str] = field(default_factory=dict)
    code: list[str] = field(default_factory=list)  # files that are compiled with the proof
    options: list[str] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    mutations: list[Change] = field(default_factory=list)
    # each case is a separate run, with CASE defined
    cases: list[str] = field(default_factory=lambda: [""])

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
                *(Task(self, m.case, n) for n, m in enumerate(self.mutations))]

    def command(self, here: Path, place: Path, case: str, checks: list[str]) -> list[str]:
        """Returns the command of one run: CBMC, or with `Tool: tso` a program with tso.h."""
        changed = place / "tests/prove" / self.path.name
        common = [str(changed if changed.exists() else self.path),
                  *(str(place / c) for c in self.code),
                  *(f"-I{place / i}" for i in INCLUDES), f"-I{here}", *([f"-DCASE={case}"] if case else [])]
        if self.text.get("Tool") == "tso":
            program = str(place / "explore")
            return ["sh", "-c", 'program=$1; shift; gcc "$@" -o "$program" && exec "$program"', "tso", program,
                    *EXPLORE, *common]
        return ["cbmc", *common, *CHECKS, *checks, *self.options]


@dataclass(frozen=True)
class Task:
    """A proof or one of its mutants, in one case if it has cases."""
    proof: Proof
    case: str
    mutant: int | None = None

    @property
    def name(self) -> str:
        if self.mutant is not None:
            return f"{self.proof.name}-mutant{self.mutant + 1}"
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
        raise LabError(f"{path.name}: `{text}` is not a change", "FILE: `from` -> `to`: what it changes")
    return Change(*(g or "" for g in found.groups()))


def _entries(path: Path) -> list[tuple[str, str]]:
    """The entries `Key: text` of the head comment. Continued lines are joined."""
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
            case "Mutation":
                proof.mutations.append(_change(path, value))
            case "With":
                _read_entries(proof, path.with_name(value))
            case _:
                proof.text[key] = value


def read_proof(path: Path) -> Proof:
    proof = Proof(path)
    _read_entries(proof, path)
    if any(m.case not in proof.cases for m in proof.mutations):
        raise LabError(f"{path.name}: a mutation names no case", "end its line with (case N)")
    missing = [k for k in REQUIRED if k not in proof.text and not (k == "Mutation" and proof.mutations)]
    if missing:
        raise LabError(f"{path.name} does not say: {', '.join(missing)}",
                       "see Documentation/explanation/proofs.md")
    return proof


def shadow(top: Path, place: Path, task: Task) -> None:
    """Copies the sources and applies the changes of the proof, and the mutation."""
    shutil.rmtree(place, ignore_errors=True)
    for tree in SOURCES:
        shutil.copytree(top / tree, place / tree, ignore=shutil.ignore_patterns("*.o", "*.ko"))
    for change in task.proof.changed:
        change.apply(place)
    if task.mutant is not None:
        mutation = task.proof.mutations[task.mutant]
        if mutation.of_proof:
            (place / mutation.file).parent.mkdir(parents=True)
            shutil.copy(top / mutation.file, place / mutation.file)
        mutation.apply(place)


def judge(task: Task, status: int | None, text: str, seconds: float, log: Path) -> Outcome:
    """A proof must hold. A mutant must violate a claim."""
    count = COUNT.search(text)
    checks = int(count.group(1)) if count else 0
    violated = VIOLATED.search(text)
    if status in (None, *OUT_OF_TIME):
        why = f"{task.name}: not finished after {task.proof.seconds} s of a processor"
    elif status not in (0, 10):
        why = f"{task.name}: CBMC gave up (status {status})"
    elif task.mutant is None:
        why = ""
        if status or not checks:
            why = f"{task.name}: {', '.join(FAILURE.findall(text)[:5]) or 'no check was made'}"
    else:
        mutation = task.proof.mutations[task.mutant]
        # The proof itself would fail too if a function body were missing.
        why = "" if violated else f"{task.name}: is not detected: {mutation.what or mutation.new} in {mutation.file}"
    return Outcome(not why, why, seconds, checks, log)
