# SPDX-License-Identifier: GPL-2.0-only
"""Objects and their values, checked against the schema, with defaults filled in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from .names import STANDARD, why_not_name
from .problems import Place, Problems, perhaps, shown
from .schema import OTHERS, Attribute, Definitions, Schema, why_not
from .sections import joined
from .tree import Cpu, Object, Parameter, Plain, Word

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# There is at most one of each, and its name does not become a name in C.
NAMELESS = ("OS", "COM", "NM")
# Strings that are names in C. RT-Druid and TOPPERS take them without quotes, too.
IN_C = (
    "ALARMCALLBACKNAME",
    "CALLBACKROUTINENAME",
    "CDATATYPE",
    "COMAPPMODE",
    "FLAGNAME",
    "HANDLER",
    "HOOKNAME",
)


@dataclass
class Value:
    """A checked value. `value` is None for AUTO. `written`: the file has it, it is no default."""

    attribute: Attribute
    place: Place
    value: Plain | None
    inside: Values
    written: bool = True


@dataclass
class Values:
    """The values of an object, or of a nested set, by attribute."""

    place: Place
    all: dict[str, list[Value]] = field(default_factory=dict)

    def get(self, name: str) -> Value | None:
        found = self.all.get(name)
        return found[0] if found else None

    def many(self, name: str) -> list[Value]:
        return self.all.get(name, [])

    def place_of(self, name: str) -> Place:
        found = self.get(name)
        return found.place if found else self.place

    def text(self, name: str) -> str:
        """Returns a string, a name or the value of an ENUM; empty for AUTO or if absent."""
        found = self.get(name)
        return found.value if found and isinstance(found.value, str) else ""

    def texts(self, name: str) -> list[str]:
        return [value.value for value in self.many(name) if isinstance(value.value, str)]

    def number(self, name: str) -> int | None:
        """Returns a whole number, or None for AUTO or if absent."""
        found = self.get(name)
        return found.value if found and isinstance(found.value, int) else None

    def real(self, name: str) -> float | None:
        found = self.get(name)
        return float(found.value) if found and isinstance(found.value, (int, float)) else None

    def truth(self, name: str) -> bool:
        return self.text(name) == "TRUE"

    def inside(self, name: str) -> Values:
        """Returns the nested set of an attribute; an empty one if it is absent."""
        found = self.get(name)
        return found.inside if found else Values(self.place)


@dataclass
class Item:
    """A checked object."""

    kind: str
    name: str
    place: Place
    values: Values


class Checked:
    """All objects of the CPU, in the order of the file."""

    def __init__(self, cpu: str, place: Place) -> None:
        self.cpu = cpu
        self.place = place
        self.items: dict[str, dict[str, Item]] = {}

    def of(self, kind: str) -> dict[str, Item]:
        return self.items.setdefault(kind, {})

    def each(self) -> Iterator[Item]:
        for items in self.items.values():
            yield from items.values()


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "AEIO" else f"a {kind}"


def _quoted_as_meant(parameter: Parameter, attribute: Attribute) -> Parameter:
    """Returns a reference such as COUNTER = "c" as COUNTER = c, which some editors of OIL mean, and
    so a free name in quotes; a name in C without quotes as the string that it is."""
    word = parameter.value
    if word.kind == "name" and attribute.type == "STRING" and attribute.name in IN_C:
        auto = word.value == "AUTO" and attribute.with_auto
        return parameter if auto else replace(parameter, value=replace(word, kind="string"))
    free = attribute.refers or attribute.type == "IDENTIFIER" or OTHERS in attribute.options
    if not free or word.kind != "string" or not NAME.fullmatch(str(word.value)):
        return parameter
    return replace(parameter, value=replace(word, kind="name"))


def _is_left_over(parameter: Parameter, attribute: Attribute) -> bool:
    """Returns whether a BOOLEAN has in its braces what only its other value means, as in
    AUTOSTART = FALSE { ALARMTIME = 1; CYCLETIME = 1; }."""
    known = {name for option in attribute.options.values() for name in option.definitions}
    return attribute.type == "BOOLEAN" and known.issuperset(
        str(one.name.value) for one in parameter.inside
    )


class Checker:
    """Checks the CPU sections of a file."""

    def __init__(
        self,
        schema: Schema,
        problems: Problems,
        elsewhere: Callable[[str], str],
        joins: Callable[[str], bool] = lambda _kind: False,
    ) -> None:
        """`elsewhere` returns the dialect that has an attribute (`TASK.X`) or a kind of object that
        this one lacks, or an empty string. `joins` returns whether an object of this kind may
        have several sections."""
        self.schema = schema
        self.problems = problems
        self.elsewhere = elsewhere
        self.joins = joins
        self.written: dict[tuple[str, str], Object] = {}
        self.misnamed: set[tuple[str, str]] = set()

    def check(self, cpus: list[Cpu]) -> Checked:
        """Returns the checked objects."""
        checked = Checked(str(cpus[0].name.value), cpus[0].name.place)
        for cpu in cpus:
            for found in cpu.objects:
                self._collect(found)
        for found in self.written.values():
            self._check_object(checked, found)
        return checked

    def _collect(self, found: Object) -> None:
        kind, name = str(found.kind.value), str(found.name.value)
        known = self.schema.kinds.get(kind)
        if known is None:
            self.problems.error(
                found.kind.place,
                f"{shown(kind)} is not a kind of object",
                self._elsewhere(kind) or perhaps(kind, self.schema.kinds),
            )
            return
        if known.duty.refused:
            self.problems.error(found.kind.place, f"{kind} {shown(name)}: {known.duty.refused}")
            return
        if known.duty.ignored:
            self.problems.warn_once(
                kind, found.kind.place, f"{kind} has no effect: {known.duty.ignored}"
            )
            return
        wrong = "" if kind in NAMELESS else why_not_name(name, kind)
        if wrong:
            self.problems.error(
                found.name.place, f"{shown(name)} cannot be the name of {_a(kind)}: {wrong}"
            )
            self.misnamed.add((kind, name))
            return
        self._collect_known(found, kind, name)

    def _collect_known(self, found: Object, kind: str, name: str) -> None:
        before = self.written.get((kind, name))
        if before and self.joins(kind):
            attributes = self.schema.kinds[kind].attributes
            self.written[kind, name] = joined(before, found, attributes, self.problems)
            return
        for (other_kind, other), first in self.written.items():
            alone = kind in NAMELESS or other_kind in NAMELESS
            if kind == other_kind if alone else name == other:
                line = f"{first.name.place.file}:{first.name.place.line}"
                self.problems.error(
                    found.name.place,
                    f"there is already {_a(other_kind)} {other}"
                    if alone
                    else f"{name} is already the name of {_a(other_kind)}",
                    f"see {line}",
                )
                return
        self.written[kind, name] = found

    def _elsewhere(self, name: str) -> str:
        dialect = self.elsewhere(name)
        return f"the dialect {dialect} has it: --dialect {dialect}" if dialect else ""

    def _check_object(self, checked: Checked, found: Object) -> None:
        kind, name = str(found.kind.value), str(found.name.value)
        values = self._check_set(
            f"{kind} {name}", found.name.place, found.parameters, self.schema.kinds[kind].attributes
        )
        checked.of(kind)[name] = Item(kind, name, found.name.place, values)

    def _check_set(
        self, owner: str, place: Place, parameters: tuple[Parameter, ...], known: Definitions
    ) -> Values:
        """Returns the values of one set of parameters. `owner` names it in messages."""
        values = Values(place)
        given = {str(parameter.name.value) for parameter in parameters}
        self._warn_of_ignored(owner.split()[0], parameters, known)
        for parameter in parameters:
            name = str(parameter.name.value)
            attribute = known.get(name)
            if attribute is None:
                given.add(self._unknown(owner, parameter.name, known))
                continue
            before = values.get(name)
            if before and not attribute.multiple:
                self.problems.error(
                    parameter.name.place,
                    f"{owner}: {name} is given twice",
                    f"the first is in line {before.place.line}",
                )
                continue
            value = self._check_value(owner, parameter, attribute)
            if value:
                values.all.setdefault(name, []).append(value)
        self._add_defaults(owner, values, known, given)
        return values

    def _warn_of_ignored(
        self, kind: str, parameters: tuple[Parameter, ...], known: Definitions
    ) -> None:
        """Warns once of each attribute without effect; of those with one reason together."""
        why: dict[str, dict[str, Place]] = {}
        for one in parameters:
            name = str(one.name.value)
            attribute = known.get(name)
            if attribute and attribute.duty.ignored:
                why.setdefault(attribute.duty.ignored, {}).setdefault(name, one.name.place)
        for reason, names in why.items():
            self.problems.warn_of_ignored(kind, names, reason)

    def _unknown(self, owner: str, name: Word, known: Definitions) -> str:
        """Reports an unknown attribute. Returns the attribute that it probably is, so that the
        latter is not also reported as missing; or an empty string."""
        word = str(name.value)
        right = self._elsewhere(f"{owner.split()[0]}.{word}") or perhaps(word, known)
        self.problems.error(name.place, f"{owner}: {shown(word)} is not an attribute here", right)
        return right.removeprefix("perhaps ") if right.startswith("perhaps ") else ""

    def _check_value(self, owner: str, parameter: Parameter, attribute: Attribute) -> Value | None:
        """Returns the value, or None if it was reported, or the attribute has no effect."""
        parameter = _quoted_as_meant(parameter, attribute)
        word, name = parameter.value, attribute.name
        if attribute.duty.ignored and not attribute.declared:
            return None
        if attribute.duty.refused:
            self.problems.error(parameter.name.place, f"{owner}: {name}: {attribute.duty.refused}")
            return None
        if parameter.struct and attribute.type != "STRUCT":
            self.problems.error(
                word.place, f"{owner}: a `=` is missing after {name}", attribute.allowed()
            )
            return None
        wrong = why_not(attribute, word)
        if not wrong and attribute.refers:
            wrong = self._why_not_reference(attribute, word)
        if wrong:
            self.problems.error(
                word.place, f"{owner}: {name}: {wrong}", self._allowed(attribute, word)
            )
            return None
        if attribute.duty.ignored:
            return None
        if word.value == "AUTO" and word.kind == "name" and "AUTO" not in attribute.options:
            return Value(attribute, word.place, None, Values(word.place))
        return self._with_inside(owner, parameter, attribute)

    def _with_inside(self, owner: str, parameter: Parameter, attribute: Attribute) -> Value | None:
        word = parameter.value
        option = attribute.option(str(word.value))
        path = f"{owner}: {attribute.name} = {shown(str(word.value))}"
        if option and option.duty.refused:
            self.problems.error(word.place, f"{path}: {option.duty.refused}")
            return None
        if option and option.duty.ignored:
            self.problems.warn_once(
                f"{attribute.name}={word.value}",
                word.place,
                f"{path} has no effect: {option.duty.ignored}",
            )
        if attribute.type == "STRUCT":
            inside = self._check_set(
                f"{owner}: {attribute.name} {shown(str(word.value))}",
                word.place,
                parameter.inside,
                attribute.fields,
            )
            return Value(attribute, word.place, word.value, inside)
        if option and (option.duty.ignored or option.name == OTHERS):
            kept = tuple(one for one in parameter.inside if one.name.value in option.definitions)
            inside = self._check_set(path, word.place, kept, option.definitions)
            return Value(attribute, word.place, word.value, inside)
        if parameter.braces and not (option and option.definitions):
            if parameter.inside and _is_left_over(parameter, attribute):
                self.problems.warn_once(
                    f"{owner}: {attribute.name}",
                    parameter.inside[0].name.place,
                    f"{path}: the attributes in its braces have no effect",
                )
            elif parameter.inside:
                self.problems.error(
                    parameter.inside[0].name.place,
                    f"{path} has no attributes of its own",
                    f"{attribute.name} = {word.text()};",
                )
            return Value(attribute, word.place, word.value, Values(word.place))
        definitions = option.definitions if option else {}
        inside = self._check_set(path, word.place, parameter.inside, definitions)
        return Value(attribute, word.place, word.value, inside)

    def _why_not_reference(self, attribute: Attribute, word: Word) -> str:
        name = str(word.value)
        if (attribute.refers, name) in {*STANDARD, *self.written, *self.misnamed}:
            return ""
        others = [kind for kind, other in self.written if other == name and kind not in NAMELESS]
        if others:
            return f"{shown(name)} is {_a(others[0])}"
        return f"there is no {attribute.refers} {shown(name)}"

    def _allowed(self, attribute: Attribute, word: Word) -> str:
        """Returns what would be right instead of a wrong value."""
        if attribute.refers and word.kind == "name":
            names = [name for kind, name in self.written if kind == attribute.refers]
            return (
                perhaps(str(word.value), names) if names else f"no {attribute.refers} is declared"
            )
        if attribute.options and word.kind == "name":
            near = perhaps(str(word.value), attribute.options)
            return near if near.startswith("perhaps") else attribute.allowed()
        return attribute.allowed()

    def _add_defaults(
        self, owner: str, values: Values, known: Definitions, given: set[str]
    ) -> None:
        for name, attribute in known.items():
            if name in given or attribute.duty.refused:
                continue
            if attribute.no_default and not attribute.multiple:
                self.problems.error(
                    values.place,
                    f"{owner}: {name} is missing, and IMPLEMENTATION says NO_DEFAULT",
                    attribute.allowed(),
                )
                continue
            if attribute.duty.ignored:
                continue
            if attribute.default is not None:
                values.all[name] = [
                    self._default(owner, values.place, attribute, attribute.default)
                ]
            elif attribute.required:
                self.problems.error(
                    values.place, f"{owner}: {name} is missing", attribute.allowed()
                )

    def _default(self, owner: str, place: Place, attribute: Attribute, word: Word) -> Value:
        if word.value == "AUTO" and word.kind == "name" and "AUTO" not in attribute.options:
            return Value(attribute, place, None, Values(place), written=False)
        option = attribute.options.get(str(word.value))
        inside = Values(place)
        if option and option.definitions:
            path = f"{owner}: {attribute.name} = {word.value}"
            inside = self._check_set(path, place, (), option.definitions)
        return Value(attribute, place, word.value, inside, written=False)
