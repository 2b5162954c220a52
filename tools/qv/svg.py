# SPDX-License-Identifier: GPL-2.0-only
"""Plots as SVG, to be put into an HTML page. They need no script and no other file."""

from __future__ import annotations

from html import escape

from .timeline import COLOURS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WIDTH, HEIGHT = 640, 200
LEFT, RIGHT, TOP, BOTTOM = 70, 10, 10, 24  # margins of a plot of lines
BAR, LABEL = 18, 130  # height of a bar, and width of its label


def number(value: float) -> str:
    """Returns a number for an axis: three digits, thousands as k."""
    for factor, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.3g}{unit}"
    return f"{value:.3g}"


def _svg(height: float, parts: list[str], title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
        f'width="{WIDTH}" height="{height:g}" '
        'role="img" font-family="sans-serif" font-size="12">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _text(
    x: float, y: float, words: str, anchor: str = "start", colour: str = "currentColor"
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'
    )


def colours(names: Iterable[str]) -> dict[str, str]:
    """Returns a colour for each name, which it has in all plots of a page."""
    return {name: COLOURS[at % len(COLOURS)] for at, name in enumerate(dict.fromkeys(names))}


def bars(title: str, rows: Sequence[tuple[str, float]], colour: str = COLOURS[0]) -> str:
    """Returns a bar for each row, with its label and its value."""
    most = max((value for _, value in rows), default=0) or 1
    room = WIDTH - LABEL - 80
    parts = []
    for at, (label, value) in enumerate(rows):
        y = at * BAR
        parts.append(_text(LABEL - 6, y + 13, label, "end"))
        parts.append(
            f'<rect x="{LABEL}" y="{y + 3}" width="{room * value / most:.1f}" '
            f'height="{BAR - 6}" fill="{colour}"/>'
        )
        parts.append(_text(LABEL + room * value / most + 6, y + 13, number(value)))
    return _svg(max(len(rows), 1) * BAR, parts, title)


def lines(
    title: str,
    seconds: Sequence[float],
    series: Mapping[str, Sequence[float | None]],
    most: float = 0,
    colour_of: Mapping[str, str] | None = None,
) -> str:
    """Returns a line for each series over the time. A value None leaves a gap. The axis begins at
    zero and ends at the largest value, or at `most` if that is larger."""
    colour_of = colour_of or colours(series)
    known = [value for values in series.values() for value in values if value is not None]
    top = max([*known, most]) or 1
    first, last = (seconds[0], max(seconds[-1], seconds[0] + 1e-9)) if seconds else (0, 1)
    inner, tall = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(second: float, value: float) -> str:
        across = LEFT + inner * (second - first) / (last - first)
        down = TOP + tall * (1 - value / top)
        return f"{across:.1f},{down:.1f}"

    parts = [
        f'<path d="M{LEFT},{TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" '
        'stroke="currentColor"/>',
        _text(LEFT - 6, TOP + 10, number(top), "end"),
        _text(LEFT - 6, HEIGHT - BOTTOM, "0", "end"),
        _text(LEFT, HEIGHT - 6, f"{first:.3g} s"),
        _text(WIDTH - RIGHT, HEIGHT - 6, f"{last:.3g} s", "end"),
    ]
    for at, (name, values) in enumerate(series.items()):
        colour = colour_of[name]
        for piece in _pieces(seconds, values):
            points = " ".join(place(second, value) for second, value in piece)
            parts.append(
                f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
            )
            parts += [
                f'<circle cx="{x}" cy="{y}" r="2.5" fill="{colour}"/>'
                for x, y in (p.split(",") for p in points.split(" "))
            ]
        parts.append(_text(LEFT + 10, TOP + 14 + 14 * at, name, colour=colour))
    return _svg(HEIGHT, parts, title)


def _pieces(
    seconds: Sequence[float], values: Sequence[float | None]
) -> list[list[tuple[float, float]]]:
    """Returns the stretches without a gap."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for second, value in zip(seconds, values):
        if value is not None:
            pieces[-1].append((second, value))
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if piece]
