# SPDX-License-Identifier: GPL-2.0-only
"""Generated files against the kernel: C that compiles with its headers, names and numbers that are
its own."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from oil.emit.map import ERRORS
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


@pytest.mark.parametrize("header", ["os.h", "Os.h", "osek.h", "com.h", "ee.h", "erika/com.h"])
def test_each_header_alone_declares_services_of_os_and_com(header: str, tmp_path: Path) -> None:
    written(tmp_path, SMALLEST)
    (tmp_path / "alone.c").write_text(
        f'#include "{header}"\n'
        "StatusType go(void) { return ActivateTask(0) + StartCOM(COM_FALSE); }\n")
    compiles(tmp_path, "alone.c")


@pytest.mark.parametrize("own", ["", "#define PLATFORM_TYPES_H\ntypedef unsigned long uint32;\n"])
def test_os_h_has_names_of_autosar_s_types(tmp_path: Path, own: str) -> None:
    """An application may bring AUTOSAR's header of types, which has this guard."""
    written(tmp_path, """CPU c { OS o; TASK t { PRIORITY = 1; };
        MESSAGE s { MESSAGEPROPERTY = SEND_STATIC_INTERNAL { CDATATYPE = "float32"; }; };
        MESSAGE r { MESSAGEPROPERTY = RECEIVE_UNQUEUED_INTERNAL { SENDINGMESSAGE = s; }; }; };""")
    types = "" if own else """_Static_assert(sizeof(uint8) == 1 && sizeof(sint16) == 2, "");
        _Static_assert(sizeof(uint64) == 8 && sizeof(float32) == 4, "");
        boolean yes(void) { return TRUE || FALSE; }\n"""
    (tmp_path / "user.c").write_text(f'{own}#include "Os.h"\n{types}uint32 number(void);\n')
    compiles(tmp_path, "user.c")
    compiles(tmp_path, "os_config.c")


def test_ee_h_has_names_of_erika_s_programs(tmp_path: Path) -> None:
    written(tmp_path, "CPU c { OS o; COUNTER Ticks { MAXALLOWEDVALUE = 9; TYPE = SOFTWARE; }; };")
    (tmp_path / "user.c").write_text("""#include "ee.h"
        _Static_assert(sizeof(EE_UINT8) == 1 && sizeof(EE_INT16) == 2 && sizeof(EE_UINT64) == 8, "");
        void tick(EE_INT32 times) { while (times--) CounterTick(Ticks); }
        """)
    compiles(tmp_path, "user.c")


def test_all_spellings_of_the_standards_exist(tmp_path: Path) -> None:
    written(tmp_path, SMALLEST)
    (tmp_path / "user.c").write_text("""#include "os.h"
        _Static_assert(E_NOT_OK == 1, "");
        _Static_assert(OSServiceId_SetScheduletableAsync == OSServiceId_SetScheduleTableAsync, "");
        _Static_assert(COMServiceId_GetCOMApplicationMode > COMServiceId_GetMessageStatus, "");
        ScheduleTableType table(void) { return OSError_SetScheduletableAsync_ScheduleTableID(); }
        AppModeType mode(void) { return OSError_StartOS_Mode(); }
        int first(void) { return *COMError_ReceiveMessage_DataRef(); }
        ApplicationDataRef data(void) { return COMError_SendMessage_DataRef(); }
        StatusType status(void) { return OSError_ShutdownOS_Error(); }
        """)
    compiles(tmp_path, "user.c")


def test_strict_compilers_accept_headers_and_tables(tmp_path: Path) -> None:
    """Suites of other kernels are compiled with such flags."""
    written(tmp_path, SAMPLES["pump.osek.oil"])
    (tmp_path / "user.c").write_text(USER)
    for name in ("user.c", "os_config.c"):
        compiles(tmp_path, name, "-std=c99", "-pedantic", "-Wstrict-prototypes",
                 "-Wmissing-field-initializers")


def test_message_of_a_type_from_the_user_s_header(tmp_path: Path) -> None:
    written(
        tmp_path, """CPU c { OS o { CHEADER = "speed.h"; };
        MESSAGE s { MESSAGEPROPERTY = SEND_STATIC_INTERNAL { CDATATYPE = "struct speed"; }; };
        MESSAGE r { MESSAGEPROPERTY = RECEIVE_QUEUED_INTERNAL {
            SENDINGMESSAGE = s; QUEUESIZE = 3; }; }; };""")
    (tmp_path / "speed.h").write_text("struct speed { int rpm, gear; };\n")
    compiles(tmp_path, "os_config.c")


