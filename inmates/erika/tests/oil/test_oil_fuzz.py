# SPDX-License-Identifier: GPL-2.0-only
"""No input makes the compiler raise an exception: it returns an application or an error."""

import random

from oilcases import cases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oil.compile import Compiled, compile_text
from oilsamples import SAMPLES

CALM = settings(deadline=None,
                database=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck))
WORDS = [
    "OIL_VERSION", "IMPLEMENTATION", "CPU", "TASK", "OS", "EVENT", "ALARM", "MESSAGE", "COUNTER",
    "ISR", "RESOURCE", "SCHEDULETABLE", "PRIORITY", "AUTOSTART", "ACTION", "AUTO", "TRUE", "UINT32",
    "ENUM", "STRUCT", "WITH_AUTO", "x", "y", "{", "}", "{", "}", ";", ";", "=", "=", "[", "]", "..",
    ",", ":", "1", "-1", "0x10", "1.5", "1e999", '"2.5"', '"', "\\", "/*", "*/", "//", "#include",
    "<arch.oil>", "\n", "\t", "\0", "\u00e9", "\ud7ff", "9" * 30, "x" * 300
]


def sound(compiled: Compiled) -> None:
    """Checks that there is either an application or an error, and that all can be printed."""
    assert bool(compiled.application) != bool(compiled.problems.errors())
    for problem in compiled.problems.found:
        assert str(problem).isprintable() or "\n" in str(problem) or "\t" in str(problem)
        assert problem.place.line > 0 and problem.place.column > 0


@CALM
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    sound(compile_text("t.oil", text))


@settings(CALM, max_examples=150)
@given(st.lists(st.sampled_from(WORDS), max_size=40))
def test_words_of_oil(words: list[str]) -> None:
    sound(compile_text("t.oil", " ".join(words)))


def mutated(text: str, chance: random.Random) -> str:
    """Returns the text with some words lost, doubled, swapped or replaced."""
    words = text.replace(";", " ; ").replace("{", " { ").replace("}", " } ").split(" ")
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(words))
        match chance.randrange(4):
            case 0:
                words[at] = ""
            case 1:
                words[at] = chance.choice(WORDS)
            case 2:
                words[at] += f" {words[at]}"
            case _:
                other = chance.randrange(len(words))
                words[at], words[other] = words[other], words[at]
    return " ".join(words)


def test_mutated_files() -> None:
    """Samples and malformed files, changed a little, 400 times from a fixed seed."""
    chance = random.Random(14)
    texts = [*SAMPLES.values(), *(case.oil() for case in cases() if case.text)]
    for _ in range(400):
        sound(compile_text("t.oil", mutated(chance.choice(texts), chance)))


def test_bytes_of_any_kind() -> None:
    chance = random.Random(14)
    for length in range(60):
        raw = bytes(chance.randrange(256) for _ in range(length))
        sound(compile_text("t.oil", raw.decode("utf-8", "replace")))
