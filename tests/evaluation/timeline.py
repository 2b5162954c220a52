# SPDX-License-Identifier: GPL-2.0-only
"""Figures 4.10 to 4.14: results in each second, and the use of the migration thread's budget."""

from pathlib import Path
from typing import Any

from figure import BOUND, OURS, PAPER, Shown, picture
from moving import MS, Setup
from observed import (
    S,
    Budget,
    bound,
    budgets,
    frame,
    program,
    slots,
    used_by_move,
    utilisation,
    vcpu_of,
)

EM_MS = 80  # E_m of a VCPU of 20/100 that has used its budget
PAPER_EM_MS = 79.8
# around a move with MIG_STRICT: a part of one before and after, and turns of the emulator's CPUs
FRAMES = 3
SEVENTH = {6: 67.5, 7: 91.5, 8: 91.5, 9: 91.5, 10: 71.5}  # Table 4.7
TENTH = (0.0, 3.15, 1903.81, 1913.47, 1999.82, 2003.67, 2402.72, 2412.98)  # Table 4.10, ms
OTHER = "#e09f3e"  # the colour of the second program

# The results of the dissertation for each figure, and whether these agree: {agrees}
TEXTS = {
    "messages": "The dissertation (Figure 4.10, Table 4.4) has 4021 ms, the frame rate drops "
    "meanwhile, and the communicating threads are "
    "not affected; its worst case, 243681 ms, refuses MIG_STRICT. {agrees}: only the program "
    "that moves loses frames, and the bound "
    "exceeds E_m by far. Here a slot takes microseconds, so many of them pass while both ends "
    "have budget, and the drop is "
    "shorter.",
    "copy": "The dissertation (Figure 4.11, Table 4.5) has no thread that is affected. {agrees}: "
    "the longest time without a frame is that of a "
    "program that stays, 80 ms and a frame, and the migration thread's use has one peak.",
    "delay": "The dissertation (Figure 4.12, Tables 4.6 and 4.7) has only the migrating thread "
    "affected, for about four seconds, and at most "
    "91.5% of the migration thread's budget used, because of self-preemption and accounting. "
    "{agrees}; here the thread is an "
    "ordinary one, and uses its budget whole.",
    "shared": "In the dissertation (Figure 4.13) the migration ran in an interrupt handler with "
    "interrupts off, and delayed all threads and VCPUs. Quest has no such mode, so this cannot be "
    "repeated. The nearest is a VCPU that the thread shares with another: the move takes about "
    "twice as long, few messages are exchanged, since their receiver rarely has budget at the same "
    "time as their sender, and no other VCPU loses a budget.",
    "contention": "The dissertation (Figure 4.14, Table 4.10) serves the requests one after the "
    "other: Prime first, in 1913 ms, and Canny, which continues until then, in 413 ms. {agrees}: "
    "each link of a cell has a thread, and all of them share one VCPU, but a cell takes part in "
    "one move at a time (inmates/quest/migration/turn.h). So the second program continues in its "
    "cell until the first has moved. Both have the same added cost here, and take the same time. "
    "Quest records no begin and end of the transfer alone (t1, t2, t5, t6).",
}


def _spans(s: Setup, one: dict[str, Any]) -> list[tuple[float, float, str]]:
    """Returns the times of moves in the dissertation, in seconds from the program's begin on."""
    begin = program(one)["begin"]
    if s.name == "messages":
        wish = program(one)["wish_ns"] / S
        return [(wish, wish + 4.02118, "dissertation, Table 4.4: 4021 ms")]
    if s.name == "contention":
        first = min(one["programs"], key=lambda p: int(p["begin"] + p["moved_at_ns"]))
        start = (first["begin"] + first["moved_at_ns"] - begin) / S
        return [
            (start + TENTH[a] / 1000, start + TENTH[b] / 1000, f"dissertation, Table 4.10: {name}")
            for a, b, name in ((0, 3, "Prime"), (4, 7, "Canny"))
        ]
    return []