@pytest.mark.parametrize("ctype", ["float", "double"])
def test_message_of_floating_point_is_copied_without_such_code(ctype: str, tmp_path: Path) -> None:
    """`compiles` lets the compiler use general registers only."""
    written(
        tmp_path, f"""CPU c {{ OS o;
        MESSAGE s {{ MESSAGEPROPERTY = SEND_STATIC_INTERNAL {{ CDATATYPE = "{ctype}"; }}; }};
        MESSAGE r {{ MESSAGEPROPERTY = RECEIVE_UNQUEUED_INTERNAL {{ SENDINGMESSAGE = s; }}; }};
        MESSAGE q {{ MESSAGEPROPERTY = RECEIVE_QUEUED_INTERNAL {{ SENDINGMESSAGE = s; QUEUESIZE = 3;
            FILTER = ONEEVERYN {{ PERIOD = 2; OFFSET = 0; }}; }}; }}; }};""")
    compiles(tmp_path, "os_config.c", "-O2")
    assert f"sizeof({ctype})" in (tmp_path / "os_config.c").read_text()


def test_internal_resource_has_an_identifier_that_no_row_has(tmp_path: Path) -> None:
    """The services refuse it as they refuse each identifier from os_num_resources on."""
    written(tmp_path, SAMPLES["pump.osek.oil"])
    (tmp_path / "user.c").write_text("""#include "os.h"
        DeclareResource(Together);
        StatusType take(void) { return GetResource(Together) + ReleaseResource(Together); }
        """)
    compiles(tmp_path, "user.c")
    (tmp_path / "ids.c").write_text("""#include "os_config.c"
        #define ROWS (sizeof(os_resource_conf) / sizeof(os_resource_conf[0]))
        _Static_assert(Together == ROWS && Valve < ROWS && Pipe < ROWS && Bus < ROWS, "");
        """)
    compiles(tmp_path, "ids.c")
    assert "const uint32_t os_num_resources = 4;\n" in (tmp_path / "os_config.c").read_text()


TYPES = """CPU c { OS o {
CHEADER = "speed.h"; };
MESSAGE s { MESSAGEPROPERTY = SEND_STATIC_INTERNAL {
CDATATYPE = "struct speed"; }; };
MESSAGE r { MESSAGEPROPERTY = RECEIVE_UNQUEUED_INTERNAL { SENDINGMESSAGE = s; }; }; };
"""


@pytest.mark.parametrize(("header", "place"), [(None, "t.oil:2:"), ("", "t.oil:4:")])
def test_compiler_names_the_oil_file_of_a_wrong_type(header: str | None, place: str,
                                                     tmp_path: Path) -> None:
    """The file lacks a header, or the header lacks the type."""
    written(tmp_path, TYPES)
    if header is not None:
        (tmp_path / "speed.h").write_text(header)
    done = subprocess.run(
        ["gcc", "-fsyntax-only", "-I", INCLUDE, "os_config.c"], cwd=tmp_path, text=True,
        capture_output=True, check=False)
    errors = re.findall(r"(?m)^(.+?:\d+:)\d+:(?: fatal)? error:", done.stderr)
    assert errors and set(errors) == {place}


def test_other_lines_keep_their_numbers(tmp_path: Path) -> None:
    text = generated(TYPES)["os_config.c"]
    own = [number for number, line in enumerate(text.split("\n"), 2)
           if line == f'#line {number} "os_config.c"']
    assert len(own) == text.count('"os_config.c"\n') == text.count('"t.oil"\n') == 4
    assert "#line" not in generated(SMALLEST)["os_config.c"]


@pytest.mark.parametrize(("counters", "most", "tick"), [
    ("", "0xFFFFFFFF", 1_000_000),
    ("COUNTER s { MAXALLOWEDVALUE = 9; TYPE = SOFTWARE; };", "0xFFFFFFFF", 1_000_000),
    ("COUNTER s { MAXALLOWEDVALUE = 9; SECONDSPERTICK = 0.01; };", "9", 10_000_000)])
def test_constants_of_the_system_counter_always_exist(tmp_path: Path, counters: str, most: str,
                                                      tick: int) -> None:
    written(tmp_path, f"CPU c {{ OS o; TASK t {{ PRIORITY = 1; }}; {counters} }};")
    (tmp_path / "user.c").write_text(
        f'#include "os.h"\n_Static_assert(OSMAXALLOWEDVALUE == {most}, "");\n'
        f'_Static_assert(OSTICKSPERBASE == 1 && OSMINCYCLE == 1, "");\n'
        f'_Static_assert(OSTICKDURATION == {tick}, "");\n')
    compiles(tmp_path, "user.c")


def test_wide_event_widens_no_other_identifier(tmp_path: Path) -> None:
    written(tmp_path, SAMPLES["pump.osek.oil"])
    (tmp_path / "size.c").write_text(
        '#include "os.h"\n_Static_assert(sizeof(Control) == 4, "");\n'
        '_Static_assert(sizeof(Tick) == 4 && sizeof(Alarmed) == 8, "");\n'
        '_Static_assert(Alarmed == 1ull << 63, "");\n')
    compiles(tmp_path, "size.c")


