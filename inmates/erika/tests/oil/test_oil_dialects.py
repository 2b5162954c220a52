# SPDX-License-Identifier: GPL-2.0-only
"""Complete files in the four dialects: the values for the kernel, and the messages."""

import time

import pytest
from oil.compile import Compiled, compile_file, compile_text
from oil.emit import files
from oil.freeosek import as_oil
from oil.model import ISR_LEVELS, Application
from oilsamples import FOLDER


def compiled(name: str, dialect: str = "") -> tuple[Compiled, Application]:
    found = compile_file(FOLDER / name, dialect=dialect)
    assert found.application, found.problems.found
    return found, found.application


def said(found: Compiled, level: str) -> list[str]:
    return [problem.wrong for problem in found.problems.found if problem.level == level]


@pytest.mark.parametrize("name, dialect", [("pump.osek.oil", "osek"),
                                           ("lamp.rtdruid.oil", "rtdruid"),
                                           ("press.goil.oil", "goil"),
                                           ("serial.freeosek.oil", "freeosek")])
def test_dialect_is_guessed_with_a_note(name: str, dialect: str) -> None:
    found, _ = compiled(name)
    assert found.dialect == dialect
    assert len(said(found, "note")) == (dialect != "osek")


@pytest.mark.parametrize("processor", ["X86_64", "TRICORE", "A_NEW_ONE"])
def test_idle_hook_of_every_processor_is_called(processor: str) -> None:
    """The samples of ERIKA 3 have their main loop there."""
    found = compile_text("t.oil", f"""CPU c {{ OS o {{ CPU_DATA = {processor} {{ APP_SRC = "a.c";
        IDLEHOOK = TRUE {{ HOOKNAME = "idle_hook"; }}; }}; }}; }};""")
    assert found.application and found.application.hooks.names == {"idle": "idle_hook"}
    assert found.application.sources == ["a.c"]
    assert [item.name for item in found.application.functions] == ["idle_hook"]


def test_attributes_of_the_examples_for_microcontrollers() -> None:
    """They have no effect, except those of the stack, whose larger size counts."""
    found = compile_text("t.oil", """CPU c { OS o { MASTER_CPU = "m"; USEREMOTETASK = ALWAYS;
        CPU_DATA = CORTEX_AX { MULTI_STACK = TRUE { IRQ_STACK = TRUE { SYS_SIZE = 512; }; }; }; };
        TASK t { PRIORITY = 1; STACK = PRIVATE { SIZE = 256; SYS_SIZE = 0x1000; }; };
        ISR i { CATEGORY = 2; PRIORITY = 2; LEVEL = 5; }; };""")
    assert found.application and found.application.tasks[0].stack == 4096
    assert said(found, "warning") == [
        "OS: MASTER_CPU and USEREMOTETASK have no effect: this kernel runs on one CPU",
        "OS o: CPU_DATA = CORTEX_AX has no effect: this kernel is for x86-64, but APP_SRC and "
        "IDLEHOOK in its braces count",
        "ISR: LEVEL has no effect: PRIORITY orders ISRs",
    ]


def test_attributes_with_one_reason_have_one_warning() -> None:
    found = compile_text("t.oil", """CPU c { OS o { TRACE = TRUE { FORMAT = json; PROC = TRUE;
        ALARM = TRUE; IOC = TRUE; }; }; TASK t { PRIORITY = 1; }; };""", "goil")
    assert found.application and said(found, "warning") == [
        "OS: FORMAT, PROC, ALARM and IOC have no effect: `qvoil trace` reads all events"]


SECTIONS = """CPU c { OS o { EE_OPT = "x"; STATUS = EXTENDED; CPU_DATA = X86_64 { APP_SRC = "a.c"; }; };
    TASK t { PRIORITY = 1; STACK = PRIVATE; };
    OS o { KERNEL_TYPE = OSEK { CLASS = BCC2; }; CPU_DATA = CORTEX_M { APP_SRC = "b.c";
        IDLEHOOK = TRUE { HOOKNAME = "idle"; }; }; };
    TASK t { ACTIVATION = 2; PRIORITY = 1; STACK = PRIVATE { SYS_SIZE = 9000; }; };
    OS o { KERNEL_TYPE = OSEK { RQ = MQ; }; }; };"""


def test_sections_of_one_object_are_taken_together() -> None:
    """ERIKA's wizard writes the type of the kernel into a second section."""
    found = compile_text("t.oil", SECTIONS)
    assert found.application, found.problems.found
    task, = found.application.tasks
    assert (found.application.conformance, task.activations, task.stack) == ("BCC2", 2, 9000)
    assert found.application.sources == ["a.c", "b.c"]
    assert found.application.hooks.names == {"idle": "idle"}


