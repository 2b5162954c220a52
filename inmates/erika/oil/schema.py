# SPDX-License-Identifier: GPL-2.0-only
"""The attributes: types, ranges, defaults, and whether each has an effect in this kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from .problems import Place, Problems, perhaps, shown
from .tree import Choice, Definition, Implementation, Word

# A type that TOPPERS' files have for a name in C
ALIKE = {"SYMBOLNAME": "STRING"}
# The limits of the types that are numbers
INTEGERS = {
    "UINT32": (0, 2**32 - 1),
    "INT32": (-(2**31), 2**31 - 1),
    "UINT64": (0, 2**64 - 1),
    "INT64": (-(2**63), 2**63 - 1),
    # Only in the files of this package: a number for a type that may have a sign
    "NUMBER": (-(2**63), 2**64 - 1),
}
OWN = ("NUMBER",)
TYPES = (
    *(name for name in INTEGERS if name not in OWN),
    "FLOAT",
    "BOOLEAN",
    "ENUM",
    "STRING",
    "IDENTIFIER",
    "STRUCT",
)
TRUTHS = ("FALSE", "TRUE")
# A description that begins so says that an attribute has no effect, or that its use is an error.
IGNORED = "ignored: "
REFUSED = "refused: "
# The name of a value that an ENUM of this package's files has for all names that it does not list
OTHERS = "OTHERS"

Definitions = dict[str, "Attribute"]


@dataclass(frozen=True)
class Duty:
    """Whether an attribute, a value or a kind of object has an effect in the kernel."""

    ignored: str = ""
    refused: str = ""

    @staticmethod
    def of(description: str) -> Duty:
        description = " ".join(description.split())
        if description.startswith(IGNORED):
            return Duty(ignored=description[len(IGNORED) :])
        if description.startswith(REFUSED):
            return Duty(refused=description[len(REFUSED) :])
        return Duty()


@dataclass(frozen=True)
class Option:
    """One value of an ENUM or a BOOLEAN."""

    name: str
    definitions: Definitions
    description: str = ""

    @property
    def duty(self) -> Duty:
        return Duty.of(self.description)


@dataclass(frozen=True)
class Attribute:
    """An attribute or a reference of one kind of object. `refers` is the kind of object that a
    reference names."""

    name: str
    type: str
    place: Place
    refers: str = ""
    with_auto: bool = False
    multiple: bool = False
    options: dict[str, Option] = field(default_factory=dict)
    fields: Definitions = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    numbers: tuple[float, ...] = ()
    default: Word | None = None
    description: str = ""
    declared: bool = False  # only a user's IMPLEMENTATION has it
    no_default: bool = False  # a user's IMPLEMENTATION says so: each object must have a value

    @property
    def duty(self) -> Duty:
        return Duty.of(self.description)

    @property
    def required(self) -> bool:
        return self.default is None and not self.multiple and not self.duty.ignored

    def option(self, name: str) -> Option | None:
        """Returns the value of that name, if it is one of an ENUM or a BOOLEAN."""
        return self.options.get(name) or self.options.get(OTHERS)

    def allowed(self) -> str:
        """Returns the allowed values as a person reads them."""
        auto = " or AUTO" if self.with_auto else ""
        if self.refers:
            return f"the name of a {self.refers}"
        if self.options:
            names = [option.name for option in self.options.values() if not option.duty.refused]
            return " or ".join((*names, *(["AUTO"] if self.with_auto else [])))
        if self.numbers:
            return (
                ("one of " if len(self.numbers) > 1 else "")
                + ", ".join(map(str, self.numbers))
                + auto
            )
        if self.type == "STRING":
            return f'a string, such as "text"{auto}'
        if self.type in ("STRUCT", "IDENTIFIER"):
            return f"a name{auto}"
        if self.low is None or self.high is None:
            return f"a number, such as 0.5{auto}"
        return f"a number from {self.low} to {self.high}{auto}"


@dataclass
class Kind:
    """The attributes of one kind of object."""

    name: str
    attributes: Definitions = field(default_factory=dict)
    description: str = ""

    @property
    def duty(self) -> Duty:
        return Duty.of(self.description)


class Schema:
    """The kinds of objects. Sections IMPLEMENTATION add to it; the files of this package first."""

    def __init__(self, problems: Problems, adds: bool = False) -> None:
        """`adds`: an ENUM of a user's section leaves out no value, as in goil."""
        self.problems = problems
        self.adds = adds
        self.kinds: dict[str, Kind] = {}

    def add(self, implementation: Implementation, own: bool) -> None:
        """Adds a section. `own`: it is a file of this package, so it may add kinds of objects, and
        its attributes mean something."""
        for part in implementation.specifications:
            name = str(part.kind.value)
            if name not in self.kinds and not own:
                self.problems.error(
                    part.kind.place,
                    f"{shown(name)} is not a kind of object",
                    perhaps(name, self.kinds),
                )
                continue
            kind = self.kinds.setdefault(name, Kind(name, description=part.description))
            self._merge(kind.attributes, part.definitions, f"{name}", own)

    def _merge(
        self, known: Definitions, found: Iterable[Definition], where: str, own: bool
    ) -> None:
        for definition in found:
            attribute = self._attribute(definition, where, own)
            if attribute is None:
                continue
            if own or attribute.name not in known:
                known[attribute.name] = attribute if own else _without_effect(attribute)
            else:
                known[attribute.name] = self._refined(known[attribute.name], attribute, where)

    def _attribute(self, written: Definition, where: str, own: bool) -> Attribute | None:
        """Returns the attribute that a definition describes, or None if it reported an error."""
        kind, name = str(written.type.value), str(written.name.value)
        kind = ALIKE.get(kind, kind)
        path = f"{where}.{name}"
        refers = kind[:-5] if kind.endswith("_TYPE") else ""
        known = kind in TYPES or own and kind in OWN
        if not known and not (refers and (own or refers in self.kinds)):
            references = [f"{object_kind}_TYPE" for object_kind in self.kinds]
            self.problems.error(
                written.type.place,
                f"{shown(kind)} is not a type",
                perhaps(kind, (*TYPES, *references)),
            )
            return None
        if (written.fields is not None) != (kind == "STRUCT"):
            self.problems.error(
                written.name.place,
                f"{path}: STRUCT and only STRUCT has attributes in braces",
                "STRUCT { ... } NAME",
            )
            return None
        attribute = Attribute(
            name,
            "" if refers else kind,
            written.name.place,
            refers,
            written.with_auto,
            written.multiple,
            fields=self._inside(written.fields or (), path, own),
            description=written.description,
        )
        attribute = self._limits(
            replace(attribute, options=self._options(written, path, own)), written
        )
        return self._with_default(attribute, written, path)

    def _options(self, written: Definition, path: str, own: bool) -> dict[str, Option]:
        kind = written.type.value
        if kind not in ("ENUM", "BOOLEAN"):
            return {}
        options: dict[str, Option] = {}
        for choice in written.choices:
            name = str(choice.word.value)
            if choice.word.kind != "name" or kind == "BOOLEAN" and name not in TRUTHS:
                self.problems.error(
                    choice.word.place,
                    f"{shown(name)} is not a value of {kind} {path}",
                    "TRUE or FALSE" if kind == "BOOLEAN" else "a name",
                )
            elif name in options:
                self.problems.error(choice.word.place, f"{shown(name)} is listed twice in {path}")
            else:
                options[name] = self._option(choice, f"{path}.{name}", own)
        if kind == "ENUM" and not options:
            self.problems.error(written.name.place, f"ENUM {path} has no values", "[A, B]")
        for name in TRUTHS if kind == "BOOLEAN" else ():
            options.setdefault(name, Option(name, {}))
        return options

    def _option(self, choice: Choice, path: str, own: bool) -> Option:
        return Option(
            str(choice.word.value), self._inside(choice.definitions, path, own), choice.description
        )

    def _inside(self, written: tuple[Definition, ...], path: str, own: bool) -> Definitions:
        inside: Definitions = {}
        self._merge(inside, written, path, True)
        if own:
            return inside
        return {name: _without_effect(attribute) for name, attribute in inside.items()}

    def _limits(self, attribute: Attribute, written: Definition) -> Attribute:
        """Returns the attribute with the range that is written, or else that of its type."""
        low, high = INTEGERS.get(attribute.type, (None, None))
        kinds = ("number", "float") if attribute.type == "FLOAT" else ("number",)
        choices = () if attribute.options else tuple(choice.word for choice in written.choices)
        limits = (*(written.range or ()), *choices)
        if attribute.type not in (*INTEGERS, "FLOAT"):
            if limits and attribute.type != "ENUM":
                self.problems.error(
                    limits[0].place, f"{attribute.type or 'a reference'} has no range"
                )
            return attribute
        for word in limits:
            if (
                word.kind not in kinds
                or low is not None
                and not low <= float(word.value) <= float(high or 0)
            ):
                self.problems.error(
                    word.place,
                    f"{shown(word.text())} is not of the type {attribute.type}",
                    f"{low} to {high}" if low is not None else "a number",
                )
                return replace(attribute, low=low, high=high)
        if written.range:
            return self._ranged(attribute, *written.range)
        numbers = tuple(word.value for word in choices if not isinstance(word.value, str))
        return replace(attribute, low=low, high=high, numbers=numbers)

    def _ranged(self, attribute: Attribute, low: Word, high: Word) -> Attribute:
        assert not isinstance(low.value, str) and not isinstance(high.value, str)
        if low.value > high.value:
            self.problems.error(
                low.place,
                f"the range {low.value}..{high.value} is empty",
                f"{high.value}..{low.value}",
            )
        return replace(attribute, low=low.value, high=high.value)

    def _with_default(self, attribute: Attribute, written: Definition, path: str) -> Attribute:
        word = written.default
        if word is None:
            return attribute
        if word.value == "NO_DEFAULT" and word.kind == "name":
            return replace(attribute, no_default=True)
        if attribute.refers:
            self.problems.error(word.place, f"the reference {path} cannot have a default")
            return attribute
        wrong = why_not(attribute, word)
        if wrong:
            self.problems.error(word.place, f"the default of {path}: {wrong}", attribute.allowed())
            return attribute
        return replace(attribute, default=word)

    def _refined(self, ours: Attribute, theirs: Attribute, where: str) -> Attribute:
        """Returns our attribute with the narrower range and the default of a user's definition."""
        path = f"{where}.{ours.name}"
        same = ours.type == theirs.type and ours.refers == theirs.refers
        if not same and not (ours.type in INTEGERS and theirs.type in INTEGERS):
            has = ours.type or f"{ours.refers}_TYPE"
            has = "INT64 or UINT64" if has in OWN else has
            self.problems.error(theirs.place, f"{path} has the type {has} in this kernel", has)
            return ours
        if ours.type == "STRUCT":
            return replace(ours, fields=self._joined(ours.fields, theirs.fields, path))
        options = {
            name: replace(
                option,
                definitions=self._joined(
                    option.definitions, theirs.options[name].definitions, f"{path}.{name}"
                ),
            )
            for name, option in ours.options.items()
            if name in theirs.options
        }
        if self.adds:
            options = ours.options | options
        for name, option in theirs.options.items():
            if not ours.option(name):
                options[name] = replace(
                    option, description=REFUSED + "this kernel has no such value"
                )
        narrow = replace(
            ours,
            options=options,
            numbers=theirs.numbers or ours.numbers,
            low=_tighter(ours.low, theirs.low, max),
            high=_tighter(ours.high, theirs.high, min),
            no_default=theirs.no_default,
        )
        if theirs.no_default:
            return replace(narrow, default=None)
        if theirs.default is None:
            return (
                narrow
                if not ours.default or not why_not(narrow, ours.default)
                else replace(narrow, default=None)
            )
        wrong = why_not(narrow, theirs.default)
        if wrong:
            self.problems.error(
                theirs.default.place, f"the default of {path}: {wrong}", narrow.allowed()
            )
            return narrow
        return replace(narrow, default=theirs.default)

    def _joined(self, ours: Definitions, theirs: Definitions, where: str) -> Definitions:
        joined = dict(ours)
        for name, attribute in theirs.items():
            joined[name] = (
                self._refined(joined[name], attribute, where) if name in joined else attribute
            )
        return joined


