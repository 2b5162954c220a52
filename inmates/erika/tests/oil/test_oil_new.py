# SPDX-License-Identifier: GPL-2.0-only
"""`qvoil new` makes folders of applications from the samples."""

import re
from pathlib import Path

import pytest
from oil.cli import main
from oil.compile import compile_file
from oil.new import SAMPLES, examples, word_of


@pytest.mark.parametrize("name, word", [("pump", "pump"), ("My Pump 2", "my-pump-2"),
                                        ("...", "application"), ("\u00e9tude", "tude"),
                                        ("x" * 99, "x" * 24)])
def test_files_have_the_name_of_the_folder(name: str, word: str) -> None:
    assert word_of(Path("a") / name) == word


@pytest.mark.parametrize("example", examples())
def test_folder_is_whole(example: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "my pump"
    assert main(["new", str(folder), "--example", example]) == 0
    names = {path.name for path in folder.iterdir()}
    assert names == {"Makefile", "README.md", "my-pump.oil", "my-pump.c", "my-pump.yaml"}
    said = capsys.readouterr()
    assert {Path(line).name for line in said.out.splitlines()} == names
    assert said.err == f"next: cd '{folder}' && make\n"
    assert "OIL := my-pump.oil\nSRC := my-pump.c\n" in (folder / "Makefile").read_text()
    cell = (folder / "my-pump.yaml").read_text()
    assert "name: my-pump\n" in cell and "image: my-pump.elf\n" in cell
    assert f"{example}." not in cell
    page = (folder / "README.md").read_text()
    commands = [line for line in page.splitlines() if line[:4] == "    "]
    assert not [line for line in commands if re.search(rf"(quesh|qvctl .*) {example}\b", line)]
    assert compile_file(folder / "my-pump.oil").application


@pytest.mark.parametrize("example", examples())
def test_samples_have_no_warnings(example: str) -> None:
    assert not compile_file(SAMPLES / example / f"{example}.oil").problems.found


def test_default_is_blink(tmp_path: Path) -> None:
    assert main(["new", str(tmp_path / "lamp")]) == 0
    assert "Toggle" in (tmp_path / "lamp/lamp.oil").read_text()


def test_folder_with_files_is_left_alone(tmp_path: Path,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.c").write_text("mine")
    assert main(["new", str(tmp_path)]) == 1
    assert capsys.readouterr().err == (f"qvoil: {tmp_path} exists and is not an empty folder\n"
                                       "  remedy: give another name\n")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.c"]


def test_folder_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["new", str(tmp_path / "file" / "pump")]) == 1
    assert capsys.readouterr().err.startswith(f"qvoil: {tmp_path}/file")
