# SPDX-License-Identifier: GPL-2.0-only
"""A figure of the page, and how it is drawn. Only draw.py needs matplotlib."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OURS, BOUND, PAPER = "#2a6f97", "#9aa5b1", "#b5332e"  # colours: observed; a bound; the paper's numbers
# The same bytes for the same numbers
SETTINGS = {"svg.hashsalt": "qv", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False,
            "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True, "grid.color": "#e4e7eb"}


@dataclass
class Shown:
    """A figure or table with its sentence."""

    title: str              # of the paper's figure or table, and its subject
    says: str               # the sentence above it, with its results
    agrees: str             # whether that agrees with the paper
    observations: int
    holds: bool             # whether each promise is kept
    svg: str = ""           # the name of the picture's file
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = field(default_factory=list)


def picture(path: Path, paint: Callable[[Any], None],
            size: tuple[float, float] = (7.0, 3.2)) -> None:
    """Writes a picture that `paint` draws on its axes."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    with matplotlib.rc_context(SETTINGS):
        drawn, axes = pyplot.subplots(figsize=size)
        paint(axes)
        drawn.tight_layout()
        drawn.savefig(path, metadata={"Date": None})
        pyplot.close(drawn)


def bars(axes: Any, labels: Sequence[str], observed: Sequence[float], bound: Sequence[float],
         paper: Sequence[float], paper_label: str) -> None:
    """Draws for each case the longest time observed, and the bounds."""
    places = range(len(labels))
    axes.bar([p - 0.2 for p in places], observed, 0.4, color=OURS, label="observed, longest")
    axes.bar([p + 0.2 for p in places], bound, 0.4, color=BOUND, label="bound of QV")
    for p, value in zip(places, paper, strict=True):
        axes.hlines(value, p - 0.45, p + 0.45, colors=PAPER, linestyles="dashed",
                    label=paper_label if not p else None)
    axes.set_xticks(list(places), labels)
    axes.legend(frameon=False, fontsize=8)
