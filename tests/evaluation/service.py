# SPDX-License-Identifier: GPL-2.0-only
"""Figure 4.16: a web server fails under load, and later its whole cell. Both begin again by
themselves. At last a cell ends, and another one inherits its network function."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cells import LIMIT, Bench, Cell, bench, say
from figure import BOUND, OURS, PAPER, Shown, picture
from lab.errors import LabError
from lab.paths import LAB
from network import COUNTED, DEVICES, FUNCTION, set_up

TITLE = "A web server that fails"
ADDRESS = "10.0.2.16"
NAME, FIRST, HEIR = "web", "first", "heir"  # cells
BYTES, RATE, SECONDS = 17675, 120, 5  # of an answer; requests a second, for so long
AT_ONCE = 1000  # requests that may wait: all, so that those of an outage delay no other
FAIL_S = 1.5  # after the first request, as in the paper
SAMPLE_S = 0.5
RETRY_NS = 1_000_000_000  # until Linux repeats the first packet of a connection
GOAL_MS, PAPER_MS, KMORPH_MS = 50, 500, 1000
OURS_EACH = (OURS, "#e09f3e", "#588157")  # colours of the ways


def server(name: str, cpu: int, **more: Any) -> Cell:
    """Quest has its driver on an I/O VCPU of 1 ms in 10 ms, as in the paper."""
    return Cell(name, cpu, cmdline=f"net={ADDRESS}/24", recovery=["httpd 20ms/100ms restart=8/60s : httpd"],
                **{"devices": DEVICES, **more})


def break_server(at: Bench, name: str) -> None:
    [pid] = re.findall(r"(?m)^ *(\d+) +\d+ httpd ", at.shell(name, "ps"))
    at.shell(name, f"kill {pid}")


def break_kernel(at: Bench, name: str) -> None:
    at.machine.run(["quesh", name, "-t", "20", "-c", "crash fault"], LIMIT)


@dataclass
class Way:
    """How the first of some cells fails, and which of them serves then."""

    name: str
    fail: Callable[[Bench, str], None]
    first: str
    then: str


ALONE = (Way("the server ends", break_server, NAME, NAME), Way("its kernel breaks", break_kernel, NAME, NAME))
OTHER = Way("another cell takes over", break_kernel, FIRST, HEIR)


def measure(at: Bench, way: Way) -> dict[str, Any]:
    """Returns when requests were due and answered, and the lines of the log meanwhile."""
    url = f"http://{ADDRESS}/bytes/{BYTES}"
    ask = f"/run/requests {url} {RATE} {SECONDS} {AT_ONCE} /run/each >/run/asked 2>&1; touch /run/over"
    at.run("sh", "-c", f"rm -f /run/over; systemd-run -q --collect sh -c '{ask}'")
    at.run("sleep", str(FAIL_S))
    way.fail(at, way.first)
    end = time.monotonic() + LIMIT
    while at.machine.run(["test", "-e", "/run/over"]).rc:
        if time.monotonic() > end:
            raise LabError(f"the requests do not end: {at.run('cat', '/run/asked')}", "see what it says")
        time.sleep(0.5)
    found = {"name": way.name, "asked": json.loads(at.run("cat", "/run/asked")),
             "each": sorted(json.loads(at.run("cat", "/run/each")))}
    show = json.loads(at.run("qvctl", "--json", "cell", "show", way.first))
    found["failure"] = show["failure"] or show["last_failure"]
    found["recovery"] = json.loads(at.run("qvctl", "--json", "recovery", way.then))
    found["log"] = json.loads(at.run("qvctl", "--json", "log", "--since", "10s"))["lines"]
    say(f"{found['asked']}, {found['failure']}, {found['recovery']['outages']}, {found['log']}")
    return found


def run(seed: int, share: float = 1.0) -> dict[str, Any]:
    waits = (f'{{pci: "{FUNCTION}", heir-of: {FIRST}}}',)
    with bench(**COUNTED) as at:
        at.machine.put(LAB / "inside/requests", "/run/requests")
        set_up(at)
        with at.cells(server(NAME, 3, standby="4/60s")):
            at.wait(NAME, "httpd: serves port 80")
            ways = [measure(at, way) for way in ALONE]
        with at.cells(server(FIRST, 3), server(HEIR, 2, devices=waits)):
            at.wait(FIRST, "httpd: serves port 80")
            ways.append(measure(at, OTHER))
    return {"ways": ways}


def gap(way: dict[str, Any]) -> tuple[int, int]:
    """Returns the times of the two answers with the longest time between them."""
    answers: list[int] = sorted(answered for _, answered in way["each"] if answered)
    return max(zip(answers, answers[1:], strict=False), key=lambda pair: pair[1] - pair[0])


def gap_ms(way: dict[str, Any]) -> float:
    last, first = gap(way)
    return (first - last) / 1e6


def phases_ms(way: dict[str, Any]) -> list[float]:
    """Returns how long it took until Linux had stopped the cell, until its function had moved, and
    until the heir gave its first answer, or nothing if no function moved."""
    at = [line["time_s"] * 1e9 for words in (f"cell {FIRST} stopped", "moved to cell instance")
          for line in way["log"] if words in line["text"]]
    last, first = gap(way)
    times = [last, *at, first]
    return [(b - a) / 1e6 for a, b in zip(times, times[1:], strict=False)] if at else []


def rates(way: dict[str, Any]) -> tuple[list[float], list[float], list[float]]:
    """Returns the ends of samples, and requests and answers in each, by second."""
    begin = way["each"][0][0]
    count = int(SECONDS / SAMPLE_S)
    asked, answered = [0.0] * count, [0.0] * count
    for due, done in way["each"]:
        for times, ns in ((asked, due), (answered, done)):
            if ns and (sample := int((ns - begin) / 1e9 / SAMPLE_S)) < count:
                times[sample] += 1 / SAMPLE_S
    return [(n + 1) * SAMPLE_S for n in range(count)], asked, answered


def draw(results: dict[str, Any], folder: Path) -> None:
    """Above, answers in a second as in the paper; below, the longest time without one."""
    ways = results["ways"]

    def paint(axes: Any) -> None:
        grid = axes.figure.add_gridspec(2, 1, height_ratios=(3, 2))
        axes.set_subplotspec(grid[0])
        for way, colour in zip(ways, OURS_EACH, strict=False):
            at, asked, answered = rates(way)
            axes.plot(at, asked, "--", color=BOUND, label="requests" if way is ways[0] else None)
            axes.plot(at, answered, ".-", color=colour, label=f"answers: {way['name']}")
        axes.axvline(FAIL_S, color="black", linestyle="dotted", label="fault, about here")
        axes.set_xlabel("s")
        axes.set_ylabel("in a second")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, fontsize=8)
        paint_gaps(axes.figure.add_subplot(grid[1]))

    def paint_gaps(axes: Any) -> None:
        places = range(len(ways))
        axes.barh(places, [gap_ms(way) for way in ways], color=OURS_EACH[:len(ways)])
        axes.axvline(GOAL_MS, color="black", linestyle="dotted", label="goal")
        axes.axvline(PAPER_MS, color=PAPER, linestyle="dashed", label="paper, less than")
        axes.set_yticks(places, [way["name"] for way in ways])
        axes.invert_yaxis()
        axes.set_xlabel("ms without an answer, longest")
        axes.legend(frameon=False, fontsize=8)

    picture(folder / "service.svg", paint, (7.0, 5.0))


def moved(way: dict[str, Any]) -> str:
    """Returns the phases of a take-over as a sentence."""
    found = phases_ms(way)
    return (f"Of the last one, {found[0]:.3f} ms passed until Linux had found that and stopped the cell, {found[1]:.3f} ms until its "
            f"function was the heir's, and {found[2]:.3f} ms until the heir's driver had started it and its server answered. "
            "Connections to the first cell are lost. ") if found else ""


def shown(results: dict[str, Any]) -> list[Shown]:
    ways = results["ways"]
    gaps = [gap_ms(way) for way in ways]
    rows = [[way["name"], str(way["asked"]["asked"]), str(way["asked"]["answered"]), f"{way['asked']['median_ms']:.1f}",
             f"{way['asked']['longest_ms']:.1f}", f"{gap:.3f}"] for way, gap in zip(ways, gaps, strict=True)]
    waited = sum(1 for way in ways for due, done in way["each"] if done and done - due > RETRY_NS)
    lost = sum(way["asked"]["asked"] - way["asked"]["answered"] for way in ways)
    times = ", ".join(f"{gap:.3f} ms ({way['name']})" for way, gap in zip(ways, gaps, strict=True))
    return [Shown(
        "Figure 4.16: web server recovery",
        f"Linux asks a web server in a cell for {BYTES} bytes, {RATE} times a second. No answer came for {times}. "
        f"{moved(ways[-1])}The goal is {GOAL_MS} ms. {lost or 'No'} requests were lost; {waited or 'none'} waited until Linux's TCP had "
        "asked again, which it does after a second.",
        f"In the paper the server was back in less than {PAPER_MS} ms, after its driver was broken by hand; multikernel Linux "
        f"needs {KMORPH_MS} ms. The paper's other way, in another sandbox, begins with its driver and its server. Here the heir's "
        "server waits for the network.",
        sum(len(way["each"]) for way in ways), max(gaps) <= GOAL_MS, "service.svg",
        ["fault", "requests", "answers", "median of an answer, ms", "longest, ms", "longest time without an answer, ms"], rows)]
