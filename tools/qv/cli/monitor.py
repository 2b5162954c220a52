# SPDX-License-Identifier: GPL-2.0-only
"""qvctl enable, disable: the monitor under the running Linux. qvctl pool: memory for cells.
qvctl may-sleep: whether the machine may sleep."""

from __future__ import annotations

from .. import abi, output, words
from ..errors import NotLoaded, Refused
from ..holders import holders
from .acting import done, unless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..system import System
    from .command import Arguments


def _is_as_asked(args: Arguments, info: abi.StatusInfo) -> bool:
    """Returns whether QV, which is enabled, is enabled as the options say."""
    owns = info.dma_level != abi.DmaLevel.NONE
    return args.ipi in (None, words.ipi_name(info.ipi_direct)) and args.iommu in (None, owns)


def crash_dump(info: abi.StatusInfo, system: System) -> str:
    """Returns a warning if a crash kernel is loaded that would not start."""
    if info.dma_level == abi.DmaLevel.NONE or not system.facts().has_crash_kernel:
        return ""
    return "the crash kernel that is loaded would hang (`qvctl doctor` says what to do)"


def enable(args: Arguments, system: System) -> int:
    device = system.device_or_load()
    reply = unless(
        args,
        lambda: device.enable(args.strict, args.ipi == "direct", args.iommu),
        abi.Reason.E_ENABLED,
        lambda: _is_as_asked(args, device.status()),
    )
    info = device.status()
    level = f"; level: {words.outside(info.cpus_outside)}" if info.cpus_outside else ""
    level += f"; level: {words.IPI_DIRECT}" if info.ipi_direct else ""
    level += f"; level: {words.dma_level(info)}"
    warning = crash_dump(info, system)
    level += f"; {warning}" if warning else ""
    return done(
        args,
        reply,
        f"QV is enabled{'' if reply else ' already'}: its monitor runs under Linux{level}",
        enabled=True,
        cpus_outside=info.cpus_outside,
        ipi=words.ipi_name(info.ipi_direct),
        dma_level=words.DMA_LEVELS[info.dma_level],
    )


def disable(args: Arguments, system: System) -> int:
    try:
        device = system.device()
    except NotLoaded:
        if args.strict:
            raise
        return done(args, None, "QV is disabled: the module qv is not loaded", enabled=False)
    reply = unless(args, device.disable, abi.Reason.E_NOT_ENABLED, lambda: True)
    found = holders(system.root)
    done(
        args,
        reply,
        f"QV is disabled{'' if reply else ' already'}: Linux has the machine to itself",
        enabled=False,
        holders=found,
    )
    for sentence in [] if args.json else found:
        output.line(f"  {sentence}: the module qv stays loaded until it is closed")
    return 0


def pool(args: Arguments, system: System) -> int:
    """Takes and gives CPUs only if they are named: a module of before has no such call."""
    nothing = not args.size and not args.cpus
    if (args.size is not None or args.cpus is not None) and nothing and not system.is_loaded():
        return done(args, None, words.pool(0, 0), size=0, free=0, lent=0, cpus=[])
    device = system.device_or_load() if not nothing else system.device()
    before: list[int] = []
    reply = None
    if args.cpus is not None:
        before = device.kept_cpus()
        reply = device.keep_cpus(args.cpus)
    if args.size is not None:
        found = device.set_pool(args.size)
        reply = found.reply
    else:
        found = device.pool()
    more: dict[str, object] = {}
    kept: list[int] = []
    if args.size is None or args.cpus is not None:
        more["cpus"] = kept = device.kept_cpus()
    return done(
        args,
        reply,
        words.pool(found.size, found.free) + words.kept(kept, before),
        size=found.size,
        free=found.free,
        lent=found.lent,
        **more,
    )


def may_sleep(args: Arguments, system: System) -> int:
    """systemd calls it before it suspends or hibernates the machine. The driver refuses sleep, too,
    but only in the kernel's log."""
    try:
        enabled = bool(system.device().status().enabled)
    except NotLoaded:
        enabled = False
    if enabled:
        raise Refused(
            "QV is enabled, and sleep would power off the CPUs of the monitor and of the cells",
            "systemctl stop qv.service, or qvctl disable",
            abi.Reason.E_ENABLED,
        )
    if args.json:
        output.as_json({"may_sleep": True})
    else:
        output.line("the machine may sleep")
    return 0
