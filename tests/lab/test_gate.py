# SPDX-License-Identifier: GPL-2.0-only
"""Unit tests of `make check` and `make check-all`: which tests, on which worker, and the verdict."""

import json
import os
import subprocess
from pathlib import Path
from typing import cast

import pytest

from lab import check, enter, everything, fixtures, gate, limit, lint, paths, record, roots, speed
from lab.check import Count
from lab.errors import LabError
from lab.parts import part_of
from lab.record import Result
from lab.workers import workers

GIB = 1 << 30


def test_worker_count_follows_cores_and_memory() -> None:
    assert workers(3 * GIB, cores=2, total=4 * GIB) == 2
    assert workers(3 * GIB, cores=16, total=64 * GIB) == 16
    assert workers(3 * GIB, cores=16, total=24 * GIB) == 8


class Node:
    """A test as pytest collects it, in a machine."""

    fixturenames = ("machine",)

    def __init__(self, path: str, **machine: object) -> None:
        self.path, self.nodeid = Path(path), path
        self._marks = [pytest.mark.machine(**machine).mark]

    def iter_markers(self, _name: str) -> list[pytest.Mark]:
        return self._marks


def group(node: Node, many: bool) -> str:
    return fixtures.group(cast(pytest.Item, node), many)


def test_groups_are_machines_or_with_many_workers_files() -> None:
    nodes = [Node("lab/test_a.py"), Node("lab/test_b.py"), Node("lab/test_b.py", cpus=8),
             Node("lab/test_a.py", machine="intel"), Node("lab/test_b.py", machine="intel"),
             Node("attack/test_c.py", machine="intel")]

    def groups(many: bool) -> list[int]:
        names = [group(node, many) for node in nodes]
        return [names.index(name) for name in names]
    assert groups(many=False) == [0, 0, 2, 3, 3, 3]
    assert groups(many=True) == [0, 1, 2, 3, 4, 5]
    assert all(group(node, many).startswith(fixtures.SLOW)
               for node in nodes[3:] for many in (False, True))


def test_tree_of_processes_has_all_descendants() -> None:
    assert limit.tree({1: 0, 10: 1, 11: 10, 12: 11, 20: 1}, 10) == [10, 11, 12]
    assert os.getppid() in limit.parents()


def test_record_survives_a_line_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "x/results.jsonl"
    Result("a", "failed", 1).append(path)
    Result("a", "passed", 2).append(path)
    with path.open("a") as file:
        file.write('{"name": "b", "outc')
    assert record.read(path) == {"a": Result("a", "passed", 2)}


def test_essentials_of_a_failure_are_recorded(tmp_path: Path) -> None:
    """The assertion, the last lines of the console, and the registers in front of other evidence."""
    class Crash:
        path, lineno, message = "test_a.py", 7, "AssertionError: why\nassert 2 == 1"

    class Failure:
        reprcrash = Crash()
    console = "\n".join(f"line {n}" for n in range(record.LINES + 40))
    evidence = "it hangs\n\n== registers\nRAX=1\nRBX=2\n\n== monitor\ninstance 0"
    path, sections = tmp_path / "results", [("console (a.log)", console), ("evidence", evidence)]
    recorder, place = record.Recorder(path), ("a", 1, "a")
    recorder.pytest_runtest_logreport(pytest.TestReport(
        "test_a", place, {}, "failed", cast(str, Failure()), "call", sections))
    recorder.pytest_runtest_logreport(pytest.TestReport("test_a", place, {}, "passed", None, "teardown"))
    lines = record.read(path)["test_a"].essentials.splitlines()
    assert lines[:3] == ["test_a.py:7: AssertionError: why", "assert 2 == 1", "-- console (a.log)"]
    assert lines[3:-3] == console.splitlines()[-record.LINES:]
    assert lines[-3:] == ["-- registers", "RAX=1", "RBX=2"]


@pytest.mark.parametrize("text", ["0/8", "9/8", "8", "1/0", "x"])
def test_part_that_does_not_exist_is_rejected(text: str) -> None:
    with pytest.raises(LabError, match="is no part"):
        part_of(text)


def test_each_name_is_in_one_part() -> None:
    parts = [part_of(f"{k}/7") for k in range(1, 8)]
    names = [f"test {n}" for n in range(700)]
    assert all(sum(part.has(name) for part in parts) == 1 for name in names)
    assert all(70 < sum(part.has(name) for name in names) < 130 for part in parts)


