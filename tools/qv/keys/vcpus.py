# SPDX-License-Identifier: GPL-2.0-only
"""The keys `vcpus` and `admission`: the VCPUs of a cell with Quest, their admission test, and how
Quest receives them."""

from __future__ import annotations

from .. import abi, admission
from ..admission import Vcpu
from ..nodes import Node, SequenceNode
from ..record import dataclass
from ..words import shown
from .key import Context, Key, listed, mapping, matched, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from . import CellConfig
    from .key import Wrong

EXAMPLE = "a list such as [{name: control, C: 2ms, T: 10ms}]"
TIME = "a time such as 500us, 20ms or 1s"
TYPES = ("main", "io")
# the same names as in inmates/quest/kernel/vcpu/iovcpu.c
CLASSES = ("ata", "net", "usb", "disk", "cdrom", "gpio", "input")
TESTS = ("bound", "exact")
UNITS = {"us": 1, "ms": 1000, "s": 1000000}
LONGEST = 600 * UNITS["s"]
LEAST = 10  # the least C (VCPU_LEAST_US of inmates/quest/kernel/vcpu/vcpu.h)
NAME_LEN = 15
NONE = "none"  # the value of C that means no budget
EXACT_WORD = "admission=exact"  # a word on Quest's command line
# the beginning of a word that inmates/quest/kernel/vcpu/vcpuword.h describes
WORD = "vcpu="

# The VCPUs that Quest creates by default (inmates/quest/kernel/vcpu/vcpu.c), in microseconds
OWN = {
    "best-effort": Vcpu(10000, 100000),
    "system": Vcpu(1000, 50000),
    "shell": Vcpu(10000, 100000),
    "input": Vcpu(200, 10000, io=True),
}


@dataclass(frozen=True)
class Named:
    name: str
    # in microseconds; None: the VCPU has no budget and runs only if no other VCPU is runnable
    vcpu: Vcpu | None
    classes: tuple[str, ...] = ()  # classes of devices whose drivers an I/O VCPU serves


def time(node: Node, context: Context) -> int | None:
    """Returns microseconds. None: it has reported a problem."""
    raw = scalar(node, context, TIME, ("str", "int"))
    if raw is None:
        return None
    match = matched(r"([0-9]{1,9})(us|ms|s)", raw)
    if not match:
        bare = matched(r"[0-9]+", raw)
        context.bad(node, f"{raw} has no unit" if bare else f"`{shown(raw)}` is not a time", TIME)
        return None
    span = int(match[1]) * UNITS[match[2]]
    if not 0 < span <= LONGEST:
        context.bad(node, f"{raw} is too {'long' if span else 'short'}", "1us to 600s")
        return None
    return span


def _vcpu(node: Node, context: Context) -> Named | None:
    values = mapping(
        node,
        context,
        "VCPU",
        ("name", "type", "C", "T"),
        "such as {name: control, C: 2ms, T: 10ms}",
    )
    if values is None:
        return None
    none = getattr(values.get("C"), "value", None) == NONE
    missing = [key for key in (("name",) if none else ("name", "C", "T")) if key not in values]
    if missing:
        context.bad(node, f"the VCPU has no `{missing[0]}`", "name, C (budget) and T (period)")
        return None
    name = scalar(values["name"], context, "a name such as control", ("str",))
    if none:
        return None if name is None else _without_budget(name, values, context)
    budget, period = time(values["C"], context), time(values["T"], context)
    words = _type(values.get("type"), name, context)
    if (
        name is None
        or budget is None
        or period is None
        or words is None
        or not _is_name(name, values["name"], context)
    ):
        return None
    io = words[0] == "io"
    if budget < LEAST:
        context.bad(
            values["C"], f"the budget C is below {written(LEAST)}", f"{written(LEAST)} to T"
        )
        return None
    if budget > period or (io and budget == period):
        context.bad(
            values["C"],
            f"the budget C is {'not less than' if io else 'larger than'} the period T",
            "C less than T" if io else "C at most T",
        )
        return None
    return Named(name, Vcpu(budget, period, io), tuple(words[1:]))


def _without_budget(name: str, values: dict[str, Node], context: Context) -> Named | None:
    for key in ("T", "type"):
        if key in values:
            context.bad(
                values[key],
                f"a VCPU without budget has no `{key}`",
                f"{{name: {shown(name)}, C: {NONE}}}",
            )
            return None
    return Named(name, None) if _is_name(name, values["name"], context) else None


def _is_name(name: str, node: Node, context: Context) -> bool:
    if not matched(r"[A-Za-z0-9._-]+", name) or len(name) > NAME_LEN:
        context.bad(
            node,
            f"`{shown(name)}` is not the name of a VCPU",
            f"1 to {NAME_LEN} letters, digits, -, _ and .",
        )
        return False
    return True


def _choice(node: Node, context: Context, what: str, names: tuple[str, ...]) -> str | None:
    raw = scalar(node, context, " or ".join(names), ("str",))
    if raw is not None and raw not in names:
        context.bad(node, f"`{shown(raw)}` is not {what}", " or ".join(names))
        return None
    return raw


def _type(node: Node | None, name: str | None, context: Context) -> list[str] | None:
    """Reads the type: `main`, or `io` and its classes, each once. The default is the type of
    Quest's own VCPU of that name."""
    own = OWN.get(name or "")
    if node is None:
        return [TYPES[own is not None and own.io]]
    raw = scalar(node, context, " or ".join(TYPES), ("str",))
    if raw is None:
        return None
    words = raw.split(".")
    if raw not in TYPES and (
        words[0] != "io" or not set(words[1:]) <= set(CLASSES) or len(set(words)) != len(words)
    ):
        context.bad(
            node,
            f"`{shown(raw)}` is not a type of VCPU",
            f"{' or '.join(TYPES)}, or io.CLASS with {', '.join(CLASSES)}",
        )
        return None
    if own and words[0] != TYPES[own.io]:
        context.bad(node, f"`{name}` is one of Quest's own, and {TYPES[own.io]}", TYPES[own.io])
        return None
    return words


