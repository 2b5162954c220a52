# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell list, cell show."""

from __future__ import annotations

import os

from .. import abi, dropin, keys, output, words
from ..condition import ADDRESSES, failure_data, failure_name, registers, state_name
from ..errors import NotLoaded, Refused
from ..words import text
from .acting import each, infos_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..device import Device
    from ..keys.key import Key
    from ..system import System
    from .command import Arguments

CPU_STATES = {
    abi.CpuState.RUNS: "runs",
    abi.CpuState.WAITS: "waits",
    abi.CpuState.STOPPED: "stopped",
}
WORDS = {"waits": "waits for a SIPI"}
HLT = 0xF4


def sample_data(device: Device, name: str, cpu: int) -> dict[str, Any]:
    """Returns the sample of a CPU as in --json. The CPU may just have been stopped."""
    data: dict[str, Any] = {
        "cpu": cpu,
        "state": "unknown",
        "after_hlt": False,
        "rip": None,
        "registers": None,
        "bytes": None,
    }
    try:
        record = device.sample(name, cpu)
    except Refused as refusal:
        return {**data, "why": refusal.sentence}
    data["state"] = CPU_STATES.get(record.address, "unknown")
    if record.address == abi.CpuState.RUNS:
        code = bytes(record.bytes)
        data |= {
            "after_hlt": code[0] == HLT,
            "rip": f"{record.rip:#x}",
            "registers": registers(record),
            "bytes": code[1:].hex(),
        }
    return data


def _data(shown: Sequence[Key], info: abi.CellInfo) -> dict[str, Any]:
    """Returns the members of --json that these keys have."""
    return {name: value for key in shown for name, value in key.data(info).items()}


def cell_data(info: abi.CellInfo, vendor: int) -> dict[str, Any]:
    """Returns a cell as in --json."""
    return {
        "name": text(info.name),
        "id": info.id,
        "state": state_name(info.state),
        "forced": bool(info.forced),
        **_data(keys.RESOURCES, info),
        "heartbeat": info.heartbeat,
        "idle": {"cpus": info.idle_cpus, "cycles": info.idle_cycles} if info.idle_cpus else None,
        "started_ns": info.started_ns,
        "first_entry_ns": info.first_entry_ns,
        **_data(keys.SUPERVISION, info),
        "failure": failure_data(info.failure, vendor, info.failed_ns),
        "last_failure": failure_data(info.last_failure, vendor, info.last_failed_ns),
        "failures": info.failures,
    }


def cells_data(device: Device, vendor: int) -> list[dict[str, Any]]:
    """Returns all cells as in --json, without those that are destroyed meanwhile."""
    return [cell_data(info, vendor) for info in infos_of(device)]


def state_text(cell: dict[str, Any]) -> str:
    return (
        f"{cell['state']} (by force)"
        if cell["forced"] and cell["state"] == "shut-down"
        else str(cell["state"])
    )


def _apic(cell: dict[str, Any]) -> str:
    return ("x2APIC" if cell["x2apic"] else "xAPIC") + (
        "!DIRECT-IPI" if cell["ipi"] == "direct" else ""
    )