TWICE = "t is already the name of a TASK"


@pytest.mark.parametrize(("dialect", "errors"), [
    ("osek", [TWICE, "there is already an OS o"]), ("goil", ["there is already an OS o"]),
    ("freeosek", [TWICE, "there is already an OS o"])])
def test_sections_of_one_object_are_refused_elsewhere(dialect: str, errors: list[str]) -> None:
    """goil joins the sections of a kind of which there may be several objects."""
    found = compile_text("t.oil", "CPU c { OS o; TASK t { PRIORITY = 1; }; TASK t; OS o; };", dialect)
    assert said(found, "error") == errors


def test_sections_of_goil_are_taken_together() -> None:
    oil = """CPU c {{ OS o; COUNTER k {{ MAXALLOWEDVALUE = 9; TICKSPERBASE = 1; MINCYCLE = 1; }};
        ALARM a {{ COUNTER = k; ACTION = ACTIVATETASK {{ TASK = t; }}; }};
        TASK t {{ PRIORITY = 1; AUTOSTART = FALSE; SCHEDULE = FULL; }};
        TASK t {{ ACTIVATION = 2; {} }}; APPMODE m;
        ALARM a {{ AUTOSTART = TRUE {{ APPMODE = m; ALARMTIME = 3; CYCLETIME = 0; }}; }}; }};"""
    found = compile_text("t.oil", oil.format(""), "goil")
    assert found.application, found.problems.found
    assert [task.activations for task in found.application.tasks] == [2]
    found = compile_text("t.oil", oil.format("PRIORITY = 2;"), "goil")
    assert said(found, "error") == ["TASK t: PRIORITY is 2 here, but 1 in another section"]


NO_DEFAULT = """IMPLEMENTATION i {{ OS {{ BOOLEAN STARTUPHOOK = NO_DEFAULT; }};
    TASK {{ UINT32 [1..4] ACTIVATION = NO_DEFAULT; UINT32 WATCHED = NO_DEFAULT; STRING NOTE; }}; }};
    CPU c {{ OS o {{ {os} }}; TASK t {{ PRIORITY = 1; {task} }}; }};"""


def test_attribute_without_default_must_be_given() -> None:
    """Our own default does not count then, and neither does it that we ignore the attribute."""
    found = compile_text("t.oil", NO_DEFAULT.format(os="", task=""), "osek")
    words = "is missing, and IMPLEMENTATION says NO_DEFAULT"
    assert said(found, "error") == [f"OS o: STARTUPHOOK {words}", f"TASK t: ACTIVATION {words}",
                                    f"TASK t: WATCHED {words}"]
    found = compile_text("t.oil", NO_DEFAULT.format(
        os="STARTUPHOOK = FALSE;", task="ACTIVATION = 3; WATCHED = 7;"), "osek")
    assert found.application, found.problems.found
    assert found.application.tasks[0].activations == 3


@pytest.mark.parametrize(("written", "value"), [("\"7\"", 7), ("\"0x10\"", 16), ("\"-1\"", -1),
                                                ("3", 3)])
def test_messages_of_goil(written: str, value: int) -> None:
    found = compile_text("t.oil", f"""CPU c {{ OS o; TASK t {{ PRIORITY = 1; }};
        MESSAGE s {{ MESSAGEPROPERTY = SEND_STATIC_INTERNAL {{ CDATATYPE = "s8"; }}; }};
        MESSAGE r {{ MESSAGEPROPERTY = RECEIVE_UNQUEUED_INTERNAL {{ SENDINGMESSAGE = s;
        INITIALVALUE = {written}; }}; NOTIFICATION = COMCALLBACK {{ COMCALLBACKNAME = "Got"; }}; }};
        }};""", "goil")
    assert found.application, found.problems.found
    message = found.application.messages[1]
    assert message.initial == value and message.notify and message.notify.callback == "Got"


@pytest.mark.parametrize(("dialect", "errors"), [("osek", 1), ("goil", 0)])
def test_values_that_implementation_leaves_out(dialect: str, errors: int) -> None:
    """goil adds the values of IMPLEMENTATION to its own; the standard has no others then."""
    found = compile_text("t.oil", """IMPLEMENTATION i { OS { ENUM [EXTENDED] STATUS; }; };
        CPU c { OS o { STATUS = STANDARD; }; TASK t { PRIORITY = 1; }; };""", dialect)
    assert len(said(found, "error")) == errors


