# SPDX-License-Identifier: GPL-2.0-only
"""qvctl place: cells and programs of files, moves that make room, wrong files."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from running import Run

from qv.keys import vcpus

NONE = ", ".join(f"{{name: {one}, C: none}}" for one in vcpus.OWN)
LINKS = [("one", "two"), ("two", "one"), ("two", "three"), ("three", "two")]


def cell(run: Run, name: str, cpu: int, links: Iterable[tuple[str, str]] = (), more: str = "",
         own: str = NONE) -> str:
    """Writes the file of a cell whose Quest has no VCPU with a budget, except `migration`."""
    mine = [link for link in links if name in link]
    channels = ", ".join(f"{{name: {a}-{b}, type: mailbox, item: 4096, writer: {a}, readers: [{b}]}}" for a, b in mine)
    words = " ".join(f"migrate={a}-{b}" for a, b in mine)
    file = run.yaml.with_name(f"{name}.yaml")
    file.write_text(f"name: {name}\ncpus: [{cpu}]\nmemory: 64M\nimage: quest.elf\nadmission: exact\ncmdline: '{words}'\n"
                    f"vcpus: [{own}, {{name: migration, C: none}}]\nchannels: [{channels}]\n{more}")
    return str(file)


def programs(run: Run, *lines: str) -> str:
    file = run.yaml.with_name("programs.yaml")
    file.write_text("".join(f"- {{{line}}}\n" for line in lines))
    return str(file)


@pytest.fixture
def files(run: Run) -> list[str]:
    return [cell(run, name, 1 + number, LINKS) for number, name in enumerate(("one", "two", "three"))]


FULL = ("name: a, C: 20ms, T: 100ms, at: one", "name: b, C: 60ms, T: 100ms, at: two", "name: c, C: 100ms, T: 100ms, at: three",
        "name: d, C: 90ms, T: 100ms")


def test_moves_make_room(run: Run, files: list[str]) -> None:
    assert run("place", *files, programs(run, *FULL)) == 0, run.err
    assert run.out.splitlines() == [
        "PROGRAM  C/T          NEAR  CELL",
        "a        20ms/100ms   -     two",
        "b        60ms/100ms   -     two",
        "c        100ms/100ms  -     three",
        "d        90ms/100ms   -     one",
        "1. move a from one to two, to make room for d",
        "2. start d in one",
        "loads: one 90.0 %, two 80.0 %, three 100.0 %"]


def test_json(run: Run, files: list[str]) -> None:
    found = run.json("place", *files, programs(run, *FULL), "--json")
    assert found["policy"] == "first"
    assert found["steps"] == [{"action": "move", "program": "a", "from": "one", "to": "two", "for": "d"},
                              {"action": "start", "program": "d", "from": None, "to": "one", "for": None}]
    assert found["programs"][0] == {"name": "a", "near": None, "at": "one", "cell": "two"}
    assert [one["links"] for one in found["cells"]] == [["two"], ["one", "three"], ["two"]]
    assert [round(one["load"], 3) for one in found["cells"]] == [.9, .8, 1.0]


@pytest.mark.parametrize("policy, where", [("first", "one"), ("near", "two"), ("balance", "three")])
def test_policies(run: Run, files: list[str], policy: str, where: str) -> None:
    """The program names cell three, which has the least load, or no room."""
    most = f"name: c, C: {95 if policy == 'near' else 5}ms, T: 100ms, at: three"
    lists = programs(run, "name: a, C: 20ms, T: 100ms, at: one", "name: b, C: 20ms, T: 100ms, at: two", most,
                     "name: new, C: 10ms, T: 100ms, near: three")
    assert run.json("place", *files, lists, "--policy", policy, "--json")["programs"][3]["cell"] == where


def test_programs_move_by_links_only(run: Run) -> None:
    """Both cells list the mailbox, but only cell one names it as a link."""
    files = [cell(run, "one", 1, LINKS[:1]), cell(run, "two", 2, LINKS[:1])]
    lists = programs(run, *FULL[:2], FULL[3])
    assert run("place", *files, lists) == 0, run.err
    two = run.yaml.with_name("two.yaml")
    two.write_text(two.read_text().replace("cmdline: 'migrate=one-two'", "cmdline: ''"))
    assert run("place", *files, lists) == 1
    assert "no cell admits d, and no 2 moves make room for it" in run.out
    assert run("place", *files, lists, "--json") == 1
    found = json.loads(run.out)
    assert found["programs"][2]["cell"] is None and found["cells"][0]["links"] == []


def test_the_key_migrate_names_links(run: Run, files: list[str]) -> None:
    for name in ("one", "two", "three"):
        file = run.yaml.with_name(f"{name}.yaml")
        links = ", ".join(f"{a}-{b}" for a, b in LINKS if name in (a, b))
        lines = (line for line in file.read_text().splitlines() if not line.startswith("cmdline"))
        file.write_text("\n".join([*lines, f"migrate: [{links}]", ""]))
    found = run.json("place", *files, programs(run, *FULL), "--json")
    assert [one["links"] for one in found["cells"]] == [["two"], ["one", "three"], ["two"]]
    assert found["programs"][3]["cell"] == "one"


def test_quests_own_vcpus_count(run: Run) -> None:
    """With links, the VCPU `migration` counts, too: 10 ms in 200 ms."""
    file = run.yaml.with_name("one.yaml")
    channels = "channels: [{name: there, type: mailbox, item: 4096, writer: one, readers: [two]}]"
    for links, load in (("", .26), ("cmdline: 'migrate=there'", .31), ("migrate: [there]", .31)):
        file.write_text(f"name: one\ncpus: [1]\nmemory: 64M\nimage: quest.elf\nadmission: exact\n{channels}\n{links}\n")
        found = run.json("place", str(file), programs(run, "name: a, vcpus: [{name: v, C: 1ms, T: 1s}]"), "--json")
        assert found["cells"][0]["load"] == pytest.approx(load + .001, abs=.0005)


@pytest.mark.parametrize("line, wrong", [
    ("C: 1ms, T: 2ms", "programs: the program has no `name` (such as "),
    ("name: a, C: 1ms", "programs: the program has not both `C` and `T` ("),
    ("name: a, C: 3ms, T: 2ms", "programs: the budget C is larger than the period T (C at most T)"),
    ("name: a, C: 1, T: 2ms", "programs: 1 has no unit ("),
    ("name: a/b, C: 1ms, T: 2ms", "programs: `a/b` is not the name of a program ("),
    ("name: a, C: 1ms, T: 2ms, at: four", "programs: no file has a cell `four` (the file of the cell, or one of one, two, three)"),
    ("name: a, C: 1ms, T: 2ms, near: '00:03.0'", "programs: no cell of the files has the PCI function 00:03.0 ("),
    ("name: a, C: 1ms, T: 2ms, size: 3", "programs: `size` is not a key of a program, or is given twice ("),
])
def test_wrong_programs(run: Run, files: list[str], line: str, wrong: str) -> None:
    assert run("place", *files, programs(run, line)) == 2
    assert wrong in run.err


def test_wrong_files(run: Run, files: list[str]) -> None:
    twice = programs(run, "name: a, C: 1ms, T: 2ms", "name: a, C: 1ms, T: 3ms")
    assert run("place", *files, twice) == 2 and "`a` is listed twice" in run.err
    assert run("place", *files) == 2 and "no file describes programs" in run.err
    assert run("place", twice) == 2 and "no file describes a cell" in run.err
    assert run("place", *files, twice, "--policy", "last") == 2
    assert "--policy: `last` is not a policy (first, near or balance)" in run.err


def test_programs_that_a_cell_cannot_have(run: Run, files: list[str]) -> None:
    assert run("place", *files, programs(run, *(f"name: {name}, C: 60ms, T: 100ms, at: one" for name in "ab"))) == 1
    assert "cell one does not admit the programs that run there: a, b\n  remedy: smaller C" in run.err


@pytest.mark.parametrize("text, wrong", [
    ("- {name: a, C: 1ms, T: 2ms\n", "programs.yaml:1:3: yaml: the mapping that begins here is not closed"),
    ("-\t{name: a}\n", "programs.yaml:1:2: yaml: a tab "),
    ("", "programs.yaml:1:1: yaml: the file is empty"),
    ("- {name: a, C: 1ms, T: 2ms}\n" * 4096, "programs.yaml:1:1: file: is larger than 64 KiB"),
    (None, "programs.yaml:1:1: file: cannot be read: no such file or directory"),
])
def test_list_that_cannot_be_read_is_named(run: Run, files: list[str], text: str | None,
                                           wrong: str) -> None:
    file = run.yaml.with_name("programs.yaml")
    if text is not None:
        file.write_text(text)
    assert run("place", *files, str(file)) == 2
    assert wrong in run.err and "no file describes" not in run.err


def test_programs_do_not_come_from_a_pipe(run: Run, files: list[str]) -> None:
    assert run("place", *files, "-") == 2
    assert "no file describes programs: programs come from a file, not from a pipe" in run.err


def test_cells_of_another_machine(run: Run) -> None:
    """The fake machine has the CPUs 0 to 3, and 2 GiB. Its cells have nothing to do with the files."""
    file = run.yaml.with_name("one.yaml")
    cell(run, "one", 77)
    file.write_text(file.read_text().replace("64M", "900G"))
    assert run("place", str(file), programs(run, "name: a, C: 1ms, T: 2ms")) == 0, run.err


def test_a_cell_whose_file_is_missing_has_no_name(run: Run, files: list[str]) -> None:
    assert run("place", "nosuch.yaml", files[1], programs(run, "name: a, C: 1ms, T: 2ms, at: one")) == 2
    assert "no file has a cell `one` (the file of the cell, or one of two)" in run.err
