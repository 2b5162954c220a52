# SPDX-License-Identifier: GPL-2.0-only
"""Runs the commands that the documents show. Their output must be what the documents print."""

import functools
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from lab import cli
from lab.machine import Machine
from lab.paths import TOP
from pages import Block, Step, block, command_blocks
from product import Product
from test_watching import until

# The test that runs a block, by the block's page and first command. A test without FILE:: is here.
RUN_BY = {
    ("CONTRIBUTING.md", "make deps"): "test_build_commands_of_pages_exist",
    ("CONTRIBUTING.md", "tests/lab/qvlab make"): "test_build_commands_of_pages_exist",
    ("README.md", "make demo"): "test_build_commands_of_pages_exist",
    ("README.md", "insmod qv.ko"): "test_readme_commands_print_what_page_shows",
    ("README.md", "vcpu=vision"): "test_readme_commands_print_what_page_shows",
    ("attacks.md", "tests/lab/qvlab test tests/attack "): "test_build_commands_of_pages_exist",
    ("attacks.md", "tests/lab/qvlab test tests/attack/test_races.py"): "test_build_commands_of_pages_exist",
    ("channels.md", "dd if=/dev/qv-channel/sensor"): "test_channels.py::test_cell_and_programs_talk",
    ("erika.md", "quesh erika -c trace"): "test_osek.py::test_console_shows_tasks_and_the_trace",
    ("erika.md", "quesh erika -c tasks"): "test_osek.py::test_console_shows_tasks_and_the_trace",
    ("channels.md", "systemd-sysusers"): "test_channel_devices.py::test_user_of_group_qv_lists_and_reads",
    ("channels.md", "key open 7 two write"): "test_channel_keys.py::test_two_cells_meet_and_linux_cannot",
    ("channels.md", "key open 7 one read"): "test_channel_keys.py::test_two_cells_meet_and_linux_cannot",
    ("channels.md", "qvctl channel open one"): "test_channel_keys.py::test_cell_and_linux_meet_by_a_key",
    ("erika.md", "qvctl cell create"): "test_osek.py::test_blink_next_to_quest",
    ("inmates.md", "gcc -m32"): "test_inmates_page.py::test_smallest_inmate_builds_and_runs",
    ("inmates.md", "qvctl cell show"): "test_sample.py::test_sample_shows_registers_of_inmate",
    ("inmates.md", "qvctl cell create"): "test_inmates_page.py::test_smallest_inmate_builds_and_runs",
    ("inmates.md", "qvctl cell dump"): "test_dump.py::test_core_of_a_failed_cell_opens_in_gdb",
    ("lab.md", "make deps"): "test_build_commands_of_pages_exist",
    ("lab.md", "make check-all"): "test_build_commands_of_pages_exist",
    ("lab.md", "qvlab run [options] SCRIPT"): "test_synopses_list_existing_commands_and_options",
    ("oil.md", "qvoil build"): "test_oil_command.py::test_synopsis_of_the_page",
    ("devices.md", "echo 2 >/sys/bus/pci/devices/"): "test_cell_igb.py::test_virtual_function_works_in_a_cell",
    ("devices.md", "cat first.yaml"): "test_cell_heir.py::test_heir_answers_when_the_cell_has_failed",
    ("device-files.md", "head -c 160"): "test_management.py::test_console_reads_as_a_frame_buffer",
    ("monitoring.md", "qvctl top -n 1"): "test_watching.py::test_top_says_how_busy_a_cell_is",
    ("messages.md", "qvctl cell create"): "test_messages.py::test_commands_of_the_page",
    ("messages.md", "bound talk"): "test_messages.py::test_commands_of_the_page",
    ("migration.md", "qvctl cell create"): "test_migration.py::test_program_hops_and_counts_on",
    ("network.md", "tests/lab/qvlab shell"): "test_build_commands_of_pages_exist",
    ("network.md", "modprobe e1000e"): "test_cell_net.py::test_linux_pings_a_cell",
    ("network.md", "httpd &"): "test_cell_net.py::test_linux_pings_a_cell",
    ("network.md", "echo 2"): "test_cell_igb.py::test_quest_uses_a_virtual_function",
    ("network.md", "iperf -s -u &"): "test_cell_net.py::test_clients_of_linux_use_a_cell",
    ("osek.md", "apt install"): "test_osek_page.py::test_application_outside_the_tree",
    ("osek.md", "make"): "test_osek_page.py::test_application_outside_the_tree",
    ("osek.md", "qvoil new"): "test_osek_page.py::test_application_outside_the_tree",
    ("proofs.md", "make prove"): "test_build_commands_of_pages_exist",
    ("proofs.md", "make fuzz"): "test_build_commands_of_pages_exist",
    ("quesh.md", "quesh NAME"): "test_synopses_list_existing_commands_and_options",
    ("quesh.md", "quesh quest -c"): "test_tool_examples_print_what_pages_show",
    ("quesh.md", "systemd-sysusers"): "test_management.py::test_groups_qv_and_qv_console",
    ("recovery.md", "qvctl cell create"): "test_recovery_cell.py::test_trial_of_the_page",
    ("systemd.md", "systemctl daemon-reload"): "test_systemd.py::test_unit_keeps_a_cell_running",
    ("systemd.md", "qvctl cell show"): "test_systemd.py::test_failed_cell_is_held_until_it_is_recovered",
    ("qvctl.md", "systemd-sysusers"): "test_management.py::test_groups_qv_and_qv_console",
    ("qvctl.md", "qvctl doctor"): "test_synopses_list_existing_commands_and_options",
    ("qvctl.md", "qvctl cell create"): "test_tool_examples_print_what_pages_show",
    ("qvctl.md", "qvctl disable"): "test_channel_users.py::test_user_keeps_nothing_of_channels_that_are_gone",
    ("yaml-key.md", "tests/lab/qvlab make"): "test_build_commands_of_pages_exist",
    ("packages.md", "apt-get update"): "test_packages.py::test_packages_from_bare_machine_to_cell_and_back",
    ("packages.md", "apt-get install"): "test_packages.py::test_packages_from_bare_machine_to_cell_and_back",
    ("parts.md", "tests/lab/qvlab make"): "test_build_commands_of_pages_exist",
    ("quest-programs.md", "make quest"): "test_lab.py::test_quest_command_boots_quest_with_archive",
    ("quest-programs.md", "make quest FILES=demo.cpio"): "test_lab.py::test_quest_command_boots_quest_with_archive",
    ("quest-programs.md", "gcc -O2"): "test_sdk.py::test_commands_of_the_page",
    ("quest-programs.md", "make"): "test_quest_page.py::test_program_of_the_page_runs_in_a_cell",
    ("quest-programs.md", "hello moon"):
        "test_quest_page.py::test_program_of_the_page_runs_in_a_cell",
    ("quest-scheduling.md", "inmates/quest/sim/questsim"): "test_sched_sim.py::test_scenarios_and_their_pictures",
}