def test_initial_value_of_goil_that_is_no_number() -> None:
    found = compile_text("t.oil", """CPU c { OS o; TASK t { PRIORITY = 1; };
        MESSAGE s { MESSAGEPROPERTY = SEND_STATIC_INTERNAL { CDATATYPE = "s8"; }; };
        MESSAGE r { MESSAGEPROPERTY = RECEIVE_UNQUEUED_INTERNAL { SENDINGMESSAGE = s;
        INITIALVALUE = "FIRST"; }; }; };""", "goil")
    assert ["is not a number" in wrong for wrong in said(found, "error")] == [True]


def test_dialect_that_is_named_is_not_guessed() -> None:
    found, _ = compiled("press.goil.oil", "goil")
    assert not said(found, "note")


def test_attributes_without_effect_warn_once() -> None:
    found, _ = compiled("lamp.rtdruid.oil")
    assert [word for word in said(found, "warning")
            if "EE_OPT" in word] == ["OS: EE_OPT has no effect: options of another kernel's build"]
    assert len(said(found, "warning")) == len(set(said(found, "warning")))


@pytest.mark.parametrize(("value", "warnings"), [
    ("TRUE", []),
    ("FALSE", ["OS o: USERESSCHEDULER = FALSE has no effect: RES_SCHEDULER is always there"]),
])
def test_scheduler_s_resource_cannot_be_left_out(value: str, warnings: list[str]) -> None:
    found = compile_text("t.oil", f"""CPU c {{ OS o {{ USERESSCHEDULER = {value}; }};
        TASK t {{ PRIORITY = 1; RESOURCE = RES_SCHEDULER; }}; }};""")
    assert found.application and said(found, "warning") == warnings


def test_tasks_of_the_standard() -> None:
    _, found = compiled("pump.osek.oil")
    levels = {task.name: (task.level, task.run_level) for task in found.tasks}
    # Display does not preempt, Store and Service share an internal resource
    assert levels == {"Control": (3, 3), "Display": (1, 3), "Store": (1, 2), "Service": (2, 2)}
    assert {
        task.name: task.modes
        for task in found.tasks
    } == {
        "Control": ["normal"],
        "Display": ["normal", "service"],
        "Store": [],
        "Service": ["service"]
    }
    assert (found.conformance, found.queued, found.modes) == ("ECC2", True, ["normal", "service"])


@pytest.mark.parametrize(("modes", "started"), [
    ("", "OSDEFAULTAPPMODE"), ("APPMODE first; APPMODE second;", "first"),
    ("APPMODE first; APPMODE OSDEFAULTAPPMODE;", "OSDEFAULTAPPMODE")])
def test_default_mode_is_known_without_a_declaration(modes: str, started: str) -> None:
    found = compile_text("t.oil", f"""CPU c {{ OS o; {modes} TASK t {{ PRIORITY = 1;
        AUTOSTART = TRUE {{ APPMODE = OSDEFAULTAPPMODE; }}; }}; }};""")
    assert found.application and found.application.tasks[0].modes == [started]


@pytest.mark.parametrize(("number", "attribute", "size", "wrong"), [
    (257, "ACTIVATION", 255, ""),
    (258, "ACTIVATION", 255,
     "TASK t257: the tasks of PRIORITY 1 have more than 65535 activations together"),
    (15, "STACKSIZE", 16 << 20, ""),
    (23, "STACKSIZE", 1 << 20, ""),
    (24, "STACKSIZE", 1 << 20,
     "TASK t0: it has the largest of 25 stacks, which have 25 MiB together"),
])
def test_limits_that_tasks_have_together(number: int, attribute: str, size: int,
                                         wrong: str) -> None:
    tasks = "".join(f"TASK t{n} {{ PRIORITY = 1; {attribute} = {size}; }};" for n in range(number))
    found = compile_text("t.oil", f"CPU c {{ OS o; {tasks} }};")
    assert said(found, "error") == ([wrong] if wrong else [])


def test_events_have_bits_of_their_own() -> None:
    _, found = compiled("pump.osek.oil")
    assert found.events == {"Tick": 1, "Alarmed": 1 << 63}
    _, found = compiled("press.goil.oil")
    assert sorted(found.events.values()) == [1, 2]


