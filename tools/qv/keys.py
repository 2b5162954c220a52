# SPDX-License-Identifier: GPL-2.0-only
"""The keys of a cell's YAML file: how each value is read and checked."""

from __future__ import annotations

import os
import re

from . import abi, image
from .reader import MappingNode, Node, ScalarNode, SequenceNode
from .record import dataclass
from .words import BOOTS, MIB, cpu_list, duration, pci_name, port_range, shown, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .machine import Machine
    from .problems import Problems

MIN_MEMORY = 4 * MIB
MEMORY_STEP = 2 * MIB

Cpus = list[int]
Ports = list[tuple[int, int]]

NAME_RULE = "a to z, 0 to 9, - and _, beginning with a letter or digit, at most 31 characters"
CPUS_EXAMPLE = "CPU numbers such as [2, 3] or 2-3"
MEMORY_EXAMPLE = "a size such as 64M or 1G"
DEVICES_EXAMPLE = "a list such as [{pci: \"00:03.0\", dma: off}]"
PORTS_EXAMPLE = "a list such as [0x3f8-0x3ff, 0x80]"
WATCHDOG_EXAMPLE = "a time such as 500ms or 2s, or off"
BELL_RATE_EXAMPLE = f"a number of doorbells a millisecond, 1 to {abi.BELL_RATE_MAX}"
LOCK_EXAMPLE = "true, false or may"
WATCHDOG_DEFAULT = 3000  # ms


@dataclass(frozen=True)
class Device:
    """A PCI function of a cell, of segment 0."""

    bdf: int
    dma: abi.Dma

    def __str__(self) -> str:
        return pci_name(self.bdf)


Devices = list[Device]

# Ports that no cell may have, since each reaches beyond the cell (hypervisor/core/ports.c has the
# reasons)
NEVER_PORTS = (
    (0x00, 0x1f, "DMA controller"), (0x20, 0x21, "interrupt controller"), (0x2e, 0x2f, "Super-I/O"), (0x40, 0x43, "PIT"),
    (0x4e, 0x4f, "Super-I/O"), (0x60, 0x60, "keyboard controller"), (0x61, 0x61, "NMI control"),
    (0x62, 0x62, "embedded controller"), (0x64, 0x64, "reset line"), (0x66, 0x66, "embedded controller"),
    (0x70, 0x77, "CMOS clock and NMI mask"), (0x81, 0x8f, "DMA pages"), (0x92, 0x92, "fast reset"),
    (0xa0, 0xa1, "interrupt controller"), (0xb2, 0xb3, "SMI command"), (0xc0, 0xdf, "DMA controller"),
    (0x4d0, 0x4d1, "interrupt controllers"), (0xcd4, 0xcd7, "power management"), (0xcf8, 0xcff, "PCI config space and reset"))


@dataclass
class Context:
    """The facts that the check of a key needs."""

    key: str
    problems: Problems
    machine: Machine
    folder: str

    def bad(self, node: Node, wrong: str, right: str) -> None:
        self.problems.add(node, self.key, wrong, right)


@dataclass(frozen=True)
class Rule:
    """One key. Its parser returns None if it found a problem."""

    parse: Callable[[Node, Context], Any]
    example: str
    required: bool = False


def kind(node: Node) -> str:
    """The kind of a node, in words."""
    if isinstance(node, SequenceNode):
        return "a list"
    if isinstance(node, MappingNode):
        return "a mapping"
    if node.tag == "null":
        return "nothing"
    names = {"int": "the number", "float": "the number", "bool": "the truth value",
             "str": "the text", "timestamp": "the date"}
    what = names.get(node.tag, "the value")
    return f"{what} `{shown(node.value)}`"


def scalar(node: Node, context: Context, right: str, tags: tuple[str, ...]) -> str | None:
    """A scalar of one of these types, as it is written."""
    if not isinstance(node, ScalarNode) or node.tag not in tags:
        context.bad(node, f"{kind(node)} stands here", right)
        return None
    return str(node.value)


