# SPDX-License-Identifier: GPL-2.0-only
"""The part of Documentation/reference/oil.md that is made from the compiler's tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from .dialect import DIALECTS, schema
from .problems import Problems
from .schema import OTHERS, Attribute, Definitions, Duty, Kind, Option, Schema
from .spellings import RENAMED, STARTS, TABLE

# The headings of the attributes of each dialect
HEADS = {
    "osek": "## Objects and attributes of every dialect",
    "rtdruid": "## More in the dialect rtdruid",
    "goil": "## More in the dialect goil",
    "freeosek": "## More in the dialect freeosek",
}


def page() -> str:
    """Returns the tables in Markdown."""
    base = schema("osek", Problems())
    lines: list[str] = []
    for dialect in DIALECTS:
        lines += [HEADS[dialect], ""]
        lines += _dialect(schema(dialect, Problems()), base if dialect != "osek" else None)
        lines += _spellings(dialect)
    return "\n".join(lines).rstrip() + "\n"


def _spellings(dialect: str) -> Iterator[str]:
    """Yields a table of the names that mean attributes of other names."""
    for kind, names in RENAMED.get(dialect, {}).items():
        yield from (f"### Other names in {kind}", "", "| name | meaning |", "|---|---|")
        yield from (f"| `{name}` | `{right}` |" for name, right in names.items())
        if kind == TABLE:
            yield from (
                f"| `AUTOSTART` = `TRUE` / `TYPE` = `{start}`, `START_VALUE` "
                f"| `AUTOSTART` = `{start}` / `{value}` |"
                for start, value in STARTS.items()
            )
        yield ""


def _dialect(known: Schema, base: Schema | None) -> Iterator[str]:
    for kind in known.kinds.values():
        before = base.kinds.get(kind.name) if base else None
        shown = {
            name: attribute
            for name, attribute in kind.attributes.items()
            if not before or before.attributes.get(name) != attribute
        }
        if shown or not before:
            yield from _kind(kind, shown)


def _kind(kind: Kind, shown: Definitions) -> Iterator[str]:
    yield from (f"### {kind.name}", "")
    if kind.description:
        yield from (_sentence(_duty(kind.duty, kind.description)), "")
    rows = list(_rows(shown, ""))
    if rows:
        yield from ("| attribute | value | default | meaning |", "|---|---|---|---|", *rows, "")
    elif not kind.description:
        yield from ("It has no attributes.", "")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _rows(shown: Definitions, before: str) -> Iterator[str]:
    for attribute in shown.values():
        name = f"{before}`{attribute.name}`" + (", several" if attribute.multiple else "")
        yield f"| {name} | {_value(attribute)} | {_default(attribute)} | {_meaning(attribute)} |"
        yield from _rows(attribute.fields, f"{before}`{attribute.name}` / ")
        for alike in _alike(attribute):
            names = ", ".join(map(_option, (option.name for option in alike)))
            path = f"{before}`{attribute.name}` = {names}"
            if alike[0].description:
                yield f"| {path} | | | {_duty(alike[0].duty, alike[0].description)} |"
            yield from _rows(alike[0].definitions, f"{path} / ")


def _alike(attribute: Attribute) -> Iterator[list[Option]]:
    """Yields the values; those that follow each other and differ in their names only together."""

    def row(option: Option) -> tuple[str, ...]:
        return option.description, *_rows(option.definitions, "")

    for _, options in itertools.groupby(attribute.options.values(), row):
        yield list(options)


def _value(attribute: Attribute) -> str:
    auto = ", `AUTO`" if attribute.with_auto else ""
    if attribute.refers:
        return f"name of {_article(attribute.refers)}"
    if attribute.options:
        return ", ".join(map(_option, attribute.options)) + auto
    if attribute.numbers:
        return ", ".join(map(str, attribute.numbers)) + auto
    if attribute.low is not None:
        return f"{attribute.low} to {attribute.high}{auto}"
    return {"STRING": "text", "IDENTIFIER": "name", "STRUCT": "name and braces"}.get(
        attribute.type, "number"
    ) + auto


def _option(name: str) -> str:
    return "another name" if name == OTHERS else f"`{name}`"


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "AEIO" else f"a {kind}"


def _default(attribute: Attribute) -> str:
    if attribute.duty.ignored or attribute.duty.refused or attribute.multiple:
        return ""
    return f"`{attribute.default.text()}`" if attribute.default else "required"


def _meaning(attribute: Attribute) -> str:
    return _duty(attribute.duty, attribute.description)


def _duty(duty: Duty, description: str) -> str:
    if duty.ignored:
        return f"no effect: {duty.ignored}"
    if duty.refused:
        return f"an error: {duty.refused}"
    return " ".join(description.split())