def test_ceilings() -> None:
    """Valve and Pipe are one resource; Bus is shared with an ISR of class 4."""
    _, found = compiled("pump.osek.oil")
    assert {
        resource.name: resource.ceiling
        for resource in found.resources
    } == {
        "RES_SCHEDULER": 3,
        "Valve": 3,
        "Pipe": 3,
        "Bus": ISR_LEVELS + 4
    }
    assert found.linked == {"Pipe": "Valve"}
    assert found.internal == {"Together": ["Store", "Service"]}


def test_ceiling_of_a_name_of_the_scheduler_s_resource() -> None:
    """It is that of all tasks, also of those that do not list it."""
    found = compile_text(
        "t.oil", """CPU c { OS o; TASK t { PRIORITY = 1; RESOURCE = r; }; TASK u { PRIORITY = 2; };
        RESOURCE r { RESOURCEPROPERTY = LINKED { LINKEDRESOURCE = RES_SCHEDULER; }; }; };""")
    assert found.application
    assert [resource.ceiling for resource in found.application.resources] == [2, 2]


def test_interrupts() -> None:
    """Category 1 is above category 2 and the timer. The doorbell has the lowest class."""
    _, found = compiled("pump.osek.oil")
    assert {
        isr.name: (isr.vector, isr.level, isr.after)
        for isr in found.isrs
    } == {
        "Sensor": (0x41, ISR_LEVELS + 4, False),
        "Panic": (0xE0, ISR_LEVELS + 14, True),
        "Linux": (0, ISR_LEVELS + 2, True)
    }
    assert found.timer_class == 13 and found.isr2_level == ISR_LEVELS + 13


@pytest.mark.parametrize(("console", "others", "level"), [
    ("FALSE", "", 1),
    ("TRUE", "", ISR_LEVELS + 2),
    ("TRUE", "COUNTER k { MAXALLOWEDVALUE = 9; TYPE = SOFTWARE; };", ISR_LEVELS + 2),
    ("TRUE", "COUNTER k { MAXALLOWEDVALUE = 9; PRIORITY = 1; };", ISR_LEVELS + 3),
    ("TRUE", "COUNTER k { MAXALLOWEDVALUE = 9; };", ISR_LEVELS + 13),
    ("TRUE", 'ISR i { CATEGORY = 2; SOURCE = "0x51"; };', ISR_LEVELS + 5),
])
def test_suspended_os_interrupts_include_that_of_the_console(console: str, others: str,
                                                             level: int) -> None:
    found = compile_text(
        "t.oil", f"""CPU c {{ OS o {{ CONSOLE = {console}; }}; TASK t {{ PRIORITY = 1; }};
        {others} }};""")
    assert found.application and found.application.isr2_level == level


@pytest.mark.parametrize(("length", "offset", "periodic"), [
    (4, 0, "FALSE"), (10, 0, "TRUE"), (4, 4, "FALSE"), (8, 4, "TRUE"), (20, 10, "TRUE"),
])
def test_delays_of_a_schedule_table_that_its_counter_has(length: int, offset: int,
                                                         periodic: str) -> None:
    """malformed.txt has those that it cannot have."""
    found = compile_text(
        "t.oil", f"""CPU c {{ OS o; TASK t {{ PRIORITY = 1; }};
        COUNTER k {{ MAXALLOWEDVALUE = 10; MINCYCLE = 4; TYPE = SOFTWARE; }};
        SCHEDULETABLE s {{ COUNTER = k; LENGTH = {length}; PERIODIC = {periodic};
        AUTOSTART = RELATIVE {{ OFFSET = {10 - offset}; }};
        EXPIRY_POINT p {{ OFFSET = {offset}; ACTION = ACTIVATETASK {{ TASK = t; }}; }}; }}; }};""")
    assert found.application, found.problems.found


def test_sources_that_are_no_vector_get_one_by_priority() -> None:
    _, found = compiled("press.goil.oil")
    assert [isr.vector for isr in found.isrs] == [0x20, 0x30]


def test_file_of_freeosek() -> None:
    found, application = compiled("serial.freeosek.oil")
    assert [task.name for task in application.tasks] == ["InitTask", "EchoTask"]
    assert {alarm.name: (alarm.action.kind, alarm.action.target or alarm.action.callback)
            for alarm in application.alarms} == {
        "IncrementSWCounter": ("increment", "SoftwareCounter"), "ActivateEcho": ("activate", "EchoTask"),
        "Call": ("callback", "called")}
    assert said(found, "error") == []


def test_mistake_in_a_file_of_freeosek_has_its_place() -> None:
    found = compile_text("x.oil", "OSEK c {\n OS o { STATUS = EXTENDED; }\n TASK t { PRIORITY = 1; }\n TASK u { PRIORITIES = 2; }\n};\n")
    wrong = [problem for problem in found.problems.found if problem.level == "error"]
    assert [(problem.place.line, problem.place.column) for problem in wrong] == [(4, 11)]


