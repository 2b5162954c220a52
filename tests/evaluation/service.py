# SPDX-License-Identifier: GPL-2.0-only
"""Figure 4.16: a web server fails under load, and later its whole cell. Both begin again by
themselves."""

import json
import re
import time
from pathlib import Path
from typing import Any

from cells import LIMIT, Bench, Cell, bench, say
from figure import BOUND, OURS, PAPER, Shown, picture
from lab.errors import LabError
from lab.paths import LAB
from network import COUNTED, DEVICES, set_up

TITLE = "A web server that fails"
NAME, ADDRESS = "web", "10.0.2.16"
BYTES, RATE, SECONDS = 17675, 120, 5  # of an answer; requests a second, for so long
AT_ONCE = 1000  # requests that may wait: all, so that those of an outage delay no other
FAIL_S = 1.5  # after the first request, as in the paper
SAMPLE_S = 0.5
RETRY_NS = 1_000_000_000  # until Linux repeats the first packet of a connection
GOAL_MS, PAPER_MS, KMORPH_MS = 50, 500, 1000


def the_cell() -> Cell:
    """Quest has its driver on an I/O VCPU of 1 ms in 10 ms, as in the paper."""
    return Cell(NAME, 3, standby="4/60s", devices=DEVICES, cmdline=f"net={ADDRESS}/24",
                recovery=["httpd 20ms/100ms restart=8/60s : httpd"])


def break_server(at: Bench) -> None:
    [pid] = re.findall(r"(?m)^ *(\d+) +\d+ httpd ", at.shell(NAME, "ps"))
    at.shell(NAME, f"kill {pid}")


def break_kernel(at: Bench) -> None:
    at.machine.run(["quesh", NAME, "-t", "20", "-c", "crash fault"], LIMIT)


WAYS = {"the server ends": break_server, "its kernel breaks": break_kernel}


def measure(at: Bench, fail: Any) -> dict[str, Any]:
    """Returns when requests were due and answered."""
    url = f"http://{ADDRESS}/bytes/{BYTES}"
    ask = f"/run/requests {url} {RATE} {SECONDS} {AT_ONCE} /run/each >/run/asked 2>&1; touch /run/over"
    at.run("sh", "-c", f"rm -f /run/over; systemd-run -q --collect sh -c '{ask}'")
    at.run("sleep", str(FAIL_S))
    fail(at)
    end = time.monotonic() + LIMIT
    while at.machine.run(["test", "-e", "/run/over"]).rc:
        if time.monotonic() > end:
            raise LabError(f"the requests do not end: {at.run('cat', '/run/asked')}", "see what it says")
        time.sleep(0.5)
    found = {"asked": json.loads(at.run("cat", "/run/asked")), "each": sorted(json.loads(at.run("cat", "/run/each")))}
    shown = json.loads(at.run("qvctl", "--json", "cell", "show", NAME))
    found["failure"] = shown["last_failure"]
    found["recovery"] = json.loads(at.run("qvctl", "--json", "recovery", NAME))
    say(f"{found['asked']}, {found['failure']}, {found['recovery']['outages']}")
    return found


def run(seed: int, share: float = 1.0) -> dict[str, Any]:
    ways = []
    with bench(**COUNTED) as at:
        at.machine.put(LAB / "inside/requests", "/run/requests")
        set_up(at)
        with at.cells(the_cell()):
            at.wait(NAME, "httpd: serves port 80")
            for name, fail in WAYS.items():
                ways.append({"name": name, **measure(at, fail)})
    return {"ways": ways}


def gap_ms(way: dict[str, Any]) -> float:
    """Returns the longest time without an answer."""
    answers: list[int] = sorted(answered for _, answered in way["each"] if answered)
    return max(b - a for a, b in zip(answers, answers[1:], strict=False)) / 1e6


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
    def paint(axes: Any) -> None:
        for way, colour in zip(results["ways"], (OURS, PAPER), strict=True):
            at, asked, answered = rates(way)
            axes.plot(at, asked, "--", color=BOUND, label="requests" if colour == OURS else None)
            axes.plot(at, answered, ".-", color=colour, label=f"answers: {way['name']}")
        axes.axvline(FAIL_S, color="black", linestyle="dotted", label="fault, about here")
        axes.set_xlabel("s")
        axes.set_ylabel("in a second")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, fontsize=8)

    picture(folder / "service.svg", paint)


def shown(results: dict[str, Any]) -> list[Shown]:
    ways = results["ways"]
    gaps = [gap_ms(way) for way in ways]
    rows = [[way["name"], str(way["asked"]["asked"]), str(way["asked"]["answered"]), f"{way['asked']['median_ms']:.1f}",
             f"{way['asked']['longest_ms']:.1f}", f"{gap:.3f}"] for way, gap in zip(ways, gaps, strict=True)]
    waited = sum(1 for way in ways for due, done in way["each"] if done and done - due > RETRY_NS)
    lost = sum(way["asked"]["asked"] - way["asked"]["answered"] for way in ways)
    return [Shown(
        "Figure 4.16: web server recovery",
        f"Linux asks a web server in a cell for {BYTES} bytes, {RATE} times a second. No answer came for {gaps[0]:.3f} ms when the "
        f"server was killed, and for {gaps[1]:.3f} ms when the kernel of its cell broke: driver, stack and server began again without "
        f"Linux. The goal is {GOAL_MS} ms. {lost or 'No'} requests were lost; {waited or 'none'} waited until Linux's TCP had asked "
        "again, which it does after a second.",
        f"In the paper the server was back in less than {PAPER_MS} ms, after its driver was broken by hand; multikernel Linux "
        f"needs {KMORPH_MS} ms. The paper's other way, in another sandbox, also begins with its driver and its server.",
        sum(len(way["each"]) for way in ways), max(gaps) <= GOAL_MS, "service.svg",
        ["fault", "requests", "answers", "median of an answer, ms", "longest, ms", "longest time without an answer, ms"], rows)]
