# SPDX-License-Identifier: GPL-2.0-only
"""The fixtures of tests that run qvctl."""

from __future__ import annotations

import fcntl
import os
import struct
from pathlib import Path

import generated  # noqa: F401
import pytest
from channelfiles import LINES
from running import YAML, Run

from qv.cli import channels


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(tmp_path, capsys)


@pytest.fixture
def three(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Cell `quest` with three channels. Files take the place of the devices."""
    monkeypatch.setattr(channels, "FOLDER", str(tmp_path))
    run.yaml.write_text(YAML + LINES)
    run.create()
    return run


@pytest.fixture
def mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """QV_CHANNEL_WINDOW of a file has the file's length."""
    def ioctl(descriptor: int, number: int, room: bytes) -> bytes:
        assert number == 0x80107160 and len(room) == 16
        return struct.pack("=IIQ", 1, 1, os.fstat(descriptor).st_size)
    monkeypatch.setattr(fcntl, "ioctl", ioctl)
