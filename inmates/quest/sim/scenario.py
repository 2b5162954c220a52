# SPDX-License-Identifier: GPL-2.0-only
"""Scenarios: VCPUs and the steps of their threads, in a YAML file (README.md has the keys)."""
from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import core
from simulate import Compute, Io, Period, Simulation, Sleep, Step, Until

ADMISSION = {"bound": core.BOUND, "exact": core.EXACT}
TYPES = {"main": core.MAIN, "io": core.IO}
LONGEST = 1 << 42           # the same limit as ADMISSION_PERIOD_MAX
TOP_KEYS = {"end", "unit", "quantum", "background", "admission", "vcpus", "threads"}
VCPU_KEYS = {"name", "type", "C", "T"}
THREAD_KEYS = {"name", "vcpu", "start", "do", "serves"}


class BadScenario(Exception):
    """The scenario file is wrong. The text says how to correct it."""


@dataclass
class Scenario:
    """A scenario that is ready to run, and the facts that a picture of it needs."""
    simulation: Simulation
    names: list[str]                # names of VCPUs, by id
    periods: list[int]
    end: int
    unit: str


def _keys(given: Any, allowed: set[str], where: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise BadScenario(f"{where}: {given!r} is wrong here; use keys and values")
    for key in given:
        if key not in allowed:
            raise BadScenario(f"{where}: there is no key {key}; use {', '.join(sorted(allowed))}")
    return given


def _number(given: dict[str, Any], key: str, where: str, default: int | None = None) -> int:
    value = given.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LONGEST:
        raise BadScenario(f"{where}: {key} is {value!r}; use a whole number, 0 to {LONGEST}")
    return value


def _choice(given: dict[str, Any], key: str, words: dict[str, int], default: str,
            where: str) -> int:
    word = given.get(key, default)
    if not isinstance(word, str) or word not in words:
        raise BadScenario(f"{where}: {key} is {word!r}; use {' or '.join(words)}")
    return words[word]


def _list(given: dict[str, Any], key: str) -> list[Any]:
    value = given.get(key) or []
    if not isinstance(value, list):
        raise BadScenario(f"the file: {key} is {value!r}; use a list")
    return value


def _name(given: dict[str, Any], taken: Container[str], where: str) -> str:
    name = given.get("name")
    if not isinstance(name, str | int) or str(name) in taken:
        raise BadScenario(f"{where}: the name {name!r} is given twice, or is none; use a name of its own for each")
    return str(name)


def _step(text: str, servers: dict[str, str], where: str) -> Step:
    """`compute [N]`, `sleep N`, `until T`, `period N`, `io SERVER N [until T]`"""
    words = str(text).split()
    try:
        match words:
            case ["compute"]:
                return Compute()
            case ["compute", n] if int(n) > 0:
                return Compute(int(n))
            case ["sleep", n] if int(n) > 0:
                return Sleep(int(n))
            case ["until", t] if int(t) >= 0:
                return Until(int(t))
            case ["period", n] if int(n) > 0:
                return Period(int(n))
            case ["io", server, n] if server in servers and int(n) > 0:
                return Io(server, int(n))
            case ["io", server, n, "until", t] if server in servers and int(n) > 0 and int(t) >= 0:
                return Io(server, int(n), int(t))
    except ValueError:
        pass
    raise BadScenario(f"{where}: `{text}` is no step; use compute [N], sleep N, until T, period N, "
                      "io SERVER N [until T] (SERVER: a thread with `serves: true`), or repeat at the end")


def _steps(do: list[str], servers: dict[str, str], where: str) -> Iterator[Step]:
    if not isinstance(do, list) or not do or do == ["repeat"]:
        raise BadScenario(f"{where}: do is {do!r}; use a list of steps")
    again = do[-1] == "repeat"
    steps = [_step(text, servers, where) for text in (do[:-1] if again else do)]
    if again and all(isinstance(s, Until) for s in steps):
        raise BadScenario(f"{where}: time would stand still; use a step that takes time before repeat")

    def run() -> Iterator[Step]:
        yield from steps
        while again:
            yield from steps
    return run()


def read(path: str) -> Scenario:
    """Reads a scenario from a file. Raises BadScenario if it is wrong."""
    try:
        document = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as e:
        raise BadScenario(f"cannot be read: {e.strerror if isinstance(e, OSError) else e}") from e
    return build(document)


def build(document: Any) -> Scenario:
    top = _keys(document, TOP_KEYS, "the file")
    c = core.Core(_number(top, "quantum", "the file", 10), bool(top.get("background", True)),
                  _choice(top, "admission", ADMISSION, "bound", "the file"))
    s = Simulation(c)
    vcpus: dict[str, int] = {}
    periods: list[int] = []
    for entry in _list(top, "vcpus"):
        name = _name(_keys(entry, VCPU_KEYS, "vcpus"), vcpus, "vcpus")
        where = f"VCPU {name}"
        kind = _choice(entry, "type", TYPES, "main", where)
        try:
            vcpus[name] = c.create(_number(entry, "C", where), _number(entry, "T", where), kind, name)
        except core.Refused as e:
            raise BadScenario(f"{where}: {e}") from e
        periods.append(entry["T"])
        if kind == core.MAIN:
            s.watch(vcpus[name])
    _threads(s, _list(top, "threads"), vcpus, periods)
    return Scenario(s, list(vcpus), periods, _number(top, "end", "the file"), str(top.get("unit", "")))


def _threads(s: Simulation, entries: list[Any], vcpus: dict[str, int], periods: list[int]) -> None:
    servers: dict[str, str] = {}
    names: dict[str, int] = {}      # the VCPU of each thread
    for entry in entries:
        name = _name(_keys(entry, THREAD_KEYS, "threads"), names, "threads")
        vcpu = str(entry.get("vcpu"))
        if vcpu not in vcpus:
            raise BadScenario(f"thread {name}: its VCPU {vcpu} is not there; use {', '.join(vcpus)}")
        names[name] = vcpus[vcpu]
        if entry.get("serves"):
            servers[name] = vcpu
            s.server(name, names[name])
    for entry, (name, vcpu) in zip(entries, names.items()):
        if name not in servers:
            s.thread(name, vcpu, _steps(entry.get("do"), servers, f"thread {name}"), period=periods[vcpu],
                     start=_number(entry, "start", f"thread {name}", 0))