def _name(node: Node, context: Context) -> str | None:
    name = scalar(node, context, "a name such as quest; in quotes if it looks like a number", ("str",))
    if name is None:
        return None
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name) or len(name) >= abi.NAME_LEN:
        context.bad(node, f"`{shown(name)}` is not a cell name", NAME_RULE)
        return None
    if name == abi.FRONT_END:
        context.bad(node, "`linux` is the front end's own name", "another name")
        return None
    return name


def _cpus(node: Node, context: Context) -> Cpus | None:
    if isinstance(node, MappingNode) or node.tag not in ("seq", "int", "str"):
        context.bad(node, f"{kind(node)} stands here", CPUS_EXAMPLE)
        return None
    items = node.value if isinstance(node, SequenceNode) else [node]
    if not items:
        context.bad(node, "the list is empty", "at least one CPU, such as [3]")
        return None
    cpus: Cpus = []
    for item, number in [(item, number) for item in items for number in _cpu_numbers(item, context)]:
        cpu = _cpu(item, number, context)
        if cpu in cpus:
            context.bad(item, f"CPU {cpu} is listed twice", "each CPU once")
        elif cpu is not None:
            cpus.append(cpu)
    if len(cpus) > abi.MAX_CPUS:
        context.bad(node, f"{len(cpus)} CPUs are listed", f"at most {abi.MAX_CPUS}")
    return cpus or None


