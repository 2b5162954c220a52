# SPDX-License-Identifier: GPL-2.0-only
"""The command qvoil, as a person types it."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from oil.cli import main
from oilsamples import FOLDER

COMMAND = Path(__file__).resolve().parents[2] / "qvoil"


def qvoil(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *words], text=True, capture_output=True, check=False)


def test_an_interruption_has_no_traceback() -> None:
    done = subprocess.run([sys.executable, "-IS", "-c", f"""if True:
        import _signal, sys
        __file__ = {str(COMMAND)!r}
        source = open({str(COMMAND)!r}).read()
        sys.addaudithook(lambda event, words: event != "import" or _signal.raise_signal(2))
        exec(source)"""], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


def test_check_of_a_right_file() -> None:
    done = qvoil("check", str(FOLDER / "pump.osek.oil"))
    assert (done.returncode, done.stdout) == (0, "")


def test_check_of_a_wrong_file_in_a_folder_with_spaces(tmp_path: Path) -> None:
    wrong = tmp_path / "my pump.oil"
    wrong.write_text("CPU c { OS o { STATS = EXTENDED; }; };\n")
    done = qvoil("check", str(wrong))
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"{wrong}:1:16: OS o: STATS is not an attribute here (perhaps STATUS)",
        "    CPU c { OS o { STATS = EXTENDED; }; };", "                   ^",
        "qvoil: 1 error; nothing was written"
    ]


def test_missing_file_and_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "none.oil")]) == 2
    assert main(["check", str(tmp_path)]) == 2
    first, *_ = capsys.readouterr().err.splitlines()
    name = f"{tmp_path}/none.oil"
    assert first == f"{name}:1:1: {name} cannot be read: no such file or directory"


@pytest.mark.parametrize("words",
                         [[], ["nothing"], ["check"], ["check", "x", "--dialect", "misra"]])
def test_wrong_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2 and "usage: qvoil" in capsys.readouterr().err


def test_missing_library_is_named() -> None:
    """Without `site`, Python finds no packages."""
    done = subprocess.run([sys.executable, "-I", "-S", COMMAND, "--version"], text=True,
                          capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr == ("qvoil: the library lark is missing\n"
                           "  remedy: apt install python3-lark\n")


def test_version() -> None:
    assert qvoil("--version").stdout.startswith("qvoil ")


def test_synopsis_of_the_page() -> None:
    """oil.md lists each command with its options."""
    page = (COMMAND.parents[2] / "Documentation/reference/oil.md").read_text()
    lines = [line.strip() for line in page.splitlines() if line.startswith("    qvoil ")]
    assert [line.split()[1] for line in lines[:6]] == [
        "build", "check", "link-check", "new", "trace", "attributes"
    ]
    for line in lines[:5]:
        usage = qvoil(line.split()[1], "--help").stdout
        for option in re.findall(r"(?<!\w)-{1,2}[a-zA-Z]+", line):
            assert re.search(rf"(?<![-\w]){option}\b", usage), (line, option)
        for option in re.findall(r"(?<=\[)-{1,2}[a-zA-Z]+", usage):
            assert option in line or option == "-h", (line, option)