@pytest.mark.parametrize("many", ["TASK t { PRIORITY = 1; }\n", '\\"'])
def test_time_for_a_file_of_freeosek_grows_with_its_length(many: str) -> None:
    """Ten times the text may take fifty times the time, and not a hundred times."""
    def seconds(number: int) -> float:
        text = 'OSEK c {\n "' + many * number if many[0] == "\\" else "OSEK c {\n" + many * number
        begin = time.process_time()
        as_oil(text)
        return time.process_time() - begin
    assert seconds(60_000) < 50 * min(seconds(6_000) for _ in range(3)) + 0.05


@pytest.mark.parametrize("dialect", ["osek", "rtdruid", "goil"])
def test_references_in_quotes(dialect: str) -> None:
    """Some editors write them so. Other values keep their quotes."""
    def of(counter: str, more: str = "") -> Compiled:
        return compile_text("x.oil", f"""CPU c {{ OS o {{ }}; COUNTER k {{ MAXALLOWEDVALUE = 9; }};
            TASK t {{ PRIORITY = 1; {more} }};
            ALARM a {{ COUNTER = {counter}; ACTION = ACTIVATETASK {{ TASK = "t"; }}; }}; }};""", dialect)
    found = of('"k"').application
    assert found and [(alarm.counter, alarm.action.target) for alarm in found.alarms] == [("k", "t")]
    assert said(of('"j"'), "error") == ["ALARM a: COUNTER: there is no COUNTER j"]
    assert said(of('"k k"'), "error") == ['ALARM a: COUNTER: "k k" is not a name']
    assert said(of('"k"', 'SCHEDULE = "NON";'), "error") == ['TASK t: SCHEDULE: "NON" is not one of its values']


def test_counters_and_alarms() -> None:
    _, found = compiled("pump.osek.oil")
    assert {
        counter.name: counter.tick_ns
        for counter in found.counters
    } == {
        "Millisecond": 1_000_000,
        "Turn": 0
    }
    assert {
        alarm.name: alarm.action.kind
        for alarm in found.alarms
    } == {
        "Beat": "event",
        "Degree": "increment",
        "Late": "callback",
        "Save": "activate"
    }
    assert [(alarm.start, alarm.time, alarm.cycle)
            for alarm in found.alarms[:2]] == [("RELATIVE", 10, 10), ("RELATIVE", 5, 0)]


def test_rtdruid_values_reach_the_kernel() -> None:
    _, found = compiled("lamp.rtdruid.oil")
    assert found.hooks.names == {"idle": "rest"}
    assert found.sources == ["lamp.c", "switch.c"] and found.cflags == ["-O2"]
    assert [task.stack for task in found.tasks] == [8192, 16384]
    assert (found.isrs[0].handler, found.isrs[0].vector) == ("button_handler", 0x51)
    assert found.timer_class == 2  # the only priority that has no vector


def test_goil_defaults_of_the_file_count() -> None:
    _, found = compiled("press.goil.oil")
    assert [task.stack for task in found.tasks] == [16384, 16384]
    assert found.sources == ["press.c"]


def test_schedule_table() -> None:
    _, found = compiled("press.goil.oil")
    table = found.tables[0]
    assert (table.sync, table.precision, table.start, table.time,
            table.modes) == ("EXPLICIT", 1, "RELATIVE", 2, ["std"])
    assert [(point.offset, [done.kind for done in point.actions])
            for point in table.points] == [(1, ["activate", "event"]), (11, ["event"])]
    assert (table.points[1].advance, table.points[1].retard) == (3, 2)


def test_messages() -> None:
    _, found = compiled("pump.osek.oil")
    by_name = {message.name: message for message in found.messages}
    assert by_name["PressureSent"].receivers == ["PressureShown", "PressureKept"]
    kept = by_name["PressureKept"]
    assert (kept.kind, kept.ctype, kept.signed, kept.length) == ("QUEUED", "int16_t", True, 16)
    assert (kept.filter.kind, kept.filter.numbers) == ("NEWISWITHIN", {"min": 10, "max": 200})
    assert by_name["Stopped"].ctype == "" and by_name["Constant"].initial == 42


@pytest.mark.parametrize("modes, first",
                         [("APPMODE a; APPMODE b;", "a"),
                          ("APPMODE a; APPMODE OSDEFAULTAPPMODE;", "OSDEFAULTAPPMODE"),
                          ("", "OSDEFAULTAPPMODE")])
