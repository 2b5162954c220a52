# SPDX-License-Identifier: GPL-2.0-only
"""qvctl latency, and the histograms among the metrics."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from running import Run

from qv import latency
from qv.latency import BUCKETS, FIRST, FORM, HEAD, MOST, Histogram, parse
from qv.transcript import LATENCY, Transcript

KHZ = 2_000_000  # of the fake driver
HEADER = Path(__file__).resolve().parents[2] / "include/qv/cell.h"


def page(*histograms: tuple[bytes, int, int, int, int, dict[int, int]], used: int = -1) -> bytes:
    whole = bytearray(0x1000)
    struct.pack_into("<I", whole, 0, len(histograms) if used < 0 else used)
    for at, (name, total, most, least, missed, counts) in enumerate(histograms):
        FORM.pack_into(
            whole,
            HEAD + at * FORM.size,
            name,
            total,
            most,
            least,
            missed,
            *(counts.get(bucket, 0) for bucket in range(BUCKETS)),
        )
    return bytes(whole)


SOME = (b"shell", 40_000, 20_000, 1_800, 1, {3: 2, 7: 1}), (b"idle", 0, 0, 0, 0, {})


def console_pages(run: Run, contents: bytes, tmp_path: Path) -> None:
    """Gives the cell a console whose pages are a file."""
    (tmp_path / "quest").mkdir()
    (tmp_path / "quest/console").write_bytes(bytes(LATENCY) + contents + bytes(0x4000))
    def opened(name: str) -> Transcript:
        return Transcript(name, str(tmp_path))
    run.system.transcript = opened  # type: ignore[assignment]
    run.create("--start")


def test_numbers_are_those_of_the_header() -> None:
    found = dict(re.findall(r"#define QV_LATENCY_(\w+)\t+(\d+)\n", HEADER.read_text()))
    assert found == {
        "MAX": str(MOST),
        "BUCKETS": str(BUCKETS),
        "FIRST": str(FIRST),
        "NAME": str(latency.NAME),
    }
    assert HEAD + MOST * FORM.size <= 0x1000
    (of,) = re.findall(r"(?s)struct qv_histogram \{(.*?)\}", HEADER.read_text())
    assert re.findall(r"(?m)^\t\t\w+ (\w+)", of) == ["name", "sum", "max", "min", "missed", "bucket"]


def test_page_is_shown(run: Run, tmp_path: Path) -> None:
    console_pages(run, page(*SOME), tmp_path)
    assert run("latency", "quest", "-v") == 0, run.err
    assert run.out.splitlines() == [
        "HISTOGRAM  COUNT     MIN     MEAN      P50    P99  P99.9    MAX  MISSED",
        "shell          3  900 ns  6.67 us  1.02 us  10 us  10 us  10 us       1",
        "idle           0                                                      0",
        "",
        "shell:",
        "  below 1.02 us    2",
        "  below 16.4 us    1",
        "",
        "idle:",
    ]
    data = run.json("--json", "latency", "quest")["histograms"][0]
    assert (data["count"], data["sum_ns"], data["max_ns"], data["p50_ns"]) == (
        3,
        20_000,
        10_000,
        1024,
    )
    assert (data["min_ns"], data["missed"]) == (900, 1)
    assert (
        data["buckets"][3] == {"below_ns": 1024, "count": 2}
        and data["buckets"][-1]["below_ns"] is None
    )


def test_metrics_have_histograms(run: Run, tmp_path: Path) -> None:
    console_pages(run, page(*SOME), tmp_path)
    run.device.enabled = True
    assert run("metrics") == 0, run.err
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(run.out)
        for sample in family.samples
    }
    assert found["qv_latency_seconds_count", "quest", "shell"] == 3
    assert found["qv_latency_seconds_sum", "quest", "shell"] == pytest.approx(2e-5)
    assert found["qv_deadlines_missed_total", "quest", "shell"] == 1
    buckets = [
        value
        for (name, *labels), value in found.items()
        if name == "qv_latency_seconds_bucket" and labels[1] == "shell"
    ]
    assert (
        len(buckets) == BUCKETS
        and buckets == sorted(buckets)
        and buckets[2:4] == [0, 2]
        and buckets[-1] == 3
    )


def test_dashboard_shows_metrics_that_exist(run: Run, tmp_path: Path) -> None:
    console_pages(run, page(*SOME), tmp_path)
    run.device.enabled = True
    info = run.device.cells["quest"]
    info.heartbeat, info.idle_cpus, info.idle_cycles, info.started_ns = 1, 1, 1, 1
    assert run("metrics") == 0, run.err
    families = text_string_to_metric_families(run.out)
    there = {sample.name for family in families for sample in family.samples}
    panels = json.loads((Path(__file__).resolve().parents[1] / "grafana.json").read_text())["panels"]
    shown = [target["expr"] for panel in panels for target in panel["targets"]]
    assert set(re.findall(r"\bqv_\w+", " ".join(shown))) <= there
    assert len({panel["id"] for panel in panels}) == len(panels) == 9


def test_top_has_the_worst(run: Run, tmp_path: Path) -> None:
    """Of all histograms of a cell; it counts what all of them have missed."""
    console_pages(run, page(*SOME, (b"control", 9_000, 9_000, 9_000, 2, {6: 1})), tmp_path)
    run.device.enabled = True
    linux, cell = run.json("top", "-n", "1", "--json")["rows"]
    assert linux["worst_latency"] is None
    assert cell["worst_latency"] == {"histogram": "shell", "max_ns": 10_000, "missed": 3}
    assert run("top", "-n", "1") == 0
    assert re.search(r"(?m)^quest .* 10 us shell$", run.out), run.out


def test_report_has_histograms(run: Run, tmp_path: Path) -> None:
    console_pages(run, page(*SOME), tmp_path)
    run.device.enabled = True
    assert run("report", str(tmp_path / "r.html"), "-n", "1") == 0, run.err
    assert "latency shell: 3 times, at most 10 us, 1 beyond the deadline" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("contents", [b"\xff" * 0x1000, page(used=2**32 - 1), bytes(0x1000)])
def test_any_page_can_be_read(run: Run, tmp_path: Path, contents: bytes) -> None:
    console_pages(run, contents, tmp_path)
    run.device.enabled = True
    assert len(parse(contents)) == (0 if contents == bytes(0x1000) else MOST)
    for argv in (
        ["latency", "quest", "-v"],
        ["--json", "latency", "quest"],
        ["metrics"],
        ["report", str(tmp_path / "r.html"), "-n", "1"],
    ):
        assert run(*argv) == 0, run.err
        assert "\x1b" not in run.out


def test_cells_without_histograms(run: Run, tmp_path: Path) -> None:
    assert run("latency", "quest") == 1 and "there is no cell named quest" in run.err
    run.create("--start")
    assert run("latency", "quest") == 1 and "cell quest has no console, whose pages" in run.err
    run.device.cells.clear()
    console_pages(run, bytes(0x1000), tmp_path)
    assert run("latency", "quest") == 0 and run.out == "the inmate of quest keeps no histogram\n"


def test_share_ends_with_the_longest_time() -> None:
    one = Histogram("a", 0, 300, 300, 0, [0, 4] + [0] * (BUCKETS - 2))
    assert [one.below(share) for share in (0.5, 1)] == [300, 300]
    long = Histogram("a", 0, 1 << 40, 1, 0, [0] * (BUCKETS - 1) + [2])
    assert long.below(0.5) == 1 << 40
