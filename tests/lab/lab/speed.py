# SPDX-License-Identifier: GPL-2.0-only
"""How much slower this host is now than the host for which limits of time were chosen.

Limits of time are for machines that hang. They are not verdicts, so on a host that is slow or busy
they are longer: machine.py multiplies them by factor()."""

import time

LOOPS = 400_000
NOMINAL = 0.022   # seconds that the loop takes on an idle core of 2024
AGAIN = 60.0      # seconds after which the speed is measured again

_measured = (-AGAIN, 1.0)  # when, and the factor


def measure() -> float:
    """Returns the time on the clock of a fixed loop, as a multiple of NOMINAL. Other programs on the
    same cores count, too."""
    start = time.monotonic()
    total = 0
    for number in range(LOOPS):
        total += number
    return (time.monotonic() - start) / NOMINAL


def factor() -> float:
    """Returns 1.0 or more: the factor by which limits of time are longer than usual at present."""
    global _measured
    now = time.monotonic()
    if now - _measured[0] >= AGAIN:
        _measured = (now, max(1.0, measure()))
    return _measured[1]