def test_complement_of_an_event_has_all_other_events(tmp_path: Path) -> None:
    """~Event is a mask of 64 bits, whichever bit the event has."""
    masks = (1, 1 << 30, 1 << 31, 0xC0000000, 1 << 32, 1 << 63)
    events = "".join(f"EVENT e{n} {{ MASK = {mask:#x}; }};" for n, mask in enumerate(masks))
    written(tmp_path, f"CPU c {{ OS o; TASK t {{ PRIORITY = 1; }}; {events} }};")
    (tmp_path / "size.c").write_text('#include "os.h"\n' + "".join(
        f'_Static_assert((EventMaskType)~e{n} == ~{mask:#x}ull && e{n} == {mask:#x}ull, "");\n'
        for n, mask in enumerate(masks)))
    compiles(tmp_path, "size.c")
    compiles(tmp_path, "os_config.c", "-std=c99", "-pedantic")


def test_states_and_paint_are_those_of_the_kernel() -> None:
    found = json.loads(generated(SMALLEST)["os_config.json"])
    types = (INCLUDE / "erika/types.h").read_text()
    errors = {int(number): name for name, number in re.findall(r"#define (E_OS_\w+)\s+(\d+)", types)}
    assert {0: "E_OK"} | errors == ERRORS
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
    """No object has a name that a header of the kernel defines, but ISR1 and ISR2: common names of
    ISRs, which do not meet the macros ISR1() and ISR2()."""
    words: set[str] = set()
    for name in ("types.h", "api.h", "com.h", "conf.h", "state.h", "../Os.h", "../ee.h"):
        text = re.sub(r"/\*.*?\*/", " ", (INCLUDE / "erika" / name).read_text(), flags=re.DOTALL)
        words |= set(re.findall(r"^#define\s+(\w+)", text, re.MULTILINE))
        words |= set(re.findall(r"^(?:typedef .*?\b|}\s*)(\w+);", text, re.MULTILINE))
        words |= set(re.findall(r"^\w[\w *]*?[ *](\w+)\([^;{]*\);", text, re.MULTILINE))
        words |= set(re.findall(r"^\t((?:OS|COM)\w+)(?: = \d+)?,", text, re.MULTILINE))
    assert len(words) > 150
    assert {word for word in words if not why_not_name(word)} == {"ISR1", "ISR2", "PLATFORM_TYPES_H"}


def test_names_that_c_s_headers_define_are_refused() -> None:
    """Those of the headers that os.h includes: a name would become a number in os_config.h."""
    done = subprocess.run(
        ["gcc", "-ffreestanding", "-std=gnu11", "-dM", "-E", "-include", "stdint.h", "-include",
         "stddef.h", "-include", "stdbool.h", "-"], input="", text=True, capture_output=True, check=True)
    words = set(re.findall(r"(?m)^#define (\w+)", done.stdout))
    words |= {"uint_fast8_t", "int_least64_t", "uintmax_t", "intptr_t", "wchar_t", "max_align_t"}
    assert len(words) > 300 and {"SIZE_MAX", "UINT64_C", "INT_FAST8_MIN"} <= words
    assert not {word for word in words if not why_not_name(word)}


def test_isrs_may_be_called_as_the_macros_isr1_and_isr2(tmp_path: Path) -> None:
    written(
        tmp_path, """CPU c { OS o; TASK t { PRIORITY = 1; };
        ISR ISR1 { CATEGORY = 1; PRIORITY = 2; };
        ISR ISR2 { CATEGORY = 2; PRIORITY = 1; RESOURCE = r; }; RESOURCE r;
        ISR other { CATEGORY = 2; HANDLER = "ISR3"; }; };""")
    (tmp_path / "user.c").write_text("""#include "os.h"
        DeclareISR(ISR1);
        TASK(t) { TriggerISR(ISR1); TriggerISR(ISR2); TerminateTask(); }
        ISR1(ISR1) { }
        ISR2(ISR2) { if (GetISRID() == ISR2) ActivateTask(t); }
        ISR(ISR3) { }
        """)
    compiles(tmp_path, "os_config.c")
    compiles(tmp_path, "user.c")


def test_tasks_may_list_the_scheduler_s_resource_that_no_object_declares(tmp_path: Path) -> None:
    """It always exists, so an OIL file need not declare it."""
    written(
        tmp_path, """CPU c { OS o; RESOURCE r; TASK t { PRIORITY = 1; RESOURCE = RES_SCHEDULER; };
        TASK u { PRIORITY = 2; RESOURCE = r; RESOURCE = RES_SCHEDULER; }; };""")
    compiles(tmp_path, "os_config.c")


def test_names_of_the_standard_may_be_declared(tmp_path: Path) -> None:
    written(
        tmp_path, """CPU c { OS o; APPMODE OSDEFAULTAPPMODE; RESOURCE RES_SCHEDULER;
        TASK t { PRIORITY = 1; RESOURCE = RES_SCHEDULER;
            AUTOSTART = TRUE { APPMODE = OSDEFAULTAPPMODE; }; }; };""")
    compiles(tmp_path, "os_config.c")
