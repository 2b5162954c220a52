#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Plots the samples of Quest's `sampler` as they come, and sends it set points.

The channels are character devices, so this needs no library but matplotlib for a picture."""

from __future__ import annotations

import argparse
import os
import select
import struct
import sys
import time
from collections.abc import Iterator

FOLDER = "/dev/qv-channel"
SAMPLE = struct.Struct("<QQdd")     # number, time in ns, value, set point
SET_POINT = struct.Struct("<d")
KEPT = 5000                         # samples in the picture
FRAME = 0.1                         # seconds between two pictures
ROWS, COLUMNS = 12, 72              # of a picture in text


class Signal:
    """The samples that came last, and how many were not seen: a four-slot has the last only."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.values: list[float] = []
        self.set_points: list[float] = []
        self.first = self.last = self.seen = 0

    def add(self, data: bytes) -> None:
        number, ns, value, set_point = SAMPLE.unpack(data)
        self.first = self.first or number
        self.last, self.seen = number, self.seen + 1
        new = (ns / 1e9, value, set_point)
        for row, point in zip((self.seconds, self.values, self.set_points), new):
            row.append(point)
            del row[:-KEPT]

    def summary(self) -> str:
        span = self.seconds[-1] - self.seconds[0] if self.seen > 1 else 0.0
        rate = (self.last - self.first) / span if span and self.seen <= KEPT else 0.0
        return (f"{self.seen} samples seen of {self.last - self.first + 1}, {rate:.0f} per second; "
                f"the value is {self.values[-1]:.1f}, the set point {self.set_points[-1]:.1f}")


def samples(path: str, seconds: float) -> Iterator[bytes]:
    """Yields samples until the writer stops, or the time is over (0: never)."""
    end = time.monotonic() + seconds
    descriptor = os.open(path, os.O_RDONLY)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    try:
        while not seconds or (left := end - time.monotonic()) > 0:
            # without samples the time must end, too
            if seconds and not poll.poll(left * 1000):
                return
            data = os.read(descriptor, SAMPLE.size)
            if not data:
                return
            yield data
    finally:
        os.close(descriptor)


def set_points(text: str) -> list[tuple[float, float]]:
    """Reads SECONDS:VALUE,... in the order of the times."""
    try:
        pairs = [pair.split(":") for pair in text.split(",") if pair]
        return sorted((float(at), float(value)) for at, value in pairs)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not SECONDS:VALUE,... such as 1:50,2.5:75") from None


class Orders:
    """Sends each set point at its time."""

    def __init__(self, path: str, left: list[tuple[float, float]]) -> None:
        self.left = left
        self.start = time.monotonic()
        self.descriptor = os.open(path, os.O_WRONLY) if self.left else -1

    def send(self) -> None:
        while self.left and time.monotonic() - self.start >= self.left[0][0]:
            os.write(self.descriptor, SET_POINT.pack(self.left.pop(0)[1]))


def as_text(signal: Signal) -> str:
    """A picture of characters: `*` is the value, `-` the set point."""
    low = min(signal.values + signal.set_points)
    high = max(signal.values + signal.set_points)
    scale = (ROWS - 1) / (high - low or 1)
    rows = [[" "] * COLUMNS for _ in range(ROWS)]
    for points, mark in ((signal.set_points, "-"), (signal.values, "*")):
        for column in range(COLUMNS):
            value = points[column * len(points) // COLUMNS]
            rows[round((high - value) * scale)][column] = mark
    labels = [f"{high - row / scale:7.1f} |" for row in range(ROWS)]
    return "\n".join(label + "".join(row).rstrip() for label, row in zip(labels, rows))


class Picture:
    """A picture of matplotlib: a window, or a file if there is no display."""

    def __init__(self, file: str) -> None:
        import matplotlib
        if file:
            matplotlib.use("Agg")
        from matplotlib import pyplot
        self.pyplot, self.file = pyplot, file
        self.figure, self.axes = pyplot.subplots()
        self.lines = [self.axes.plot([], [], label=label)[0] for label in ("value", "set point")]
        self.axes.set_xlabel("seconds of the cell")
        self.axes.legend()
        self.shown = 0.0

    def draw(self, signal: Signal) -> None:
        for line, points in zip(self.lines, (signal.values, signal.set_points)):
            line.set_data(signal.seconds, points)
        self.axes.relim()
        self.axes.autoscale_view()

    def show(self, signal: Signal) -> None:
        """Updates a window now and then."""
        if not self.file and time.monotonic() - self.shown > FRAME:
            self.draw(signal)
            self.pyplot.pause(0.001)
            self.shown = time.monotonic()

    def end(self, signal: Signal) -> None:
        self.draw(signal)
        if self.file:
            self.figure.savefig(self.file)
        else:
            self.pyplot.show()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.0, help="end after so many (default 0: never)")
    parser.add_argument("--set", default=[], type=set_points, metavar="SECONDS:VALUE,...", help="set points, and when to send them")
    parser.add_argument("--png", default="", metavar="FILE", help="save the picture at the end; needs no display")
    parser.add_argument("--text", action="store_true", help="print a picture of characters at the end, without matplotlib")
    parser.add_argument("--folder", default=FOLDER, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.png and not os.access(os.path.dirname(args.png) or ".", os.W_OK):
        parser.error(f"--png: {args.png} cannot be written: name a file in a folder that you may write to")
    signal = Signal()
    try:
        picture = None if args.text else Picture(args.png)
    except ImportError:
        print("plot.py: matplotlib is missing: install python3-matplotlib, or use --text", file=sys.stderr)
        return 1
    try:
        orders = Orders(os.path.join(args.folder, "orders"), args.set)
        for data in samples(os.path.join(args.folder, "sensor"), args.seconds):
            signal.add(data)
            orders.send()
            if picture:
                picture.show(signal)
    except OSError as error:
        print(f"plot.py: {error.filename or 'a channel'}: {(error.strerror or 'error').lower()}: "
              "look at `qvctl channel list`", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    if not signal.seen:
        print("plot.py: no sample came: start `sampler` in Quest", file=sys.stderr)
        return 1
    if args.text:
        print(as_text(signal))
    print(signal.summary())
    try:
        if picture:
            picture.end(signal)
    except (OSError, ValueError) as error:
        print(f"plot.py: the picture is not saved: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
