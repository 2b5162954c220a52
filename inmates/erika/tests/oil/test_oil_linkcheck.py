# SPDX-License-Identifier: GPL-2.0-only
"""qvoil link-check: functions that the OIL file names and the object files lack, or the reverse."""

import subprocess
from pathlib import Path

import pytest
from oil.cli import main

INCLUDE = Path(__file__).resolve().parents[2] / "include"
OIL = """CPU c {
OS o { ERRORHOOK = TRUE; };
TASK Pump { PRIORITY = 1; };
ISR Sensor { CATEGORY = 2; };
ISR Other { CATEGORY = 2; HANDLER = "Shared"; };
COUNTER Ticks { MAXALLOWEDVALUE = 9; };
ALARM a { COUNTER = Ticks; ACTION = ALARMCALLBACK { ALARMCALLBACKNAME = "Late"; }; };
COM m { COMERRORHOOK = TRUE; COMSTARTCOMEXTENSION = TRUE; };
MESSAGE s { MESSAGEPROPERTY = SEND_ZERO_INTERNAL; };
MESSAGE r { MESSAGEPROPERTY = RECEIVE_ZERO_INTERNAL { SENDINGMESSAGE = s; };
NOTIFICATION = COMCALLBACK { CALLBACKROUTINENAME = "Arrived"; }; }; };
"""
ALL = {
    "TASK(Pump)": "3:6: TASK Pump",
    "ISR(Sensor)": "4:5: ISR Sensor",
    "ISR(Shared)": "5:37: ISR Other",
    "ALARMCALLBACK(Late)": "7:73: ALARM a",
    "COMCallback(Arrived)": "11:52: MESSAGE r",
    "ErrorHook()": "2:20: OS o: ERRORHOOK = TRUE",
    "COMErrorHook()": "8:24: COM m: COMERRORHOOK = TRUE",
    "StartCOMExtension()": "8:53: COM m: COMSTARTCOMEXTENSION = TRUE"
}
HOOKS = {
    "ErrorHook()": "void ErrorHook(StatusType e)",
    "COMErrorHook()": "void COMErrorHook(StatusType e)",
    "StartCOMExtension()": "StatusType StartCOMExtension(void)"
}


