# SPDX-License-Identifier: GPL-2.0-only
"""The metrics follow the conventions of Prometheus: a strict parser reads them, and the rules that
`promtool check metrics` applies hold. promtool itself is in a package of 96 MB, so only a
slow test uses it (tests/lab/test_promtool.py)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric, Sample
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from running import Run
from test_cli_latency import SOME, console_pages, page
from test_cli_recovery import block, put, replica

from qv.cli.metrics import Numbers

# The units that are not the base unit, their short forms, and words for a type (promlint)
OTHER_UNITS = {"ms", "us", "ns", "milliseconds", "microseconds", "nanoseconds", "sec", "secs", "min",
               "minutes", "hours", "days", "kb", "mb", "gb", "kib", "mib", "gib", "kilobytes",
               "megabytes", "bits", "percent", "cycles", "khz", "mhz", "hz", "kelvin", "celcius"}
TYPES = {"gauge", "counter", "histogram", "summary", "untyped"}
SUFFIXES = ("_total", "_sum", "_count", "_bucket", "_info", "_created")


def wrong(metric: Metric) -> list[str]:
    """Returns what is wrong with a metric by the conventions. Its name is without _total."""
    words = set(metric.name.split("_"))
    labels = {label for sample in metric.samples for label in sample.labels}
    found = {
        "has no help": not metric.documentation.strip(),
        "has other characters in its name": not re.fullmatch(r"[a-z][a-z0-9_]*", metric.name),
        "does not begin with qv_": not metric.name.startswith("qv_"),
        "has a unit that is no base unit": bool(words & OTHER_UNITS),
        "has its type in its name": bool(words & TYPES),
        "has a suffix of another type": metric.name.endswith(SUFFIXES),
        "has a label of another type": metric.type != "histogram" and bool(labels & {"le", "quantile"}),
        "has other characters in a label": not all(re.fullmatch(r"[a-z][a-z_]*", one) for one in labels),
        "is not typed": metric.type in ("unknown", "untyped"),
        "is a counter without _total": metric.type == "counter" and not all(
            sample.name == f"{metric.name}_total" for sample in metric.samples),
    }
    return [f"{metric.name} {what}" for what, is_wrong in found.items() if is_wrong]


def strictly(run: Run) -> list[Metric]:
    """Returns the metrics as a parser reads them that refuses what the standard forbids: doubles,
    mixed families, buckets out of order, a wrong suffix."""
    registry = CollectorRegistry()
    registry.register(Numbers(run.system))  # type: ignore[arg-type]
    return list(text_string_to_metric_families(generate_latest(registry).decode()))


def test_metrics_follow_the_conventions(run: Run, tmp_path: Path) -> None:
    console_pages(run, page(*SOME), tmp_path)
    put(tmp_path / "quest/console", block([], replicas=[replica((1, 0, 0), (0, 1, 0))]))
    run.device.enabled = True
    info = run.device.cells["quest"]
    info.heartbeat, info.idle_cpus, info.idle_cycles, info.started_ns = 7, 1, 1000, 5
    metrics = strictly(run)
    assert len(metrics) == 24, [metric.name for metric in metrics]
    assert all(metric.samples for metric in metrics), "each rule saw a sample"
    assert not [problem for metric in metrics for problem in wrong(metric)]


def test_metrics_of_odd_names_are_read(run: Run, tmp_path: Path) -> None:
    """An inmate chooses the names of its histograms."""
    console_pages(run, page((b'a"b\\c\nd', 1, 1, 1, 0, {3: 1}), (b"", 1, 1, 1, 0, {3: 1})), tmp_path)
    run.device.enabled = True
    assert {metric.name for metric in strictly(run)} >= {"qv_latency_seconds"}


def named(name: str, kind: str = "gauge", words: str = "Help.", **labels: str) -> Metric:
    metric = Metric(name, words, kind)
    metric.samples.append(Sample(name, labels, 1.0))
    return metric


@pytest.mark.parametrize(("metric", "what"), [
    (named("qv_start_time_ms"), "unit"), (named("qv_cells_gauge"), "its type"),
    (named("qv_exits", "counter"), "without _total"), (named("qv_cpus_total"), "suffix"),
    (named("cpus"), "begin with"), (named("qv_cpus", words=""), "no help"),
    (named("qv_cpus", le="1"), "a label of another type"), (named("qv_cpus", CPU="1"), "characters in a label"),
    (named("qv_cpus", "unknown"), "not typed"), (named("qv_Cpus"), "characters in its name")])
def test_rules_find_what_is_wrong(metric: Metric, what: str) -> None:
    problems = wrong(metric)
    assert len(problems) == 1 and what in problems[0], problems
