# SPDX-License-Identifier: GPL-2.0-only
"""Generated files: tables, rules for make, and files for debuggers and editors."""

import json
import re
from pathlib import Path

import pytest
from oil.cli import main
from oil.compile import compile_text
from oil.emit import files
from oilsamples import FOLDER, SAMPLES, SMALLEST, generated


@pytest.mark.parametrize("name", SAMPLES)
def test_queue_is_the_least_that_the_tasks_need(name: str) -> None:
    made = generated(SAMPLES[name])
    several = name == "pump.osek.oil"
    assert f"ERIKA_QUEUE := {'multi' if several else 'single'}\n" in made["os_config.mk"]
    assert ("os_level_queue" in made["os_config.c"]) == several
    assert ("os_level_task" in made["os_config.c"]) != several


def test_parts_are_started_if_they_are_needed() -> None:
    parts = {
        SMALLEST: "NULL",
        SAMPLES["pump.osek.oil"]: "os_start_counters, os_start_alarms, os_start_messages, NULL",
        SAMPLES["press.goil.oil"]: "os_start_tables, NULL"
    }
    for text, started in parts.items():
        assert f"os_parts[] = {{ {started} }};" in generated(text)["os_config.c"]


def test_system_timer_is_linked_only_for_its_counters() -> None:
    timer = "const struct os_isr_conf os_timer_isr"
    for name, text in {**SAMPLES, "smallest": SMALLEST}.items():
        made = generated(text)["os_config.c"]
        uses = ".driver = &os_systimer" in made
        assert uses == (name in ("lamp.rtdruid.oil", "pump.osek.oil", "serial.freeosek.oil"))
        assert uses == ("os_start_counters" in made)
        assert (f"{timer} = {{ .name" in made and ".id = INVALID_ISR" in made) == uses
        assert uses or (f"{timer};" in made and "os_systimer" not in made)


def test_map_has_tasks_states_and_stacks() -> None:
    found = json.loads(generated(SAMPLES["pump.osek.oil"])["os_config.json"])
    assert [task["name"] for task in found["tasks"]] == ["Control", "Display", "Store", "Service"]
    assert found["task_states"] == ["SUSPENDED", "READY", "WAITING", "RUNNING"]
    assert found["tasks"][0]["stack"] == {"symbol": "os_stack_Control", "size": 8192}
    assert found["events"]["Alarmed"] == "0x8000000000000000"


def orti_objects(text: str) -> dict[str, list[str]]:
    """Reads the objects of an ORTI file: its grammar is `KIND name { ATTRIBUTE = "text"; };`."""
    found: dict[str, list[str]] = {}
    body = text[text.index("\n};", text.index("IMPLEMENTATION")) + 3:]
    rest = re.sub(r'(\w+) (\w+)\s*\{((?:\s*\w+ = "[^"]*";)*)\s*\};',
                  lambda match: found.setdefault(match[1], []).append(match[2]) or "", body)
    assert not rest.strip()
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_orti_has_all_objects(name: str) -> None:
    text = generated(SAMPLES[name])["os_config.orti"]
    found = compile_text("t.oil", SAMPLES[name]).application
    bare = re.sub(r'"[^"]*"', "", text)
    assert found and all(bare.count(left) == bare.count(right) for left, right in ("{}", "[]"))
    objects = orti_objects(text)
    assert objects["TASK"] == [task.name for task in found.tasks]
    assert objects.get("ALARM", []) == [alarm.name for alarm in found.alarms]
    assert len(objects["STACK"]) == len(found.tasks) + 1 and len(objects["OS"]) == 1


def test_orti_declares_the_attributes_that_objects_have() -> None:
    text = generated(SAMPLES["pump.osek.oil"])["os_config.orti"]
    declared = text[:text.index("\n};", text.index("IMPLEMENTATION"))]
    for attribute in set(re.findall(r"^\t(\w+) = ", text[len(declared):], re.MULTILINE)):
        assert re.search(rf"\b{attribute}, \"", declared), attribute


def test_debuggers_see_the_last_error_and_the_owner_of_a_resource() -> None:
    """The members that they read are in the kernel's headers: test_oil_headers.py."""
    made = generated(SAMPLES["pump.osek.oil"])
    orti, gdb = made["os_config.orti"], made["os_config.gdb"]
    assert re.search(r'"E_OS_LIMIT" = 4,(?:\n.*)+?\] LASTERROR, "Last error";', orti)
    assert '\tLASTERROR = "os_error_info.last";\n' in orti
    assert re.search(r'"ISR" = 1,\n\t\t\t"Control" = "&os_tasks\[\d\]",(?:\n.*)+?\] LOCKER,', orti)
    number = re.findall(r"(?m)^RESOURCE (\w+)$", orti).index("Pipe")
    at = f"os_resources[{number}]"
    assert f'LOCKER = "{at}.taken == 2 ? 1 : {at}.taken ? (unsigned long){at}.owner : 0";' in orti
    assert f'printf "taken by %s\\n", os_task_conf[{at}.owner - os_tasks].name\n' in gdb


@pytest.mark.parametrize("name", SAMPLES)
def test_gdb_needs_no_memory_of_the_program(name: str) -> None:
    """gdb copies each string among the values of a printf into the program, by its malloc()."""
    lines = re.findall(r"(?m)^ *printf (.*)$", generated(SAMPLES[name])["os_config.gdb"])
    assert len(lines) > 10 and all(line.count('"') == 2 for line in lines)


