# SPDX-License-Identifier: GPL-2.0-only
"""Cells as YAML: reads and checks a file completely and lists every problem."""

from __future__ import annotations

import os

from . import keys, nodes, words
from .keys import CellConfig, key as shape, memory
from .problems import Place, Problem, Problems
from .nodes import MappingNode, Node, ScalarNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .machine import Machine

MAX_FILE = 64 << 10
PIPE_SECONDS = 5
FOLDERS = ("/etc/qv/cells", "/usr/share/qv/configs")  # of the units, and of samples


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
    root = compose(file, problems)
    if root is None:
        return cell, problems.found
    if not isinstance(root, MappingNode):
        problems.add(
            root,
            "yaml",
            f"the file holds {shape.kind(root)}, not keys and values",
            "lines such as `name: quest`",
        )
        return cell, problems.found
    values = _pairs(root, problems)
    for key in keys.TABLE:
        if key.name in values:
            node = values[key.name]
            cell.at[key.name] = Place.of(node)
            # The name is parsed first: a cell of this name would be replaced
            context = shape.Context(
                key.name, problems, machine.without({cell.name}), os.path.dirname(file)
            )
            result = key.parse(node, context)
            if result is not None:
                setattr(cell, key.field(), result)
        elif key.required:
            problems.add(root, key.name, "is missing", key.example)
    for key in keys.TABLE:
        for name, wrong, right in key.check(cell, values):
            problems.add(values[name], name, wrong, right)
    return cell, sorted(problems.found, key=lambda p: p.place)


def _elsewhere(file: str) -> str:
    """Returns the files of the name that a person may have meant; or nothing."""
    name = os.path.basename(file).removesuffix(".yaml") + ".yaml"
    found = [os.path.join(folder, name) for folder in FOLDERS]
    return " or ".join(f"perhaps {path}" for path in found if path != file and os.path.exists(path))


def compose(file: str, problems: Problems) -> Node | None:
    """Returns the YAML of a file. None: it has reported a problem."""
    start = Place(1, 1)
    try:
        raw = _read(file)
    except TimeoutError:
        problems.add(
            start,
            "file",
            f"is a pipe, and for {PIPE_SECONDS} s nothing came from it",
            "the path of a YAML file, or - for stdin",
        )
        return None
    except OSError as error:
        problems.add(
            start,
            "file",
            f"cannot be read: {(error.strerror or 'error').lower()}",
            _elsewhere(file) or "the path of a readable YAML file",
        )
        return None
    if len(raw) > MAX_FILE:
        problems.add(start, "file", "is larger than 64 KiB", "one cell, some 20 lines")
        return None
    try:
        content = raw.decode("utf-8")
        root = nodes.compose(content)
    except UnicodeDecodeError as error:
        problems.add(
            _place_of(raw[: error.start].decode("utf-8")),
            "yaml",
            f"byte 0x{raw[error.start]:02x} is not UTF-8",
            "a text file in UTF-8",
        )
        return None
    except nodes.NotYaml as error:
        problems.add(Place(error.line, error.column), "yaml", error.wrong, error.right)
        return None
    except RecursionError:
        problems.add(start, "yaml", "is nested too deeply", "keys, values and flat lists")
        return None
    if root is None:
        problems.add(start, "yaml", "the file is empty", "lines such as `name: quest`")
    return root


def _read(file: str) -> bytes:
    """Reads at most MAX_FILE + 1 bytes. Does not block when it opens a pipe. The pipe has
    PIPE_SECONDS to send data."""
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
    """Returns the mapping's values by key. Unknown and repeated keys are reported as problems."""
    values: dict[str, Node] = {}
    lines: dict[str, int] = {}
    for key_node, value in root.value:
        if not isinstance(key_node, ScalarNode):
            problems.add(
                key_node,
                "yaml",
                f"{shape.kind(key_node)} is where a key should be",
                f"one of {', '.join(keys.BY_NAME)}",
            )
            continue
        key = key_node.value
        if key not in keys.BY_NAME:
            problems.add(key_node, words.shown(key) or "''", "is not a known key", _meant(key))
        elif key in values:
            problems.add(
                key_node, key, f"is given twice, first in line {lines[key]}", "each key once"
            )
        else:
            values[key] = value
            lines[key] = key_node.line
    return values


def _meant(key: str) -> str:
    import difflib

    close = difflib.get_close_matches(key.lower(), keys.BY_NAME, 1, 0.6)
    if close:
        return f"perhaps `{close[0]}`"
    return f"one of {', '.join(keys.BY_NAME)}"


def _between(cells: Sequence[CellConfig], machine: Machine) -> list[Problem]:
    """Checks that no two cells share a name, CPUs, ports or devices, and the memory of all cells
    together."""
    problems: list[Problem] = []
    for number, cell in enumerate(cells):
        for other in cells[:number]:
            whose = f"{other.name or 'the cell'} in {other.file}"
            for key in keys.TABLE:
                problems += cell.problems(key.clash(cell, other, whose, machine))
    for wrong in memory.together(cells, machine.without({cell.name for cell in cells})):
        problems += [cell for cell in cells if cell.memory][-1].problems([wrong])
    return problems


def taken(cell: CellConfig, machine: Machine) -> list[Problem]:
    """Returns the problems with existing cells that have the same resources, and with absent
    resources."""
    return [problem for key in keys.TABLE for problem in cell.problems(key.taken(cell, machine))]
