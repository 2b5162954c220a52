# SPDX-License-Identifier: GPL-2.0-only
"""qvctl cell edit, with editors that are programs."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest
from running import YAML, Run

DROP_IN = "etc/systemd/system/qv-cell@quest.service.d/50-qv-file.conf"


@pytest.fixture
def file(run: Run) -> Path:
    file = Path(run.system.root) / "etc/qv/cells/quest.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(YAML.replace("quest.elf", str(run.yaml.parent / "quest.elf")))
    file.chmod(0o640)
    return file


def editor(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Sets an editor that runs Python: `path` is the file, `text` its contents, `turn` counts from 0."""
    program, turn = folder / "editor.py", folder / "turn"
    program.write_text(f"""import pathlib, sys
path, turns = pathlib.Path(sys.argv[1]), pathlib.Path({str(turn)!r})
turn = int(turns.read_text()) if turns.exists() else 0
turns.write_text(str(turn + 1))
text = path.read_text()
{code}
""")
    monkeypatch.setenv("EDITOR", f"{shlex.quote(sys.executable)} {shlex.quote(str(program))}")
    monkeypatch.delenv("VISUAL", raising=False)


def left(file: Path) -> list[str]:
    return sorted(path.name for path in file.parent.iterdir())


def test_edited_file_replaces_the_old_one(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(tmp_path, monkeypatch, "path.write_text(text + 'debug: true\\n')")
    assert run("cell", "edit", "quest") == 0, run.err
    assert file.read_text().endswith("debug: true\n") and left(file) == ["quest.yaml"]
    assert file.stat().st_mode & 0o777 == 0o640
    assert (
        run.out
        == f"{file} is changed; it counts from the next start on: systemctl restart qv-cell@quest.service\n"
    )
    assert not run.system.systemd, "the unit is not enabled"


def test_wrong_text_comes_again_with_its_problems(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(
        tmp_path,
        monkeypatch,
        f"""
if turn == 0:
    path.write_text(text + 'debug: perhaps\\ncpu: 3\\n')
else:
    pathlib.Path({str(tmp_path / 'seen')!r}).write_text(text)
    path.write_text(text.replace('perhaps', 'true').replace('cpu: 3\\n', '# mine\\n'))""",
    )
    before = file.read_text()
    assert run("cell", "edit", "quest") == 0, run.err
    assert file.read_text() == before + "debug: true\n# mine\n"
    seen = (tmp_path / "seen").read_text().splitlines()
    assert seen[0] == "#!! line 7, column 8: debug: the text `perhaps` is wrong here (true or false)"
    assert seen[1] == "#!! line 8, column 1: cpu: is not a known key (perhaps `cpus`)"
    assert (
        seen[6] == "debug: perhaps" and seen[7] == "cpu: 3"
    ), "the lines are those of the text below the notes"


def test_text_that_stays_wrong_is_kept_aside(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(
        tmp_path,
        monkeypatch,
        "path.write_text(text if turn else text.replace('quest\\n', 'robot\\n'))",
    )
    before = file.read_text()
    assert run("cell", "edit", "quest") == 1
    assert (
        "the text is still wrong, so nothing is changed: name: the cell of this file is quest, not robot"
        in run.err
    )
    aside = Path(run.err.rpartition(" ")[2].strip())
    assert "name: robot\n" in aside.read_text() and file.read_text() == before


def test_editor_that_fails_changes_nothing(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_text()
    editor(tmp_path, monkeypatch, "path.write_text(''); sys.exit(3)")
    assert (
        run("cell", "edit", "quest") == 1
        and "ended with status 3, so nothing is changed" in run.err
    )
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    assert (
        run("cell", "edit", "quest") == 1
        and "the editor `/no/such/editor` cannot be started" in run.err
    )
    editor(
        tmp_path,
        monkeypatch,
        f"pathlib.Path({str(file)!r}).write_text(text + '# other\\n'); path.write_text(text + 'debug: true\\n')",
    )
    assert (
        run("cell", "edit", "quest") == 1
        and "was changed meanwhile, so it is left alone" in run.err
    )
    assert file.read_text() == before + "# other\n"


def test_comment_of_the_person_is_no_note(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the notes at the top are taken away."""
    editor(
        tmp_path,
        monkeypatch,
        "path.write_text('#! mine\\n' + text + '#!! mine\\ndebug: true\\n')",
    )
    before = file.read_text()
    assert run("cell", "edit", "quest") == 0, run.err
    assert file.read_text() == "#! mine\n" + before + "#!! mine\ndebug: true\n"


def test_line_of_a_text_that_stays_wrong(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text that is kept has no notes above it, so the line is counted without them."""
    editor(tmp_path, monkeypatch, "path.write_text(text if turn else text + 'debug: perhaps\\n')")
    wrong = len(file.read_text().splitlines()) + 1
    assert run("cell", "edit", "quest") == 1
    assert f"nothing is changed: line {wrong}, column 8: debug: " in run.err
    aside = Path(run.err.rpartition(" ")[2].strip())
    assert aside.read_text().splitlines()[wrong - 1] == "debug: perhaps"


def test_editor_that_cannot_be_started_leaves_no_copy(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    assert run("cell", "edit", "quest") == 1 and left(file) == ["quest.yaml"]
    program = tmp_path / "once"
    program.write_text(
        f'#!/bin/sh\necho "debug: perhaps" >>"$1"\nrm {shlex.quote(str(program))}\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(program))
    assert run("cell", "edit", "quest") == 1 and "cannot be started" in run.err
    assert "debug: perhaps" in Path(run.err.rpartition(" ")[2].strip()).read_text()


def test_file_that_vanishes_and_errors_keep_the_text(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_text()
    change = "path.write_text(text + 'debug: true\\n')"
    editor(tmp_path, monkeypatch, f"{change}; pathlib.Path({str(file)!r}).unlink()")
    assert run("cell", "edit", "quest") == 1 and "was changed meanwhile" in run.err
    aside = Path(run.err.rpartition(" ")[2].strip())
    assert aside.read_text() == before + "debug: true\n" and not file.exists()

    def fail(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    file.write_text(before)
    editor(tmp_path, monkeypatch, change)
    monkeypatch.setattr(os, "rename", fail)
    assert run("cell", "edit", "quest") == 1
    assert f"{file} cannot be changed (read-only file system)\n  remedy: your text is in " in run.err
    aside = Path(run.err.rpartition(" ")[2].strip())
    assert aside.read_text() == before + "debug: true\n" and file.read_text() == before


def test_unchanged_file_and_absent_file(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(tmp_path, monkeypatch, "")
    assert run.json("--json", "cell", "edit", "quest") == {
        "name": "quest",
        "file": os.path.realpath(file),
        "changed": False,
    }
    assert left(file) == ["quest.yaml"]
    assert (
        run("cell", "edit", "other") == 1
        and "other.yaml cannot be read (no such file or directory)" in run.err
    )


def test_order_of_an_enabled_unit_follows(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(run.system.root)
    wants = root / "etc/systemd/system/multi-user.target.wants/qv-cell@quest.service"
    wants.parent.mkdir(parents=True)
    wants.symlink_to("/lib/systemd/system/qv-cell@.service")
    editor(tmp_path, monkeypatch, "path.write_text(text + 'after: [camera]\\n')")
    assert run("cell", "edit", "quest") == 0, run.err
    assert "After=qv-cell@camera.service" in (root / DROP_IN).read_text()
    assert run.system.systemd == ["daemon-reload"]