class Application:
    """A folder with the OIL file, whose sources are compiled as an application's Makefile does."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch,
                 capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.chdir(folder)
        self.capsys = capsys
        Path("c.oil").write_text(OIL)
        assert main(["build", "c.oil"]) == 0
        capsys.readouterr()

    def compiled(self, name: str, functions: list[str], *flags: str, begin: str = "") -> str:
        """Writes a source file with these functions. Returns its object file."""
        source = Path(f"{name}.c")
        source.parent.mkdir(exist_ok=True)
        body = "".join(f"{begin}{HOOKS.get(word, word)}\n{{\n\t{'return 0;' if 'Ext' in word else ''}\n}}\n"
                       for word in functions)
        source.write_text(f'#include "os.h"\n{body}')
        Path("out", name).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["gcc", *flags, "-I", INCLUDE, "-I.", "-c", "-o", f"out/{name}.o", source], check=True)
        return f"out/{name}.o"

    def check(self, *objects: str) -> tuple[int, list[str]]:
        """Returns the status and the messages without lines of the files."""
        status = main(["link-check", "c.oil", *objects])
        lines = self.capsys.readouterr().err.splitlines()
        return status, [line for line in lines if not line.startswith("    ")]


@pytest.fixture
def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                capsys: pytest.CaptureFixture[str]) -> Application:
    return Application(tmp_path, monkeypatch, capsys)


def test_complete_application_says_nothing(application: Application) -> None:
    names = list(ALL)
    first = application.compiled("first", names[:3])
    assert application.check(first, application.compiled("second", names[3:])) == (0, [])


@pytest.mark.parametrize("absent", ALL)
def test_missing_function_is_an_error_in_the_oil_file(application: Application,
                                                      absent: str) -> None:
    made = application.compiled("most", [word for word in ALL if word != absent])
    assert application.check(made) == (2, [
        f"c.oil:{ALL[absent]}: no source file has {absent} "
        "(SRC in the Makefile names the source files)", "qvoil: 1 error; nothing was linked"
    ])


def test_function_of_nearly_the_name_is_shown(application: Application) -> None:
    words = [word.replace("Pump", "Pmup") for word in ALL]
    status, lines = application.check(application.compiled("sub/typo", words))
    assert status == 2
    assert lines == [
        "c.oil:3:6: TASK Pump: no source file has TASK(Pump) (typo.c has TASK(Pmup))",
        "sub/typo.c:2:1: warning: TASK(Pmup) never runs: the OIL file does not name it",
        "qvoil: 1 error; nothing was linked"
    ]


def test_function_without_an_object_is_a_warning(application: Application) -> None:
    made = application.compiled("more", [*ALL, "ISR2(Spare)", "ALARMCALLBACK(Old)"])
    status, lines = application.check(made)
    assert status == 0
    assert lines == [
        "more.c:38:1: warning: ALARMCALLBACK(Old) never runs: the OIL file does not name it",
        "more.c:34:1: warning: ISR(Spare) never runs: the OIL file does not name it"
    ]


def test_function_in_two_files(application: Application) -> None:
    both = application.compiled("one", list(ALL)), application.compiled("two", ["TASK(Pump)"])
    status, lines = application.check(*both)
    assert status == 2
    assert lines[0] == "c.oil:3:6: TASK Pump: one.c and two.c have TASK(Pump) (one of them)"


def test_weak_function_may_be_in_two_files(application: Application) -> None:
    words = [word for word in ALL if word != "ErrorHook()"]
    weak = application.compiled("weak", ["ErrorHook()"], begin="__attribute__((weak)) ")
    strong = application.compiled("strong", ["ErrorHook()"])
    assert application.check(weak, strong, application.compiled("rest", words)) == (0, [])


@pytest.mark.parametrize("kind", ["archive", "lto", "damaged", "cut"])
def test_files_that_only_the_linker_can_read(application: Application, kind: str) -> None:
    """No error is reported that may be none, and no file makes the command fail."""
    made = Path(application.compiled("some", ["TASK(Pump)"], *(["-flto"] if kind == "lto" else [])))
    if kind == "archive":
        subprocess.run(["ar", "rc", "out/lib.a", made], check=True)
        made = Path("out/lib.a")
    elif kind == "damaged":
        made.write_bytes(made.read_bytes()[:64].ljust(200, b"\xff"))
    elif kind == "cut":
        made.write_bytes(made.read_bytes()[:-100])
    assert application.check(str(made)) == (0, [])


def test_absent_object_file(application: Application) -> None:
    assert application.check("none.o") == (1, ["qvoil: none.o: no such file or directory"])


@pytest.mark.parametrize(("flags", "renamed"), [
    ((), "print own_print\ntimer_init own_timer_init\n"), (("-flto", ), "")])
def test_names_of_the_libraries_are_renamed(application: Application, flags: tuple[str, ...],
                                            renamed: str) -> None:
    """Files of link-time optimization cannot be changed by objcopy."""
    made = application.compiled("all", list(ALL))
    Path("more.c").write_text("int print, own;\nvoid timer_init(void) { }\n"
                              "static int serial_init;\nint *at(void) { return &serial_init; }\n")
    subprocess.run(["gcc", *flags, "-c", "-o", "out/more.o", "more.c"], check=True)
    Path("symbols.txt").write_text("print\nserial_init\ntimer_init\ntimer_khz\n")
    assert application.check(made, "out/more.o", "--library", "symbols.txt", "--renamed",
                             "renamed.txt") == (0, [])
    assert Path("renamed.txt").read_text() == renamed
