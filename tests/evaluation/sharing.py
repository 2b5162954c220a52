# SPDX-License-Identifier: GPL-2.0-only
"""Datagrams that cells send to Linux by one network function: a cell that has it for itself, and up
to four cells that share it."""

import re
import time
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import guests
from cells import Bench, bench
from figure import OURS, Shown, picture
from lab import build
from lab.machine import Machine
from network import COUNTED, FUNCTION, LINUX_IP
from network import set_up as set_up_network

TITLE = "Sharing a network function"
CPUS = {"one": 3, "two": 2, "three": 1, "four": 4}  # the first cell has the function
PORT = 5001  # of Linux's server for the first cell; the others have the next ones
SENDERS = (("one",), ("two",), ("one", "two"), ("one", "two", "three"), tuple(CPUS))
ROUNDS, SECONDS = 3, 3
VCPU = (40, 100)  # of the program that sends: C/T in ms
# The name and the colour of each sender in the figure. False: cells; True: guests of KVM
ROLES: dict[bool, dict[str, tuple[str, str]]] = {
    False: {
        "one": ("the cell with the function", OURS),
        "two": ("sharer two", "#61a5c2"),
        "three": ("sharer three", "#a9d6e5"),
        "four": ("sharer four", "#d5ecf3"),
    },
    True: dict.fromkeys(CPUS, ("Linux, a guest of KVM", "#adb5bd")),
}
FAIR = 0.5  # the least of a cell's part, compared with that of an equal share


def address(name: str) -> str:
    return f"10.0.2.{20 + CPUS[name]}"


def rings(name: str) -> list[str]:
    """Returns the two rings between the first cell and another one."""
    ring = "type: ring, item: 1536, slots: 64, bell: true"
    return [
        f"{{name: {name}-rx, {ring}, full: drop-oldest, writer: one, readers: [{name}]}}",
        f"{{name: {name}-tx, {ring}, full: error, writer: {name}, readers: [one]}}",
    ]


def text(name: str, sharers: Sequence[str], words: str = "") -> str:
    """Returns the file of a cell. The first one shares its function with `sharers`."""
    own = name == "one"
    net = f"net={words or f'{address(name)}/24'}{',share' if own and sharers else ''}"
    net = net if own else net.replace("net=", f"net=share:{name},")
    channels = [line for other in (sharers if own else [name]) for line in rings(other)]
    parts = [
        f"name: {name}\ncpus: [{CPUS[name]}]\nmemory: 32M\nimage: {build.TEST_IMAGE}\nboot: multiboot2\n",
        f"cmdline: {net}\nadmission: exact\n",
        f"vcpus:\n  - {{name: send, C: {VCPU[0]}ms, T: {VCPU[1]}ms}}\n",
        f'devices:\n  - {{pci: "{FUNCTION}", dma: protected}}\n' if own else "",
        "channels:\n" + "".join(f"  - {line}\n" for line in channels) if channels else "",
    ]
    return "".join(parts)


def start(at: Bench, names: Sequence[str], words: str = "") -> None:
    """Runs cells, of which the first has the function, and the others share it."""
    for name in names:
        described = text(name, names[1:], words).encode()
        at.machine.run(["sh", "-c", f"cat >/run/{name}.yaml"], stdin=described)
        at.run("qvctl", "cell", "create", f"/run/{name}.yaml", "--start")
    for name in names:
        wait(at, name, "link up")


def wait(at: Bench, name: str, what: str) -> str:
    """Waits until the command `net` of a cell prints this."""
    end = time.monotonic() + 120
    while what not in (said := at.shell(name, "net")):
        if time.monotonic() > end:
            raise RuntimeError(f"{name}: no {what!r}: {said}")
        time.sleep(0.5)
    return said


def set_up(at: Bench, serve: bool = True) -> None:
    """Linux has its address, and a server for each cell. The monitor owns the IOMMU."""
    ports = range(PORT, PORT + len(CPUS)) if serve else ()
    set_up_network(at, "sysctl -qw net.core.rmem_max=4194304",
                   *(f"systemd-run -q --collect --unit iperf{p} iperf -s -u -w 2M -p {p}" for p in ports))


