# SPDX-License-Identifier: GPL-2.0-only
"""
YAML as a tree of nodes, each with its place.

PyYAML reads it. compose() loads PyYAML, since that takes longer than the rest of a command, and
most commands read no YAML.
"""

from __future__ import annotations

from .record import dataclass
from .words import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import yaml


@dataclass
class Node:
    """`tag`: the YAML type (str, int, float, bool, null, timestamp, seq, map, ...). Lines and
    columns count from 1."""

    tag: str
    value: Any
    line: int
    column: int
    block: bool = False  # a text whose lines follow in the lines below


class ScalarNode(Node):
    """A node whose value is a text."""


class SequenceNode(Node):
    """A node whose value is a list of nodes."""


class MappingNode(Node):
    """A node whose value is a list of pairs of nodes."""


KINDS = {kind.__name__: kind for kind in (ScalarNode, SequenceNode, MappingNode)}  # as in PyYAML


ESCAPE, LAST = r"\\U([0-9a-fA-F]{8})", 0x10FFFF


class NotYaml(Exception):
    """The text is not YAML: the place, the problem and its remedy."""

    def __init__(self, line: int, column: int, wrong: str, right: str) -> None:
        super().__init__(wrong)
        self.line, self.column, self.wrong, self.right = line, column, wrong, right


def compose(text: str) -> Node | None:
    """Returns the only document of `text`, or None if it is empty. Raises NotYaml, and
    RecursionError for absurd nesting."""
    import yaml

    try:
        # Not by libyaml: its errors say less, and deep nesting overflows its stack. It saves 1 ms.
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        raise NotYaml(
            before.count("\n") + 1,
            len(before) - (before.rfind("\n") + 1) + 1,
            f"character U+{ord(text[error.position]):04X} cannot be in a file of text",
            "printable text",
        ) from None
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error) from None
    except ValueError:
        # PyYAML's chr() of an escape such as \U00110000, or int() of a directive's long number
        import re

        escapes = re.finditer(ESCAPE, text)
        at = next((found.start() for found in escapes if int(found[1], 16) > LAST), 0)
        raise NotYaml(
            text.count("\n", 0, at) + 1,
            at - text.rfind("\n", 0, at),
            "an escape is no character, or a number is too long",
            "a character up to \\U0010FFFF",
        ) from None
    return None if root is None else _converted(root, {})


def _converted(node: yaml.Node, seen: dict[int, Node]) -> Node:
    """Converts a node. An alias becomes the node that it names, which may itself contain the
    alias."""
    if id(node) in seen:
        return seen[id(node)]
    ours = KINDS[type(node).__name__](
        node.tag.rpartition(":")[2],
        node.value,
        node.start_mark.line + 1,
        node.start_mark.column + 1,
    )
    seen[id(node)] = ours
    if getattr(node, "style", None) in (">", "|"):
        # YAML ends such a text with a line feed, which no value of a cell's file has
        ours.value, ours.block = node.value.removesuffix("\n"), True
    elif isinstance(ours, SequenceNode):
        ours.value = [_converted(item, seen) for item in node.value]
    elif isinstance(ours, MappingNode):
        ours.value = [(_converted(key, seen), _converted(value, seen)) for key, value in node.value]
    return ours


QUOTES = "the text in quotes"
ONE_BELOW_ANOTHER = "keys at the beginning of their lines, the items of a list below one another"

# Each row: a part of PyYAML's message (context and problem); whether the place is the beginning of
# the context, or else where PyYAML noticed the problem; the message of qvctl, which is the problem
# and its remedy. The first row that fits counts.
WORDS = (
    (
        "found character '\\t'",
        False,
        "a tab is where a key or a value should begin",
        "spaces, never tabs",
    ),
    ("cannot start any token", False, "{} begins no value", QUOTES),
    (
        "could not find expected ':'",
        True,
        "there is no `: ` behind this key",
        "`key: value`, one to a line",
    ),
    (
        "sequence entries are not allowed",
        False,
        "an item of a list follows something else in its line",
        "each `- ` in a line of its own",
    ),
    (
        "mapping values are not allowed",
        False,
        "a second `: ` is here, or a key below a value",
        "keys at the beginning of their lines; a value with `: ` in quotes",
    ),
    ("mapping keys are not allowed", False, "`?` is behind something else in its line", QUOTES),
    ("found undefined alias", False, "{} means a value marked by &, and none before it is", QUOTES),
    (
        "found duplicate anchor",
        False,
        "the mark that begins with & is given twice",
        "each mark once",
    ),
    ("a single document", False, "a second document begins", "one cell in each file"),
    (
        "scanning a quoted",
        True,
        "the quote that begins here is not closed",
        "a quote at the end of the text",
    ),
    (
        "double-quoted",
        False,
        "a backslash with the characters after it means nothing within double quotes",
        "the text in single quotes",
    ),
    (
        "a flow sequence",
        True,
        "the list that begins here is not closed",
        "`,` between its values and `]` at its end",
    ),
    (
        "a flow mapping",
        True,
        "the mapping that begins here is not closed",
        "`,` between its values and `}` at its end",
    ),
    (
        "a block mapping",
        False,
        "this is neither below the key before it nor in its column",
        ONE_BELOW_ANOTHER,
    ),
    (
        "a block collection",
        False,
        "this is neither below the item before it nor in its column",
        ONE_BELOW_ANOTHER,
    ),
    (
        "a block scalar",
        False,
        "the text after `|` or `>` has several lines, and cannot be here",
        f"{QUOTES}, in one line",
    ),
    ("scanning an a", False, "a name is missing behind `&` or `*`", QUOTES),
    ("directive", False, "a line that begins with % is no key and value", "no such line"),
    (
        "document start",
        False,
        "something follows the end of the file's values",
        "one cell in each file",
    ),
    ("tag", False, "`!` begins a type that is not known", QUOTES),
    ("", False, "a value is missing, or there is more than one", "`key: value`, one to a line"),
)


def _not_yaml(error: yaml.MarkedYAMLError) -> NotYaml:
    said = f"{error.context or ''} {error.problem or ''}"
    _, at_start, wrong, right = next(entry for entry in WORDS if entry[0] in said)
    mark = (error.context_mark if at_start else None) or error.problem_mark or error.context_mark
    assert mark is not None, "PyYAML gives each error a place"
    quoted = said.rpartition("'")[0].rpartition("'")[2]
    if "alias" in said:
        quoted = f"*{quoted}"
    return NotYaml(mark.line + 1, mark.column + 1, wrong.replace("{}", f"`{shown(quoted)}`"), right)