def _files(root: str, cells: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the files of units as in --json."""
    present = {cell["name"] for cell in cells}
    return [
        {
            "name": name,
            "file": dropin.file_of(root, name),
            "enabled": dropin.is_enabled(root, name),
            "absent": name not in present,
        }
        for name in dropin.names(root)
    ]


def _list_all(args: Arguments, system: System) -> int:
    """Works without a driver, too: no cell exists then."""
    try:
        device = system.device()
        cells = cells_data(device, device.status().vendor)
    except NotLoaded:
        cells = []
    files = _files(system.root, cells)
    if args.json:
        output.as_json({"cells": cells, "files": files})
        return 0
    units = {file["name"]: "enabled" if file["enabled"] else "disabled" for file in files}
    rows = [(cell["name"], state_text(cell), units.get(cell["name"], "no file")) for cell in cells]
    rows += [(text(f["name"].encode()), "absent", units[f["name"]]) for f in files if f["absent"]]
    output.table(("NAME", "STATE", "UNIT"), sorted(rows))
    return 0


def list_cells(args: Arguments, system: System) -> int:
    if args.all:
        return _list_all(args, system)
    device = system.device()
    status = device.status()
    cells = [
        {**cell, "dma_level": words.DMA_LEVELS[_level(status, cell)]}
        for cell in cells_data(device, status.vendor)
    ]
    if args.json:
        output.as_json(
            {
                "cells": cells,
                "linux_ipi": words.ipi_name(status.ipi_direct),
                "dma_level": words.DMA_LEVELS[status.dma_level],
            }
        )
        return 0
    rows = [
        [
            cell["name"],
            state_text(cell),
            words.cpu_list(sorted(cell["cpus"])),
            words.size(cell["memory"]),
            cell["image"],
            _apic(cell),
            "locked" if cell["locked"] else "",
            cell["failure"]["reason"] if cell["failure"] and cell["state"] == "failed" else "",
            " ".join(
                device["pci"]
                + ("!UNSAFE-DMA" if device["unsafe_dma"] else "")
                + ("(waits)" if device["waits"] else "")
                for device in cell["devices"]
            ),
        ]
        for cell in cells
    ]
    output.table(
        ("NAME", "STATE", "CPUS", "MEMORY", "IMAGE", "APIC", "LOCK", "FAILURE", "DEVICES"),
        rows,
        frozenset({3}),
    )
    if status.ipi_direct:
        output.line(f"level: {words.IPI_DIRECT}")
    if status.enabled:
        output.line(f"level: DMA {words.DMA_LEVELS[status.dma_level]}")
    for name, level in lower_levels(status, cells).items():
        output.line(words.lower_level(name, level))
    return 0


def image_of(image: str, system: System) -> str:
    """Returns the file of a cell's image by its name, if it is where the images of units are."""
    folders = (os.path.join(system.root, dropin.CELLS), *system.machine().image_dirs)
    places = [os.path.join(folder, image) for folder in folders]
    return next((place for place in places if os.path.isfile(place)), "")


def _add_symbols(data: dict[str, Any], system: System) -> None:
    """Says in which function of the image the failures were."""
    from ..symbols import function_at

    image = image_of(data["image"], system)
    for failure in (data["failure"], data["last_failure"]):
        if not failure:
            continue
        failure["symbol"] = function_at(image, int(failure["rip"], 16)) or None


def _level(status: abi.StatusInfo, data: dict[str, Any]) -> int:
    """Returns the cell's level of protection from DMA: a hostile Linux can lead the DMA of virtual
    functions, since it has their physical functions."""
    virtual = any(device["virtual"] for device in data["devices"])
    level = int(status.dma_level)
    return min(level, int(abi.DmaLevel.DEVICES)) if virtual else level


def lower_levels(status: abi.StatusInfo, cells: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Returns the level of each cell whose level is below that of the machine."""
    levels = {cell["name"]: _level(status, cell) for cell in cells}
    return {
        name: words.DMA_LEVELS[level] for name, level in levels.items() if level < status.dma_level
    }


def show_cell(args: Arguments, system: System) -> int:
    from . import channels  # `cell list` starts faster without it

    def one(device: Device, name: str) -> None:
        status = device.status()
        data = cell_data(device.info(name), status.vendor)
        _add_symbols(data, system)
        data["dma_level"] = words.DMA_LEVELS[_level(status, data)]
        looks = data["debug"] and data["state"] == "running"
        for channel in data["channels"]:
            channel["counts"] = channels.counts({**channel, "device": channels.device_of(channel)})
        data["stands"] = [sample_data(device, name, cpu) for cpu in data["cpus"]] if looks else None
        if args.json:
            output.as_json(data)
            return
        if name != args.names[0]:
            output.line("")
        _show(data, args.verbose)

    return each(args, system, one)


def _show(data: dict[str, Any], verbose: bool) -> None:
    lines: list[tuple[str, str]] = [
        ("name", data["name"]),
        ("state", state_text(data)),
        *(line for key in keys.RESOURCES for line in key.show(data)),
        ("heartbeat", str(data["heartbeat"]) if data["heartbeat"] else "none seen"),
        *(line for key in keys.SUPERVISION for line in key.show(data)),
        ("started", output.ago(data["started_ns"]) if data["started_ns"] else "never"),
    ]
    if data["first_entry_ns"]:
        lines.append(
            ("first entry", f"{output.duration(data['first_entry_ns'])} after the start call")
        )
    if data["failures"]:
        lines.append(("failures", f"{data['failures']} since it was created"))
    for key, value in lines:
        output.line(f"{key + ':':13}{value}")
    for stand in data["stands"] or []:
        _show_stand(stand, verbose)
    if data["failure"]:
        _show_failure("failed", data["failure"])
    if data["last_failure"]:
        _show_failure("last failure", data["last_failure"])


def _show_stand(stand: dict[str, Any], verbose: bool) -> None:
    title = f"cpu {stand['cpu']}:"
    if not stand["registers"]:
        output.line(f"{title:13}{stand.get('why') or WORDS.get(stand['state'], stand['state'])}")
        return
    some = stand["registers"]
    output.line(f"{title:13}at {stand['rip']}{', behind a HLT' if stand['after_hlt'] else ''}")
    if verbose:
        _show_registers(some, stand["bytes"])
        return
    for names in (("rsp", "rflags", "efer"), ("cr0", "cr3", "cr4")):
        output.line(f"{'':13}{'  '.join(f'{name} {some[name]}' for name in names)}")


def _show_registers(some: dict[str, str], code: str) -> None:
    output.line("  registers:")
    names = list(some)
    for at in range(0, len(names), 3):
        output.line(
            "    "
            + "  ".join(f"{name:>6} {int(some[name], 16):016x}" for name in names[at : at + 3])
        )
    raw = bytes.fromhex(code)
    output.line(f"  {'bytes:':11}{raw.hex(' ') if any(raw) else 'unknown'}")


def _show_failure(title: str, failure: dict[str, Any]) -> None:
    if failure["failed_ns"]:
        title = f"{title} {output.wall_clock(failure['failed_ns'])}"
    number = next((n for n in ADDRESSES if failure_name(n) == failure["reason"]), None)
    output.line(f"{title + ': ':13}{failure['reason']}: {failure['sentence']}")
    lines = [
        ("rip", failure["rip"] + (f", in {failure['symbol']}" if failure["symbol"] else "")),
        ("cpu", str(failure["cpu"])),
        (
            "exit code",
            f"{failure['exit_code']} {failure['exit_name']} "
            f"(info {failure['info1']}, {failure['info2']})",
        ),
    ]
    lines.insert(1, (ADDRESSES[number] if number is not None else "address", failure["address"]))
    for key, value in lines:
        output.line(f"  {key + ':':11}{value}")
    _show_registers(failure["registers"], failure["bytes"])
