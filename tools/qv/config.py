# SPDX-License-Identifier: GPL-2.0-only
"""Cells as YAML: reads and checks a file completely and lists every problem."""

from __future__ import annotations

import os

from . import abi, keys, reader, vcpus, words
from .problems import Place, Problem, Problems
from .reader import MappingNode, Node, ScalarNode
from .record import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .keys import Cpus, Ports
    from .machine import Machine

MAX_FILE = 64 << 10
PIPE_SECONDS = 5
RULES = keys.RULES | vcpus.RULES


@dataclass
class CellConfig:
    """One cell, checked. `at` is the place of the value of each key."""

    file: str
    name: str = ""
    cpus: Cpus = field(default_factory=list)
    memory: int = 0
    image: str = ""
    boot: str = "multiboot2"
    cmdline: str = ""
    console: bool = True
    watchdog: int = keys.WATCHDOG_DEFAULT  # ms; 0: off
    lock: int = abi.LOCK_NEVER
    bell_rate: int = abi.BELL_RATE  # a millisecond
    debug: bool = False
    ports: Ports = field(default_factory=list)
    devices: keys.Devices = field(default_factory=list)
    vcpus: list[vcpus.Named] = field(default_factory=list)
    admission: str = "bound"  # the test for `vcpus`, also given to Quest
    at: dict[str, Place] = field(default_factory=dict)

    def command_line(self) -> str:
        """The command line of the inmate."""
        return vcpus.command_line(self.cmdline, self.vcpus, self.admission)


def check_files(files: Sequence[str], machine: Machine) -> tuple[list[CellConfig], list[Problem]]:
    """Checks each file, then the files against each other."""
    cells: list[CellConfig] = []
    problems: list[Problem] = []
    for file in files:
        cell, found = check_file(file, machine)
        cells.append(cell)
        problems += found
    problems += _between(cells, machine)
    return cells, problems


def check_file(file: str, machine: Machine) -> tuple[CellConfig, list[Problem]]:
    """Reads one file. The cell may be used only if no problem was found."""
    cell = CellConfig(file)
    problems = Problems(file)
    root = _compose(file, problems)
    if root is None:
        return cell, problems.found
    if not isinstance(root, MappingNode):
        problems.add(root, "yaml", f"the file holds {keys.kind(root)}, not keys and values",
                     "lines such as `name: quest`")
        return cell, problems.found
    values = _pairs(root, problems)
    for key, rule in RULES.items():
        if key in values:
            cell.at[key] = Place.of(values[key])
            result = rule.parse(values[key], keys.Context(key, problems, machine, os.path.dirname(file)))
            if result is not None:
                setattr(cell, key.replace("-", "_"), result)
        elif rule.required:
            problems.add(root, key, "is missing", rule.example)
    _check_vcpus(cell, values, problems)
    return cell, sorted(problems.found, key=lambda p: p.place)


def _check_vcpus(cell: CellConfig, values: dict[str, Node], problems: Problems) -> None:
    """Checks combinations of keys. Each key by itself is correct or already reported."""
    if "admission" not in values and vcpus.EXACT_WORD in cell.cmdline.split(" "):
        cell.admission = "exact"
    refused = vcpus.refusal(cell.vcpus, cell.admission)
    if cell.vcpus and refused:
        problems.add(values["vcpus"], "vcpus", *refused)
    said = values["admission"].value if "admission" in values else None
    wrong = vcpus.contradiction(cell.cmdline, cell.vcpus, said)
    if wrong:
        key, what, right = wrong
        problems.add(values[key], key, what, right)


def _compose(file: str, problems: Problems) -> Node | None:
    start = Place(1, 1)
    try:
        raw = _read(file)
    except TimeoutError:
        problems.add(start, "file", f"is a pipe, and for {PIPE_SECONDS} s nothing came from it", "the path of a YAML file, or - for stdin")
        return None
    except OSError as error:
        problems.add(start, "file", f"cannot be read: {(error.strerror or 'error').lower()}",
                     "the path of a readable YAML file")
        return None
    if len(raw) > MAX_FILE:
        problems.add(start, "file", "is larger than 64 KiB", "one cell, some 20 lines")
        return None
    try:
        content = raw.decode("utf-8")
        root = reader.compose(content)
    except UnicodeDecodeError as error:
        problems.add(_place_of(raw[:error.start].decode("utf-8")), "yaml",
                     f"byte 0x{raw[error.start]:02x} is not UTF-8", "a text file in UTF-8")
        return None
    except reader.NotYaml as error:
        problems.add(Place(error.line, error.column), "yaml", error.wrong, error.right)
        return None
    except RecursionError:
        problems.add(start, "yaml", "is nested too deeply", "keys, values and flat lists")
        return None
    if root is None:
        problems.add(start, "yaml", "the file is empty", "lines such as `name: quest`")
    return root


def _read(file: str) -> bytes:
    """Reads at most MAX_FILE + 1 bytes. Does not block when it opens a pipe, which has PIPE_SECONDS
    to send data."""
    descriptor = 0 if file == "-" else os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    raw = b""
    try:
        while len(raw) <= MAX_FILE:
            if descriptor:
                _await(descriptor)
            more = os.read(descriptor, MAX_FILE + 1 - len(raw))
            raw += more
            if not more:
                break
    finally:
        if descriptor:
            os.close(descriptor)
    return raw


