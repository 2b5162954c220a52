# SPDX-License-Identifier: GPL-2.0-only
"""lib/examples/sensor/plot.py, with a pipe instead of the device of a channel."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PLOT = TOP / "lib/examples/sensor/plot.py"


def plot(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(PLOT), "--folder", str(folder), *arguments], text=True,
                          capture_output=True, check=False, timeout=60)


def test_picture_of_text_and_set_points(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "sensor")
    (tmp_path / "orders").touch()

    def write() -> None:
        with (tmp_path / "sensor").open("wb") as file:
            for number in range(1, 101, 3):
                file.write(struct.pack("<QQdd", number, number * 1_000_000, float(number), 50.0))
    writer = threading.Thread(target=write)
    writer.start()
    done = plot(tmp_path, "--text", "--set", "0:50,0:75.5,9999:1")
    writer.join()
    assert (done.returncode, done.stderr) == (0, "")
    *rows, last = done.stdout.splitlines()
    assert last == "34 samples seen of 100, 1000 per second; the value is 100.0, the set point 50.0"
    assert len(rows) == 12 and rows[0].startswith("  100.0 |") and rows[0].endswith("*")
    assert rows[-1].startswith("    1.0 |*")
    assert sum(row.count("-") for row in rows) > 60
    assert (tmp_path / "orders").read_bytes() == struct.pack("<dd", 50.0, 75.5)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    done = plot(tmp_path, "--text")
    assert done.returncode == 1 and "qvctl channel list" in done.stderr
    (tmp_path / "sensor").touch()
    done = plot(tmp_path, "--text")
    assert done.returncode == 1 and "start `sampler`" in done.stderr


def test_wrong_words_are_named_before_a_sample_is_taken(tmp_path: Path) -> None:
    for arguments, wrong in ((("--set", "foo"), "'foo' is not SECONDS:VALUE,... such as 1:50"),
                             (("--set", "1:x"), "'1:x' is not SECONDS:VALUE,..."),
                             (("--png", f"{tmp_path}/none/x.png"), "none/x.png cannot be written: name a file")):
        done = plot(tmp_path, *arguments)
        assert done.returncode == 2 and wrong in done.stderr and "Traceback" not in done.stderr


def test_time_is_over_without_samples(tmp_path: Path) -> None:
    """The cell runs, and `sampler` does not."""
    os.mkfifo(tmp_path / "sensor")
    descriptor = os.open(tmp_path / "sensor", os.O_RDWR)
    done = plot(tmp_path, "--text", "--seconds", "0.2")
    os.close(descriptor)
    assert done.returncode == 1 and "start `sampler`" in done.stderr


def test_sample_has_the_words_of_the_program() -> None:
    """The item in the cell's file is the structure that the program writes."""
    assert "item: 32" in (TOP / "configs/sensor.yaml").read_text()
    assert "uint64_t number, ns;\n\tdouble value, set_point;" in (TOP / "inmates/quest/user/programs/sampler.c").read_text()