def draw(s: Setup, one: dict[str, Any], path: Path) -> None:
    def paint(axes: Any) -> None:
        start = program(one)["begin"]
        lines = [
            (
                f"{p['program']}: {'frames' if p['program'] == 'edges' else 'counts'} in a second",
                p,
                1.0,
                OURS if p is program(one) else OTHER,
            )
            for p in one["programs"]
        ]
        lines.append(("messages, 1000 KB in a second", one["rate"], 4096 / 1e6, BOUND))
        for name, found, factor, colour in lines:
            x = [(found["begin"] - start) / S + n + 0.5 for n in range(len(found["counts"]))]
            axes.plot(x, [n * factor for n in found["counts"]], "o-", color=colour, label=name)
        axes.axvline(
            program(one)["wish_ns"] / S,
            color=PAPER,
            linestyle="dotted",
            label="wish to move, here and in the dissertation"
            if s.name != "contention"
            else "wishes to move",
        )
        for number, (a, b, name) in enumerate(_spans(s, one)):
            axes.axvspan(a, b, color=PAPER, alpha=0.12 + 0.12 * number, label=name)
        axes.set_ylim(bottom=0)
        axes.set_xlim(0, s.seconds)
        axes.set_xlabel("s")
        axes.set_ylabel("in a second")
        right = axes.twinx()
        right.grid(False)
        right.set_ylim(0, 130)
        right.set_ylabel("% of the migration thread's budget")
        for cell, style in (("one", ":"), ("two", "--")):
            right.step(
                [n + 1 for n in range(s.seconds)],
                [100 * part for part in utilisation(s, one, cell)],
                style,
                where="pre",
                color="#555555",
                label=f"migration thread of {cell}",
            )
        if s.name == "delay":
            right.plot(
                list(SEVENTH),
                list(SEVENTH.values()),
                "s",
                color=PAPER,
                label="dissertation, Table 4.7",
            )
        handles = [axes.get_legend_handles_labels(), right.get_legend_handles_labels()]
        axes.legend(
            handles[0][0] + handles[1][0],
            handles[0][1] + handles[1][1],
            frameon=False,
            fontsize=7,
            ncols=2,
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
        )

    picture(path, paint, (7.0, 4.2))


def _ms(ns: float) -> str:
    return f"{ns / MS:,.1f}"


def _move_rows(s: Setup, one: dict[str, Any]) -> list[list[str]]:
    p = program(one)
    found = bound(s, one, p)
    copied = _ms(used_by_move(one, p, "two"))
    rows = {
        "messages": [
            ["worst case of the move", _ms(found or 0), "243,681.0"],
            ["actually, ms without a frame", _ms(p["moved_ns"]), "4,021.2"],
            ["messages", str(slots(p)), "at most 641"],
        ],
        "copy": [
            [
                "CPU time of the move at the destination, worst",
                f"{one['costs_us'][1] / 1000:,.1f}",
                "5.4",
            ],
            ["actually", copied, "1.7"],
            ["ms without a frame", _ms(p["moved_ns"]), "not printed"],
        ],
        "delay": [
            [
                "CPU time of the move at the destination, worst",
                f"{one['costs_us'][1] / 1000:,.1f}",
                "891.4",
            ],
            ["actually", copied, "825.1"],
            ["ms without a frame", _ms(p["moved_ns"]), "not printed; at least 4,091"],
            *(
                [f"migration thread's use in second {n}", f"{100 * part:.1f}%", f"{SEVENTH[n]}%"]
                for n, part in enumerate(utilisation(s, one, "two"), 1)
                if n in SEVENTH
            ),
        ],
        "shared": [
            ["CPU time of the VCPU during the move", copied, "-"],
            ["ms without a frame", _ms(p["moved_ns"]), "not printed"],
        ],
    }
    if s.name in rows:
        em = [["E_m", f"{EM_MS:.1f}", f"{PAPER_EM_MS}"]] if s.name != "shared" else []
        return em + rows[s.name]
    return _sequence(one)


