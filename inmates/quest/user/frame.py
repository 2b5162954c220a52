#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draw the frame that canny reads, an 8-bit PGM (netpbm): a road with lane marks, a wheel, a sign.

    frame.py OUT

It uses integers only, and noise from a fixed generator, so the frame is the same on each host."""

import sys
from pathlib import Path

WIDTH, HEIGHT = 160, 120
HORIZON = 45


def shade(x: int, y: int) -> int:
    """Returns the grey value of a point before noise is added."""
    if (x - 124) ** 2 + (y - 24) ** 2 < 14 ** 2:                # the sign
        return 230 if abs(y - 24) < 4 else 150
    if (x - 40) ** 2 + (y - 92) ** 2 < 20 ** 2:                 # the wheel, with its hub
        return 120 if (x - 40) ** 2 + (y - 92) ** 2 < 8 ** 2 else 25
    if y < HORIZON:
        return 190 - y
    depth = y - HORIZON
    if abs(x - 80) > 12 + depth:                                # the land next to the road
        return 95
    if abs(x - 80) < 1 + depth // 16 and depth // 8 % 2:        # lane marks
        return 240
    return 60


def frame() -> bytes:
    state, pixels = 12345, bytearray()
    for y in range(HEIGHT):
        for x in range(WIDTH):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            pixels.append(max(0, min(255, shade(x, y) + (state >> 16) % 9 - 4)))
    return b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT) + bytes(pixels)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Path(sys.argv[1]).write_bytes(frame())