def _vcpus(node: Node, context: Context) -> list[Named] | None:
    most = admission.MAX_VCPUS - len(OWN)
    found = listed(node, context, EXAMPLE, _vcpu, _twice, most, "VCPUs")
    # the check of the whole needs all of them
    if found is None or not isinstance(node, SequenceNode):
        return None
    return found if len(found) == len(node.value) <= most else None


def _twice(one: Named, earlier: list[Named]) -> tuple[str, str] | None:
    if one.name not in (other.name for other in earlier):
        return None
    return f"`{one.name}` is listed twice", "a name of its own for each VCPU"


def _admission(node: Node, context: Context) -> str | None:
    return _choice(node, context, "an admission test", TESTS)


def written(time: int) -> str:
    """Returns microseconds as a person writes them: 500us, 20ms, 1s."""
    unit = next(unit for unit in ("s", "ms", "us") if time % UNITS[unit] == 0)
    return f"{time // UNITS[unit]}{unit}"


def _word(one: Named) -> str:
    if one.vcpu is None:
        return f"{WORD}{one.name},{NONE}"
    kind_of = ".".join((TYPES[one.vcpu.io], *one.classes))
    return f"{WORD}{one.name},{kind_of},{written(one.vcpu.budget)},{written(one.vcpu.period)}"


def command_line(cmdline: str, vcpus: list[Named], test: str) -> str:
    """Returns the command line of the inmate: `cmdline`, followed by the admission test and the
    VCPUs."""
    said = EXACT_WORD in cmdline.split(" ")
    return " ".join(
        [
            *([cmdline] if cmdline else []),
            *([EXACT_WORD] if test == "exact" and not said else []),
            *map(_word, vcpus),
        ]
    )


def contradiction(
    cmdline: str, vcpus: list[Named], test: str | None
) -> tuple[str, str, str] | None:
    """Returns the key, its problem and the remedy, if `cmdline` contradicts these keys. `test` is
    None if the file has no `admission`."""
    words = cmdline.split(" ")
    if vcpus and any(word.startswith(WORD) for word in words):
        return (
            "cmdline",
            f"holds `{WORD}...` together with the key `vcpus`",
            "all under `vcpus`, where they are checked together",
        )
    if test == "bound" and EXACT_WORD in words:
        return "admission", f"is bound, and `cmdline` holds `{EXACT_WORD}`", "one of the two"
    length = len(command_line(cmdline, vcpus, test or "bound").encode())
    if length >= abi.CMDLINE_LEN and len(cmdline.encode()) < abi.CMDLINE_LEN:
        return (
            "vcpus" if vcpus else "admission",
            f"makes a command line of {length} bytes, with `cmdline`",
            f"at most {abi.CMDLINE_LEN - 1}: fewer VCPUs, shorter names or a shorter `cmdline`",
        )
    return None


def percent(share: int) -> str:
    return f"{share * 1000 / (1 << admission.UNITS) / 10:.1f} %"


def everybody(vcpus: list[Named]) -> list[Named]:
    """Returns the default VCPUs of Quest, with the parameters that the file gives them, then all
    others."""
    listed = {v.name: v.vcpu for v in vcpus}
    return [
        *(Named(name, listed.get(name, vcpu)) for name, vcpu in OWN.items()),
        *(v for v in vcpus if v.name not in OWN),
    ]


def refusal(vcpus: list[Named], test: str) -> tuple[str, str] | None:
    """Returns the reason why these VCPUs are not admitted together with those of Quest, and a
    remedy. None: they are admitted."""
    names = [v.name for v in everybody(vcpus) if v.vcpu]
    load = [v.vcpu for v in everybody(vcpus) if v.vcpu]
    if test == "bound":
        if admission.within_bound(load):
            return None
        most = percent(admission.limit(sum(not v.io for v in load)))
        return (
            f"with Quest's own they load the CPU with {percent(admission.load(load))}, "
            f"above the bound of {most}",
            "smaller C, longer T, or `admission: exact`",
        )
    late = [
        name
        for i, name in enumerate(names)
        if not load[i].io and admission.response(load, i) is None
    ]
    listed = [name for name in late if name not in OWN]
    if listed:
        return (
            f"{listed[0]} would not get its C within each T",
            "smaller C or longer T of those whose T is as short",
        )
    return (
        ("one of Quest's own VCPUs would not get its C within each T", "smaller C or longer T")
        if late
        else None
    )


def check(cell: CellConfig, values: dict[str, Node]) -> Iterator[Wrong]:
    """Checks both keys and `cmdline`, each of which is correct by itself or already reported."""
    if "admission" not in values and EXACT_WORD in cell.cmdline.split(" "):
        cell.admission = "exact"
    refused = refusal(cell.vcpus, cell.admission)
    if cell.vcpus and refused:
        yield "vcpus", *refused
    test = values["admission"].value if "admission" in values else None
    wrong = contradiction(cell.cmdline, cell.vcpus, test)
    if wrong:
        yield wrong


VCPUS = Key(
    "vcpus",
    "named VCPUs of its Quest: see [VCPUs](#vcpus)",
    "list: `[{name: control, C: 2ms, T: 10ms}]`",
    "`[]`",
    EXAMPLE,
    _vcpus,
    check=check,
)
ADMISSION = Key(
    "admission",
    "Quest's admission test",
    "`bound` or `exact`",
    "`bound`",
    " or ".join(TESTS),
    _admission,
)
