# SPDX-License-Identifier: GPL-2.0-only
"""qvbench on a driver that exists only here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import FakeDevice, FakeSystem
from running import TINY

from qv import abi, bench


class Driver(FakeDevice):
    def start(self, name: str) -> abi.Reply:
        answer = super().start(name)
        self.cells[name].first_entry_ns = 2_500_000
        return answer


def test_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "quesh").write_text("#!/bin/sh\necho 'cpuid: n=1000 cycles=1234'\n")
    (folder / "quesh").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    (tmp_path / "quest.elf").write_bytes(TINY)
    yaml = tmp_path / "quest.yaml"
    yaml.write_text("name: quest\ncpus: [3]\nmemory: 64M\nimage: quest.elf\n")
    driver = Driver()
    report = tmp_path / "bench.json"
    argv = ["--config", str(yaml), "--json", str(report), "--sloc", "4000", "--text", "30000"]
    assert bench.main(argv, FakeSystem(driver, tmp_path)) == 0  # type: ignore[arg-type]
    data = json.loads(report.read_text())
    assert data["monitor"] == {"sloc": 4000, "text_bytes": 30000}
    assert set(data["operations"]) == {"enable", "create", "start", "destroy", "disable"}
    assert data["operations"]["create"]["median_ms"] == 1.5 and len(data["operations"]["create"]["all_ms"]) == 5
    assert data["first_instruction"]["median_ms"] == 2.5
    assert data["held"] == {"goal_us": 100.0, "longest_us": 20.0, "met": True}
    assert data["idle"]["cell"]["per_second"]["icr"] == 40.0
    assert data["cpuid"]["median_cycles"] == 1234
    assert not driver.enabled and not driver.cells
    assert "MEDIAN ms" in capsys.readouterr().out


def test_refuses_when_enabled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "quest.elf").write_bytes(TINY)
    yaml = tmp_path / "quest.yaml"
    yaml.write_text("name: quest\ncpus: [3]\nmemory: 64M\nimage: quest.elf\n")
    driver = FakeDevice()
    driver.enabled = True
    assert bench.main(["--config", str(yaml)], FakeSystem(driver, tmp_path)) == 1  # type: ignore[arg-type]
    assert "enabled already" in capsys.readouterr().err
    assert driver.calls == []


def test_wrong_configuration_is_reported(tmp_path: Path,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    yaml = tmp_path / "quest.yaml"
    yaml.write_text("name: quest\n")
    driver = FakeDevice()
    assert bench.main(["--config", str(yaml)], FakeSystem(driver, tmp_path)) == 2  # type: ignore[arg-type]
    assert capsys.readouterr().err.startswith(f"{yaml}:1:1: cpus: is missing (")
    assert driver.calls == []


def test_interrupted_measurement_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    """^C while it watches an idle machine."""
    (tmp_path / "quest.elf").write_bytes(TINY)
    yaml = tmp_path / "quest.yaml"
    yaml.write_text("name: quest\ncpus: [3]\nmemory: 64M\nimage: quest.elf\n")
    driver = Driver()
    system = FakeSystem(driver, tmp_path)

    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt
    monkeypatch.setattr(system, "sleep", interrupted)
    assert bench.main(["--config", str(yaml)], system) == 130  # type: ignore[arg-type]
    assert not driver.enabled and not driver.cells
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["-n", "0"], ["--idle", "0"], ["--settle", "-1"], ["-n", "x"]])
def test_wrong_numbers_are_refused_before_anything_is_measured(words: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        bench.main(words)
    assert end.value.code == 2