def _tighter(
    ours: float | None, theirs: float | None, choose: Callable[[float, float], float]
) -> float | None:
    if ours is None or theirs is None:
        return ours if theirs is None else theirs
    return choose(ours, theirs)


def _without_effect(attribute: Attribute) -> Attribute:
    """Returns an attribute that only a user's IMPLEMENTATION declares."""
    return replace(
        attribute,
        description=IGNORED + "IMPLEMENTATION declares it, but this kernel has no use for it",
        declared=True,
    )


def why_not(attribute: Attribute, word: Word) -> str:
    """Returns why a word is no value of the attribute, or an empty string. References are checked
    elsewhere, when all objects are known."""
    written = shown(word.text())
    if word.kind == "name" and word.value == "AUTO" and "AUTO" not in attribute.options:
        return "" if attribute.with_auto else "AUTO is not allowed"
    if attribute.refers:
        return "" if word.kind == "name" else f"{written} is not a name"
    if attribute.options:
        fits = word.kind == "name" and attribute.option(str(word.value))
        return "" if fits else f"{written} is not one of its values"
    if attribute.type == "STRING":
        return "" if word.kind == "string" else f"{written} is not a string"
    if attribute.type in ("STRUCT", "IDENTIFIER"):
        return "" if word.kind == "name" else f"{written} is not a name"
    return _why_not_number(attribute, word, written)


def _why_not_number(attribute: Attribute, word: Word, written: str) -> str:
    kinds = ("number", "float") if attribute.type == "FLOAT" else ("number",)
    if word.kind not in kinds or isinstance(word.value, str):
        return (
            f"{written} is not a number"
            if "float" not in (word.kind, *kinds)
            else f"{written} is not a whole number"
        )
    if attribute.low is not None and word.value < attribute.low:
        return f"{written} is too small"
    if attribute.high is not None and word.value > attribute.high:
        return f"{written} is too large"
    if attribute.numbers and word.value not in attribute.numbers:
        return f"{written} is not one of its values"
    return ""
