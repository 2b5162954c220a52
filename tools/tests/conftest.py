# SPDX-License-Identifier: GPL-2.0-only
"""The fixture of tests that run qvctl."""

from __future__ import annotations

from pathlib import Path

import generated  # noqa: F401
import pytest
from running import Run


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(tmp_path, capsys)