def test_check_all_has_each_command_of_check() -> None:
    names = everything.commands().keys()
    assert {f"build for {kernel}" for kernel in gate.KERNELS} < names and {"prove manager", "fuzz exit", "fuzz config"} < names
    assert {f"make -C {folder} check" for folder in check.UNITS} - names == \
        {"make -C tests/prove check", "make -C tests/fuzz check"}


def test_cache_is_shared_and_can_be_elsewhere(tmp_path: Path) -> None:
    assert paths.cache({"QV_CACHE": str(tmp_path), "XDG_CACHE_HOME": "/x"}) == tmp_path
    assert paths.cache({"XDG_CACHE_HOME": "/x"}) == Path("/x/qv")
    assert paths.cache({"XDG_CACHE_HOME": "x"}) == Path.home().resolve() / ".cache/qv"
    assert paths.cache({}) == Path.home().resolve() / ".cache/qv"


def test_limits_of_time_grow_with_the_load_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "_measured", (-1e9, 1.0))
    monkeypatch.setattr(speed, "measure", lambda: 3.5)
    assert speed.factor() == 3.5
    monkeypatch.setattr(speed, "measure", lambda: 0.5)
    assert speed.factor() == 3.5, "measured once a minute"
    monkeypatch.setattr(speed, "_measured", (-1e9, 1.0))
    assert speed.factor() == 1.0


def test_verdict_forgives_few_unstable_tests_once() -> None:
    some = [f"test {n}" for n in range(gate.FORGIVEN + 1)]
    assert gate.verdict([], [], {"a"}) == [] and gate.verdict([], some[:-1], {"a"}) == []
    assert gate.verdict(["a"], [], set()) and gate.verdict([], some, set())
    [said] = gate.verdict([], ["a", "b"], {"b", "c"})
    assert "unstable in an earlier run, too: b" in said


def test_run_over_the_budget_names_the_longest() -> None:
    times = {f"test {n}": float(n) for n in range(99)}
    assert gate.too_long(gate.BUDGET, times) == []
    lines = gate.too_long(gate.BUDGET + 1, times)
    assert lines[1].split() == ["98.0", "s", "test", "98"] and len(lines) == 1 + gate.SHOWN


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """Replaces all that takes time. Returns the outcome of each test when it is run again, for
    the test to fill in; a test that is not in it passes at once."""
    second: dict[str, str] = {}

    def lab_tests() -> dict[str, Result]:
        return {name: Result(name, "failed", 1.0, essentials="assert 2 == 1\nlast line") if name in second
                else Result(name, "passed", 1.0) for name in ("a", "b", "c")}

    def pytest_again(arguments: list[str]) -> int:
        [only] = [Path(a.partition("=")[2]) for a in arguments if a.startswith("--only=")]
        [results] = [Path(a.partition("=")[2]) for a in arguments if a.startswith("--record=")]
        assert "--alone" in arguments and "0" in arguments
        for name in only.read_text().split():
            Result(name, second[name], 1.0).append(results)
        return 0
    monkeypatch.setattr(gate, "prepare", lambda: None)
    monkeypatch.setattr(gate, "BUILD", tmp_path)
    monkeypatch.setattr(gate, "BEFORE", tmp_path / "unstable.json")
    monkeypatch.setattr(gate, "REPORT", tmp_path / "check.json")
    monkeypatch.setattr(lint, "main", lambda: 1)
    (tmp_path / "lab").mkdir()
    instead = {"NAMES": tmp_path / "none", "lab_tests": lab_tests, "pytest": pytest_again,
               "boots": lambda: None, "size": lambda: None, "build_for": lambda kernel: None,
               "unit": lambda folder: Count(1, 0)}
    for name, value in instead.items():
        monkeypatch.setattr(check, name, value)
    return second