def send(at: Bench, senders: Sequence[str], seconds: int) -> dict[str, dict[str, int]]:
    """Each of the senders sends datagrams to Linux for so long, all at once. Returns for each what
    Linux's server has got."""
    lines = [
        f"quesh {name} -t 300 -c 'vcpu=send iperf -c {LINUX_IP} -u -p {PORT + n} -t {seconds}' >/run/sent-{name} 2>&1 &"
        for n, name in enumerate(CPUS)
        if name in senders
    ]
    at.run("sh", "-c", "\n".join([*lines, "wait"]))
    found = {}
    for name in senders:
        said = at.run("cat", f"/run/sent-{name}")
        form = (
            r"sent \d+ bytes in (\d+) us: \d+ kbit/s\s+in (\d+) datagrams\n"
            r"iperf: the server has got (\d+) bytes; lost (\d+), late (\d+) of (\d+)"
        )
        match = re.search(form, said)
        if not match:
            raise RuntimeError(f"{name} has sent nothing that arrived: {said}")
        words = ("us", "sent", "bytes", "lost", "late", "known")
        found[name] = dict(zip(words, map(int, match.groups()), strict=True))
    return found


def measure(at: Bench, rounds: int = ROUNDS, seconds: int = SECONDS) -> dict[str, Any]:
    """Returns what arrived of each case: `cells` are those that send."""
    set_up(at)
    start(at, ["one"])
    alone = [send(at, ["one"], seconds) for _ in range(rounds)]
    cases = [{"shared": False, "senders": ["one"], "rounds": alone}]
    at.run("qvctl", "cell", "destroy", "one")
    start(at, list(CPUS))
    for senders in SENDERS:
        found = [send(at, senders, seconds) for _ in range(rounds)]
        cases.append({"shared": True, "senders": list(senders), "rounds": found})
    counts = {name: at.shell(name, "net") for name in CPUS}
    for name in CPUS:
        at.run("qvctl", "cell", "destroy", name)
    return {"cases": cases, "guests": [], "seconds": seconds, "net": counts}


def measure_guests(at: Bench, rounds: int = ROUNDS, seconds: int = SECONDS) -> list[dict[str, Any]]:
    """Returns what arrived when one to four virtual machines of KVM send."""
    ports = {name: PORT + n for n, name in enumerate(CPUS)}
    guests.set_up(at, list(ports.values()))
    cases = []
    with ExitStack() as stack:
        for count, name in enumerate(CPUS, 1):
            stack.enter_context(guests.guest(at, name, CPUS[name], address(name)))
            senders = dict(islice(ports.items(), count))
            found = [guests.send(at, senders, seconds) for _ in range(rounds)]
            cases.append({"kvm": True, "senders": list(senders), "rounds": found})
    return cases


def run(seed: int, share: float = 1.0) -> dict[str, Any]:
    rounds = max(1, round(ROUNDS * share))
    with bench(cpus=1 + len(CPUS), **COUNTED) as at:
        results = measure(at, rounds)
    with Machine(
        icount=True, cpus=1 + len(CPUS), userland=guests.TREE, install=False, **COUNTED
    ) as machine:
        results["guests"] = measure_guests(Bench(machine), rounds)
    return results


def rate(one: dict[str, int]) -> float:
    """Returns Mbit/s that arrived."""
    return one["bytes"] * 8 / one["us"]


def total(case: dict[str, Any]) -> float:
    """Returns the Mbit/s of all cells: the median of the rounds."""
    return median(sum(rate(one) for one in found.values()) for found in case["rounds"])


def parts(case: dict[str, Any]) -> dict[str, float]:
    """Returns the Mbit/s of each cell: the median of the rounds."""
    return {name: median(rate(found[name]) for found in case["rounds"]) for name in case["senders"]}


def label(case: dict[str, Any]) -> str:
    if case.get("kvm"):
        count = len(case["senders"])
        return f"{count} guest{'s' if count > 1 else ''}"
    if not case["shared"]:
        return "not shared"
    return {("one",): "the owner", ("two",): "a sharer"}.get(
        tuple(case["senders"]), f"{len(case['senders'])} cells"
    )


