# SPDX-License-Identifier: GPL-2.0-only
"""qvctl from its command line to a driver that exists only in a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeDevice, FakeSystem

from qv import abi
from qv.cli import main
from qv.errors import Refused

TINY = (Path(__file__).resolve().parents[2] / "tests/unit/config/good/tiny.elf").read_bytes()
YAML = "name: quest\ncpus: [3]\nmemory: 64M\nimage: quest.elf\n"
NO_MEMORY = Refused("there are only 20M in 2M pages", "end programs", abi.Reason.E_NO_MEMORY)


class Run:
    """Runs qvctl in a folder with quest.yaml and its image."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.device = FakeDevice()
        self.system = FakeSystem(self.device, folder)
        self.capture = capture
        self.out = self.err = ""
        self.yaml = folder / "quest.yaml"
        self.yaml.write_text(YAML)
        (folder / "quest.elf").write_bytes(TINY)

    def __call__(self, *argv: str) -> int:
        status = main(argv, self.system)  # type: ignore[arg-type]
        self.out, self.err = self.capture.readouterr()
        return status

    def json(self, *argv: str) -> Any:
        assert self(*argv) == 0, self.err
        return json.loads(self.out)

    def create(self, *more: str) -> None:
        assert self("cell", "create", str(self.yaml), *more) == 0, self.err
