# SPDX-License-Identifier: GPL-2.0-only
"""qvctl status: the machine, and whether QV is enabled."""

from __future__ import annotations

import sys

from .. import VERSION, abi, output, version, words
from ..words import ipi_name, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..device import Device
    from ..system import System
    from .command import Arguments

VENDORS = {0: "none", 1: "AMD-V", 2: "VT-x"}
FEATURES = {
    abi.FEATURE_NPT: "npt",
    abi.FEATURE_NRIPS: "nrips",
    abi.FEATURE_DECODE: "decode-assists",
    abi.FEATURE_FLUSH_ASID: "flush-by-asid",
    abi.FEATURE_PAGE1G: "1g-pages",
    abi.FEATURE_INVLPGB: "broadcast-flush",
    abi.FEATURE_SPEC_CTRL: "spec-ctrl",
    abi.FEATURE_EPT: "ept",
    abi.FEATURE_VPID: "vpid",
    abi.FEATURE_UNRESTRICTED: "unrestricted-guest",
    abi.FEATURE_X2APIC: "x2apic",
}


PERIOD = 1.0  # seconds between two looks with --watch
CLEAR = "\033[H\033[2J"


def status(args: Arguments, system: System) -> int:
    device = system.device()
    clear = CLEAR if args.watch and not args.json and sys.stdout.isatty() else ""
    while True:
        if clear:
            output.write(clear)
        _print_status(args, device, system)
        if not args.watch:
            return 0
        system.sleep(PERIOD)


def _lower_levels(device: Device, info: abi.StatusInfo) -> dict[str, str]:
    """Returns the level of each cell whose level is below that of the machine."""
    if not info.num_cells or not info.dma_level:
        return {}
    from .show import cells_data, lower_levels  # `status` starts faster without it

    return lower_levels(info, cells_data(device, info.vendor))


def status_data(device: Device, system: System) -> dict[str, Any]:
    """Returns the state as in --json."""
    info, pool = device.status(), device.pool()
    facts = system.facts()
    module = facts.module_version()
    features = [name for bit, name in FEATURES.items() if info.features & bit]
    obstacle = None
    if info.obstacle:
        obstacle = {
            "code": info.obstacle,
            "sentence": text(info.obstacle_text),
            "remedy": text(info.obstacle_remedy),
        }
    return {
        "enabled": bool(info.enabled),
        "version": VERSION,
        "commit": version.commit(),
        "module_version": module[0],
        "module_commit": module[1],
        "cells": info.num_cells,
        "vendor": VENDORS.get(info.vendor, str(info.vendor)),
        "features": features,
        "x2apic": bool(info.x2apic),
        "cpus": info.num_cpus,
        "tsc_khz": info.tsc_khz,
        "lost_cpus": info.lost_cpus,
        "monitor_text": info.monitor_text,
        "monitor_sha256": facts.monitor_sha256(),
        "module_replaced": facts.module_is_replaced(),
        "cpus_outside": info.cpus_outside,
        "ipi": ipi_name(info.ipi_direct),
        "dma_level": words.DMA_LEVELS[info.dma_level],
        "dma_obstacle": text(info.dma_obstacle),
        "dma_lower": _lower_levels(device, info),
        "pool": {"size": pool.size, "free": pool.free, "lent": pool.lent},
        "obstacle": obstacle,
    }


def _print_status(args: Arguments, device: Device, system: System) -> None:
    data = status_data(device, system)
    if args.json:
        output.as_json(data)
        return
    lost, features, pool, obstacle = (
        data["lost_cpus"],
        data["features"],
        data["pool"],
        data["obstacle"],
    )
    output.line(
        f"QV is {'enabled' if data['enabled'] else 'not enabled'}; "
        f"{words.number(data['cells'], 'cell')}, {words.number(data['cpus'], 'CPU')} under the "
        f"monitor{f', {lost} of them lost' if lost else ''}"
    )
    output.line(
        f"{data['vendor']}: {', '.join(features) or 'no features'}; "
        f"{'x2APIC' if data['x2apic'] else 'xAPIC'}; TSC {data['tsc_khz']} kHz; "
        f"monitor {data['monitor_text']} bytes"
    )
    if pool["size"]:
        output.line(words.pool(pool["size"], pool["free"]))
    module = version.shown(data["module_version"] or "unknown", data["module_commit"])
    output.line(f"module {module}; qvctl {version.own()}")
    if data["monitor_sha256"]:
        output.line(f"monitor sha256 {data['monitor_sha256']}")
    if data["module_replaced"]:
        output.line(f"level: {words.REPLACED}")
        output.line(f"  remedy: {words.REPLACED_REMEDY}")
    if data["cpus_outside"]:
        output.line(f"level: {words.outside(data['cpus_outside'])}")
    if data["ipi"] == "direct":
        output.line(f"level: {words.IPI_DIRECT}")
    if data["enabled"]:
        output.line(f"level: {words.dma_level(device.status())}")
    for name, level in data["dma_lower"].items():
        output.line(words.lower_level(name, level))
    if obstacle:
        output.line(f"cannot be enabled: {obstacle['sentence']}")
        output.line(f"  remedy: {obstacle['remedy']}")
