# SPDX-License-Identifier: GPL-2.0-only
"""Files that commands write: report, trace and metrics."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from running import Run

from qv import output
from qv.errors import Refused


def test_saved_file_replaces_a_regular_one(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    before = os.umask(0o077)
    try:
        output.save(str(file), "new\n", 0o644)
        output.save(str(tmp_path / "b"), "private\n")
    finally:
        os.umask(before)
    assert file.read_text() == "new\n" and file.stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600, "the umask decides"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_a_regular_file_is_replaced(tmp_path: Path, kind: str) -> None:
    path, target = tmp_path / "path", tmp_path / "target"
    target.write_text("mine")
    make = {"link": lambda: path.symlink_to(target), "pipe": lambda: os.mkfifo(path), "folder": path.mkdir}
    make[kind]()
    was = path.lstat()
    with pytest.raises(Refused, match="is no regular file"):
        output.save(str(path), "new")
    assert path.lstat() == was and target.read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 2


def test_file_aside_is_no_link_of_another(tmp_path: Path) -> None:
    """A link that someone has put where the file aside will be is not followed."""
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / f"a.{os.getpid()}").symlink_to(target)
    with pytest.raises(Refused, match="cannot be written"):
        output.save(str(tmp_path / "a"), "new")
    assert target.read_text() == "mine" and not (tmp_path / "a").exists()


def test_failed_write_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(Refused, match="no space left"):
        output.save(str(tmp_path / "a"), "new")
    assert not list(tmp_path.iterdir())


def test_dash_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user means standard output, as for other programs."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refused, match="- is no name of a file here"):
        output.save("-", "new")
    assert not list(tmp_path.iterdir())


def test_remedy_for_a_folder_of_another_user(tmp_path: Path,
                                             monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(Refused, match="permission denied") as refused:
        output.save(str(tmp_path / "a"), "new")
    assert refused.value.remedy == "name a file in a folder that you may write to"


@pytest.mark.parametrize("words", [["report"], ["metrics", "--file"]])
def test_commands_replace_no_link(run: Run, tmp_path: Path, words: list[str]) -> None:
    if words[0] == "metrics":
        pytest.importorskip("prometheus_client")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    assert run(*words, str(tmp_path / "link")) == 1 and "link is no regular file" in run.err
    assert (tmp_path / "link").is_symlink() and not (tmp_path / "target").exists()
