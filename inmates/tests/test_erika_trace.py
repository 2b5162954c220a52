# SPDX-License-Identifier: GPL-2.0-only
"""The trace of the OSEK kernel, written alone on an emulated PC and read by `qvoil trace`."""

import json
import re

import pytest

from lab import bare as m
from lab.outside import Outside

pytestmark = [pytest.mark.usefixtures("built"), pytest.mark.xdist_group("erika-trace")]
# Standard status does not notice what this application does.
WRONG_OIL = """
CPU wrong {
	OS kernel { STATUS = STANDARD; TRACE = TRUE; };
	APPMODE normal;
	TASK Main { PRIORITY = 1; AUTOSTART = TRUE; RESOURCE = First; RESOURCE = Second; };
	TASK Sleeper { PRIORITY = 2; EVENT = Knock; RESOURCE = First; };
	EVENT Knock;
	RESOURCE First;
	RESOURCE Second;
};
"""
WRONG_C = """
#include "os.h"
TASK(Main)
{
	SetEvent(Sleeper, Knock);
	GetResource(First);
	GetResource(Second);
	ReleaseResource(First);
	ReleaseResource(Second);
	ShutdownOS(E_OK);
}
TASK(Sleeper) { TerminateTask(); }
"""


@pytest.fixture(scope="module")
def outside(built: None, tmp_path_factory: pytest.TempPathFactory) -> Outside:
    return Outside(tmp_path_factory.mktemp("erika-trace"))


def traced(outside: Outside, folder: str, image: str, *options: str, status: int = 0) -> str:
    """Builds an application, runs it until it shuts down, and returns what `qvoil trace` prints."""
    outside.run("make", folder=folder)
    with m.Machine("-kernel", str(outside.path / folder / image), *m.COUNTED) as machine:
        machine.expect("erika: shut down, status 0\n")
        (outside.path / folder / "log").write_text(machine.text)
    return outside.run("qvoil", "trace", "log", "--map", "out/os_config.json", *options, folder=folder,
                       status=status)


def engine(outside: Outside, folder: str, records: int) -> None:
    """Makes the sample with a trace, which ends after its first cycle."""
    outside.run("qvoil", "new", folder, "--example", "engine")
    oil, source = (outside.path / folder / f"{folder}.{end}" for end in ("oil", "c"))
    oil.write_text(oil.read_text().replace(
        "STATUS = EXTENDED;", f"STATUS = EXTENDED; TRACE = TRUE {{ RECORDS = {records}; }};"))
    source.write_text(source.read_text().replace("controls, amount);\n", "controls, amount);\n\tShutdownOS(E_OK);\n"))


def test_trace_of_the_engine_keeps_the_rules(outside: Outside) -> None:
    """A cycle has four injections and four sparks; all tasks and the resource are in the pictures."""
    engine(outside, "whole", 2000)
    out = traced(outside, "whole", "whole32.elf", "--list", "--svg", "t.svg", "--perfetto", "t.json")
    assert re.search(r"(?m)^\d+ records, .* 0 overwritten, 0 missing, 0 lines damaged, 0 rules broken$", out)
    assert len(re.findall("RUN Inject$", out, re.MULTILINE)) == 4
    assert len(re.findall("SET Ignite Spark$", out, re.MULTILINE)) == 4
    picture = (outside.path / "whole/t.svg").read_text()
    events = json.loads((outside.path / "whole/t.json").read_text())["traceEvents"]
    rows = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert rows == {"ISR (system timer)", "Ignite", "Inject", "Control", "Report", "resource Fuel"}
    assert all(f">{row}</text>" in picture for row in rows)


def test_full_ring_keeps_the_latest_records_and_says_how_many_it_lost(outside: Outside) -> None:
    engine(outside, "small", 64)
    out = traced(outside, "small", "small32.elf", "--list")
    found = re.search(r"(?m)^(\d+) records, .* (\d+) overwritten, 0 missing, 0 lines damaged, 0 rules broken$", out)
    assert found and int(found[1]) == 64 + 1 and int(found[2]) > 0, out
    assert out.splitlines()[0].endswith(f"LOST 0 {found[2]}") and out.splitlines()[-2].endswith("STOP 0 0")


def test_broken_rules_of_a_real_application_are_found(outside: Outside) -> None:
    folder = outside.path / "wrong"
    folder.mkdir()
    (folder / "wrong.oil").write_text(WRONG_OIL)
    (folder / "wrong.c").write_text(WRONG_C)
    (folder / "Makefile").write_text(
        "OIL := wrong.oil\nSRC := wrong.c\ninclude $(shell pkg-config --variable=makefragment qv-erika)\n")
    out = traced(outside, "wrong", "wrong32.elf", status=1)
    assert "the event Knock is set for Sleeper, which is suspended\n" in out
    assert "the resource First is released, but the last one taken is Second\n" in out
