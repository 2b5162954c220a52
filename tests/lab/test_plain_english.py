# SPDX-License-Identifier: GPL-2.0-only
"""Unit tests of scripts/plain-english."""

import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from lab.paths import TOP


def load() -> ModuleType:
    name = "plain_english"
    loader = importlib.machinery.SourceFileLoader(name, str(TOP / "scripts/plain-english"))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # its dataclasses look their module up
    loader.exec_module(module)
    return module


plain = load()


def found(name: str, text: str) -> list[tuple[int, str]]:
    path = Path(name)
    return [(hit.line, hit.text) for hit in plain.hits(path, plain.prose(path, text))]


@pytest.mark.parametrize("text", [
    "nobody waits", "for somebody's CPU", "whoever asks", "it shall end", "it runs no more",
    "it waits for ever", "the own stack", "the caller is told", "it stands in the log",
    "a bit of theirs",
    "who asks. Who waits sleeps", "for who asks", "the cells, and what is not one",
    "a page that is the cell's", "except Linux's, too", "it begins anew", "a page, but for its end",
])
def test_idiom_is_found(text: str) -> None:
    assert found("a.md", f"{text}\n")


@pytest.mark.parametrize("text", [
    "no more than 4 CPUs", "a stand-alone kernel", "C stands for budget", "it's, that's",
    "the cell's CPU",
    "what if it fails", "answers a technical question", "it decides what the guest sees",
    "the marshal",
])
def test_term_of_the_field_is_not_found(text: str) -> None:
    assert not found("a.md", f"{text}\n")


@pytest.mark.parametrize("name, text, lines", [
    ("a.c", 'int nobody; // shall\nchar *s = "shall"; /* it\n * shall */\nint shall;\n', [1, 3]),
    ("a.c", "/* runs no\n * more */\n", [1]),
    ("a.h", "/*\n * Who reads this\n */\n", [2]),
    ("a.py", '"""A module.\n\nIt shall."""\nshall = "shall"  # shall\nf("nobody")\n', [3, 4]),
    ("a.py", "# begins\n# What goes\n", []),
    ("a.yaml", "# expect: 7:7: a list stands here\n# it stands\nkey: 1\n", [2]),
    ("Makefile", "shall: # shall\n\techo 'a # shall'\n", [1]),
    ("tool", "#!/bin/sh\n# shall\n", [2]),
    ("tool", "#!/usr/bin/python3\n'''shall'''\n", [2]),
    ("a.md", "shall\n\n    shall\n\n```c\nshall\n```\n`shall` [x](shall.md)\n", [1]),
    ("a.txt", "shall\n", []),
    ("a.c", 'f("%s: it shall end\\n");\nf("shall");\n', [1]),
    ("a.py", 'f(f"{name}: it shall end")\nf("shall")\n', [1]),
    ("tests/a.py", 'f("it shall end here")\n', []),
])
def test_only_prose_is_read(name: str, text: str, lines: list[int]) -> None:
    assert [line for line, _ in found(name, text)] == lines


def test_each_idiom_has_a_replacement() -> None:
    assert all(instead for _, instead in plain.WORDS)


@pytest.mark.parametrize("subject, good", [
    ("svm: inject #DB for emulated instructions", True), ("tests/lab, README: name the page", True),
    ('Revert "svm: inject"', True), ("inject #DB", False), ("svm: inject it.", False),
    ("svm: " + "x" * 67, True), ("svm: " + "x" * 68, False),
])
def test_commit_subject_is_checked(subject: str, good: bool) -> None:
    assert (plain.check_subject(subject) == "") == good


@pytest.mark.parametrize("name, line, long", [
    ("a.c", "x" * 100, False), ("a.c", "x" * 101, True), ("a.c", "\t" * 12 + "x" * 5, True),
    ("a.c", f'f("{"x" * 100}");', True), ("a.py", f'f("{"x" * 100}")', False),
    ("a.h", "|" + "\t" * 12 + "x" * 5, True), ("a.md", "x" * 101, True),
    ("a.md", "| " + "x" * 101, False), ("a.md", "    " + "x" * 101, False),
    ("a.md", f"[x]({'x' * 101})", False),
    ("tools/qv/a.py", f'f("{"x" * 95}")', False), ("tools/qv/a.py", f'f("{"x" * 96}")', True),
])
def test_long_line_is_found(name: str, line: str, long: bool) -> None:
    assert plain.too_long(Path(name), line) == long


def test_formatted_python_has_no_long_line() -> None:
    assert [hit for hit in plain.wide_lines(TOP) if plain.formatted(hit.path)] == []


def test_added_line_numbers_are_parsed() -> None:
    diff = "+++ b/x\n@@ -1,0 +2,3 @@\n+a\n@@ -9 +12 @@ f\n+b\n@@ -20,2 +23,0 @@\n" \
        "+++ b/y\n@@ -0,0 +1 @@\n"
    assert plain.added_lines(diff) == {Path("x"): [2, 3, 4, 12], Path("y"): [1]}


def run(top: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOP / "scripts/plain-english"), "--top", str(top), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_added_lines_and_commits_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    """The tool root has no git, so this test supplies the output of its commands."""
    answers = {"log": "1234567 no form\n7654321 core: add a page\n",
               "diff": "+++ b/a.md\n@@ -1,0 +2,2 @@\n+++ b/gone.c\n@@ -0,0 +1 @@\n"}
    monkeypatch.setattr(plain, "git", lambda top, verb, *words: answers[verb])
    (tmp_path / "a.md").write_text(f"It shall.\nNobody reads this.\n{'x' * 101}\n")
    assert plain.added(tmp_path, "BASE") == 1
    wrong = capsys.readouterr().out.splitlines()
    assert "no form: not of the form" in wrong[0]
    assert [line.split(" ", 1)[0] for line in wrong[1:-1]] == ["a.md:2:", "a.md:3:"]
    answers |= {"log": "", "diff": ""}
    assert plain.added(tmp_path, "BASE") == 0


def test_tree_is_listed_and_unknown_base_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(f'/* It shall. */\nint {"x" * 101};\n')
    assert [line.split(" ")[0] for line in run(tmp_path, "--list", "a.c").stdout.splitlines()] == ["a.c:1:", "a.c:2:", "2"]
    assert run(tmp_path, "--added", "HEAD").returncode == 2
