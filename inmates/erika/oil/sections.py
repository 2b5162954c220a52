# SPDX-License-Identifier: GPL-2.0-only
"""One object in several sections: RT-Druid and goil take their attributes together."""

from __future__ import annotations

from dataclasses import replace

from .problems import Problems, shown
from .schema import Definitions
from .tree import Object, Parameter


def joined(first: Object, second: Object, known: Definitions, problems: Problems) -> Object:
    """Returns an object that has the attributes of both sections. Reports an attribute that has one
    value in the first section and another in the second."""
    owner = f"{first.kind.value} {first.name.value}"
    parameters = _joined(owner, first.parameters, second.parameters, known, problems)
    return replace(first, parameters=parameters)


def _joined(
    owner: str,
    first: tuple[Parameter, ...],
    second: tuple[Parameter, ...],
    known: Definitions,
    problems: Problems,
) -> tuple[Parameter, ...]:
    """Joins one set of attributes. Attributes that may be given several times, and those that the
    check of the object reports, stay as they are."""
    found = list(first)
    places = {str(one.name.value): at for at, one in reversed(list(enumerate(first)))}
    for one in second:
        name = str(one.name.value)
        attribute, at = known.get(name), places.get(name)
        if at is None or attribute is None or attribute.multiple or attribute.duty.ignored:
            found.append(one)
            continue
        before = found[at]
        if (one.value.kind, one.value.value) != (before.value.kind, before.value.value):
            there = f"{before.value.place.file}:{before.value.place.line}"
            problems.error(
                one.value.place,
                f"{owner}: {name} is {shown(one.value.text())} here, but "
                f"{shown(before.value.text())} in another section",
                f"see {there}",
            )
            continue
        option = attribute.option(str(one.value.value))
        inside = _joined(
            f"{owner}: {name} = {shown(str(one.value.value))}",
            before.inside,
            one.inside,
            option.definitions if option else attribute.fields,
            problems,
        )
        found[at] = replace(before, inside=inside, braces=before.braces or one.braces)
    return tuple(found)
