# SPDX-License-Identifier: GPL-2.0-only
"""Reads all of YAML by PyYAML, as far as reader.py does not, and explains why a text is no YAML."""

from __future__ import annotations

import yaml

from .reader import MappingNode, Node, NotYaml, ScalarNode, SequenceNode
from .words import shown

KINDS = {yaml.ScalarNode: ScalarNode, yaml.SequenceNode: SequenceNode, yaml.MappingNode: MappingNode}


def compose(text: str) -> Node | None:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.reader.ReaderError as error:
        before = text[:error.position]
        raise NotYaml(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1,
                      f"character U+{ord(text[error.position]):04X} cannot stand in a file of text", "printable text") from None
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error) from None
    return None if root is None else _converted(root, {})


def _converted(node: yaml.Node, seen: dict[int, Node]) -> Node:
    """Converts a node. An alias becomes the node that it names, which may itself contain the
    alias."""
    if id(node) in seen:
        return seen[id(node)]
    ours = KINDS[type(node)](node.tag.rpartition(":")[2], node.value,
                             node.start_mark.line + 1, node.start_mark.column + 1)
    seen[id(node)] = ours
    if isinstance(node, yaml.SequenceNode):
        ours.value = [_converted(item, seen) for item in node.value]
    elif isinstance(node, yaml.MappingNode):
        ours.value = [(_converted(key, seen), _converted(value, seen)) for key, value in node.value]
    return ours


QUOTES = "the text in quotes"
ONE_BELOW_ANOTHER = "keys at the beginning of their lines, the items of a list below one another"

# Each row: a part of PyYAML's message (context and problem); whether the place is the beginning of
# the context, or else where PyYAML noticed the problem; the message of qvctl, which is the problem
# and its remedy. The first row that fits counts.
WORDS = (
    ("found character '\\t'", False, "a tab stands where a key or a value should begin", "spaces, never tabs"),
    ("cannot start any token", False, "{} begins no value", QUOTES),
    ("could not find expected ':'", True, "there is no `: ` behind this key", "`key: value`, one to a line"),
    ("sequence entries are not allowed", False, "an item of a list stands behind something else in its line",
     "each `- ` in a line of its own"),
    ("mapping values are not allowed", False, "a second `: ` stands here, or a key below a value",
     "keys at the beginning of their lines; a value with `: ` in quotes"),
    ("mapping keys are not allowed", False, "`?` stands behind something else in its line", QUOTES),
    ("found undefined alias", False, "{} means a value marked by &, and none before it is", QUOTES),
    ("found duplicate anchor", False, "the mark that begins with & is given twice", "each mark once"),
    ("a single document", False, "a second document begins", "one cell in each file"),
    ("scanning a quoted", True, "the quote that begins here is not closed", "a quote at the end of the text"),
    ("double-quoted", False, "a backslash and what follows mean nothing within double quotes", "the text in single quotes"),
    ("a flow sequence", True, "the list that begins here is not closed", "`,` between its values and `]` at its end"),
    ("a flow mapping", True, "the mapping that begins here is not closed", "`,` between its values and `}` at its end"),
    ("a block mapping", False, "this stands neither below the key before it nor beside it", ONE_BELOW_ANOTHER),
    ("a block collection", False, "this stands neither below the item before it nor beside it", ONE_BELOW_ANOTHER),
    ("a block scalar", False, "what follows `|` or `>` is a text of several lines, and cannot stand here", f"{QUOTES}, in one line"),
    ("scanning an a", False, "a name is missing behind `&` or `*`", QUOTES),
    ("directive", False, "a line that begins with % is no key and value", "no such line"),
    ("document start", False, "something stands behind the end of the file's values", "one cell in each file"),
    ("tag", False, "`!` begins a type that is not known", QUOTES),
    ("", False, "a value is missing, or more than one stands here", "`key: value`, one to a line"),
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
