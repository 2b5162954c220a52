# SPDX-License-Identifier: GPL-2.0-only
"""qvctl metrics: the numbers of all cells for Prometheus."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Iterator

from .. import abi, output
from ..condition import state_name
from ..errors import NotLoaded, Refused, WrongUsage
from ..journal import post
from ..latency import BUCKETS, end
from .latency import histograms_of
from .recovery import block_of
from .show import cells_data
from .stats import EXITS, reason_name, stats_of

try:
    from prometheus_client import CollectorRegistry, generate_latest, start_http_server
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
    from prometheus_client.core import Metric
    from prometheus_client.registry import Collector
except ImportError:
    raise Refused(
        "the Python library prometheus_client is not installed",
        "apt install python3-prometheus-client",
    ) from None

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..device import Device
    from ..recovery import Block
    from ..system import System
    from .command import Arguments

CELLS = "etc/qv/cells"  # the files of the cells that units keep; below System.root
STATES = ("absent", *(state_name(state) for state in abi.State))


class Numbers(Collector):
    """Reads the driver for each scrape. A call waits for the management call that is under way; no
    call stops or asks a cell."""

    def __init__(self, system: System) -> None:
        self.system = system

    def collect(self) -> Iterator[Metric]:
        try:
            device = self.system.device()
        except NotLoaded:
            yield GaugeMetricFamily("qv_enabled", ENABLED, 0)
            yield from _cells({}, self._defined())
            return
        status = device.status()
        yield GaugeMetricFamily("qv_enabled", ENABLED, status.enabled)
        yield GaugeMetricFamily("qv_cpus", "CPUs under the monitor.", status.num_cpus)
        yield GaugeMetricFamily(
            "qv_lost_cpus",
            "CPUs that neither Linux nor a cell can use before a reset.",
            status.lost_cpus,
        )
        cells = {cell["name"]: cell for cell in cells_data(device, status.vendor)}
        yield from _cells(cells, self._defined())
        yield from _lives(cells, status.tsc_khz)
        yield from self._latencies(list(cells), status.tsc_khz)
        blocks = {name: found for name in cells if (found := block_of(self.system, name))}
        yield from _components(blocks)
        yield from _replicas(blocks)
        if status.enabled:
            yield from _exits(device, [abi.FRONT_END, *cells], status.tsc_khz)

    def _latencies(self, names: list[str], khz: int) -> Iterator[Metric]:
        """Returns the histograms that the inmates keep. They count from the start of each life."""
        family = HistogramMetricFamily(
            "qv_latency_seconds",
            "Times that the inmate measures, such as how late its threads run.",
            labels=("cell", "histogram"),
        )
        missed = CounterMetricFamily(
            "qv_deadlines_missed",
            "How often such a time was beyond its deadline.",
            labels=("cell", "histogram"),
        )
        for cell in names:
            found = {one.name: one for one in histograms_of(self.system, cell) or ()} if khz else {}
            for one in found.values():
                sums = itertools.accumulate(one.counts)
                limits = [str(end(bucket) / khz / 1000) for bucket in range(BUCKETS - 1)] + ["+Inf"]
                buckets = [(limit, float(count)) for limit, count in zip(limits, sums)]
                family.add_metric((cell, one.name), buckets, one.sum / khz / 1000)
                missed.add_metric((cell, one.name), one.missed)
        yield from (family, missed)

    def _defined(self) -> list[str]:
        try:
            files = os.listdir(os.path.join(self.system.root, CELLS))
        except OSError:
            return []
        return [name.removesuffix(".yaml") for name in files if name.endswith(".yaml")]


def _components(blocks: dict[str, Block]) -> Iterator[Metric]:
    """Yields what each inmate says of its components. It may give two of them one name."""
    labels = ("cell", "component")
    runs = GaugeMetricFamily(
        "qv_component_runs", "Whether the component of the cell runs (1).", labels=labels
    )
    starts = CounterMetricFamily(
        "qv_component_starts", "Starts of the component in this life.", labels=labels
    )
    faults = CounterMetricFamily(
        "qv_component_faults", "Faults of the component in this life.", labels=labels
    )
    found = CounterMetricFamily(
        "qv_detector_faults",
        "Faults that the detector has found in this life, of all components of the cell.",
        labels=("cell", "detector"),
    )
    for cell, block in blocks.items():
        for one in {one.name: one for one in block.components}.values():
            runs.add_metric((cell, one.name), one.state == "runs")
            starts.add_metric((cell, one.name), one.starts)
            faults.add_metric((cell, one.name), one.faults)
        for detector in {one.name: one for one in block.detectors if one.looks}.values():
            found.add_metric((cell, detector.name), detector.found)
    yield from (runs, starts, faults, found)


def _replicas(blocks: dict[str, Block]) -> Iterator[Metric]:
    """Yields what each inmate has counted of components that run in three cells. The label
    `replica` is the cell whose replica was at fault."""
    votes = CounterMetricFamily(
        "qv_replica_votes",
        "Votes in this life on which this cell and another one agreed.",
        labels=("cell", "component"),
    )
    labels = ("cell", "component", "replica")
    outvoted = CounterMetricFamily(
        "qv_replica_outvoted",
        "How often the replica was outvoted, as the cell has counted in this life.",
        labels=labels,
    )
    late = CounterMetricFamily(
        "qv_replica_late",
        "How often the replica did not vote in time, as the cell has counted in this life.",
        labels=labels,
    )
    for cell, block in blocks.items():
        for one in {one.component: one for one in block.replicas}.values():
            votes.add_metric((cell, one.component), one.votes)
            counts = {
                name or cell: numbers
                for name, *numbers in reversed([*zip(one.cells, one.outvoted, one.late)])
            }
            for name, numbers in counts.items():
                outvoted.add_metric((cell, one.component, name), numbers[0])
                late.add_metric((cell, one.component, name), numbers[1])
    yield from (votes, outvoted, late)


ENABLED = "Whether the monitor is under Linux (1) or not (0)."


def _cells(cells: dict[str, dict[str, Any]], defined: list[str]) -> Iterator[Metric]:
    """Yields the state of each cell, also of those that have a file but do not exist."""
    states = GaugeMetricFamily(
        "qv_cell_state",
        "1 for the state in which the cell is, 0 for the others.",
        labels=("cell", "state"),
    )
    for name in sorted({*cells, *defined}):
        present = cells[name]["state"] if name in cells else "absent"
        for state in STATES:
            states.add_metric((name, state), float(state == present))
    yield states


def _lives(cells: dict[str, dict[str, Any]], khz: int) -> Iterator[Metric]:
    cpus = GaugeMetricFamily("qv_cell_cpus", "CPUs that Linux gave to the cell.", labels=("cell",))
    memory = GaugeMetricFamily("qv_cell_memory_bytes", "RAM of the cell.", labels=("cell",))
    beats = CounterMetricFamily(
        "qv_cell_heartbeats", "Heartbeats of the inmate in this life.", labels=("cell",)
    )
    failures = CounterMetricFamily(
        "qv_cell_failures", "Failures of the cell since it was created.", labels=("cell",)
    )
    idle = CounterMetricFamily(
        "qv_cell_idle_seconds",
        "Time without work in this life, in sum over the CPUs that the inmate counts.",
        labels=("cell",),
    )
    started = GaugeMetricFamily(
        "qv_cell_start_time_seconds",
        "Time of the last start, in seconds since 1970.",
        labels=("cell",),
    )
    first = GaugeMetricFamily(
        "qv_cell_first_entry_seconds",
        "Time from the last start to the first instruction.",
        labels=("cell",),
    )
    boot = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    for name, cell in cells.items():
        cpus.add_metric((name,), len(cell["cpus"]))
        memory.add_metric((name,), cell["memory"])
        failures.add_metric((name,), cell["failures"])
        if cell["heartbeat"]:
            beats.add_metric((name,), cell["heartbeat"])
        if cell["idle"] and khz:
            idle.add_metric((name,), cell["idle"]["cycles"] / khz / 1000)
        if cell["started_ns"]:
            started.add_metric((name,), boot + cell["started_ns"] / 1e9)
            first.add_metric((name,), cell["first_entry_ns"] / 1e9)
    yield from (cpus, memory, beats, failures, idle, started, first)


def _exits(device: Device, names: list[str], khz: int) -> Iterator[Metric]:
    """Yields the counters of each CPU. The cell `linux` is the front end."""
    exits = CounterMetricFamily(
        "qv_exits", "Exits to the monitor.", labels=("cell", "cpu", "reason")
    )
    denied = CounterMetricFamily(
        "qv_denied", "Accesses and interrupts that the monitor refused.", labels=("cell", "cpu")
    )
    inside = CounterMetricFamily(
        "qv_monitor_seconds", "Time in the monitor.", labels=("cell", "cpu")
    )
    longest = GaugeMetricFamily(
        "qv_longest_exit_seconds", "Longest single stay in the monitor.", labels=("cell", "cpu")
    )
    for name, cpus in stats_of(device, names):
        for cpu in cpus:
            labels = (name, str(cpu.cpu))
            for reason in EXITS:
                exits.add_metric((*labels, reason_name(reason)), cpu.exits[reason])
            denied.add_metric(labels, cpu.denied)
            inside.add_metric(labels, cpu.cycles_in_monitor / khz / 1000)
            longest.add_metric(labels, cpu.held_max_ns / 1e9)
    yield from (exits, denied, inside, longest)


def metrics(args: Arguments, system: System) -> int:
    if args.json:
        raise WrongUsage("metrics has a format of its own: leave out --json")
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Numbers(system))
    if args.listen:
        address, port = args.listen
        try:
            start_http_server(port, address, registry)
        except OSError as error:
            raise Refused(
                f"no server can listen at {address}:{port} ({error.strerror})",
                "name a free port with --listen",
            ) from None
        output.line(f"serves http://{address}:{port}/metrics")
        if to := os.environ.get("NOTIFY_SOCKET", ""):  # of the unit qv-metrics
            post(f"\0{to[1:]}" if to.startswith("@") else to, b"READY=1")
        threading.Event().wait()
    data = generate_latest(registry).decode()
    if args.file:
        output.save(args.file, data, 0o644)
    else:
        output.write(data)
    return 0
