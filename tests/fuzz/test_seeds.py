# SPDX-License-Identifier: GPL-2.0-only
"""The seed files of the fuzzers."""

from pathlib import Path

import pytest

import seeds

HERE = Path(__file__).resolve().parent
FILES = sorted((HERE / "seeds").iterdir())
BYTES = [b"", b"\0", b"'", b'"', b"#", b"\n# x\n", bytes(range(256))]


@pytest.mark.parametrize("text", [False, True])
def test_seeds_are_read_back(tmp_path: Path, text: bool) -> None:
    seeds.write(tmp_path / "x.txt", BYTES, text)
    assert sorted(seeds.read(tmp_path / "x.txt")) == sorted(BYTES)


def test_seeds_missing_file_has_no_inputs(tmp_path: Path) -> None:
    assert seeds.read(tmp_path / "x.txt") == []


def test_seeds_unpack_replaces_old_files(tmp_path: Path) -> None:
    seeds.write(tmp_path / "x.txt", BYTES)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/old").touch()
    seeds.unpack(tmp_path / "x.txt", tmp_path / "out")
    assert sorted(path.read_bytes() for path in (tmp_path / "out").iterdir()) == sorted(BYTES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_seeds_file_is_in_order(path: Path, tmp_path: Path) -> None:
    """A seed file that is written again does not change: a diff shows new inputs only."""
    seeds.write(tmp_path / "x.txt", seeds.read(path), path.stem == "config")
    assert (tmp_path / "x.txt").read_text() == path.read_text()


def test_seeds_every_file_has_its_fuzzer() -> None:
    fuzzers = {path.stem.removeprefix("fuzz_") for path in HERE.glob("fuzz_*.*")}
    assert {path.stem for path in FILES} == fuzzers