def _order(one: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(one["programs"], key=lambda p: int(p["begin"] + p["moved_at_ns"]))


def _sequence(one: dict[str, Any]) -> list[list[str]]:
    """Table 4.10: times from the first program's stop on."""
    order = _order(one)
    zero = order[0]["begin"] + order[0]["moved_at_ns"]
    rows = [
        [f"{p['program']} wishes to move", _ms(p["begin"] + p["wish_ns"] - zero), "-"]
        for p in order
    ]
    for number, p in enumerate(order):
        start = p["begin"] + p["moved_at_ns"] - zero
        rows += [
            [f"{p['program']} stops (t{4 * number})", _ms(start), f"{TENTH[4 * number]:,.1f}"],
            [
                f"{p['program']} runs there (t{4 * number + 3})",
                _ms(start + p["moved_ns"]),
                f"{TENTH[4 * number + 3]:,.1f}",
            ],
        ]
    return rows


def _serial(one: dict[str, Any]) -> bool:
    """Returns whether the second program worked until the first had moved."""
    order = _order(one)
    first, second = (p["begin"] + p["moved_at_ns"] for p in order)
    return bool(
        first + order[0]["moved_ns"] <= second + 2 * frame(order[1], vcpu_of(order[1])) + EM_MS * MS
    )


def _budgets(found: list[Budget]) -> str:
    lost, periods = sum(b.lost for b in found), sum(b.periods for b in found)
    least = min(found, key=lambda b: b.least_ms / b.c_ms)
    return (
        f"Of {periods} budgets of the {len(found)} other VCPUs, whose programs use all they get, "
        f"{lost or 'none'} was lost: the least in "
        f"a period was {least.least_ms:.2f} of {least.c_ms:.0f} ms ({least.vcpu} in {least.cell})."
    )


def _rows(found: list[Budget]) -> list[list[str]]:
    return [
        [
            f"{b.vcpu} in {b.cell}: least of {b.periods} budgets; lost",
            f"{b.least_ms:.2f} of {b.c_ms:.0f}; {b.lost}",
            "not affected",
        ]
        for b in found
    ]


def _moved(s: Setup, one: dict[str, Any], p: dict[str, Any]) -> str:
    limit = bound(s, one, p)
    within = (
        f", within the bound of {_ms(limit)} ms"
        if limit and p["moved_ns"] <= limit
        else f", beyond the bound of {_ms(limit)} ms"
        if limit
        else ""
    )
    return (
        f"{p['program']} ({p['kib']} KiB) is in cell {p['cell']} after {p['moves']} "
        f"move{'s' if p['moves'] != 1 else ''}; it had no result "
        f"for {_ms(p['moved_ns'])} ms from {p['moved_at_ns'] / S:.3f} s on{within}"
    )


def shown(s: Setup, one: dict[str, Any]) -> Shown:
    found = budgets(s, one)
    lost = sum(b.lost for b in found)
    says = "; ".join(_moved(s, one, p) for p in one["programs"]) + ". " + _budgets(found)
    limits = [bound(s, one, p) for p in one["programs"]]
    right = all(
        p["moves"] == 1 and (limit is None or p["moved_ns"] <= limit)
        for p, limit in zip(one["programs"], limits, strict=True)
    )
    # with MIG_STRICT the program is not longer without budget than if it stays
    p = program(one)
    late = s.how == "strict" and p["moved_ns"] > EM_MS * MS + FRAMES * frame(p, vcpu_of(p))
    holds = not lost and right and not late and (not s.third or _serial(one))
    agrees = TEXTS[s.name].replace(
        "{agrees}", "This agrees" if holds else "It should agree, but does not"
    )
    if s.shared and not holds:
        agrees += " Not so in this run."
    return Shown(
        f"{s.figure}: {s.about}",
        says[0].upper() + says[1:],
        agrees,
        sum(b.periods for b in found),
        holds,
        f"migration-{s.name}.svg",
        ["ms, if not named", "QV", "dissertation"],
        _move_rows(s, one) + _rows(found),
    )