def _cpu_numbers(node: Node, context: Context) -> list[int]:
    """The CPUs that an item names: one, or several as Linux writes them (2-3, `1,3`)."""
    raw = scalar(node, context, "a CPU number such as 3, or a range such as 2-3", ("int", "str"))
    if raw is None:
        return []
    numbers: list[int] = []
    for part in raw.split(","):
        match = re.fullmatch(r"(0|[1-9][0-9]{0,8})(?:-(0|[1-9][0-9]{0,8}))?", part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last or last - first >= abi.MAX_CPUS:
            context.bad(node, f"`{shown(raw)}` is not a CPU number" if match is None else
                        f"the range {part.strip()} {'runs backwards' if first > last else f'has more than {abi.MAX_CPUS} CPUs'}",
                        "a plain decimal number such as 3, or a range such as 2-3")
            return []
        numbers += range(first, last + 1)
    return numbers


def one_of(cpus: frozenset[int]) -> str:
    return f"one or more of {cpu_list(sorted(cpus))}" if len(cpus) > 1 else f"{cpu_list(sorted(cpus))}, the only one"


def _cpu(node: Node, cpu: int, context: Context) -> int | None:
    usable = context.machine.cpus - {0}
    right = one_of(usable) if usable else "a machine with more CPUs"
    if cpu == 0:
        context.bad(node, "CPU 0 always stays with Linux", right)
        return None
    if cpu not in context.machine.cpus:
        context.bad(node, f"CPU {cpu} does not exist here", right)
        return None
    return cpu


def _memory(node: Node, context: Context) -> int | None:
    raw = scalar(node, context, MEMORY_EXAMPLE, ("str", "int"))
    if raw is None:
        return None
    match = re.fullmatch(r"([0-9]{1,9})([MG])(?:iB)?", raw)
    if not match:
        bare = re.fullmatch(r"[0-9]+", raw)
        context.bad(node, f"{raw} has no unit" if bare else f"`{shown(raw)}` is not a size", _meant_size(raw))
        return None
    memory = int(match[1]) * (MIB if match[2] == "M" else 1 << 30)
    machine = context.machine
    if memory % MEMORY_STEP:
        context.bad(node, f"{raw} is not a multiple of 2M",
                    f"{size(memory - MIB)} or {size(memory + MIB)}" if memory > MIN_MEMORY else "4M")
        return None
    if memory < MIN_MEMORY:
        context.bad(node, f"{raw} is too little for any cell", "at least 4M")
        return None
    free = f"at most {size(machine.mem_available // MEMORY_STEP * MEMORY_STEP)}, what is free now"
    if memory > machine.mem_total:
        context.bad(node, f"{raw} is more than the {size(machine.mem_total)} of this machine", free)
        return None
    if memory > machine.mem_available:
        context.bad(node, f"{raw} is more than is free", free)
        return None
    return memory


def _meant_size(raw: str) -> str:
    """The size that is probably meant by `64m`, `64 MB`, `65536K`, `0.5G`."""
    match = re.fullmatch(r"([0-9]{1,9})(\.[0-9]{1,3})? ?([kmg])(?:i?b)?", raw.lower())
    if not match:
        return MEMORY_EXAMPLE
    count = int(float(match[1] + (match[2] or "")) * {"k": 1, "m": 1 << 10, "g": 1 << 20}[match[3]]) >> 10
    return f"perhaps {size(count * MIB)}; M is 2^20 bytes, G is 2^30" if count else MEMORY_EXAMPLE


def _image(node: Node, context: Context) -> str | None:
    raw = scalar(node, context, "the file name of a kernel, such as quest.elf", ("str",))
    if raw is None:
        return None
    if not raw or "\0" in raw:
        context.bad(node, "the file name is empty" if not raw else "holds a NUL character",
                    "the file name of a kernel, such as quest.elf")
        return None
    folders = (context.folder, *context.machine.image_dirs)
    for path in dict.fromkeys(os.path.join(folder, raw) for folder in folders):
        if os.path.lexists(path):
            return path if _usable_image(path, node, context) else None
    sought = raw if os.path.isabs(raw) else " and ".join(dict.fromkeys(
        str(folder) or "." for folder in folders))
    context.bad(node, f"there is no file {shown(raw, 80)}",
                f"an existing file; sought {'as' if os.path.isabs(raw) else 'in'} {sought}")
    return None


def _usable_image(path: str, node: Node, context: Context) -> bool:
    try:
        if not os.path.isfile(path):
            wrong = "is not a file" if os.path.exists(path) else "is a link to nothing"
            context.bad(node, f"{path} {wrong}", "the file of a kernel")
            return False
        with open(path, "rb") as stream:
            length = os.fstat(stream.fileno()).st_size
            wrong = image.wrong_with(stream.read(image.SEARCHED))
    except OSError as error:
        context.bad(node, f"{path} cannot be read: {(error.strerror or 'error').lower()}",
                    "a readable file")
        return False
    if length == 0:
        context.bad(node, f"{path} is empty", "the file of a kernel")
    elif length > abi.MAX_IMAGE:
        context.bad(node, f"{path} has {length // MIB}M", f"at most {size(abi.MAX_IMAGE)}")
    elif wrong:
        context.bad(node, f"{path} {wrong}", "a multiboot2 kernel, such as quest.elf")
    return 0 < length <= abi.MAX_IMAGE and not wrong


def _boot(node: Node, context: Context) -> str | None:
    boot = scalar(node, context, " or ".join(BOOTS), ("str",))
    if boot is not None and boot not in BOOTS:
        context.bad(node, f"`{shown(boot)}` is not a boot protocol", " or ".join(BOOTS))
        return None
    return boot


def _cmdline(node: Node, context: Context) -> str | None:
    if isinstance(node, ScalarNode) and node.tag == "null":
        return ""
    cmdline = scalar(node, context, "a text; in quotes if it looks like something else", ("str",))
    if cmdline is None:
        return None
    strange = next((c for c in cmdline if not c.isprintable()), None)
    if strange is not None:
        context.bad(node, f"holds the character U+{ord(strange):04X}", "one line of printable text")
        return None
    if len(cmdline.encode()) >= abi.CMDLINE_LEN:
        context.bad(node, f"has {len(cmdline.encode())} bytes", f"at most {abi.CMDLINE_LEN - 1}")
        return None
    return cmdline


def _watchdog(node: Node, context: Context) -> int | None:
    if isinstance(node, ScalarNode) and node.tag == "bool" and node.value.lower() == "off":
        return 0
    raw = scalar(node, context, WATCHDOG_EXAMPLE, ("str", "int"))
    if raw is None:
        return None
    if raw == "off":
        return 0
    match = re.fullmatch(r"([0-9]{1,9})(ms|s)", raw)
    if not match:
        bare = re.fullmatch(r"[0-9]+", raw)
        context.bad(node, f"{raw} has no unit" if bare else f"`{shown(raw)}` is not a time", WATCHDOG_EXAMPLE)
        return None
    milliseconds = int(match[1]) * (1 if match[2] == "ms" else 1000)
    if not abi.WATCHDOG_MIN <= milliseconds <= abi.WATCHDOG_MAX:
        few = milliseconds < abi.WATCHDOG_MIN
        context.bad(node, f"{raw} is too {'short' if few else 'long'}",
                    f"{duration(abi.WATCHDOG_MIN)} to {duration(abi.WATCHDOG_MAX)}, or off")
        return None
    return milliseconds


def _bell_rate(node: Node, context: Context) -> int | None:
    raw = scalar(node, context, BELL_RATE_EXAMPLE, ("int",))
    if raw is None:
        return None
    if not re.fullmatch(r"[0-9]{1,4}", raw) or not 1 <= int(raw) <= abi.BELL_RATE_MAX:
        context.bad(node, f"`{shown(raw)}` doorbells a millisecond cannot be", BELL_RATE_EXAMPLE)
        return None
    return int(raw)


def _lock(node: Node, context: Context) -> int | None:
    if isinstance(node, ScalarNode) and node.value == "may":
        return abi.LOCK_MAY
    raw = scalar(node, context, LOCK_EXAMPLE, ("bool",))
    if raw is None:
        return None
    return abi.LOCK_START if raw.lower() in ("true", "yes", "on") else abi.LOCK_NEVER


def _truth(node: Node, context: Context) -> bool | None:
    raw = scalar(node, context, "true or false", ("bool",))
    return None if raw is None else raw.lower() in ("true", "yes", "on")


def mapping(node: Node, context: Context, what: str, keys: tuple[str, ...], example: str) -> dict[str, Node] | None:
    """The values of a `what` that is written as a mapping of some of `keys`."""
    if not isinstance(node, MappingNode):
        context.bad(node, f"{kind(node)} stands here", example)
        return None
    values: dict[str, Node] = {}
    for key, value in node.value:
        if key.value not in keys or key.value in values:
            context.bad(key, f"`{shown(str(key.value))}` is not a key of a {what}, or is given twice", ", ".join(keys))
            return None
        values[key.value] = value
    return values


def _ports(node: Node, context: Context) -> Ports | None:
    if not isinstance(node, SequenceNode):
        context.bad(node, f"{kind(node)} stands here", PORTS_EXAMPLE)
        return None
    ports: Ports = []
    for item in node.value:
        ports_of_item = _port_range(item, context)
        if ports_of_item is None:
            continue
        first, last = ports_of_item
        for low, high in ports:
            if first <= high and low <= last:
                context.bad(item, f"{port_range(first, last)} overlaps {port_range(low, high)}",
                            "each port once")
                break
        else:
            ports.append((first, last))
    if len(node.value) > abi.MAX_PORTS:
        context.bad(node, f"{len(node.value)} ranges are listed", f"at most {abi.MAX_PORTS}")
    return ports


def _port_range(node: Node, context: Context) -> tuple[int, int] | None:
    right = "a port such as 0x80 or a range such as 0x3f8-0x3ff"
    raw = scalar(node, context, right, ("str", "int"))
    if raw is None:
        return None
    match = re.fullmatch(r"0x([0-9a-fA-F]{1,8})(?:\s*-\s*0x([0-9a-fA-F]{1,8}))?", raw)
    if not match:
        bare = re.fullmatch(r"[0-9]+", raw)
        context.bad(node, f"`{shown(raw)}` is not a port", f"{int(raw):#x}, in hexadecimal"
                    if bare and int(raw) <= 0xffff else right)
        return None
    first = int(match[1], 16)
    last = int(match[2], 16) if match[2] else first
    if max(first, last) > 0xffff:
        context.bad(node, f"port {max(first, last):#x} does not exist", "0x0 to 0xffff")
        return None
    if first > last:
        context.bad(node, f"the range {raw} runs backwards", port_range(last, first))
        return None
    for low, high, what in NEVER_PORTS:
        if first <= high and low <= last:
            context.bad(node, f"no cell may have {port_range(low, high)}: {what}", "leave it to Linux")
            return None
    return first, last


def _devices(node: Node, context: Context) -> Devices | None:
    if not isinstance(node, SequenceNode):
        context.bad(node, f"{kind(node)} stands here", DEVICES_EXAMPLE)
        return None
    devices: Devices = []
    for item in node.value:
        device = _device(item, context)
        if device is None:
            continue
        if any(device.bdf == other.bdf for other in devices):
            context.bad(item, f"{device} is listed twice", "each PCI function once")
        else:
            devices.append(device)
    if len(node.value) > abi.MAX_DEVICES:
        context.bad(node, f"{len(node.value)} PCI functions are listed", f"at most {abi.MAX_DEVICES}")
    return devices


def _device(node: Node, context: Context) -> Device | None:
    values = mapping(node, context, "device", ("pci", "dma", "unsafe-dma"), "such as {pci: \"00:03.0\", dma: off}")
    if values is None:
        return None
    if "pci" not in values:
        context.bad(node, "the device has no `pci`", "its place, such as pci: \"00:03.0\"")
        return None
    bdf = _pci(values["pci"], context)
    dma = _dma(node, values, context)
    return None if bdf is None or dma is None else Device(bdf, dma)


def _pci(node: Node, context: Context) -> int | None:
    right = "bus:device.function in hexadecimal, such as \"00:03.0\""
    raw = scalar(node, context, right, ("str", "int", "float"))
    if raw is None:
        return None
    match = re.fullmatch(r"(?:([0-9a-f]{4}):)?([0-9a-f]{2}):([01][0-9a-f])\.([0-7])", raw.lower())
    if not match:
        context.bad(node, f"`{shown(raw)}` is not the place of a PCI function", right)
        return None
    if match[1] and int(match[1], 16):
        context.bad(node, f"segment {match[1]} is not supported", "a function of segment 0000")
        return None
    bdf = int(match[2], 16) << 8 | int(match[3], 16) << 3 | int(match[4])
    if context.machine.pci is not None and bdf not in context.machine.pci:
        context.bad(node, f"there is no PCI function {pci_name(bdf)} here", "one that `qvctl devices` lists")
        return None
    return bdf


def _dma(node: Node, values: dict[str, Node], context: Context) -> abi.Dma | None:
    unsafe = values.get("unsafe-dma")
    off = values.get("dma")
    if unsafe is not None:
        raw = scalar(unsafe, context, "true or false", ("bool",))
        if raw is None:
            return None
        if raw.lower() in ("true", "yes", "on"):
            if off is None:
                return abi.Dma.UNSAFE
            context.bad(off, "`dma` and `unsafe-dma` exclude each other", "one of the two")
            return None
    if off is not None:
        if not isinstance(off, ScalarNode) or off.value != "off":
            context.bad(off, f"{kind(off)} stands here", "off, or leave it out")
            return None
        return abi.Dma.OFF
    context.bad(node, "the device could do DMA, and QV drives no IOMMU yet that would hold it back",
                "add `dma: off` (no DMA, no MSI), or, if it may write all memory, `unsafe-dma: true`")
    return None


RULES: dict[str, Rule] = {
    "name": Rule(_name, "a name such as quest", True),
    "cpus": Rule(_cpus, CPUS_EXAMPLE, True),
    "memory": Rule(_memory, MEMORY_EXAMPLE, True),
    "image": Rule(_image, "the file name of a kernel, such as quest.elf", True),
    "boot": Rule(_boot, "multiboot2"),
    "cmdline": Rule(_cmdline, "a text"),
    "console": Rule(_truth, "true or false"),
    "watchdog": Rule(_watchdog, WATCHDOG_EXAMPLE),
    "lock": Rule(_lock, LOCK_EXAMPLE),
    "bell-rate": Rule(_bell_rate, BELL_RATE_EXAMPLE),
    "debug": Rule(_truth, "true or false"),
    "ports": Rule(_ports, PORTS_EXAMPLE),
    "devices": Rule(_devices, DEVICES_EXAMPLE),
}
