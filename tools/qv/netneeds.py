# SPDX-License-Identifier: GPL-2.0-only
"""Checks the word `net=` of a cell against the rest: the image must read it, the cell must have the
function or the rings of the cell that has it, and `apart` needs its program."""

from __future__ import annotations

import os

from . import abi, network
from .machine import read_text
from .network import KEY, Network
from .words import pci_name, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .keys import CellConfig
    from .keys.channels import Channel
    from .keys.key import Wrong
    from .machine import Machine
    from .nodes import Node

# the same as in inmates/quest/net/share.h, and the functions of inmates/quest/drivers/net
ITEM, SHARERS = 1536, 7
RX, TX = "-rx", "-tx"
FUNCTIONS = {
    "8086:10d3": "82574L",
    "8086:10c9": "82576",
    "8086:10ca": "virtual function of an 82576",
}
RINGS = f"type: ring, item: {ITEM}, of these two cells"


def contents(path: str) -> bytes:
    """Returns nothing if the file cannot be read: that is reported elsewhere."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return b""


def file_name(args: str) -> str:
    """Returns what Quest calls a module that is a program or a text: the first word of the module's
    text, without folders."""
    return os.path.basename(args.lstrip(" ").split(" ")[0])


def _reads_word(cell: CellConfig) -> bool:
    """Returns whether the image reads the word. For another kernel it may mean something else."""
    return network.QUEST in contents(cell.image) if cell.image else False


def is_quest(cell: CellConfig) -> bool:
    """Returns whether the image is Quest, with a network or without."""
    raw = contents(cell.image) if cell.image else b""
    return network.QUEST in raw or network.WITHOUT in raw


def of_cell(cell: CellConfig) -> tuple[Network, network.Wrong | None] | None:
    """Reads the word of a cell with Quest. None: it has none, or another kernel."""
    word = network.word_of(cell.cmdline)
    if not word or not cell.image:
        return None
    if network.WITHOUT in contents(cell.image):
        return Network(word), (
            f"holds `{KEY}...`, and {cell.image} was built without a network",
            "`make deps`, then `make`: they build Quest with lwIP",
        )
    if not _reads_word(cell):
        return None
    net, wrong = network.read(word)
    return net, (f"`{shown(word, 80)}`: {wrong[0]}", wrong[1]) if wrong else None


def _is_ring(channel: Channel | None, cell: CellConfig, writes: bool) -> bool:
    return (
        channel is not None
        and channel.type == "ring"
        and channel.item == ITEM
        and channel.ends[0 if writes else 1] == cell.name
    )


def _rings_problem(cell: CellConfig, name: str, owner: bool) -> network.Wrong | None:
    """The cell that has the function writes NAME-rx and reads NAME-tx; a sharer reverses it."""
    there = {channel.name: channel for channel in cell.channels}
    for suffix, writes in ((RX, owner), (TX, not owner)):
        if not _is_ring(there.get(name + suffix), cell, writes):
            how = "writes" if writes else "reads"
            return (
                f"`channels` has no ring {name}{suffix} that this cell {how}",
                f"{{name: {name}{suffix}, {'writer' if writes else 'readers'}: "
                f"{cell.name if writes else f'[{cell.name}]'}, {RINGS}}}",
            )
    return None


def _owner_problem(cell: CellConfig) -> network.Wrong | None:
    names = [one.name for one in cell.channels if one.name.endswith(RX) and one.name != RX]
    if not names or len(names) > SHARERS:
        return (
            f"`channels` has {len(names)} rings whose names end with {RX}",
            f"1 to {SHARERS}: NAME{RX} and NAME{TX} for each cell that shares the function",
        )
    problems = (_rings_problem(cell, name.removesuffix(RX), True) for name in names)
    return next((problem for problem in problems if problem), None)


def _function_problem(cell: CellConfig, listed: Node | None) -> network.Wrong | None:
    if not cell.devices:
        reported = listed is not None and bool(listed.value)
        what = "`devices` lists no PCI function"
        right = f"the network function under `devices`, or {KEY}share:NAME,... and two rings"
        return None if reported else (what, right)
    reach = {device.dma for device in cell.devices}
    if reach <= {abi.Dma.OFF, abi.Dma.UNSAFE}:
        word = "dma: off" if abi.Dma.OFF in reach else "unsafe-dma"
        return f"a network function needs DMA, and there is `{word}`", "dma: protected"
    return None


def _program_problem(cell: CellConfig, net: Network) -> network.Wrong | None:
    """A name that is in no file of the cell is no program. Archives hold names as they are."""
    if not net.program or net.program == network.DRIVER:
        return None
    name = net.program.encode()
    named = {file_name(one.args) for one in cell.modules}
    files = [cell.image, *(one.path for one in cell.modules)]
    if net.program in named or any(name + b"\0" in contents(file) for file in files):
        return None
    return (
        f"there is no program {shown(net.program)}, in the image or under `modules`",
        "its file or its archive under `modules`, or `apart` alone",
    )


def check(cell: CellConfig, values: dict[str, Node]) -> Iterator[Wrong]:
    """Yields what this file alone shows."""
    found = of_cell(cell)
    if found is None:
        return
    net, wrong = found
    if wrong is None and sum(w.startswith(KEY) for w in cell.cmdline.split(" ")) > 1:
        wrong = f"holds `{KEY}...` twice", "one: Quest uses the first"
    if wrong is not None:
        yield ("cmdline", *wrong)
        return
    function = None if net.sharer else _function_problem(cell, values.get("devices"))
    rings = _rings_problem(cell, net.sharer, False) if net.sharer else None
    owner = _owner_problem(cell) if net.shares else None
    for problem in (function, rings, owner, _program_problem(cell, net)):
        if problem:
            yield "cmdline", f"`{shown(net.word, 80)}`: {problem[0]}", problem[1]


def _owner_of(cell: CellConfig, net: Network) -> str:
    """Returns the cell whose function this cell has or shares. Empty: unknown."""
    if not net.sharer:
        return cell.name
    rings = (one for one in cell.channels if one.name == net.sharer + RX)
    return next((ring.ends[0] for ring in rings), "")


def _shares(cell: CellConfig) -> bool:
    """Returns whether the cell shares its function, or may: it has another kernel, or its word is
    wrong and reported."""
    found = of_cell(cell)
    if found is None:
        return not _reads_word(cell)
    return found[0].shares or found[1] is not None


def _right(cell: CellConfig) -> Network:
    found = of_cell(cell)
    return Network() if found is None or found[1] else found[0]


def clash(cell: CellConfig, other: CellConfig, whose: str) -> Iterator[Wrong]:
    """Yields contradictions of two cells of which one shares the function of the other, or both
    that of a third one."""
    mine, theirs = _right(cell), _right(other)
    here, there = _owner_of(cell, mine), _owner_of(other, theirs)
    if not (here and there):
        return
    said = f"`{shown(mine.word, 80)}`: "
    share = f"{KEY}ADDRESS/PREFIX,share on the command line of "
    if mine.sharer and here == other.name and not _shares(other):
        yield "cmdline", f"{said}{whose} does not share a network function", share + other.name
    if theirs.sharer and there == cell.name and not _shares(cell):
        key = "cmdline" if "cmdline" in cell.at else "name"
        yield key, f"does not share the network function for {whose}", share + cell.name
    if mine.address == theirs.address != 0 and here == there and (mine.sharer or theirs.sharer):
        what = f"{said}{whose} has the same address, on the same function"
        yield "cmdline", what, "an address of its own for each cell"


def taken(cell: CellConfig, machine: Machine) -> Iterator[Wrong]:
    """Yields that Quest has no driver for any of the cell's functions."""
    found = of_cell(cell)
    if found is None or found[1] or found[0].sharer or not machine.pci_folder:
        return
    ids = [_ids(machine.pci_folder, device.bdf) for device in cell.devices]
    if ids and None not in ids and not set(ids) & FUNCTIONS.keys():
        known = " or ".join(f"{one} ({name})" for one, name in FUNCTIONS.items())
        yield (
            "cmdline",
            f"`{shown(found[0].word, 80)}`: Quest drives no function under `devices`",
            f"{known}: `qvctl devices` lists the ids",
        )


def _ids(folder: str, bdf: int) -> str | None:
    place = os.path.join(folder, f"0000:{pci_name(bdf)}")
    words = [read_text(os.path.join(place, name)) for name in ("vendor", "device")]
    found = [word.strip().removeprefix("0x") for word in words if word]
    return ":".join(found) if len(found) == len(words) else None