def test_every_command_block_is_run() -> None:
    """Each block is in RUN_BY, and each test in RUN_BY exists."""
    unknown = [(b.page, b.commands()[0]) for b in command_blocks() if not runner(b)]
    assert not unknown
    for page, first in RUN_BY:
        block(page, first)
    for test in set(RUN_BY.values()):
        file, _, name = test.rpartition("::")
        [path] = [p for folder in ("tests", "inmates/tests", "inmates/erika/tests")
                  for p in (TOP / folder).rglob(file)] if file else [Path(__file__)]
        assert f"def {name}(" in path.read_text(), test


@pytest.mark.parametrize("printed,fits", [("runs (7.8 ms)", True), ("runs (1.204 s)", True),
                                          ("runs (850 us)", True), ("runs (soon)", False)])
def test_time_in_expected_output_may_have_any_unit(printed: str, fits: bool) -> None:
    """A page shows one run; on a slow machine the same command takes seconds."""
    step = Step("#", "qvctl cell start quest", ["runs (7.8 ms)"])
    assert bool(re.fullmatch(step.expected(), printed)) == fits


def on_screen(qv: Product, wanted: re.Pattern[str]) -> bool:
    return bool(wanted.search(qv.sh("quesh quest --dump")))


def type_in_linux(qv: Product, step: Step) -> None:
    done = qv.machine.run(f"cd $(dirname $(modinfo -n qv)) && {step.command}", 60)
    assert done.rc == 0, f"{step.command}: {done.out}"
    assert re.fullmatch(step.expected(), done.out.strip()), f"{step.command} prints: {done.out}"


def type_in_cell(qv: Product, terminal: str, steps: list[Step]) -> None:
    """Types the steps in a terminal. Waits after each step until the cell's screen shows its output."""
    shown = qv.machine.start(terminal, tty=(25, 80))
    until(lambda: b"> " in shown.output, "a prompt on the terminal", 60)
    for step in steps:
        shown.write(step.command.encode() + b"\r")
        wanted = re.compile(r"(?m)^> " + re.escape(step.command) + r"\s+" + step.expected())
        until(functools.partial(on_screen, qv, wanted), f"{step}", 60)
    shown.write(b"\x1d")
    qv.machine.finish(shown, 120)
    assert shown.rc == 0