def _await(descriptor: int) -> None:
    import select

    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    if not poller.poll(PIPE_SECONDS * 1000):
        raise TimeoutError


def _place_of(before: str) -> Place:
    return Place(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)


def _pairs(root: MappingNode, problems: Problems) -> dict[str, Node]:
    """The mapping's values by key; unknown and repeated keys are problems."""
    values: dict[str, Node] = {}
    lines: dict[str, int] = {}
    for key_node, value in root.value:
        if not isinstance(key_node, ScalarNode):
            problems.add(key_node, "yaml", f"{keys.kind(key_node)} stands where a key should",
                         f"one of {', '.join(RULES)}")
            continue
        key = key_node.value
        if key not in RULES:
            problems.add(key_node, words.shown(key) or "''", "is not a known key", _meant(key))
        elif key in values:
            problems.add(key_node, key, f"is given twice, first in line {lines[key]}",
                         "each key once")
        else:
            values[key] = value
            lines[key] = key_node.line
    return values


def _meant(key: str) -> str:
    import difflib

    close = difflib.get_close_matches(key.lower(), RULES, 1, 0.6)
    if close:
        return f"perhaps `{close[0]}`"
    return f"one of {', '.join(RULES)}"


def _between(cells: Sequence[CellConfig], machine: Machine) -> list[Problem]:
    """Checks that no two cells share a name, CPUs, ports or devices, and the memory of all cells
    together."""
    problems: list[Problem] = []
    for number, cell in enumerate(cells):
        for other in cells[:number]:
            problems += _overlaps(cell, other, machine)
    total = sum(cell.memory for cell in cells)
    alone = max((cell.memory for cell in cells), default=0)
    if total > machine.mem_available >= alone > 0:
        last = [cell for cell in cells if cell.memory][-1]
        problems.append(Problem(
            last.file, last.at["memory"], "memory",
            f"all {len(cells)} cells together want {words.size(total)}",
            f"at most {words.size(machine.mem_available)}, what is free now"))
    return problems


@dataclass(frozen=True)
class _Port:
    """A range of ports that a cell asks for, with the key that names it."""

    key: str
    first: int
    last: int
    text: str


def _all_ports(cell: CellConfig, machine: Machine) -> list[_Port]:
    listed = [_Port("ports", first, last, words.port_range(first, last)) for first, last in cell.ports]
    return listed + [_Port("devices", first, last, f"{words.port_range(first, last)} of {device}")
                     for device in cell.devices for first, last in machine.pci_ports(device.bdf)]


def taken(cell: CellConfig, machine: Machine) -> list[Problem]:
    """Problems with existing cells, which have the same resources, and with resources that are
    absent at present."""
    problems: list[Problem] = []

    def add(key: str, wrong: str, right: str) -> None:
        problems.append(Problem(cell.file, cell.at[key], key, wrong, right))

    others = [other for other in machine.cells if other.name != cell.name]
    gone = {cpu for other in machine.cells for cpu in other.cpus}
    free = machine.cpus - gone - machine.offline - {0}
    right = keys.one_of(free) if free else "no CPU is free: destroy a cell"
    for cpu in cell.cpus:
        holder = next((other.name for other in others if cpu in other.cpus), None)
        if holder:
            add("cpus", f"CPU {cpu} is the cell {holder}'s", right)
        elif cpu in machine.offline - gone:
            add("cpus", f"CPU {cpu} is offline", f"{right}; or echo 1 >/sys/devices/system/cpu/cpu{cpu}/online")
    for other in others:
        for device in cell.devices:
            if device.bdf in other.devices:
                add("devices", f"{device} is the cell {other.name}'s", "another PCI function")
        theirs = [*other.ports, *(ports for bdf in other.devices for ports in machine.pci_ports(bdf))]
        for port in _all_ports(cell, machine):
            if any(port.first <= high and low <= port.last for low, high in theirs):
                add(port.key, f"{port.text} has ports of the cell {other.name}", "other ports")
    return problems


def _overlaps(cell: CellConfig, other: CellConfig, machine: Machine) -> list[Problem]:
    problems: list[Problem] = []

    def add(key: str, wrong: str, right: str) -> None:
        problems.append(Problem(cell.file, cell.at[key], key, wrong, right))

    whose = f"{other.name or 'the cell'} in {other.file}"
    if cell.name and cell.name == other.name:
        add("name", f"`{cell.name}` is also the name of the cell in {other.file}",
            "a name of its own for each cell")
    for cpu in sorted(set(cell.cpus) & set(other.cpus)):
        add("cpus", f"CPU {cpu} is also given to {whose}", "each CPU to one cell")
    for device in cell.devices:
        if any(device.bdf == of_other.bdf for of_other in other.devices):
            add("devices", f"{device} is also given to {whose}", "each PCI function to one cell")
    for port in _all_ports(cell, machine):
        for theirs in _all_ports(other, machine):
            same_device = port.key == theirs.key == "devices" and port.text == theirs.text
            if port.first <= theirs.last and theirs.first <= port.last and not same_device:
                add(port.key, f"{port.text} overlaps {theirs.text} of {whose}", "each port to one cell")
    return problems
