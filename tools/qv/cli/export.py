# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell export: the YAML of a cell that exists, with the values that are in effect. The driver
has all but the keys for the cell's unit, and the text of `recovery`. Those are from the unit's
file."""

from __future__ import annotations

import os

from .. import abi, config, dropin, keys, output
from ..keys import unit
from ..keys.channels import of_plan
from ..keys.recovery import FILE, WORD
from ..words import ipi_name, pci_name, size, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..keys import CellConfig
    from ..system import System
    from .command import Arguments

LOCKS = {abi.Lock.NEVER: "false", abi.Lock.MAY: "may", abi.Lock.START: "true"}


def _quoted(value: str) -> str:
    """Returns a text in the quotes of YAML. Those of JSON are the same for printable text."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _truth(value: int) -> str:
    return "true" if value else "false"


def _list(items: list[str]) -> str:
    return "".join(f"\n  - {item}" for item in items) if items else "[]"


def _device(device: abi.PciDevice, holders: dict[int, str]) -> str:
    if device.state & abi.DEVICE_HEIR and device.bdf in holders:
        return f"{{pci: {_quoted(pci_name(device.bdf))}, heir-of: {_quoted(holders[device.bdf])}}}"
    dma = {
        abi.Dma.UNSAFE: ", unsafe-dma: true",
        abi.Dma.PROTECTED: ", dma: protected",
        abi.Dma.OFF: ", dma: off",
    }
    return f"{{pci: {_quoted(pci_name(device.bdf))}{dma.get(device.dma, '')}}}"


def _ends(writers: list[str], readers: list[str]) -> list[str]:
    read = f"readers: [{', '.join(map(_quoted, readers))}]"
    if len(writers) == 1:
        return [f"writer: {_quoted(writers[0])}", read]
    return [f"writers: [{', '.join(map(_quoted, writers))}]", read]


def _channel(raw: abi.ChannelPlan) -> str:
    plan = of_plan(raw)
    words = [
        f"name: {_quoted(plan['name'])}",
        f"type: {plan['type']}",
        f"item: {plan['item']}",
        *_ends(plan["writers"], [name for name in plan["readers"] if name not in plan["writers"]]),
    ]
    if plan["type"] == "ring":
        words += [f"slots: {plan['slots']}", f"full: {plan['full']}"]
    words += [f"reconnect: {plan['reconnect']}"]
    words += [f"schema: {_quoted(plan['schema'])}"] if plan["schema"] else []
    if plan["bell"]:
        vector = f"vector: {raw.bell_vector}, " if raw.bell_vector else ""
        once = ", one-shot: true" if plan["bell"] == "one-shot" else ""
        words.append(f"bell: {{{vector}cpu: {raw.bell_cpu}{once}}}")
    if plan["owner"]:
        words.append(f'owner: "{raw.uid}:{raw.gid}"')
    if plan["owner"] and raw.mode:
        words.append(f"mode: {raw.mode:04o}")
    return f"{{{', '.join(words)}}}"


def _dynamic(info: abi.CellInfo) -> str:
    dynamic = keys.BY_NAME["dynamic-channels"].data(info)["dynamic_channels"]
    return (
        f"{{memory: {size(dynamic['memory'])}, with: [{', '.join(map(_quoted, dynamic['with']))}]}}"
    )


def _image(info: abi.CellInfo) -> str:
    return f"{_quoted(text(info.image_name))}  # the driver knows its name only, not its folder"


def _module(module: abi.Module) -> str:
    args = text(module.args)
    file = _quoted(args.split(" ")[0])
    own = "the text of the key `recovery`; " if args == FILE else ""
    return f"{{file: {file}, args: {_quoted(args)}}}  # {own}the driver knows `args` only"


ROWS: tuple[tuple[str, Callable[[abi.CellInfo], str]], ...] = (
    ("name", lambda info: _quoted(text(info.name))),
    ("cpus", lambda info: f"[{', '.join(map(str, info.cpus[: info.num_cpus]))}]"),
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
    (
        "channels",
        lambda info: _list([_channel(plan) for plan in info.channels[: info.num_channels]]),
    ),
)


