# SPDX-License-Identifier: GPL-2.0-only
"""The word `net=` on the command line of a cell with Quest. It is read by the rules of Quest's own
parser, inmates/quest/net/word.c, so that a word that Quest would refuse is reported before the cell
starts."""

from __future__ import annotations

from .keys.key import matched
from .record import dataclass
from .words import shown

KEY = "net="
# the same limits as in inmates/quest/net/word.h and word.c
NAME, PROGRAM, PREFIX = 28, 31, 30
DRIVER = "nicdriver"
NUMBER = r"(0|[1-9][0-9]{0,2})"
ADDRESS = r"\.".join([NUMBER] * 4)
AFTER = ("via=GATEWAY", "polled", "share", "apart")
EXAMPLE = "ADDRESS/PREFIX such as 192.168.7.2/24, or dhcp"
# Texts of an image: only Quest has the first, which its parser prints; the second has none (none.c)
QUEST = b"use net=ADDRESS/PREFIX"
WITHOUT = b"net: this Quest was built without lwIP"

Wrong = tuple[str, str]  # the problem, the remedy


@dataclass
class Network:
    """The word, as far as it could be read."""

    word: str = ""
    sharer: str = ""  # the rings of this name lead to the cell that has the function
    shares: bool = False  # this cell has the function, and lets others share it
    address: int = 0  # 0: from DHCP
    prefix: int = 0
    program: str = ""  # that drives the function


def word_of(cmdline: str) -> str:
    """Returns the word that Quest uses: the first one. Empty: the line has no such word."""
    return next((word for word in cmdline.split(" ") if word.startswith(KEY)), "")


def _address(raw: str) -> int | None:
    match = matched(ADDRESS, raw)
    numbers = [int(number) for number in match.groups()] if match else [256]
    return int.from_bytes(bytes(numbers), "big") if max(numbers) < 256 else None


def _is_usable(address: int, prefix: int) -> bool:
    """Returns whether one interface can have the address."""
    hosts = 0xFFFFFFFF >> prefix
    return 0 < address & hosts < hosts and address >> 24 not in (0, 127) and address >> 24 < 224


def _first(net: Network, part: str) -> Wrong | None:
    """Reads the address and the length of its network. Those of `dhcp` are 0."""
    if part.startswith("dhcp"):
        return None if part == "dhcp" else (f"`{shown(part)}` is not `dhcp`", EXAMPLE)
    raw, _, length = part.partition("/")
    address = _address(raw)
    match = matched(NUMBER, length)
    net.prefix = int(length) if match else 0
    if address is None or not 0 < net.prefix <= PREFIX:
        what = f"`{shown(part)}` is not an address and the length of its network, 1 to {PREFIX}"
        return what, EXAMPLE
    if not _is_usable(address, net.prefix):
        return (
            f"no interface can have the address {part}",
            "the address of one machine: not 0.*, 127.*, of a group, or of a whole network",
        )
    net.address = address
    return None


def _via(net: Network, value: str) -> Wrong | None:
    if not net.address:
        return "`via=` is behind `dhcp`", "dhcp alone: its server says the gateway"
    gateway = _address(value)
    if gateway is None:
        return f"`via={shown(value)}` has no address", "such as via=192.168.7.1"
    if (gateway ^ net.address) >> (32 - net.prefix) or gateway == net.address:
        return (
            f"the gateway {value} is not in the network of the cell's address",
            "another address of the same network",
        )
    return None


def _apart(net: Network, equals: str, value: str) -> Wrong | None:
    if net.sharer:
        return f"`apart` is behind `share:{shown(net.sharer)}`", "apart in the cell of the function"
    if equals and not 0 < len(value.encode()) <= PROGRAM:
        return "`apart=` has no name of a program", f"1 to {PROGRAM} bytes, or `apart` alone"
    net.program = value or DRIVER
    return None


def _share(net: Network) -> Wrong | None:
    net.shares = True
    if not net.sharer:
        return None
    return (
        f"`share` is together with `share:{shown(net.sharer)}`",
        "share in the cell that has the function, share:NAME in the others",
    )


def _after(net: Network, part: str, seen: set[str]) -> Wrong | None:
    """Reads one of the words behind the address."""
    name, equals, value = part.partition("=")
    valued = {"via": True, "apart": bool(equals), "polled": False, "share": False}
    if valued.get(name) != bool(equals):
        return f"`{shown(part)}` is not a word behind the address", _meant(name)
    if name in seen:
        return f"`{name}` is given twice", "each word once"
    seen.add(name)
    if name == "via":
        return _via(net, value)
    if name == "apart":
        return _apart(net, equals, value)
    return _share(net) if name == "share" else None


def _meant(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, [word.partition("=")[0] for word in AFTER], 1, 0.6)
    return f"perhaps `{close[0]}`" if close else f"one of {', '.join(AFTER)}"


def read(word: str) -> tuple[Network, Wrong | None]:
    """Reads a word. Returns its first problem with a remedy, if Quest would refuse the word."""
    net = Network(word)
    first, *rest = word.removeprefix(KEY).split(",")
    if first.startswith("share:"):
        net.sharer = first.removeprefix("share:")
        if not 0 < len(net.sharer.encode()) <= NAME or not rest:
            return net, (
                f"`{shown(word)}` has no NAME of rings or no address behind it",
                f"net=share:NAME,{EXAMPLE}; NAME has at most {NAME} bytes",
            )
        first, *rest = rest
    wrong = _first(net, first)
    seen: set[str] = set()
    for part in rest:
        wrong = wrong or _after(net, part, seen)
    return net, wrong
