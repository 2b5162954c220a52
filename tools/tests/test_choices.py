# SPDX-License-Identifier: GPL-2.0-only
"""A word that is none of the permitted ones is refused with all of these: options of qvctl, keys of
a cell's file."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import pytest
from running import YAML, Run

from qv.cli import values
from qv.cli.table import COMMANDS
from qv.keys import TABLE

CHANNEL = "name: a, item: 64, writer: quest, readers: [linux]"
RING = f"{CHANNEL}, type: ring, slots: 4"
# A value within a key, and the permitted words
WITHIN = {
    f"channels: [{{{CHANNEL}, type: purple}}]": "mailbox four-slot ring memory",
    f"channels: [{{{RING}, full: purple}}]": "error block drop-newest drop-oldest",
    f"channels: [{{{RING}, reconnect: purple}}]": "auto never",
    f"channels: [{{{RING}, bell: purple}}]": "true false one-shot vector cpu",
    f"channels: [{{{RING}, bell: {{one-shot: purple}}}}]": "true false",
    f"channels: [{{{RING}, purple: 1}}]": "writers schema owner mode",
    f"channels: [{{{RING}, bell: {{purple: 1}}}}]": "vector cpu one-shot",
    'devices: [{pci: "00:03.0", dma: purple}]': "off protected",
    'devices: [{pci: "00:03.0", unsafe-dma: purple}]': "true false",
    'devices: [{pci: "00:03.0", purple: off}]': "pci dma unsafe-dma heir-of",
    "dynamic-channels: {memory: 8M, with: [linux], purple: 1}": "memory with",
    "migrate: [{link: a, purple: 1}]": "link arena",
    "modules: [{file: quest.elf, purple: 1}]": "file args",
    "recovery: 'a 1ms/20ms beat=50ms purple=1 : a'": "needs beat restart replica takeover",
    "restart: {purple: 1}": "limit first most healthy",
    "vcpus: [{name: a, C: 1ms, T: 9ms, purple: 1}]": "name type C T",
    "vcpus: [{name: a, C: 1ms, T: 9ms, type: purple}]": "main io ata net usb disk",
    "purple: 1": "name cpus memory image ready stop",
}


def refused(run: Run, lines: str) -> set[str]:
    """Returns the words of the line that refuses `lines` in a cell's file."""
    key = lines.partition(":")[0]
    others = [line for line in YAML.splitlines(keepends=True) if not line.startswith(f"{key}:")]
    run.yaml.write_text("".join(others) + lines + "\n")
    assert run("config", "check", str(run.yaml)) == 2, lines
    found = [line for line in run.err.splitlines() if "purple" in line]
    assert len(found) == 1, run.err
    return set(re.findall(r"[A-Za-z0-9-]+", found[0]))


@pytest.mark.parametrize("lines", WITHIN)
def test_value_within_a_key(run: Run, lines: str) -> None:
    assert refused(run, lines) >= set(WITHIN[lines].split())


def choices() -> dict[str, set[str]]:
    """By key, the words that the table of keys in the documentation permits."""
    found = {key.name: set(re.findall(r"`([a-z][a-z0-9-]*)`", key.value)) - {"ms", "s"} for key in TABLE}
    return {name: words for name, words in found.items() if words}


def test_value_of_a_key(run: Run) -> None:
    assert len(choices()) > 12
    for name, words in choices().items():
        assert refused(run, f"{name}: purple") >= words, name


def test_value_of_an_option(run: Run) -> None:
    """An option with words for values is parsed by a function that returns a text."""
    options = [(command, option) for command in COMMANDS for option in command.options
               if inspect.getmodule(option.parse) is values
               and inspect.signature(option.parse).return_annotation == "str"]
    assert len(options) == 4
    for command, option in options:
        operand = [command.operand] if command.operand else []
        assert run(*command.path.split(), *operand, option.flags[0], "purple") == 2
        first, usage = run.err.splitlines()
        named = re.fullmatch(r"qvctl: --.*: `purple` is not a .* \((.*)\)", first)
        assert named and usage.startswith("  usage: qvctl "), run.err
        words = re.split(", | or ", named[1])
        assert len(words) >= 2
        assert all(accepts(option.parse, word) for word in words)
        described = re.findall(r"[a-z-]+", option.words)
        assert {word for word in described if accepts(option.parse, word)} <= set(words)


def accepts(parse: Callable[[str], object], word: str) -> bool:
    try:
        parse(word)
    except ValueError:
        return False
    return True
