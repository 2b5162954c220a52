# SPDX-License-Identifier: GPL-2.0-only
"""qvctl analyze: how long messages between cells may take, by their files."""

from __future__ import annotations

from .. import analyze as bounds, config, output
from ..admission import Vcpu
from ..errors import Refused, WrongConfiguration
from ..keys import vcpus
from ..record import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..keys import CellConfig
    from ..keys.channels import Channel
    from ..system import System
    from .command import Arguments

US = 1000  # nanoseconds, the unit of time here
# The rules, and how the names of their numbers in JSON begin
RULES = (("", bounds.response), ("any_", bounds.admitted), ("paper_", bounds.paper))

HEADS = (
    "ROUND TRIP, SLOT (one way): the longest times, with the VCPUs of these files and Quest's own",
    "ANY: whichever VCPUs are admitted; PAPER: round trip of VCPUs of the highest priority only",
)


@dataclass(frozen=True)
class Joined:
    """A mailbox whose two ends are cells of the files."""

    channel: Channel
    sender: CellConfig
    receiver: CellConfig


def analyze(args: Arguments, system: System) -> int:
    cells, problems = config.check_files(args.files, system.machine().as_any())
    if problems:
        raise WrongConfiguration(problems)
    joined, left_out = _mailboxes(cells)
    if not joined:
        raise _nothing(left_out)
    found = {
        "cost_send_ns": args.cost_send.text,
        "cost_reply_ns": args.cost_reply.text,
        "service_us": args.service,
        "wake_us": args.wake,
        "channels": [_facts(mailbox, args) for mailbox in joined],
        "left_out": [{"channel": name, "why": why} for name, why, _ in left_out],
    }
    if args.json:
        output.as_json(found)
    else:
        _show(found, any(mailbox.channel.bell for mailbox in joined))
    return 0


def _nothing(left_out: Sequence[tuple[str, str, str]]) -> Refused:
    if not left_out:
        return Refused(
            "these files have no mailbox",
            "a channel with `type: mailbox` in the files of both cells",
        )
    name, why, remedy = left_out[0]
    return Refused(f"channel {name}: {why}", remedy)


def _mailboxes(cells: Sequence[CellConfig]) -> tuple[list[Joined], list[tuple[str, str, str]]]:
    """Returns the mailboxes that can be analysed. Of each other mailbox: its name, the reason why
    it cannot be, and the remedy."""
    joined: list[Joined] = []
    left_out: list[tuple[str, str, str]] = []
    names = {cell.name: cell for cell in cells}
    seen: set[str] = set()
    for cell in cells:
        for channel in cell.channels:
            if channel.type != "mailbox" or channel.name in seen:
                continue
            seen.add(channel.name)
            wrong = _obstacle(channel, names)
            if wrong:
                left_out.append((channel.name, *wrong))
            else:
                sender, receiver = (names[end] for end in channel.ends)
                joined.append(Joined(channel, sender, receiver))
    return joined, left_out


def _obstacle(channel: Channel, names: dict[str, CellConfig]) -> tuple[str, str] | None:
    for end in channel.ends:
        if end == "linux":
            return "its end in Linux has no VCPU", "a mailbox between two cells with Quest"
        if end not in names:
            return f"the file of {end}, one of its ends, is missing", f"the file of {end} as well"
        cell = names[end]
        if channel.name not in (other.name for other in cell.channels):
            return (
                f"{cell.file} does not list it",
                f"the channel in the files of {' and '.join(channel.ends)}",
            )
        if not _mains(cell):
            return (
                f"{cell.file} names no Main VCPU for its end",
                "such as vcpus: [{name: talk, C: 2ms, T: 10ms}]",
            )
    return None


def _mains(cell: CellConfig) -> list[str]:
    """Returns the names of the Main VCPUs that a thread may have for itself. Those of Quest have
    other threads."""
    return [
        one.name for one in cell.vcpus if one.vcpu and not one.vcpu.io and one.name not in vcpus.OWN
    ]


