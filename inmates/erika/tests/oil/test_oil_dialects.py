# SPDX-License-Identifier: GPL-2.0-only
"""Complete files in the three dialects: the values for the kernel, and the messages."""

import pytest
from oil.compile import Compiled, compile_file, compile_text
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
                                           ("press.goil.oil", "goil")])
def test_dialect_is_guessed_with_a_note(name: str, dialect: str) -> None:
    found, _ = compiled(name)
    assert found.dialect == dialect
    assert len(said(found, "note")) == (dialect != "osek")


def test_dialect_that_is_named_is_not_guessed() -> None:
    found, _ = compiled("press.goil.oil", "goil")
    assert not said(found, "note")


def test_attributes_without_effect_warn_once() -> None:
    found, _ = compiled("lamp.rtdruid.oil")
    assert [word for word in said(found, "warning")
            if "EE_OPT" in word] == ["OS: EE_OPT has no effect: options of another kernel's build"]
    assert len(said(found, "warning")) == len(set(said(found, "warning")))


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


def test_sources_that_are_no_vector_get_one_by_priority() -> None:
    _, found = compiled("press.goil.oil")
    assert [isr.vector for isr in found.isrs] == [0x20, 0x30]


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
