# SPDX-License-Identifier: GPL-2.0-only
"""Generated files against the kernel: C that compiles with its headers, names and numbers that are
its own."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from oil.names import why_not_name
from oilsamples import SAMPLES, SMALLEST, generated

INCLUDE = Path(__file__).resolve().parents[2] / "include"
WARNINGS = [
    "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wstrict-prototypes", "-Wundef", "-Wshadow"
]
# Uses each identifier of pump.osek.oil as an application does.
USER = """\
#include "os.h"
#include "Os.h"
#include "osek.h"
#include "com.h"
#include "ee.h"
DeclareTask(Control);
DeclareEvent(Tick);
DeclareResource(Pipe);
DeclareAlarm(Beat);
TASK(Control)
{
	EventMaskType got;
	WaitEvent(Tick | Alarmed);
	GetEvent(Control, &got);
	SetRelAlarm(Beat, OSMINCYCLE_Millisecond, 5);
	GetResource(Pipe);
	ReleaseResource(Pipe);
	if (GetActiveApplicationMode() == service && ReadFlag_Fresh() == COM_TRUE)
		ResetFlag_Fresh();
	if (OS_TICKS2MS_Millisecond(OSMAXALLOWEDVALUE) > 65535 || OSTICKDURATION != 1000000)
		ShutdownOS(E_OK);
	StartCOM(WORK);
	TerminateTask();
}
TASK(Display) { TerminateTask(); }
ISR(Sensor) { ActivateTask(Store); }
ALARMCALLBACK(TooLate) { }
COMCallback(Never) { }
"""


def compiles(folder: Path, *names: str) -> None:
    done = subprocess.run([
        "gcc", *WARNINGS, "-ffreestanding", "-mno-red-zone", "-mgeneral-regs-only", "-fsyntax-only",
        "-I",
        str(INCLUDE), "-I",
        str(folder), *names
    ],
                          cwd=folder,
                          text=True,
                          capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr


def written(folder: Path, text: str) -> None:
    for name, content in generated(text).items():
        (folder / name).write_text(content)


@pytest.mark.parametrize("name", [*SAMPLES, "smallest"])
def test_tables_compile_without_warnings(name: str, tmp_path: Path) -> None:
    written(tmp_path, SAMPLES.get(name, SMALLEST))
    compiles(tmp_path, "os_config.c")


def test_application_compiles_with_generated_header(tmp_path: Path) -> None:
    written(tmp_path, SAMPLES["pump.osek.oil"])
    (tmp_path / "user.c").write_text(USER)
    compiles(tmp_path, "user.c")


def test_message_of_a_type_from_the_user_s_header(tmp_path: Path) -> None:
    written(
        tmp_path, """CPU c { OS o { CHEADER = "speed.h"; };
        MESSAGE s { MESSAGEPROPERTY = SEND_STATIC_INTERNAL { CDATATYPE = "struct speed"; }; };
        MESSAGE r { MESSAGEPROPERTY = RECEIVE_QUEUED_INTERNAL {
            SENDINGMESSAGE = s; QUEUESIZE = 3; }; }; };""")
    (tmp_path / "speed.h").write_text("struct speed { int rpm, gear; };\n")
    compiles(tmp_path, "os_config.c")


def test_wide_event_widens_no_other_identifier(tmp_path: Path) -> None:
    written(tmp_path, SAMPLES["pump.osek.oil"])
    (tmp_path / "size.c").write_text(
        '#include "os.h"\n_Static_assert(sizeof(Control) == 4, "");\n'
        '_Static_assert(sizeof(Tick) == 4 && sizeof(Alarmed) == 8, "");\n'
        '_Static_assert(Alarmed == 1ull << 63, "");\n')
    compiles(tmp_path, "size.c")


def test_states_and_paint_are_those_of_the_kernel() -> None:
    found = json.loads(generated(SMALLEST)["os_config.json"])
    types = (INCLUDE / "erika/types.h").read_text()
    for number, state in enumerate(found["task_states"]):
        assert re.search(rf"#define {state}\s+\(\(TaskStateType\){number}\)", types)
    stack = (INCLUDE.parent / "kernel/stack.c").read_text()
    assert re.search(rf"#define PAINT\s+{found['stack_paint']:#04x}\b", stack, re.IGNORECASE)


def test_names_in_debugger_files_are_names_of_the_kernel() -> None:
    """Each member that the files for gdb and ORTI read is in the kernel's headers."""
    made = generated(SAMPLES["pump.osek.oil"])
    headers = "".join((INCLUDE / "erika" / name).read_text() for name in ("state.h", "conf.h"))
    headers += (INCLUDE.parent / "kernel/kernel.h").read_text()
    for name in ("os_config.gdb", "os_config.orti"):
        used = re.findall(r"\b(os\w*)(?:\[\d+\])?((?:\.\w+)*)", made[name])
        members = {member
                   for _, path in used
                   for member in path.split(".") if member} - {"gdb", "service"}
        assert members and all(re.search(rf"\b{member}\b", headers) for member in members)


def test_names_of_the_kernel_s_headers_are_refused() -> None:
    """No object has a name that a header of the kernel defines."""
    words: set[str] = set()
    for name in ("types.h", "api.h", "com.h", "conf.h", "state.h"):
        text = re.sub(r"/\*.*?\*/", " ", (INCLUDE / "erika" / name).read_text(), flags=re.DOTALL)
        words |= set(re.findall(r"^#define\s+(\w+)", text, re.MULTILINE))
        words |= set(re.findall(r"^(?:typedef .*?\b|}\s*)(\w+);", text, re.MULTILINE))
        words |= set(re.findall(r"^\w[\w *]*?[ *](\w+)\([^;{]*\);", text, re.MULTILINE))
        words |= set(re.findall(r"^\t((?:OS|COM)\w+)(?: = \d+)?,", text, re.MULTILINE))
    assert len(words) > 150 and not [word for word in words if not why_not_name(word)]


def test_names_of_the_standard_may_be_declared(tmp_path: Path) -> None:
    written(
        tmp_path, """CPU c { OS o; APPMODE OSDEFAULTAPPMODE; RESOURCE RES_SCHEDULER;
        TASK t { PRIORITY = 1; RESOURCE = RES_SCHEDULER;
            AUTOSTART = TRUE { APPMODE = OSDEFAULTAPPMODE; }; }; };""")
    compiles(tmp_path, "os_config.c")
