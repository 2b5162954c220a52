# SPDX-License-Identifier: GPL-2.0-only
"""The commands of qvctl: one row each."""

from __future__ import annotations

from . import values
from .channel_table import CHANNELS
from .command import Command, Option

STRICT = Option("--strict", "refuse when there is nothing to do")
FOLLOW = Option("-f --follow", "continue as more come")

COMMANDS = (
    Command("doctor", "doctor.doctor", "what prevents QV here, and its remedy"),
    Command(
        "enable",
        "monitor.enable",
        "put the monitor under the running Linux",
        "",
        Option(
            "--strict",
            "refuse when it is enabled already, or when a CPU would stay outside the monitor",
        ),
        Option(
            "--ipi",
            "filtered (default), or direct: no exits for Linux's IPIs and timers, "
            "and no filter that protects cells from Linux's IPIs",
            "HOW",
            values.ipi,
        ),
        Option(
            "--iommu",
            "refuse when the monitor cannot own the IOMMU, which keeps devices from memory of "
            "others; by default the monitor owns it where it can, and the level says so",
            choice=True,
        ),
        Option(
            "--no-iommu",
            "leave the IOMMU to Linux: then nothing keeps devices of Linux from a cell's memory",
            name="iommu",
            choice=False,
        ),
    ),
    Command("disable", "monitor.disable", "take the monitor away again", "", STRICT),
    Command(
        "status",
        "status.status",
        "what the machine offers and whether QV is enabled",
        "",
        Option(
            "-w --watch", "again each second, until interrupted; with --json one document per line"
        ),
    ),
    Command(
        "pool",
        "monitor.pool",
        "the memory that is kept for cells, "
        "so that it is there in pieces of 2 MiB months after boot, and the CPUs that are kept",
        "",
        Option(
            "--set",
            "keep this much from now on, such as 512M or 2G; 0: none",
            "SIZE",
            values.size,
            name="size",
        ),
        Option(
            "--cpus",
            "keep these CPUs offline and ready from now on, such as 2-3 or 1,3; or none",
            "CPUS",
            values.cpus,
        ),
    ),
    Command(
        "may-sleep",
        "monitor.may_sleep",
        "succeed if the machine may sleep; not while QV is enabled",
    ),
    Command("devices", "devices.devices", "the PCI functions, and which a cell could have"),
    Command(
        "cell create",
        "create.create",
        "create the cell that a YAML file describes",
        "FILE",
        Option("--start", "start it as well"),
        Option(
            "--force",
            "take a device that Linux uses, too: a mounted disk, a network interface that is up",
        ),
    ),
    Command(
        "cell apply",
        "apply.apply",
        "make a cell as its file says: create and start it, replace it, or leave it alone",
        "FILE",
        Option("--dry-run", "only say what would change", name="dry_run"),
        Option(
            "--force",
            "take a device that Linux uses, too: a mounted disk, a network interface that is up",
        ),
        Option(
            "--timeout",
            "milliseconds that the old cell has to shut down (default 5000)",
            "MS",
            values.milliseconds,
            5000,
        ),
    ),
    Command("cell start", "life.start", "start created cells", "NAME...", STRICT),
    Command(
        "cell shutdown",
        "life.shutdown",
        "ask cells to shut down; after the time-out they are stopped by force",
        "NAME...",
        STRICT,
        Option(
            "--timeout",
            "milliseconds before it is stopped by force (default 5000; 0: at once)",
            "MS",
            values.milliseconds,
            5000,
        ),
    ),
    Command(
        "cell destroy",
        "life.destroy",
        "stop cells and give Linux their CPUs and memory back",
        "NAME...",
        STRICT,
    ),
    Command(
        "cell lock",
        "life.lock",
        "lock management until this cell agrees to unlock",
        "NAME...",
        STRICT,
    ),
    Command(
        "cell unlock",
        "life.unlock",
        "ask a cell to agree that management is unlocked",
        "NAME...",
        STRICT,
        Option(
            "--timeout",
            "milliseconds to wait for its agreement (default 5000)",
            "MS",
            values.milliseconds,
            5000,
        ),
    ),
    Command(
        "cell restart",
        "waiting.restart",
        "shut cells down and start them again, in the same memory",
        "NAME...",
        Option(
            "--timeout",
            "milliseconds before it is stopped by force (default 5000; 0: at once)",
            "MS",
            values.milliseconds,
            5000,
        ),
    ),
    Command(
        "cell wait",
        "waiting.wait",
        "wait until a cell is in a state; it need not exist yet",
        "NAME",
        Option(
            "--state",
            "running (default), ready (it runs and has a heartbeat), failed, "
            "shut-down or destroyed",
            "STATE",
            values.state,
            "running",
        ),
        Option("--timeout", "seconds to wait (default: without end)", "S", values.seconds),
    ),
    Command(
        "cell recover", "recover.recover", "start failed cells again, in the same memory", "NAME..."
    ),
    Command(
        "cell on-failure",
        "recover.on_failure",
        "what the unit of a cell does when it fails; with --set: change it, until the unit ends",
        "NAME",
        Option(
            "--set",
            "restart, or hold: keep it as it is until qvctl cell recover",
            "WHAT",
            values.on_failure,
        ),
    ),
    Command(
        "cell dump",
        "dump.dump",
        "write what a cell that has ended had in memory, if it has `debug: true`: "
        "an ELF core for gdb",
        "NAME",
        Option("--file", "write it to this file (default: NAME.core)", "FILE"),
    ),
    Command(
        "cell list",
        "show.list_cells",
        "all cells",
        "",
        Option(
            "-a --all",
            "also cells that have a file for a unit and are absent; which units start at boot",
        ),
    ),
    Command(
        "cell show",
        "show.show_cell",
        "all about a cell; why it failed; where it is, if it has `debug: true`",
        "NAME...",
        Option(
            "-v",
            "all registers of each CPU of a running cell that has `debug: true`",
            name="verbose",
        ),
    ),
    Command(
        "cell export",
        "export.export",
        "print the YAML of a cell that exists, with all values that are in effect, "
        "and the keys of its unit",
        "NAME",
    ),
    Command(
        "cell edit",
        "edit.edit",
        "change /etc/qv/cells/NAME.yaml in $VISUAL or $EDITOR; "
        "it is checked before it replaces the file",
        "NAME",
    ),
    Command(
        "cell console-log",
        "history.console_log",
        "what a cell has printed: the journal keeps it for cells of units",
        "NAME",
        FOLLOW,
        Option("-n", "only the last N lines", "N", values.count, name="count"),
        Option(
            "--boot",
            "of this boot: 0 is the present one (default: of all boots), -1 the one before",
            "BOOT",
            values.boot,
        ),
        Option(
            "--stream", "what is in the 16 KiB of the console now, also for cells without a unit"
        ),
    ),
    Command(
        "cell stats",
        "stats.stats",
        "a cell's exits by reason and CPU; `linux` is the front end",
        "NAME",
        Option("--interval", "also rates over S seconds", "S", values.seconds),
        Option(
            "-n",
            "with --interval: N times (default 1; 0: until interrupted)",
            "N",
            values.count,
            name="count",
        ),
    ),
    Command(
        "cell tasks",
        "tasks.tasks",
        "the tasks of an OSEK application: states, stacks (CONSOLE = TRUE in its OIL file)",
        "NAME",
    ),
    Command(
        "top",
        "top.top",
        "what Linux and each cell do at present, until interrupted",
        "",
        Option("--interval", "seconds between two pictures (default 2)", "S", values.seconds, 2.0),
        Option("-n", "end after N pictures (default 0: never)", "N", values.count, 0, name="count"),
    ),
    Command(
        "latency",
        "latency.latency",
        "the histograms of times that an inmate keeps, such as how late threads ran",
        "NAME",
        Option("-v", "also the count of each bucket", name="verbose"),
    ),
    Command(
        "recovery",
        "recovery.recovery",
        "the components that Quest watches, and how it recovered them from faults",
        "NAME",
    ),
    Command(
        "trace",
        "trace.trace",
        "which thread of Quest had the CPU, and how long",
        "NAME",
        Option(
            "-n",
            "only the last N changes of those that Quest keeps",
            "N",
            values.count,
            0,
            name="count",
        ),
        Option("--svg", "also draw them as a picture", "FILE"),
        Option("--perfetto", "also write them for Perfetto and Chrome", "FILE"),
    ),
    Command(
        "metrics",
        "metrics.metrics",
        "the numbers of all cells in Prometheus's format",
        "",
        Option(
            "--file",
            "write them to this file, which the node exporter's textfile collector reads",
            "FILE",
        ),
        Option(
            "--listen",
            "serve them by HTTP until interrupted, at /metrics",
            "[ADDRESS:]PORT",
            values.listen,
        ),
    ),
    Command(
        "report",
        "report.report",
        "write configuration, state, numbers and plots as one HTML page, which needs no network",
        "FILE",
        Option(
            "--interval",
            "seconds between two looks at the numbers (default 1)",
            "S",
            values.seconds,
            1.0,
        ),
        Option("-n", "look N times (default 10)", "N", values.looks, 10, name="count"),
    ),
    Command(
        "cell run",
        "keep.keep",
        "create and start a cell, start it again when it fails, end with it: for its unit",
        "FILE",
        Option(
            "--restarts",
            "how often in succession it may fail and start again "
            "(default: `restart` of its file, or 10)",
            "N",
            values.count,
        ),
        Option(
            "--timeout",
            "milliseconds that it has to shut down (default: `stop` of its file, or 5000)",
            "MS",
            values.milliseconds,
        ),
        Option("--force", "take a device that Linux uses, too"),
        Option("--reload", "for ExecReload=: ask the unit's process to read the file again, wait"),
    ),
    Command(
        "cell enable",
        "units.enable",
        "start cells of /etc/qv/cells at boot, in the order that their files say",
        "NAME...",
        Option("--now", "start them now as well"),
    ),
    Command(
        "cell disable",
        "units.disable",
        "no longer start cells at boot",
        "NAME...",
        Option("--now", "shut them down now as well"),
    ),
    *CHANNELS,
    Command(
        "config check",
        "check.check",
        "check YAML files, each by itself and against one another",
        "FILE...",
        Option(
            "-v",
            "also what share of the CPU the VCPUs of each may take, and how long they may wait",
            name="verbose",
        ),
    ),
    Command(
        "analyze",
        "analyze.analyze",
        "how long a message by each mailbox between the cells of these files may take",
        "FILE...",
        Option(
            "--bytes", "length of the request (default: an item of the channel)", "N", values.length
        ),
        Option(
            "--reply", "length of the reply (default: an item of the channel)", "M", values.length
        ),
        Option(
            "--service",
            "CPU time that the receiver computes for each slot, such as 500us or 2ms (default 0)",
            "TIME",
            values.span,
            0,
        ),
        Option(
            "--cost-send",
            "CPU time of the sender for each byte, in ns (default 20)",
            "NS",
            values.cost,
            values.Cost("20", 20 << 32),
            "cost_send",
        ),
        Option(
            "--cost-reply",
            "CPU time of the receiver for each byte, in ns (default 20)",
            "NS",
            values.cost,
            values.Cost("20", 20 << 32),
            "cost_reply",
        ),
        Option(
            "--wake",
            "time from a bell until the thread that waits is runnable (default 0: both ends poll)",
            "TIME",
            values.span,
            0,
        ),
    ),
    Command(
        "place",
        "place.place",
        "in which of the cells of these files programs run, and the moves that make room",
        "FILE...",
        Option(
            "--policy",
            "the first cell that admits a program (first, the default), "
            "the nearest to the cell or device that it "
            "names (near), or that with the least load (balance)",
            "POLICY",
            values.policy,
            "first",
        ),
    ),
    Command(
        "log",
        "follow.log",
        "what driver and monitor logged",
        "",
        FOLLOW,
        Option(
            "--previous",
            "what the monitors logged before the machine last went down (warm restart)",
        ),
        Option("--cell", "only lines about this cell", "NAME", default=""),
        Option(
            "--since", "only lines of the last TIME, such as 90s, 10m or 2h", "TIME", values.ago
        ),
    ),
    Command("events", "follow.events", "state changes of QV and its cells", "", FOLLOW),
)