def test_check_is_green_though_lint_is_not(runs: dict[str, str], tmp_path: Path,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    assert gate.main() == 0
    steps = len(gate.KERNELS) + 3 + len(check.UNITS)
    assert capsys.readouterr().out.splitlines()[-1] == f"{steps + 3} passed, 0 failed"
    said = json.loads((tmp_path / "check.json").read_text())
    assert (said["passed"], said["failed"], said["unstable"]) == (steps + 3, 0, []) and said["commit"] == lint.git("rev-parse", "HEAD")


def test_test_that_passes_again_is_unstable(runs: dict[str, str], tmp_path: Path,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    runs["b"] = "passed"
    assert gate.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].endswith(" passed, 0 failed, 1 unstable") and "UNSTABLE b" in lines
    first = lines.index("UNSTABLE b")
    assert lines[first + 1:first + 3] == ["    assert 2 == 1", "    last line"]
    assert json.loads((tmp_path / "check.json").read_text())["unstable"] == ["b"]
    assert gate.unstable_before()[-1]["essentials"] == {"b": "assert 2 == 1\nlast line"}
    assert gate.main() == 1, "the same one in two runs"


def test_fault_of_the_emulator_makes_no_test_unstable(
        runs: dict[str, str], monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    runs["b"] = "passed"
    monkeypatch.setattr(check, "lab_tests", lambda: {"b": Result("b", "failed", 1.0, emulator=True)})
    assert [gate.main(), gate.main()] == [0, 0], "it may come again"
    lines = capsys.readouterr().out.splitlines()
    assert lines.count("EMULATOR FAULT b") == 2 and lines[-1].endswith(" passed, 0 failed")


def test_test_that_fails_again_is_red(runs: dict[str, str],
                                      capsys: pytest.CaptureFixture[str]) -> None:
    runs.update(a="failed", b="passed")
    assert gate.main() == 1
    lines = capsys.readouterr().out.splitlines()
    assert "FAILED a" in lines and "UNSTABLE b" in lines and lines[-1].endswith(" passed, 1 failed, 1 unstable")


def test_lint_that_breaks_hides_no_test(runs: dict[str, str], monkeypatch: pytest.MonkeyPatch,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    """The folders' tests run after lint, on the same thread."""
    def broken() -> int:
        raise LabError("there is no tree", "make it")
    monkeypatch.setattr(lint, "main", broken)
    assert gate.main() == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{len(gate.KERNELS) + 6 + len(check.UNITS)} passed, 0 failed"


def test_test_that_was_not_run_has_failed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(check, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(check, "NAMES", tmp_path / "names")

    def session(names: list[str], done: list[Result], status: int) -> dict[str, str]:
        def run(arguments: object) -> int:
            for result in done:
                result.append(check.RESULTS)
            if names:
                check.NAMES.write_text("".join(f"{name}\n" for name in names))
            return status
        monkeypatch.setattr(check, "pytest", run)
        return {name: result.outcome for name, result in check.lab_tests().items()}
    passed, failed = Result("a", "passed", 1.0), Result("b", "failed", 1.0)
    assert session(["a", "b"], [passed, failed], 1) == {"a": "passed", "b": "failed"}
    assert session(["a", "b"], [passed], 1) == {"a": "passed", "b": "failed"}
    assert session(["a"], [passed], 3) == {"a": "passed", "pytest": "failed"}
    assert session([], [], 5) == {"pytest": "failed"}
    assert session(["a"], [passed], 0) == {"a": "passed"}


def test_folder_whose_check_says_nothing_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "tree", lambda folder: Path("/"))
    for said, good in (("7 passed, 0 failed\n", True), ("0 passed, 0 failed\n", False), ("", False)):
        done = subprocess.CompletedProcess(["make"], 0, said)
        monkeypatch.setattr(enter, "run", lambda *_, d=done, **__: d)
        assert (check.unit("tools").failed == 0) == good


def test_step_that_breaks_is_red(runs: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(folder: str) -> Count:
        raise OSError("no space left")
    monkeypatch.setattr(check, "unit", broken)
    assert gate.main() == 1


def test_cache_that_was_cut_off_is_made_again(tmp_path: Path) -> None:
    """A maker that dies leaves no place that looks complete. The next one begins again."""
    place = tmp_path / "thing_1"

    def cut_off(fresh: Path) -> None:
        (fresh / "half").write_text("")
        raise LabError("no space left on device", "make room")
    with pytest.raises(LabError, match="no space"):
        roots.make_once(place, cut_off, "a thing")
    assert not place.exists()

    def whole(fresh: Path) -> None:
        assert not list(fresh.iterdir())
        (fresh / "whole").write_text("")
    assert (roots.make_once(place, whole, "a thing") / "whole").exists()


def test_clones_at_once_make_one_tree(tmp_path: Path) -> None:
    script = ("import sys, time; sys.path.insert(0, sys.argv[1])\nfrom pathlib import Path\nfrom lab import roots\n"
              "def build(fresh):\n    time.sleep(0.5)\n    (fresh / 'made').write_text('')\n    print('made')\n"
              "roots.make_once(Path(sys.argv[2]) / 'thing_1', build, 'a thing')\n")
    argv = ["python3", "-B", "-c", script, str(paths.LAB), str(tmp_path)]
    clones = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
              for _ in range(3)]
    said = [process.communicate()[0] for process in clones]
    assert sorted(said) == ["", "", "made\n"] and all(clone.returncode == 0 for clone in clones)
