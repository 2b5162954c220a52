# SPDX-License-Identifier: GPL-2.0-only
"""Applications for the OSEK kernel, built outside the tree with the installed files."""
import json
import subprocess
from collections.abc import Iterator

import pytest

from lab import bare as m
from lab.outside import Outside

# The lines that each sample prints, as its README says
SAYS = {
    "blink": "blink 1: on\nblink 2: off\nblink 3: on\n",
    "engine": "engine: cycle 1, 4 injections, 4 sparks, 11 controls, 410 ul\n"
    "engine: cycle 2, 8 injections, 8 sparks, 23 controls, 500 ul\n"
}


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    yield Outside(tmp_path_factory.mktemp("erika"))


@pytest.mark.parametrize("example", SAYS)
def test_new_application_runs_alone(outside: Outside, example: str) -> None:
    """The three commands of the README: new, make, and the machine of `make run`, with a clock that
    counts instructions."""
    outside.run("qvoil", "new", f"my {example}", "--example", example)
    assert "warning:" not in outside.run("make", folder=f"my {example}")
    image = outside.path / f"my {example}" / f"my-{example}32.elf"
    with m.Machine("-kernel", str(image), *m.COUNTED) as machine:
        last = SAYS[example].splitlines()[-1]
        machine.expect(last)
        assert SAYS[example].rstrip() in machine.text
    readme = (outside.path / f"my {example}" / "README.md").read_text()
    assert all(line in readme for line in SAYS[example].splitlines()[:2])


def test_change_of_the_oil_file_is_seen(outside: Outside) -> None:
    outside.run("qvoil", "new", "change")
    outside.run("make", folder="change")
    assert "Nothing to be done" in outside.run("make", folder="change")
    oil = outside.path / "change/change.oil"
    oil.write_text(oil.read_text().replace("PRIORITY = 1;", "PRIORTY = 1;"))
    said = outside.run("make", folder="change", status=2)
    wrong = "TASK Toggle: PRIORTY is not an attribute here (perhaps PRIORITY)"
    assert f"change.oil:14:3: {wrong}\n" in said
    oil.write_text(oil.read_text().replace("PRIORTY = 1;", "PRIORITY = 2;"))
    outside.run("make", folder="change")
    assert "ERIKA_QUEUE := multi" in (outside.path / "change/out/os_config.mk").read_text()
    outside.run("make", "clean", folder="change")
    assert sorted(path.name for path in (outside.path / "change").iterdir()) == [
        "Makefile", "README.md", "change.c", "change.oil", "change.yaml", "compile_commands.json"
    ]


def test_compilation_database_names_all_sources(outside: Outside) -> None:
    outside.run("qvoil", "new", "data")
    outside.run("make", folder="data")
    entries = json.loads((outside.path / "data/compile_commands.json").read_text())
    assert [entry["file"] for entry in entries] == ["data.c", "out/os_config.c"]
    for entry in entries:
        subprocess.run([*entry["arguments"], "-fsyntax-only"], cwd=entry["directory"], check=True)


def test_symbols_of_the_map_are_in_the_image(outside: Outside) -> None:
    outside.run("qvoil", "new", "map", "--example", "engine")
    outside.run("make", folder="map")
    known = json.loads((outside.path / "map/out/os_config.json").read_text())
    symbols = set(outside.run("nm", "out/map.debug.elf", folder="map").split())
    assert {known["symbols"][part]
            for part in ("state", "tasks", "counters", "alarms", "tables")} <= symbols
    assert {task["stack"]["symbol"] for task in known["tasks"]} <= symbols
    assert known["isr_stack"]["symbol"] in symbols
