# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell export: the YAML of a cell that exists, with the values that are in effect."""

from __future__ import annotations

from .. import abi, keys, output
from ..keys.channels import of_plan
from ..words import ipi_name, pci_name, size, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..system import System
    from .command import Arguments

LOCKS = {abi.LOCK_NEVER: "false", abi.LOCK_MAY: "may", abi.LOCK_START: "true"}


def _quoted(value: str) -> str:
    """Returns a text in the quotes of YAML. Those of JSON are the same for printable text."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _truth(value: int) -> str:
    return "true" if value else "false"


def _list(items: list[str]) -> str:
    return "".join(f"\n  - {item}" for item in items) if items else " []"


def _device(device: abi.PciDevice) -> str:
    dma = "unsafe-dma: true" if device.dma == abi.Dma.UNSAFE else "dma: off"
    return f"{{pci: {_quoted(pci_name(device.bdf))}, {dma}}}"


def _channel(raw: abi.ChannelPlan) -> str:
    plan = of_plan(raw)
    words = [f"name: {_quoted(plan['name'])}", f"type: {plan['type']}", f"item: {plan['item']}",
             f"writer: {_quoted(plan['writer'])}", f"readers: [{', '.join(map(_quoted, plan['readers']))}]"]
    if plan["type"] == "ring":
        words += [f"slots: {plan['slots']}", f"full: {plan['full']}"]
    words += [f"reconnect: {plan['reconnect']}"]
    words += [f"schema: {_quoted(plan['schema'])}"] if plan["schema"] else []
    if plan["bell"]:
        vector = f"vector: {raw.bell_vector}, " if raw.bell_vector else ""
        words.append(f"bell: {{{vector}cpu: {raw.bell_cpu}}}")
    if plan["owner"]:
        words.append(f'owner: "{raw.uid}:{raw.gid}"')
    if plan["owner"] and raw.mode:
        words.append(f"mode: {raw.mode:04o}")
    return f"{{{', '.join(words)}}}"


def _image(info: abi.CellInfo) -> str:
    return f"{_quoted(text(info.image_name))}  # the driver knows its name only, not its folder"


ROWS: tuple[tuple[str, Callable[[abi.CellInfo], str]], ...] = (
    ("name", lambda info: _quoted(text(info.name))),
    ("cpus", lambda info: f"[{', '.join(map(str, info.cpus[:info.num_cpus]))}]"),
    ("memory", lambda info: size(info.memory)),
    ("image", _image),
    ("boot", lambda info: str(keys.BY_NAME["boot"].data(info)["boot"])),
    ("cmdline", lambda info: _quoted(text(info.cmdline))),
    ("console", lambda info: _truth(info.console)),
    ("watchdog", lambda info: f"{info.watchdog_ms}ms" if info.watchdog_ms else "off"),
    ("lock", lambda info: LOCKS[info.lock]),
    ("ipi", lambda info: ipi_name(info.ipi)),
    ("bell-rate", lambda info: str(info.bell_rate)),
    ("debug", lambda info: _truth(info.debug)),
    ("ports", lambda info: _list(keys.BY_NAME["ports"].data(info)["ports"])),
    ("devices", lambda info: _list([_device(one) for one in info.devices[:info.num_devices]])),
    ("channels", lambda info: _list([_channel(plan) for plan in info.channels[:info.num_channels]])),
)


def export(args: Arguments, system: System) -> int:
    info = system.device().info(args.name)
    lines = [f"{key}: {value(info)}" for key, value in ROWS]
    if info.apic != abi.Apic.BEST:
        lines.append(f"apic: {keys.BY_NAME['apic'].data(info)['apic']}")
    if args.json:
        output.as_json({"name": args.name, "yaml": "\n".join(lines) + "\n"})
    else:
        output.line("\n".join(lines))
    return 0