def values_of(info: abi.CellInfo, holders: dict[int, str]) -> dict[str, str]:
    """Returns the value of each key in YAML. `holders`: the cells that have PCI functions."""
    found = {key: value(info) for key, value in ROWS}
    devices = info.devices[: info.num_devices]
    found["devices"] = _list([_device(one, holders) for one in devices])
    if info.num_modules:
        found["modules"] = _list([_module(one) for one in info.modules[: info.num_modules]])
    if info.num_dynamic:
        found["dynamic-channels"] = _dynamic(info)
    if info.standby:
        found["standby"] = f"{info.standby}/{info.standby_ms}ms"
    if info.dma_level != abi.DmaLevel.NONE:
        found["dma-protection"] = str(keys.BY_NAME["dma-protection"].data(info)["dma_protection"])
    if info.apic != abi.Apic.BEST:
        found["apic"] = str(keys.BY_NAME["apic"].data(info)["apic"])
    return found


def _restart(restart: unit.Restart | None) -> str:
    if restart is None or restart == unit.HOLD:
        return "off"
    times = f"first: {restart.first}ms, most: {restart.most}ms, healthy: {restart.healthy}ms"
    return f"{{limit: {restart.limit}, {times}}}"


UNIT_ROWS: tuple[tuple[str, Callable[[CellConfig], str]], ...] = (
    ("after", lambda cell: f"[{', '.join(map(_quoted, cell.after))}]"),
    ("requires", lambda cell: f"[{', '.join(map(_quoted, cell.requires))}]"),
    ("restart", lambda cell: _restart(cell.restart)),
    ("on-failure", lambda cell: cell.on_failure),
    ("ready", lambda cell: cell.ready),
    ("stop", lambda cell: f"{cell.stop}ms"),
)


def _unit_yaml(cell: CellConfig) -> str:
    """Returns the keys for the unit that are in the unit's file. A key that is not there has no
    value of its own: the unit takes it from /etc/qv/qv.conf."""
    return "".join(f"{key}: {value(cell)}\n" for key, value in UNIT_ROWS if key in cell.at)


def _with_components(values: dict[str, str], info: abi.CellInfo, cell: CellConfig) -> None:
    """Puts the key `recovery` in the place of its module and of its word in the command line, if
    the unit's file has a text as long as the module."""
    lines = cell.recovery.text
    modules = list(info.modules[: info.num_modules])
    rest = [one for one in modules if text(one.args) != FILE]
    if not lines or [one.len for one in modules if text(one.args) == FILE] != [len(lines.encode())]:
        return
    words = [word for word in text(info.cmdline).split(" ") if word != WORD + FILE]
    values["cmdline"] = _quoted(" ".join(words))
    values.pop("modules")
    if rest:
        values["modules"] = _list([_module(one) for one in rest])
    body = "".join(f"  {line}\n" if line else "\n" for line in lines.rstrip("\n").split("\n"))
    values["recovery"] = f"|  # from {cell.file}; the driver knows the length of the text only\n"
    values["recovery"] += body.rstrip("\n")


def exported(info: abi.CellInfo, system: System) -> str:
    cells = system.taken() if any(one.state & abi.DEVICE_HEIR for one in info.devices) else ()
    values = values_of(info, {bdf: one.name for one in cells for bdf in one.devices})
    file = dropin.file_of(system.root, text(info.name))
    more = ""
    if os.path.exists(file):
        cell, problems = config.check_file(file, system.running().with_all_memory())
        if problems:
            more = (
                f"# {file} is wrong, so its keys for the unit are not here: "
                f"qvctl config check {file}\n"
            )
        else:
            _with_components(values, info, cell)
            more = _unit_yaml(cell)
    return "".join(f"{key}: {value}\n" for key, value in values.items()) + more


def export(args: Arguments, system: System) -> int:
    yaml = exported(system.device().info(args.name), system)
    if args.json:
        output.as_json({"name": args.name, "yaml": yaml})
    else:
        output.write(yaml)
    return 0
