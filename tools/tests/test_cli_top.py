# SPDX-License-Identifier: GPL-2.0-only
"""qvctl top and qvctl metrics on a driver that exists only here."""

from __future__ import annotations

import re
import socket
import threading
import urllib.request
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.parser import text_string_to_metric_families
from running import Run

from qv import abi
from qv.cli import metrics
from qv.errors import NotLoaded, Refused

KHZ = 2_000_000     # of the fake driver


def live(run: Run) -> abi.CellInfo:
    run.create("--start")
    run.device.enabled = True
    info = run.device.cells["quest"]
    info.heartbeat, info.idle_cpus, info.idle_cycles = 40, 1, 10 * KHZ
    return info


def scrape(run: Run) -> dict[tuple[str, ...], float]:
    """Returns the values by name and labels."""
    assert run("metrics") == 0, run.err
    return {(sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(run.out) for sample in family.samples}


def test_top_shows_rates(run: Run) -> None:
    info = live(run)
    slept = run.system.sleep

    def second(seconds: float) -> None:
        """Half of the time without work, four beats."""
        slept(seconds)
        info.heartbeat += 4
        info.idle_cycles += int(seconds * KHZ * 1000) // 2
    run.system.sleep = second  # type: ignore[method-assign]
    linux, cell = run.json("top", "-n", "1", "--interval", "1", "--json")["rows"]
    assert (linux["name"], linux["state"], linux["busy"]) == ("linux", "front end", None)
    assert (cell["name"], cell["busy"], cell["beats_per_second"], cell["most"]) == ("quest", 0.5, 4.0, "icr")
    # two CPUs with 200 more ICR writes each: FakeDevice.stats() counts each call
    assert cell["exits_per_second"] == 400
    assert run("top", "-n", "2", "--interval", "1") == 0
    assert run.out.count("Linux lends 1 CPU and 64M of memory to 1 cell") == 2
    assert re.search(r"^quest +running +3 +64M +50.0 % +4.0 +400 +icr +0.000 % +0$", run.out, re.MULTILINE)


def test_top_shows_exits_by_reason(run: Run) -> None:
    live(run)
    linux, cell = run.json("top", "-n", "1", "--interval", "2", "--json")["rows"]
    assert linux["exits"]["icr"] == cell["exits"]["icr"] == 200 and "cpuid" not in cell["exits"]
    assert sum(cell["exits"].values()) == cell["exits_per_second"]
    assert run("top", "-n", "1", "--interval", "2") == 0
    assert re.search(r"^EXITS/S +icr\nlinux +200\nquest +200$", run.out, re.MULTILINE), run.out
    assert "CHANNEL" not in run.out


def test_top_of_an_inmate_that_counts_nothing(run: Run) -> None:
    info = live(run)
    info.heartbeat = info.idle_cpus = 0
    cell = run.json("top", "-n", "1", "--json")["rows"][1]
    assert cell["busy"] is None and cell["beats_per_second"] is None


def test_counters_of_a_new_life_begin_at_zero(run: Run) -> None:
    info = live(run)
    slept = run.system.sleep

    def restart(seconds: float) -> None:
        slept(seconds)
        info.heartbeat, info.idle_cycles = 2, 0
    run.system.sleep = restart  # type: ignore[method-assign]
    cell = run.json("top", "-n", "1", "--interval", "1", "--json")["rows"][1]
    assert cell["beats_per_second"] == 2.0 and cell["busy"] == 1.0


def test_a_cell_that_ends_meanwhile(run: Run) -> None:
    live(run)
    gone = Refused("there is no cell named quest", "", abi.Reason.E_NO_CELL)

    def info(_name: str) -> abi.CellInfo:
        raise gone
    run.device.info = info  # type: ignore[method-assign]
    assert [row["name"] for row in run.json("top", "-n", "1", "--json")["rows"]] == ["linux"]
    assert ("qv_cell_state", "quest", "running") not in scrape(run)


def test_metrics(run: Run, tmp_path: Path) -> None:
    live(run)
    cells = Path(run.system.root) / metrics.CELLS
    cells.mkdir(parents=True)
    (cells / "robot.yaml").write_text("")
    found = scrape(run)
    assert found["qv_enabled",] == 1 and found["qv_cpus",] == 4
    assert {state for state in metrics.STATES if found["qv_cell_state", "quest", state]} == {"running"}
    assert {state for state in metrics.STATES if found["qv_cell_state", "robot", state]} == {"absent"}
    assert found["qv_cell_memory_bytes", "quest"] == 64 << 20 and found["qv_cell_heartbeats_total", "quest"] == 40
    assert found["qv_cell_idle_seconds_total", "quest"] == pytest.approx(0.01)
    assert found["qv_exits_total", "linux", "0", "icr"] == 100 and found["qv_denied_total", "quest", "1"] == 1
    assert found["qv_longest_exit_seconds", "quest", "0"] == pytest.approx(5e-6)
    target = tmp_path / "qv.prom"
    assert run("metrics", "--file", str(target)) == 0 and run.out == ""
    assert "qv_cell_cpus" in target.read_text() and list(tmp_path.glob("qv.prom*")) == [target]


def test_names_follow_the_conventions(run: Run) -> None:
    """As promtool checks: counters end in _total, units are base units, each family has a help
    text."""
    live(run)
    assert run("metrics") == 0
    for family in text_string_to_metric_families(run.out):
        assert family.documentation.endswith("."), family.name
        assert family.name.startswith("qv_") and family.name == family.name.lower()
        assert not re.search(r"_(ms|us|ns|milliseconds|kb|mb|kilobytes|count|total)$", family.name)
        if family.type == "counter":
            assert all(sample.name == f"{family.name}_total" for sample in family.samples)


def test_metrics_without_the_module(run: Run) -> None:
    run.system.fake = NotLoaded("the module qv is not loaded", "modprobe qv")
    assert scrape(run)["qv_enabled",] == 0


def test_metrics_by_http(run: Run) -> None:
    live(run)
    registry = CollectorRegistry()
    registry.register(metrics.Numbers(run.system))  # type: ignore[arg-type]
    server, thread = start_http_server(0, "127.0.0.1", registry)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/metrics", timeout=30) as answer:
            assert b'qv_cell_state{cell="quest",state="running"} 1.0' in answer.read()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_unit_of_metrics_is_ready_when_the_server_listens(run: Run, tmp_path: Path,
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    """systemd hears nothing if the port is taken, so the start of the unit fails."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd, socket.socket() as taken:
        systemd.bind(str(tmp_path / "notify"))
        systemd.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setattr(threading.Event, "wait", lambda _event, _timeout=None: True)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert run("metrics", "--listen", str(taken.getsockname()[1])) == 1 and "can listen at" in run.err
        with pytest.raises(BlockingIOError):
            systemd.recv(64)
        monkeypatch.setattr(metrics, "start_http_server", lambda *_words: None)
        assert run("metrics", "--listen", "9747") == 0
        assert systemd.recv(64) == b"READY=1"


@pytest.mark.parametrize("words,says", [
    (("--listen", "x"), "such as 127.0.0.1:9747"), (("--listen", "70000"), "is not a port (0 to 65535)"),
    (("--json",), "leave out --json"), (("--file", "/nowhere/qv.prom"), "cannot be written")])
def test_metrics_refuses(run: Run, words: tuple[str, ...], says: str) -> None:
    live(run)
    assert run("metrics", *words) != 0 and says in run.err + run.out
