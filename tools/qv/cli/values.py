# SPDX-License-Identifier: GPL-2.0-only
"""The values of options: each function parses one, or raises ValueError. Its docstring names the
value in the message of wrong usage."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..form import Form


def seconds(value: str) -> float:
    """number of seconds (more than 0, up to 86400)"""
    number = float(value)
    if not 0 < number <= 86400:
        raise ValueError
    return number


def count(value: str) -> int:
    """count (0 to 1000000)"""
    number = int(value)
    if not 0 <= number <= 1_000_000:
        raise ValueError
    return number


def looks(value: str) -> int:
    """count from 1 to 1000"""
    number = int(value)
    if not 1 <= number <= 1000:
        raise ValueError
    return number


def boot(value: str) -> int:
    """number of a boot (0 or below)"""
    number = int(value)
    if not -10_000 <= number <= 0:
        raise ValueError
    return number


def milliseconds(value: str) -> int:
    """number of milliseconds (0 to 3600000)"""
    number = int(value)
    if not 0 <= number <= 3_600_000:
        raise ValueError
    return number


def size(value: str) -> int:
    """size such as 512M or 2G"""
    number, unit = value[:-1], value[-1:]
    if value == "0":
        return 0
    if not number.isascii() or not number.isdigit() or unit not in ("M", "G") or len(number) > 7:
        raise ValueError
    return int(number) << (20 if unit == "M" else 30)


def cpus(value: str) -> list[int]:
    """list of CPUs such as 2-3 or 1,3, or none"""
    from .. import abi
    from ..machine import parse_cpu_list

    parts = value.split(",") if value not in ("", "none") else []
    for part in parts:
        numbers = part.split("-")
        if len(numbers) > 2 or not all(one.isascii() and one.isdigit() for one in numbers):
            raise ValueError
        if int(numbers[0]) > int(numbers[-1]) or int(numbers[-1]) > 9999:
            raise ValueError
    found = sorted(parse_cpu_list(",".join(parts)))
    if len(found) > abi.MAX_CPUS:
        raise ValueError
    return found


def policy(value: str) -> str:
    """policy (first, near or balance)"""
    if value not in ("first", "near", "balance"):
        raise ValueError
    return value


def state(value: str) -> str:
    """state of a cell (running, ready, failed, shut-down or destroyed)"""
    if value not in ("running", "ready", "failed", "shut-down", "destroyed"):
        raise ValueError
    return value


def on_failure(value: str) -> str:
    """reaction to a failure (restart or hold)"""
    if value not in ("restart", "hold"):
        raise ValueError
    return value


def ipi(value: str) -> str:
    """way to send IPIs (direct or filtered)"""
    if value not in ("direct", "filtered"):
        raise ValueError
    return value


def listen(value: str) -> tuple[str, int]:
    """port (0 to 65535), or an address and a port such as 127.0.0.1:9747"""
    address, _, port = value.rpartition(":")
    number = int(port)
    if not 0 <= number <= 65535:
        raise ValueError
    return address.strip("[]") or "127.0.0.1", number


def form(value: str) -> Form:
    """format of Python's struct, such as <If"""
    from ..form import Form

    return Form(value)


def key(value: str) -> int:
    """key (1 to 4294967295)"""
    number = int(value, 0)
    if not 0 < number < 1 << 32:
        raise ValueError
    return number


def length(value: str) -> int:
    """number of bytes"""
    if not value.isascii() or not value.isdigit() or len(value) > 15:
        raise ValueError
    return int(value)


def span(value: str) -> int:
    """time such as 500us, 20ms or 1s"""
    units = {"us": 1, "ms": 1000, "s": 1000000}
    unit = next((unit for unit in units if value.endswith(unit)), "s")
    number = value[: -len(unit)]
    if value == "0":
        return 0
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        raise ValueError
    return int(number) * units[unit]


def ago(value: str) -> float:
    """time such as 90s, 10m, 2h or 1d"""
    number, unit = value[:-1], value[-1:]
    if not number.isascii() or not number.isdigit() or len(number) > 9 or unit not in "smhd":
        raise ValueError
    return float(number) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit]


class Cost:
    """A cost per byte, as given in ns, and in 2^-32 ns, rounded up."""

    def __init__(self, text: str, value: int) -> None:
        self.text = text
        self.value = value


def cost(value: str) -> Cost:
    """number of nanoseconds such as 20 or 0.25"""
    whole, point, part = value.partition(".")
    numbers = (whole, part) if point else (whole,)
    if any(not n.isascii() or not n.isdigit() or len(n) > 9 for n in numbers):
        raise ValueError
    return Cost(value, -(-(int(whole + part) << 32) // 10 ** len(part)))
