# SPDX-License-Identifier: GPL-2.0-only
"""The commands of qvctl for channels: one row each."""

from __future__ import annotations

from . import values
from .command import Command, Option

KEY = Option("--key", "the number of the key", "KEY", values.key, 0)
RATE = Option(
    "--rate", "also the items per second, counted for S seconds", "S", values.seconds, 0.0
)
FORM = Option(
    "--format",
    "the values of an item, by the letters of Python's struct, such as <If",
    "FORM",
    values.form,
    None,
    name="form",
)

CHANNELS = (
    Command("channel list", "channels.list_channels", "the channels of all cells", "", RATE),
    Command("channel show", "channels.show_channel", "all about a channel", "CHANNEL", RATE),
    Command(
        "channel open",
        "channels.open_key",
        "take Linux's end of a channel that a cell opened by a key: the device key-KEY",
        "NAME",
        KEY,
    ),
    Command("channel close", "channels.close_key", "leave it again: its device goes", "NAME", KEY),
    Command(
        "channel send",
        "channels.send",
        "write one item of standard input to a channel, filled up with zeros",
        "CHANNEL",
        Option("--text", "this text instead", "TEXT", default=None),
        Option(
            "--format",
            "the text has values for the letters of Python's struct, such as <If",
            "FORM",
            values.form,
            None,
            name="form",
        ),
    ),
    Command(
        "channel ring",
        "channels.ring",
        "ring the bell of the other ends once, without writing an item",
        "CHANNEL",
    ),
    Command(
        "channel watch",
        "channels.watch",
        "print the items of a channel as they come, until its writer stops",
        "CHANNEL",
        FORM,
        Option("-n", "end after N items (default 0: never)", "N", values.count, 0, name="count"),
    ),
    Command(
        "channel hz",
        "channels.hz",
        "how many items come per second, without taking one",
        "CHANNEL",
        Option("--interval", "seconds of each measurement (default 1)", "S", values.seconds, 1.0),
        Option(
            "-n", "end after N measurements (default 0: never)", "N", values.count, 0, name="count"
        ),
    ),
    Command(
        "channel record",
        "channels.record",
        "take the items of a channel as they come, and write a line of JSON for each",
        "CHANNEL",
        Option("--file", "into this file instead of standard output", "FILE", default=None),
        FORM,
        Option(
            "-n",
            "end after N items (default 0: when its writer stops)",
            "N",
            values.count,
            0,
            name="count",
        ),
    ),
    Command(
        "channel replay",
        "channels.replay",
        "write recorded items to a channel, at the times of the record",
        "CHANNEL",
        Option("--file", "from this file instead of standard input", "FILE", default=None),
        Option("--speed", "X times as fast", "X", values.seconds, 1.0),
    ),
)