def test_default_application_mode(modes: str, first: str) -> None:
    found = compile_text("t.oil", f"CPU c {{ OS o; {modes} }};").application
    assert found and found.modes[0] == first


def test_table_in_the_spelling_of_rtdruid() -> None:
    """DURATION, REPEATING, EXPIRE_POINT and AUTOSTART = TRUE are the table of OIL's own spelling."""
    found = compile_text("t.oil", """CPU c { OS o { EE_OPT = "x"; };
        TASK T { PRIORITY = 1; EVENT = E; }; EVENT E; COUNTER C { TYPE = SOFTWARE; };
        SCHEDULETABLE S { COUNTER = C; DURATION = 400; REPEATING = TRUE;
            AUTOSTART = TRUE { TYPE = ABSOLUTE; START_VALUE = 7; };
            EXPIRE_POINT = ACTION { EXPIRE_VALUE = 25; ACTION = ACTIVATETASK { TASK = T; };
                ACTION = SETEVENT { TASK = T; EVENT = E; }; SYNC_ADJUSTMENT = FALSE; };
            EXPIRE_POINT = ACTION { EXPIRE_VALUE = 300; ACTION = ACTIVATETASK { TASK = T; }; };
        }; };""").application
    assert found
    table = found.tables[0]
    assert (table.length, table.periodic, table.start, table.time) == (400, True, "ABSOLUTE", 7)
    assert [(point.offset, [done.kind for done in point.actions])
            for point in table.points] == [(25, ["activate", "event"]), (300, ["activate"])]


def test_autostart_of_rtdruid_needs_its_type() -> None:
    found = compile_text("t.oil", """CPU c { OS o { EE_OPT = "x"; }; TASK T { PRIORITY = 1; };
        COUNTER C { TYPE = SOFTWARE; };
        SCHEDULETABLE S { COUNTER = C; DURATION = 4; AUTOSTART = TRUE;
        EXPIRE_POINT = ACTION { EXPIRE_VALUE = 2; ACTION = ACTIVATETASK { TASK = T; }; }; }; };""")
    assert said(found, "error") == ["SCHEDULETABLE: AUTOSTART = TRUE has no TYPE"]


@pytest.mark.parametrize("declared", ["", "COUNTER SystemCounter { MAXALLOWEDVALUE = 9; };"])
def test_counter_of_goil_is_supplied_if_it_is_named_and_absent(declared: str) -> None:
    found = compile_text("t.oil", f"""CPU c {{ OS o {{ BUILD = FALSE; }}; {declared}
        TASK T {{ PRIORITY = 1; }};
        ALARM A {{ COUNTER = SystemCounter; ACTION = ACTIVATETASK {{ TASK = T; }}; }}; }};""")
    assert found.application
    counter = found.application.counters[0]
    assert (counter.name, counter.most) == ("SystemCounter", 9 if declared else 65535)
    assert declared or counter.tick_ns == 1_000_000
    assert len(said(found, "note")) == (1 if declared else 2)


def test_small_stacks_of_other_processors_are_accepted() -> None:
    found = compile_text("t.oil", """IMPLEMENTATION trampoline { TASK { UINT32 STACKSIZE = 100; };
        ISR { UINT32 STACKSIZE = 100; }; };
        CPU c { OS o { TRACE = TRUE { FORMAT = json; PROC = TRUE; }; }; TASK T { PRIORITY = 1; };
        ISR I { CATEGORY = 2; STACKSIZE = 100; SOURCE = SIGTERM; }; };""")
    assert found.application and found.application.tasks[0].stack == 100
    assert "ISR I: SIGTERM is no device here, so only TriggerISR() requests it" in said(found, "warning")
    assert found.application.trace == 1024


