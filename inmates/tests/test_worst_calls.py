# SPDX-License-Identifier: GPL-2.0-only
"""One bound for every system call: how long any of them, with its worst arguments, keeps interrupts
off. programs/worst.c makes the calls, in a fake cell, which has channels."""
import re

import pytest

from lab import bare as m

BOUND_NS = 20_000
CALLS = re.findall(r"^\tC\(\d+, (\w+), \d\)", (m.TOP / "inmates/quest/user/include/quest/calls.h").read_text(), re.M)

pytestmark = pytest.mark.usefixtures("built")


@pytest.mark.slow
def test_no_move_delays_a_thread_on_a_vcpu() -> None:
    """The same, while the shell takes a program with 16 threads off the CPU and puts it back, again
    and again."""
    with m.Machine("-smp", "2", *m.COUNTED, "-kernel", str(m.build_dir() / "inmates/tests/fakecell.elf"),
                   "-initrd", str(m.quest("quest-test.elf")), "-append", "fakecell") as machine:
        shell = m.Shell(machine, "> \x04")
        [pid] = re.findall(r"(?m)^\[(\d+)\]", shell.run("worst threads &"))
        late = []
        for command in ("sleep 100", f"shuffle {pid} 20"):
            start = machine.seen
            shell.run("worst nothing &")
            while "worst: nothing late=" not in machine.text[start:]:
                assert "20 times: done" in shell.run(command) or command == "sleep 100"
            late += map(int, re.findall(r"worst: nothing late=(\d+)", machine.text[start:]))
    print(late)
    assert len(late) == 2 and late[1] <= late[0] + BOUND_NS


@pytest.mark.parametrize("wake_ups", [40, pytest.param(400, marks=pytest.mark.slow)])
def test_no_call_delays_a_thread_on_a_vcpu(wake_ups: int) -> None:
    """A program at best effort makes one call in a loop. Meanwhile a thread on a VCPU of 1 ms in 5 ms
    sleeps 100 to 300 us at a time. It wakes at most 20 us later than while that program makes no
    call. An instruction takes 1 ns in this machine."""
    with m.Machine("-smp", "2", *m.COUNTED, "-kernel", str(m.build_dir() / "inmates/tests/fakecell.elf"),
                   "-initrd", str(m.quest("quest-test.elf")), "-append", "fakecell") as machine:
        shell = m.Shell(machine, "> \x04")
        machine.send(f"worst all {wake_ups}\r")
        start = machine.seen
        end = machine.expect(rf"worst: {CALLS[-1]} late=\d+\r?\n", timeout=1800).end()
        machine.expect(shell.ready)
        late = {name: int(ns) for name, ns in re.findall(r"worst: (\w+) late=(\d+)", machine.text[start:end])}
    print(late)
    assert list(late) == ["nothing", *CALLS]
    quiet = late.pop("nothing")
    assert {name: ns for name, ns in late.items() if ns > quiet + BOUND_NS} == {}, quiet


@pytest.mark.parametrize("what", ["crowd sleep", *(
    pytest.param(other, marks=pytest.mark.slow) for other in ("crowd pipe", "gang words", "gang locks", "gang kill"))])
def test_no_crowd_delays_a_thread_on_a_vcpu(what: str) -> None:
    """The same, while nearly all threads that programs can have wake at the same time, again and
    again (programs/crowd.c), and while a call concerns 15 threads on VCPUs of their own
    (programs/gang.c)."""
    with m.Machine(*m.COUNTED, "-kernel", str(m.quest("quest-test32.elf"))) as machine:
        shell = m.Shell(machine, r"(?m)^> ")
        late = []
        for crowd in ("", f"{what} &"):
            if crowd:
                machine.send(f"{crowd}\r")
                least = 100 if "crowd" in what else 15
                assert int(machine.expect(rf"{what.split()[0]}: (\d+) threads")[1]) >= least
            machine.send(f"worst nothing {100 if 'crowd' in what else 2000}\r")
            late.append(int(machine.expect(r"worst: (.*)\r?\n")[1].removeprefix("nothing late=")))
            machine.expect(shell.ready)
    print(late)
    assert late[1] <= late[0] + BOUND_NS