def test_build_writes_and_lists_files(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["-o", "a b", "--compiler", "gcc -c -O2", "--source", "main.c"]
    assert main(["build", str(FOLDER / "lamp.rtdruid.oil"), *words]) == 0
    listed = capsys.readouterr().out.splitlines()
    there = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert set(listed) == there and "a b/os_config.c" in there
    commands = json.loads(Path("compile_commands.json").read_text())
    assert [entry["file"]
            for entry in commands] == ["main.c", "lamp.c", "switch.c", "a b/os_config.c"]
    assert commands[0]["arguments"] == ["gcc", "-c", "-O2", "-O2", "-c", "main.c"]
    assert "ERIKA_APP_SRC := lamp.c switch.c\n" in Path("a b/os_config.mk").read_text()


def test_build_leaves_equal_files_alone(tmp_path: Path) -> None:
    words = ["build", str(FOLDER / "lamp.rtdruid.oil"), "-o", str(tmp_path)]
    assert main(words) == 0
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert main(words) == 0
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_wrong_file_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.oil").write_text("CPU c { };")
    assert main(["build", str(tmp_path / "x.oil"), "-o", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()


def test_generated_text_names_no_folder() -> None:
    compiled = compile_text("/some/where/t.oil", SAMPLES["lamp.rtdruid.oil"])
    assert compiled.application
    assert not any("/some" in text
                   for text in files(compiled.application, "/some/where/t.oil").values())


def test_lateness_is_counted_for_alarms_on_the_system_timer() -> None:
    """And for the tasks that they activate."""
    text = """CPU c { OS o { LATENCY = %s; }; TASK s { PRIORITY = 2; }; TASK t { PRIORITY = 1; };
        COUNTER timed { MAXALLOWEDVALUE = 9; };
        COUNTER soft { MAXALLOWEDVALUE = 9; TYPE = SOFTWARE; };
        ALARM a { COUNTER = soft; ACTION = ACTIVATETASK { TASK = s; }; };
        ALARM b { COUNTER = timed; ACTION = ACTIVATETASK { TASK = t; }; }; };"""
    made = generated(text % "TRUE")["os_config.c"]
    assert "os_alarm_late[2] = {\n\t[b] = { .act = os_act_activate },\n};" in made
    assert made.count(".act = os_act_late") == made.count("os_start_latency") == 1
    assert "os_late_begin(t);\n\tOS_TASK_ENTRY(t)();" in made and "os_late_begin(s)" not in made
    assert "os_task_late[2] = {\n\t[t] = { .counted = true },\n};" in made
    assert made.count(".entry = os_late_entry_t") == made.count(".entry = OS_TASK_ENTRY(s)") == 1
    assert "late" not in generated(text % "FALSE")["os_config.c"]


@pytest.mark.parametrize("low", ["-5", "0xFFFB", "0xFFFFFFFFFFFFFFFB"])
def test_numbers_of_signed_messages(low: str) -> None:
    """They may be below 0, or the bits of such a number."""
    text = f"""CPU c {{ OS o;
        MESSAGE s {{ MESSAGEPROPERTY = SEND_STATIC_INTERNAL {{ CDATATYPE = "sint16"; }}; }};
        MESSAGE r {{ MESSAGEPROPERTY = RECEIVE_UNQUEUED_INTERNAL {{ SENDINGMESSAGE = s;
            FILTER = NEWISWITHIN {{ MIN = {low}; MAX = 5; }}; INITIALVALUE = {low}; }}; }}; }};"""
    made = generated(text)["os_config.c"]
    assert "os_initial_r = (int16_t)-5ull;" in made
    assert ".min = (uint64_t)(int16_t)-5ull, .max = (uint64_t)(int16_t)5ull }" in made


@pytest.mark.parametrize(("status", "com", "extended"), [
    ("STANDARD", "COM m { COMSTATUS = COMEXTENDED; };", "true"),
    ("EXTENDED", "COM m { COMSTATUS = COMSTANDARD; };", "false"),
    ("STANDARD", "COM m;", "false"),
    ("EXTENDED", "COM m;", "true"),
    ("EXTENDED", "", "true"),
])
def test_comstatus_decides_for_com_and_status_is_its_default(status: str, com: str,
                                                             extended: str) -> None:
    made = generated(f"CPU c {{ OS o {{ STATUS = {status}; }}; {com} }};")["os_config.c"]
    assert f"const bool os_com_extended = {extended};\n" in made


def test_queued_message_may_have_a_flag() -> None:
    made = generated("""CPU c { OS o;
        MESSAGE s { MESSAGEPROPERTY = SEND_STATIC_INTERNAL { CDATATYPE = "int"; }; };
        MESSAGE r {
            MESSAGEPROPERTY = RECEIVE_QUEUED_INTERNAL { SENDINGMESSAGE = s; QUEUESIZE = 2; };
            NOTIFICATION = FLAG { FLAGNAME = "f"; }; }; };""")
    assert "#define ReadFlag_f()\tos_com_flag(r)\n" in made["os_config.h"]
    assert ".act = os_act_flag" in made["os_config.c"]