def _end(cell: CellConfig, name: str, cost: int, wake: int) -> bounds.End:
    """Returns the end of a channel whose thread has VCPU `name`. Quest rounds C down and T up to a
    cycle of the TSC, which is at most a nanosecond."""
    budgeted = [(one.name, one.vcpu) for one in vcpus.everybody(cell.vcpus) if one.vcpu]
    me = [own for own, _ in budgeted].index(name)
    plain = [Vcpu(v.budget * US, v.period * US, v.io) for _, v in budgeted]
    plain[me] = Vcpu(plain[me].budget - 1, plain[me].period + 1)
    # A thread that sleeps may block often, a thread that polls does not block.
    return bounds.End(plain, me, cost, wake * US, merged=wake > 0)


def _facts(mailbox: Joined, args: Arguments) -> dict[str, Any]:
    item = mailbox.channel.item
    size = item if args.bytes is None else args.bytes
    reply = item if args.reply is None else args.reply
    pairs = []
    for sender in _mains(mailbox.sender):
        for receiver in _mains(mailbox.receiver):
            ends = (
                _end(mailbox.sender, sender, args.cost_send.value, args.wake),
                _end(mailbox.receiver, receiver, args.cost_reply.value, args.wake),
            )
            pairs.append(
                {
                    "sender": sender,
                    "receiver": receiver,
                    **_times(*ends, bounds.Message(size, reply, item, args.service * US)),
                }
            )
    return {
        "name": mailbox.channel.name,
        "sender": mailbox.sender.name,
        "receiver": mailbox.receiver.name,
        "slot": item,
        "bytes": size,
        "reply": reply,
        "pairs": pairs,
    }


def _times(
    sender: bounds.End, receiver: bounds.End, message: bounds.Message
) -> dict[str, int | None]:
    """Returns the longest round trip and the longest way of one slot by each rule, in ns. None: it
    has no bound."""
    slot = bounds.Message(min(message.bytes, message.slot), 0, message.slot, message.service)
    times = {}
    for prefix, rule in RULES:
        times[f"{prefix}round_trip_ns"] = bounds.round_trip(rule, sender, receiver, message)
        times[f"{prefix}slot_ns"] = bounds.one_way(rule, sender, receiver, slot)
    return {name: None if time == bounds.NEVER else time for name, time in times.items()}


def _time(ns: int | None) -> str:
    """Returns a time in milliseconds, rounded up to microseconds."""
    if ns is None:
        return "none"
    us = -(-ns // US)
    return f"{us // 1000}.{us % 1000:03}ms"


def _show(found: dict[str, Any], bells: bool) -> None:
    for channel in found["channels"]:
        output.line(
            f"channel {channel['name']}, {channel['sender']} to {channel['receiver']}: "
            f"request of {channel['bytes']} bytes, "
            f"reply of {channel['reply']}, in slots of {channel['slot']}"
        )
        output.table(
            ("SENDER", "RECEIVER", "ROUND TRIP", "SLOT", "ANY TRIP", "ANY SLOT", "PAPER"),
            [
                (
                    pair["sender"],
                    pair["receiver"],
                    *(
                        _time(pair[name])
                        for name in (
                            "round_trip_ns",
                            "slot_ns",
                            "any_round_trip_ns",
                            "any_slot_ns",
                            "paper_round_trip_ns",
                        )
                    ),
                )
                for pair in channel["pairs"]
            ],
            right=frozenset(range(2, 7)),
        )
    output.line(
        f"costs of a byte: sender {found['cost_send_ns']} ns, "
        f"receiver {found['cost_reply_ns']} ns; "
        f"service of a slot: {vcpus.written(found['service_us'])}; "
        f"wake-up: {vcpus.written(found['wake_us'])}"
    )
    for words in HEADS:
        output.line(words)
    if bells and not found["wake_us"]:
        output.line(
            "both ends are taken to poll; if bells wake them, --wake adds the time that this takes"
        )
    for one in found["left_out"]:
        output.line(f"channel {one['channel']} is left out: {one['why']}")