def test_channel_becomes_an_isr_of_its_bell() -> None:
    """No other ISR gets a vector that a bell, or Linux's doorbell, may have."""
    found = compile_text("t.oil", """CPU c { OS o; EVENT e; TASK t { PRIORITY = 1; EVENT = e; };
        TASK u { PRIORITY = 2; };
        CHANNEL first { NOTIFICATION = SETEVENT { TASK = t; EVENT = e; }; };
        CHANNEL second { NAME = "my-orders"; NOTIFICATION = ACTIVATETASK { TASK = u; }; };
        ISR third { CATEGORY = 2; SOURCE = "BELL raw.data"; };
        ISR fourth { CATEGORY = 2; PRIORITY = 1; }; ISR fifth { CATEGORY = 2; PRIORITY = 1; };
        ISR sixth { CATEGORY = 1; }; };""").application
    assert found
    by_name = {isr.name: isr for isr in found.isrs}
    channels = {isr.name: isr.source.channel for isr in found.isrs if isr.source}
    assert channels == {"first": "first", "second": "my-orders", "third": "raw.data"}
    assert len({isr.vector for isr in found.isrs}) == 6
    assert all(by_name[name].interrupt_class == 2 for name in channels)
    assert all(isr.vector not in range(0x21, 0x30) for isr in found.isrs if not isr.source)
    assert by_name["sixth"].interrupt_class > by_name["fifth"].interrupt_class
    made = files(found, "t.oil")["os_config.c"]
    assert "ISR(os_bell_first)\n{\n\tSetEvent(t, e);\n}\n" in made
    assert "ISR(os_bell_second)\n{\n\tActivateTask(u);\n}\n" in made
    assert '.source = OS_SOURCE_BELL, .channel = "my-orders"' in made


def test_file_for_another_processor_and_its_sources() -> None:
    """As files for ERIKA 2 name them: the sources are those of the application, here, too."""
    found = compile_text("t.oil", """CPU c { OS o { EE_OPT = "DEBUG"; LDDEPS = "x";
        CPU_DATA = CORTEX_MX { MODEL = M4; APP_SRC = "code.c"; APP_SRC = "more.c";
            MULTI_STACK = TRUE { IRQ_STACK = TRUE { SYS_SIZE = 512; }; }; };
        KERNEL_TYPE = ECC2; };
        TASK A { PRIORITY = 1; STACK = PRIVATE { SYS_SIZE = 20000; IRQ_SIZE = 64; }; };
        TASK B { PRIORITY = 2; STACK = SHARED; }; };""")
    assert found.application and found.application.sources == ["code.c", "more.c"]
    assert [task.stack for task in found.application.tasks] == [20000, 8192]
    assert any("CPU_DATA = CORTEX_MX has no effect" in wrong for wrong in said(found, "warning"))


NAMED = """CPU c { OS o { EE_OPT = "x"; CPU_DATA = AARCH64 { ID = 7; APP_SRC = "a.c"; }; };
    APPMODE m; EVENT e; COUNTER k { TYPE = SOFTWARE; CPU_ID = 7; };
    RESOURCE r { RESOURCEPROPERTY = STANDARD { APP_SRC = "r.c"; }; APP_SRC = "s.c"; };
    TASK t { PRIORITY = 1; EVENT = e; RESOURCE = r; CPU_ID = 7;
        STACK = PRIVATE_NIOSII { SYS_SIZE = 9000; }; };
    ALARM a { COUNTER = k; ACTION = ALARMCALLBACK { ALARMCALLBACKNAME = EE_called; }; };
    ISR EE_first { CATEGORY = 2; PRIORITY = 1; SOURCE = "0x3"; HANDLER = EE_handler; };
    ISR second { CATEGORY = 2; PRIORITY = 2; SOURCE = "0x31"; };
    COM m2 { COMAPPMODE = first; INCLUDES = "types.h"; };
    MESSAGE s { MESSAGEPROPERTY = SEND_STATIC_INTERNAL {
        CDATATYPE = "struct {int ts; char data[4];}"; }; };
    MESSAGE q { MESSAGEPROPERTY = RECEIVE_UNQUEUED_INTERNAL { SENDINGMESSAGE = s; };
        NOTIFICATION = FLAG { FLAGNAME = Arrived; }; }; };"""


def test_words_of_real_files_for_erika() -> None:
    """Names without quotes, sources of a resource, another processor's numbers of interrupts."""
    found = compile_text("t.oil", NAMED)
    assert found.application, found.problems.found
    made = found.application
    assert made.sources == ["a.c", "s.c", "r.c"] and made.com_modes == ["first"]
    assert [name for name, _ in made.headers] == ["types.h"]
    assert made.alarms[0].action.callback == "EE_called" and made.tasks[0].stack == 9000
    assert [(isr.handler, isr.vector) for isr in made.isrs] == [("EE_handler", 0x20), ("second", 0x30)]
    assert made.messages[0].ctype == "struct {int ts; char data[4];}"
    assert "ISR second: 0x31 is no device here, so only TriggerISR() requests it" in said(found, "warning")


@pytest.mark.parametrize(("kind", "warned"), [("", True), ("TYPE = SOFTWARE;", False),
                                              ("TYPE = HARDWARE;", False)])
