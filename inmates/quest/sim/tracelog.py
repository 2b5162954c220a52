# SPDX-License-Identifier: GPL-2.0-only
"""The output of Quest's command `trace`."""
from __future__ import annotations

import re

from simulate import Segment

LINE = re.compile(r"^ *(\d+) +(-?\d+) (idle|background|budget) (.+?)\s*$", re.M)


def segments(text: str) -> list[Segment]:
    """Returns the segments of a trace, in us. Leaves out the last one, whose end is not known."""
    rows = [(int(at), int(vcpu), how, name) for at, vcpu, how, name in LINE.findall(text)]
    return [Segment(at, rows[i + 1][0], name, vcpu, how == "background")
            for i, (at, vcpu, how, name) in enumerate(rows[:-1]) if how != "idle"]