def type_all(qv: Product, steps: list[Step]) -> None:
    for i, step in enumerate(steps):
        if step.prompt == ">":
            continue
        inside = []
        for later in steps[i + 1:]:
            if later.prompt != ">":
                break
            inside.append(later)
        if inside:
            type_in_cell(qv, step.command, inside)
        else:
            type_in_linux(qv, step)


def test_readme_commands_print_what_page_shows(qv: Product) -> None:
    """Runs README's first session, then its session with VCPUs, with the YAML keys from the page."""
    looks = block("README.md", "insmod qv.ko").steps()
    type_all(qv, looks)
    lines = (TOP / "README.md").read_text().split("\n")
    at = lines.index("    vcpus:")
    keys = "\n".join(line[4:] for line in lines[at:lines.index("", at)])
    qv.sh(f"cat /usr/share/qv/configs/quest.yaml - >/run/timed.yaml <<'END'\n{keys}\nEND")
    assert re.search(r"(?m)^vision +main +5ms +100ms", qv.sh("qvctl config check -v /run/timed.yaml"))
    qv.sh("modprobe qv && qvctl cell create /run/timed.yaml --start")
    type_in_cell(qv, "quesh quest", block("README.md", "vcpu=vision").steps())


def test_tool_examples_print_what_pages_show(qv: Product) -> None:
    """Runs the first block of qvctl.md, then the block of quesh.md with the cell that it needs."""
    type_all(qv, block("qvctl.md", "qvctl cell create").steps())
    qv.sh("qvctl cell create /usr/share/qv/configs/quest.yaml --start")
    type_all(qv, block("quesh.md", "quesh quest -c").steps())


def collected(words: list[str]) -> None:
    """Checks that `qvlab test ...` finds tests. They are not run here: `make check` runs them."""
    done = subprocess.run([*words, "--collect-only", "-q"], cwd=TOP, text=True, capture_output=True, check=False)
    found = re.search(r"(?m)^(\d+)(?:/\d+)? tests? collected|^(\d+)/\d+ tests collected", done.stdout)
    assert done.returncode == 0 and found, done.stdout + done.stderr


def runner(block: Block) -> str:
    """The test that runs a block; empty if RUN_BY does not list it."""
    return next((test for (page, first), test in RUN_BY.items()
                 if page == block.page and block.commands()[0].startswith(first)), "")


def test_build_commands_of_pages_exist(machine: Machine) -> None:
    """Each make target exists with its prerequisites, and qvlab knows its arguments. Quick commands
    are run. `make check` contains this test; test_demo_runs_to_its_end runs the demo."""
    for b in command_blocks():
        if runner(b) != "test_build_commands_of_pages_exist":
            continue
        for line in b.commands():
            words = shlex.split(line)
            if words[0] == "make":
                subprocess.run([*words, "-n"], cwd=TOP, check=True, stdout=subprocess.DEVNULL)
            elif words[:2] == ["tests/lab/qvlab", "make"]:
                subprocess.run(["make", "-n", *words[2:]], cwd=TOP, check=True, stdout=subprocess.DEVNULL)
            elif words[:2] == ["tests/lab/qvlab", "test"]:
                collected(words)
            elif words[0] == "tests/lab/qvlab":
                wanted = cli.parser().parse_args(words[1:])
                if getattr(wanted, "text", None):
                    assert machine.run(wanted.text).rc == 0, line
            else:
                subprocess.run(words, cwd=TOP, check=True, stdout=subprocess.DEVNULL)


def test_synopses_list_existing_commands_and_options(machine: Machine) -> None:
    """Each program has the commands and the options that its page lists."""
    for b in command_blocks():
        for line in b.commands() if b.lines[0].split()[0] in ("qvctl", "quesh", "qvlab") and "[" in "".join(b.lines) else ():
            program, *words = re.split(r"\s{2,}", line)[0].split()
            path = [w for w in words if re.fullmatch(r"[a-z]+(-[a-z]+)*", w)]
            options = re.findall(r"(?<![\w-])-{1,2}[a-z-]+", " ".join(words))
            if program == "qvlab":
                said = subprocess.run([TOP / "tests/lab/qvlab", *path, "--help"], text=True,
                                      capture_output=True, check=True).stdout
            elif program == "quesh":
                said = machine.run("quesh --help").out
            else:
                said = machine.run(f"qvctl help {shlex.join(path[:2] if path[0] in ('cell', 'channel', 'config') else path[:1])}").out
                assert path[0] == "help" or said.startswith(f"usage: qvctl {path[0]}"), (line, said)
            for option in options:
                assert re.search(rf"(?<![\w-]){re.escape(option)}\b", said), (line, option, said)