def test_counter_of_erika_2_without_a_type_is_named(kind: str, warned: bool) -> None:
    found = compile_text("t.oil", f"""CPU c {{ OS o {{ EE_OPT = "x"; }}; COUNTER k {{ {kind} }};
        TASK t {{ PRIORITY = 1; }}; }};""")
    assert found.application
    assert any("COUNTER k has no TYPE" in wrong for wrong in said(found, "warning")) == warned


@pytest.mark.parametrize(("declared", "needed"), [("BCC1", "BCC2"), ("OSEK { CLASS = ECC1; }", "BCC2")])
def test_class_of_rtdruid_that_is_too_small_is_a_warning(declared: str, needed: str) -> None:
    """The examples of ERIKA 2 have several activations in BCC1, and RT-Druid takes them."""
    found = compile_text("t.oil", f"""CPU c {{ OS o {{ KERNEL_TYPE = {declared}; }};
        TASK t {{ PRIORITY = 1; ACTIVATION = 4; }}; }};""")
    assert found.application and found.application.conformance == needed
    assert any(wrong.endswith(f"so the class is {needed}") for wrong in said(found, "warning"))


def test_words_of_real_files_for_goil() -> None:
    found = compile_text("t.oil", """CPU c { OS o { NUMBER_OF_CORES = 1; ASFLAGS = "-g";
        IDLE_NAME = "rest"; ARDUINO = TRUE { BOARD = UNO; };
        BUILD = TRUE { OBJCOPY = "x"; LIBRARY = serial { TXBUFFER = 4; }; }; };
        TASK t { PRIORITY = 1; USEFLOAT = TRUE; TIMINGPROTECTION = FALSE; };
        ISR i { CATEGORY = 2; PRIORITY = 1; SOURCE = EXTI { PINON12 = PA12 { PULL = UP; }; }; };
        ISR j { CATEGORY = 2; PRIORITY = 2; SOURCE = "INT0_vect"; };
        ISR k { CATEGORY = 2; SOURCE = DOORBELL; }; };""")
    assert found.application, found.problems.found
    assert found.application.floats
    assert [isr.vector for isr in found.application.isrs] == [0x20, 0x30, 0]
    assert "ISR j: INT0_vect is no device here, so only TriggerISR() requests it" in said(
        found, "warning")


def test_file_of_toppers() -> None:
    """Its implementation.oil is supplied. AUTOSTART = FALSE may keep the attributes of TRUE."""
    text = """%s CPU ATMEL { OS LEJOS_OSEK { STATUS = EXTENDED; }; APPMODE appmode1{};
        COUNTER SysTimerCnt { MINCYCLE = 1; MAXALLOWEDVALUE = 10000; TICKSPERBASE = 1; };
        TASK t { AUTOSTART = FALSE; PRIORITY = 4; ACTIVATION = 1; SCHEDULE = FULL; };
        ALARM a { COUNTER = SysTimerCnt; ACTION = ALARMCALLBACK { ALARMCALLBACKNAME = f; };
        AUTOSTART = FALSE { ALARMTIME = 1; CYCLETIME = 4; APPMODE = appmode1; }; }; };"""
    found = compile_text("t.oil", text % '#include "implementation.oil"\n')
    assert found.application, found.problems.found
    assert found.dialect == "osek" and not found.application.alarms[0].modes
    assert said(found, "note") == ["implementation.oil is not found, so an empty one is supplied"]
    assert said(found, "warning") == [
        "ALARM a: AUTOSTART = FALSE: the attributes in its braces have no effect"]
    found = compile_text("t.oil", text % """IMPLEMENTATION i { ALARM { ENUM [ALARMCALLBACK {
        SYMBOLNAME ALARMCALLBACKNAME = NO_DEFAULT; }] ACTION = NO_DEFAULT; }; };""")
    assert found.application, found.problems.found


@pytest.mark.parametrize(("priorities", "warnings"), [
    (13, []), (14, ["ISR i14: there are 13 classes of interrupts, so it does not preempt ISRs of "
                    "PRIORITY 13"])])
def test_more_priorities_of_isrs_than_classes(priorities: int, warnings: list[str]) -> None:
    isrs = "".join(f"ISR i{n} {{ CATEGORY = 2; PRIORITY = {n}; }};" for n in range(1, priorities + 1))
    found = compile_text("t.oil", f"CPU c {{ OS o; TASK t {{ PRIORITY = 1; }}; {isrs} }};")
    assert found.application and said(found, "warning") == warnings
    assert [isr.interrupt_class for isr in found.application.isrs][:13] == list(range(2, 15))