def kept(results: dict[str, Any]) -> bool:
    """Whether no datagram came twice or out of order, each one was received or counted as lost, and
    no cell took more than its part."""
    ones = [one for case in results["cases"] for found in case["rounds"] for one in found.values()]
    counted = all(not one["late"] and one["known"] in (one["sent"], one["sent"] + 1) for one in ones)
    fair = all(
        part >= FAIR * sum(parts(case).values()) / len(case["senders"])
        for case in results["cases"]
        for part in parts(case).values()
    )
    return counted and fair


def draw(results: dict[str, Any], folder: Path) -> None:
    def paint(axes: Any) -> None:
        labelled = set()
        cases = [*results["cases"], *results.get("guests", [])]
        for place, case in enumerate(cases):
            below = 0.0
            for name, part in parts(case).items():
                role, shade = ROLES[bool(case.get("kvm"))][name]
                known = {"label": None if role in labelled else role}
                axes.bar(place, part, 0.6, bottom=below, color=shade, edgecolor="white", **known)
                labelled.add(role)
                below += part
        axes.set_xticks(range(len(cases)), [label(case) for case in cases], rotation=30, ha="right")
        axes.set_ylabel("Mbit/s received by Linux")
        axes.legend(frameon=False, fontsize=8)

    picture(folder / "sharing.svg", paint)


def of_guests(cases: list[dict[str, Any]], alone: float) -> str:
    """Returns a sentence about the guests of KVM, if they were measured."""
    if not cases:
        return ""
    least, most = (100 * pick(parts(cases[-1]).values()) / total(cases[-1]) for pick in (min, max))
    return (
        "Linux as a guest of KVM, in the same emulated machine without QV, has a whole CPU for each guest, virtio-net, "
        f"vhost and a bridge to the function. One sends {total(cases[0]) / alone:.2f} of what the cell sends, whose "
        f"program may run {VCPU[0]} ms of each {VCPU[1]}; {len(cases[-1]['senders'])} guests together send "
        f"{total(cases[-1]) / alone:.2f}, between {least:.0f} and {most:.0f} % of it each. "
    )


def shown(results: dict[str, Any]) -> list[Shown]:
    cells, cases = results["cases"], [*results["cases"], *results.get("guests", [])]
    alone = total(cells[0])
    ones = [one for case in cells for found in case["rounds"] for one in found.values()]
    rows = [
        [
            label(case),
            f"{total(case):.1f}",
            f"{total(case) / alone:.2f}",
            ", ".join(f"{part:.1f}" for part in parts(case).values()),
            str(sum(one["sent"] for found in case["rounds"] for one in found.values())),
            str(sum(one["lost"] for found in case["rounds"] for one in found.values())),
        ]
        for case in cases
    ]
    ratios = [total(case) / alone for case in cells]
    sent, lost = sum(one["sent"] for one in ones), sum(one["lost"] for one in ones)
    return [
        Shown(
            "Figure 4.17: UDP throughput of cells that share a network function",
            f"Each cell sends datagrams of 1472 bytes to Linux for {results['seconds']} s, as fast as it can. The "
            f"owner, with two sharers that are silent, sends {ratios[1]:.2f} of what it sends without sharing, a "
            f"sharer {ratios[2]:.2f}, and four cells together {ratios[-1]:.2f}. Of {sent} datagrams {lost} were "
            f"lost; none came twice or late. {of_guests(results.get('guests', []), alone)}The CPUs take turns in the emulator, "
            "so each does less in a second while more of them are busy.",
            "The dissertation (section 4.6.4) has a figure without numbers in the text: netperf clients send "
            "messages of 16 KiB in up to four sandboxes, and sharing has a small overhead. Its sandboxes share "
            "the rings of the function; here the frames of a sharer go through two channels and the owner.",
            len(ones),
            kept(results),
            "sharing.svg",
            ["who sends", "Mbit/s", "of not shared", "of each cell", "datagrams", "lost"],
            rows,
        )
    ]
