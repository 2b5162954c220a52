# SPDX-License-Identifier: GPL-2.0-only
"""All of YAML, by PyYAML: what reader.py does not read itself, and what is wrong with a text that is no YAML."""

from __future__ import annotations

import yaml

from .reader import MappingNode, Node, NotYaml, ScalarNode, SequenceNode

KINDS = {yaml.ScalarNode: ScalarNode, yaml.SequenceNode: SequenceNode, yaml.MappingNode: MappingNode}


def compose(text: str) -> Node | None:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.reader.ReaderError as error:
        before = text[:error.position]
        raise NotYaml(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1,
                      f"character U+{ord(text[error.position]):04X} is not allowed in YAML", "printable text") from None
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error) from None
    return None if root is None else _converted(root, {})


def _converted(node: yaml.Node, seen: dict[int, Node]) -> Node:
    """An alias is the node that it names, perhaps one that it is a part of."""
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


def _not_yaml(error: yaml.MarkedYAMLError) -> NotYaml:
    mark = error.problem_mark or error.context_mark
    wrong = error.problem or error.context or "is not YAML"
    right = "valid YAML: `key: value`, one to a line"
    if "'\\t'" in wrong or "tab" in wrong:
        right = "spaces, never tabs, before a key"
    elif "undefined alias" in wrong:
        right = "an anchor that stands before it, or the text in quotes"
    elif "expected a single document" in f"{error.context} {wrong}":
        wrong, right = "a second document begins", "one cell in each file"
    return NotYaml(mark.line + 1 if mark else 1, mark.column + 1 if mark else 1, wrong, right)
