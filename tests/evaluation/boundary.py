# SPDX-License-Identifier: GPL-2.0-only
"""Table 4.8: up to which cost of a move MIG_STRICT accepts it."""

from pathlib import Path
from typing import Any

from figure import BOUND, OURS, PAPER, Shown, picture
from moving import MS, Pair
from observed import budgets, cost_bound, frame, program, used_by_move, vcpu_of
from timeline import EM_MS, FRAMES

SVG = "migration-boundary.svg"
# of the dissertation: delta_m at worst, and D_mig by equation 4.8
PAPERS = ((5.4, 45.4), (26.4, 146.4))


def _terms(pair: Pair) -> tuple[float, float]:
    """Returns the CPU time of a move that Quest expected at the destination, and D_mig with it."""
    s, one = pair
    pack, unpack = one["costs_us"]
    return unpack / 1000, cost_bound(
        s, one, "one", pack * 1000, unpack * 1000, vcpu_of(program(one))
    ) / MS


def draw(pairs: list[Pair], path: Path) -> None:
    def paint(axes: Any) -> None:
        for moved, marker in ((True, "o"), (False, "x")):
            found = [_terms(pair) for pair in pairs if bool(program(pair[1])["moves"]) == moved]
            axes.plot(
                [x for x, _ in found],
                [y for _, y in found],
                marker,
                color=OURS,
                label="moves" if moved else "stays",
            )
        axes.plot(
            [x for x, _ in PAPERS],
            [y for _, y in PAPERS],
            "s",
            color=PAPER,
            label="dissertation, Tables 4.5 and 4.8, with equation 4.8",
        )
        axes.axhline(EM_MS, color=BOUND, label="E_m")
        axes.axvline(10, color=BOUND, linestyle="dotted", label="C of the migration thread")
        axes.set_xlabel("CPU time of the move at the destination, worst, ms")
        axes.set_ylabel("D_mig, ms")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, fontsize=8)

    picture(path, paint)


def shown(pairs: list[Pair]) -> Shown:
    rows, holds, periods, lost = [], True, 0, 0
    for pair in pairs:
        s, one = pair
        p, (expected, d_mig) = program(one), _terms(pair)
        found = budgets(s, one)
        lost += sum(b.lost for b in found)
        periods += sum(b.periods for b in found)
        fits = d_mig <= EM_MS
        late = p["moved_ns"] > EM_MS * MS + FRAMES * frame(p, vcpu_of(p))
        holds = holds and not late and bool(p["moves"]) == fits == s.moves
        actual = f"{used_by_move(one, p, 'two') / MS:.2f}" if p["moves"] else "-"
        rows.append(
            [
                str(s.delay_us),
                f"{expected:.2f}",
                actual,
                f"{d_mig:.2f}",
                f"{EM_MS:.1f}",
                "moves" if p["moves"] else "stays",
                f"{p['moved_ns' if p['moves'] else 'gap_ns'] / MS:.1f}",
                f"{sum(b.lost for b in found)} of {sum(b.periods for b in found)}",
            ]
        )
    last, first = (
        max((_terms(pair) for pair in pairs if bool(program(pair[1])["moves"])), default=(0, 0)),
        min((_terms(pair) for pair in pairs if not program(pair[1])["moves"]), default=(0, 0)),
    )
    longest = max(program(one)["moved_ns"] for _, one in pairs) / MS
    return Shown(
        "Table 4.8: the boundary of MIG_STRICT, by direct copy, with a cost added for each of "
        "1024 directory entries",
        f"With {last[0]:.2f} ms of CPU time at worst, D_mig is {last[1]:.1f} ms and the program "
        f"moves; with {first[0]:.2f} ms it is {first[1]:.1f} ms, more "
        f"than E_m, and the program stays. A move takes {longest:.1f} ms without a frame at most: "
        f"E_m and less than {FRAMES} frames, as for a program that stays. Of "
        f"{periods} budgets of other VCPUs {lost or 'none'} was lost.",
        ("This agrees with" if holds and not lost else "It should agree, but does not, with")
        + " the theory of the dissertation: any CPU time above C = 10 ms violates equation 4.10. "
        "There a program with a worst case of "
        "26.4 ms (19.2 ms actually) is the first whose frames are seen to drop; here MIG_STRICT "
        "refuses it, so no frame is lost.",
        periods,
        holds and not lost,
        SVG,
        [
            "us for an entry",
            "CPU time, worst, ms",
            "actually, ms",
            "D_mig, ms",
            "E_m, ms",
            "result",
            "without a frame, ms",
            "budgets lost",
        ],
        rows,
    )
