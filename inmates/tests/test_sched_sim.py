# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the simulator: scenarios, error messages for wrong scenarios, and pictures."""
import subprocess
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

import pytest
import scenario
from gantt import came_back
from tracelog import segments

TOP = Path(__file__).resolve().parents[2]
SIM = TOP / "inmates/quest/sim"
SVG = "{http://www.w3.org/2000/svg}"

BAD = {
    "vcpus: [{name: a, C: 0, T: 5}]": "VCPU a: budget and period make no sense",
    "vcpus: [{name: a, C: 4, T: 5}, {name: b, C: 1, T: 5}]": "VCPU b: the VCPUs together would be above",
    "vcpus: [{name: a, C: 1.5, T: 5}]": "VCPU a: C is 1.5; use a whole number",
    "vcpus: [{name: a, C: 1, T: 5, type: disk}]": "VCPU a: type is 'disk'; use main or io",
    "vcpu: []": "the file: there is no key vcpu",
    "threads: [{name: t, vcpu: x}]": "thread t: its VCPU x is not there",
    "{vcpus: [{name: a, C: 1, T: 5}], threads: [{name: t, vcpu: a, do: [compute x]}]}": "`compute x` is no step",
    "{vcpus: [{name: a, C: 1, T: 5}], threads: [{name: t, vcpu: a, do: [io t 1]}]}": "`io t 1` is no step",
    "{vcpus: [{name: a, C: 1, T: 5}], threads: [{name: t, vcpu: a, do: [until 5, repeat]}]}": "time would stand still",
    "{vcpus: [{name: a, C: 1, T: 5}], threads: [{name: t, vcpu: a, do: [compute -5, repeat]}]}": "`compute -5` is no step",
    "{vcpus: [{name: a, C: 1, T: 5}], threads: [{name: t, vcpu: a, do: [compute 0, repeat]}]}": "`compute 0` is no step",
    "{vcpus: [{name: a, C: 1, T: 5}], threads: [{name: t, vcpu: a, do: [sleep 0, repeat]}]}": "`sleep 0` is no step",
    "{vcpus: [{name: a, C: 1, T: 5}], threads: [{name: t, vcpu: a, do: [until -1]}]}": "`until -1` is no step",
    "{vcpus: [{name: a, C: 1, T: 5}], threads: [{name: t, vcpu: [a], do: [compute]}]}": "thread t: its VCPU ['a'] is not there",
    "{vcpus: [{name: a, C: 1, T: 5}], threads: [{name: t, vcpu: a, do: [compute]}, {name: t, vcpu: a, do: [compute]}]}": "the name 't' is given twice",
    "vcpus: 5": "vcpus is 5; use a list",
    "vcpus: [{name: a, C: 1, T: 5, type: [x]}]": "type is ['x']; use main or io",
    "vcpus: [{name: a, C: 1, T: 5}, {name: a, C: 1, T: 50}]": "the name 'a' is given twice",
    "vcpus: [{C: 1, T: 5}]": "the name None is given twice, or is none",
    "vcpus: [{name: a, C: 1, T: 18446744073709551617}]": "use a whole number, 0 to",
    "[1, 2": "cannot be read",
    "7": "use keys and values",
}


def questsim(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(SIM / "questsim"), *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("text", BAD)
def test_bad_scenarios(text, tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text(text if text.startswith(("[", "7")) else (text[:-1] + ", end: 10}" if text[0] == "{" else f"{text}\nend: 10"))
    done = questsim(str(file))
    assert done.returncode == 1 and BAD[text] in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("file", sorted((SIM / "scenarios").glob("*.yaml")), ids=lambda f: f.stem)
def test_scenarios_and_their_pictures(file, tmp_path):
    done = questsim(str(file), "--queues", "--svg", str(tmp_path / "out.svg"))
    assert done.returncode == 0, done.stderr
    root = tree.parse(tmp_path / "out.svg").getroot()
    drawn = [t.text for bar in root.iter(SVG + "rect") for t in bar.iter(SVG + "title")]
    s = scenario.read(str(file))
    s.simulation.run(s.end)
    assert drawn == [f"{s.names[x.vcpu]}: {x.thread}, {x.begin} to {x.end} {s.unit}".rstrip()
                     for x in s.simulation.segments]


@pytest.mark.parametrize("name", ["figure-4.3", "five"])
def test_pictures_of_the_documentation_are_of_today(name, tmp_path):
    """To update them: questsim SCENARIO --to 400 (figure: 150) --svg PICTURE."""
    end = {"figure-4.3": "150", "five": "400"}[name]
    questsim(str(SIM / f"scenarios/{name}.yaml"), "--to", end, "--svg", str(tmp_path / "out.svg"))
    kept = TOP / f"Documentation/explanation/pictures/{name}.svg"
    assert (tmp_path / "out.svg").read_text() == kept.read_text()


def test_figure_as_text():
    out = questsim(str(SIM / "scenarios/figure-4.3.yaml"), "--queues").stdout.splitlines()
    assert "      28       30  I/O VCPU        handler        " in out
    assert "      68  VCPU1           (50,2) (90,2) (100,16)" in out
    assert out[-1].split() == ["idle", "46"]


def test_replenishments_in_the_picture():
    assert came_back([(0, [(0, 20)]), (28, [(0, 2), (50, 18)]), (60, [(50, 2), (90, 16)])]) == [(50, 18), (90, 16)]


def test_threads_that_sleep_and_wake_by_period():
    s = scenario.build({"end": 40, "vcpus": [{"name": "a", "C": 3, "T": 10}],
                        "threads": [{"name": "t", "vcpu": "a", "start": 2, "do": ["compute 2", "period 10", "repeat"]}]})
    s.simulation.run(40)
    assert s.simulation.of("t") == [(2, 4), (12, 14), (22, 24), (32, 34)]


def test_log_of_a_machine(tmp_path):
    log = tmp_path / "log"
    log.write_text("> trace 4\n         0   2 budget shell\n      1500   5 background load 1\n      9000  -1 idle idle\n"
                   "      9500   2 budget shell\n> ")
    found = segments(log.read_text())
    assert [(s.begin, s.end, s.thread, s.vcpu, s.background) for s in found] == [
        (0, 1500, "shell", 2, False), (1500, 9000, "load 1", 5, True)]
    done = subprocess.run([sys.executable, str(SIM / "questtrace"), str(log), str(tmp_path / "out.svg")])
    assert done.returncode == 0 and len(list(tree.parse(tmp_path / "out.svg").getroot().iter(SVG + "title"))) == 2


@pytest.mark.parametrize("tool, arguments", [
    ("questsim", ["/nowhere/a.yaml"]), ("questsim", [str(SIM / "scenarios/figure-4.3.yaml"), "--svg", "/nowhere/a.svg"]),
    ("questtrace", ["/nowhere/log", "/nowhere/a.svg"])])
def test_files_that_are_not_there(tool, arguments):
    done = subprocess.run([sys.executable, str(SIM / tool), *arguments], capture_output=True, text=True)
    assert done.returncode == 1
    assert "/nowhere" in done.stderr and ": No such file or directory\n" in done.stderr and "Traceback" not in done.stderr
