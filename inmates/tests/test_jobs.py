# SPDX-License-Identifier: GPL-2.0-only
"""Several programs at a time: in the background, on the move, in floods, and the keys and lines of
the shell meanwhile.

Quest runs alone and in a fake cell."""
import re
import time

import pytest

from lab import bare as m
from programs import (alone, background, CELL_READY,
                      in_time, nothing_lost as nothing_lost, shell as shell)

pytestmark = pytest.mark.usefixtures("built")


def is_detached_and_attached(shell, pid: int) -> bool:
    """Returns false if the program ends before that has been done three times, on a busy host."""
    def ended() -> bool:
        return f"[{pid}] moves has ended" in end_of(shell)
    for _ in range(3):
        said = shell.run(f"detach {pid}")
        if said and ended():
            return False
        assert said == ""
        ps = shell.run("ps")
        assert re.search(rf"(?m)^ *{pid} +0 moves +detached ", ps) and ps.count("moves") == 1
        assert "moves" not in shell.run("vcpus") and "no such program" in shell.run(f"detach {pid}")
        attached = shell.run(f"attach {pid}"), shell.run(f"attach {pid}"), shell.run("vcpus")
        if ended():
            return False
        assert attached[0] == "" and "no such program" in attached[1] and "moves" in attached[2]
    return True


def test_program_moves(shell, nothing_lost):
    """A program has threads that wait in every way. It is detached, becomes plain data, and
    continues unchanged after it is attached."""
    for seconds in (4, 20, 60):
        start = len(shell.machine.text)
        pid = background(shell, f"moves {seconds}")
        assert m.until(lambda s=start: end_of(shell) and "moves: ready" in shell.machine.text[s:])
        time.sleep(1)
        if is_detached_and_attached(shell, pid):
            break
    else:
        pytest.fail("each program ended before it was detached three times")
    assert m.until(lambda: f"[{pid}] moves has ended: exit" in end_of(shell))
    assert re.search(r"moves: \d+ right, 0 wrong\n", shell.machine.text[-8000:]), shell.machine.text[-8000:]


def test_silent_end_is_told_at_once(shell, nothing_lost):
    """The program prints nothing, and no key comes."""
    pid = background(shell, "state late")
    assert m.until(lambda: f"[{pid}] state has ended: exit 0" in end_of(shell), 60)


@pytest.mark.parametrize("program", ["locks", "clocks", "canny 3", "moves 1"])
def test_program_moves_again_and_again(shell, nothing_lost, program):
    """The shell detaches and attaches a program at random points of its execution."""
    pid, name = background(shell, program), program.split()[0]
    while f"[{pid}] {name} has ended" not in end_of(shell):
        for how in ("detach", "attach"):
            out = shell.run(f"{how} {pid}")
            assert re.fullmatch(r"(.*there is no such program.*\n|.*would stay behind.*\n)?", re.sub(
                r"(?m)^(\[\d+\] |locks|clocks|canny|moves|[@#+. ]*$).*\n?", "", out)), out
    assert f"[{pid}] {name} has ended: exit 0" in shell.machine.text[-20000:], shell.machine.text[-8000:]


def test_what_cannot_move(shell, nothing_lost):
    pid = background(shell, "hostile full")
    assert m.until(lambda: re.search(r"children, then there are too many programs", end_of(shell)))
    assert "children, pipes, sockets, shared memory or channels" in shell.run(f"detach {pid}")
    shell.run(f"kill {pid}")
    assert m.until(lambda: f"[{pid}] hostile has ended" in end_of(shell))
    assert "no such program" in shell.run("detach 99999") and "usage" in shell.run("detach") + shell.run("attach x")


def test_kill_reaches_a_detached_program_when_it_is_back(shell, nothing_lost):
    pid = background(shell, "spinner")
    assert shell.run(f"detach {pid}") == "" and shell.run(f"kill {pid}") == ""
    # the spinner may run, and end, before the shell has its budget back
    assert shell.run(f"attach {pid}") in ("", f"[{pid}] spinner has ended: killed (signal 9)\n")
    assert m.until(lambda: f"[{pid}] spinner has ended: killed (signal 9)" in end_of(shell))


def test_what_a_program_brings_and_takes_along(shell, nothing_lost):
    """Checks flags that the kernel must not keep, rounding, and registers. A waiting process can be
    killed."""
    assert re.fullmatch(r"state: \d{2,} right, 0 wrong\n", shell.run("state"))


def test_a_program_cannot_look_like_the_shell(shell, nothing_lost):
    """Only the shell can send the byte that tells quesh of a prompt."""
    assert shell.run("state ready") == "x?x\n"


def test_the_background_gets_no_keys(shell, nothing_lost):
    shell.start("state read &")
    shell.machine.expect(r"state: 0 keys\n")
    shell.machine.expect(shell.ready)


def test_programs_stay_off_the_kernels_vcpus(shell, nothing_lost):
    """No program can run on a VCPU that the shell created for itself."""
    assert shell.run("load 1 100") == ""
    try:
        assert re.fullmatch(r"calls: \d{2,} right, 0 wrong\n", in_time(shell.run("calls")))
    finally:
        shell.run("load stop")


def test_pages_that_come_and_go(shell, nothing_lost):
    """If a request for memory fails half-way, its memory is freed, even if another thread used
    it."""
    assert shell.run("hostile race").endswith("\nhostile: 10 rounds, 10 killed, 0 wrote what was gone\n")
    assert "25 primes" in shell.run("prime 100")


def test_a_fork_that_fails_is_told_to_who_waits(shell, nothing_lost):
    """If all threads are taken, fork fails after it has copied the memory, and frees it."""
    shell.machine.send("hostile wait\r")
    shell.machine.expect(r"hostile: 10 forks failed, who waited was told each time\n", timeout=120)
    shell.machine.expect(shell.ready)


def test_keys_are_not_for_who_is_left_alone(shell, nothing_lost):
    """A process tries to read keys. Its grandparent, which the shell waited for, has ended, so the
    keys go to the shell."""
    child = int(re.fullmatch(r"hostile: child (\d+) stays\n", in_time(shell.run("hostile tree")))[1])
    assert shell.run("echo alive") == "alive\n"
    shell.run(f"kill {child}")


def test_break_ends_the_family(shell, nothing_lost):
    shell.start("hostile family")
    shell.machine.expect("a family\n")
    shell.machine.send("\x03")
    shell.machine.expect(r"hostile was killed \(signal 9\)\n")
    shell.machine.expect(shell.ready)


def test_the_shell_finds_room_among_many(shell, nothing_lost):
    """If a program forks until fork() fails, the shell can still start programs."""
    pid = int(re.match(r"\[(\d+)\]", shell.run("hostile full &"))[1])
    assert m.until(lambda: re.search(r"children, then there are too many programs", end_of(shell)))
    assert shell.run("hello you") .endswith("hello from you\n")
    later = int(re.search(r"\[(\d+)\]", shell.run("hello you &"))[1])
    assert later < pid + 40                     # failed forks have not used up pids
    shell.run(f"kill {pid}")
    assert m.until(lambda: f"[{pid}] hostile has ended" in end_of(shell))


def test_the_shell_finds_room_among_threads(shell, nothing_lost):
    """All threads that programs can have are taken; the shell can still start a program."""
    pid = int(re.match(r"\[(\d+)\]", shell.run("hostile threads &"))[1])
    assert m.until(lambda: "hostile: no more threads" in end_of(shell))
    assert shell.run("hello you").endswith("hello from you\n")
    assert "there is no such program" in shell.run(f"kill -{pid + 1}")
    shell.run(f"kill -{pid}")


def test_the_shell_finds_memory(shell, nothing_lost):
    """A program takes all memory. The shell still starts small programs from the reserve. When the
    reserve is used up, the shell rejects a program with a reason. It can still list and end the
    small programs, and then the job."""
    pid = int(re.search(r"\[(\d+)\] hostile\n", shell.run("hostile hoard &"))[1])
    assert m.until(lambda: "hostile: all memory is taken" in end_of(shell))
    assert "free 256 KiB," in shell.run("meminfo")              # SHELL_PAGES
    assert shell.run("hello you").endswith("hello from you\n")
    started = []
    for _ in range(10):
        said = shell.run("spinner &")
        if "not enough memory" in said:
            break
        started.append(int(re.search(r"\[(\d+)\] spinner\n", said)[1]))
    assert 1 <= len(started) < 10
    ps = shell.run("ps")
    for n, name in ((pid, "hostile"), (started[0], "spinner")):
        assert re.search(rf"(?m)^ *{n} +0 {name} +live", ps)
    for spinner in started:
        assert "there is no such program" not in shell.run(f"kill {spinner}")
    assert m.until(lambda: "free 256 KiB," in shell.run("meminfo"))
    assert shell.run("hello again").endswith("hello from again\n")
    shell.run(f"kill -{pid}")
    assert m.until(lambda: f"[{pid}] hostile has ended" in end_of(shell))


def test_a_fork_bomb_can_be_ended(shell, nothing_lost):
    """Pids change all the time, and most parents have ended. All processes of a job still end at
    one instant."""
    pid = int(re.match(r"\[(\d+)\]", shell.run("hostile bomb &"))[1])
    assert m.until(lambda: shell.run("ps").count(" hostile ") > 10)
    assert shell.run("hello you").endswith("hello from you\n")
    shell.run(f"kill {pid}")                     # this kills only the job's first program
    assert m.until(lambda: f"[{pid}] hostile has ended" in end_of(shell))
    assert set(re.findall(r" hostile .* (\d+)\n", shell.run("ps"))) == {str(pid)}
    shell.run(f"kill -{pid}")


def test_break_ends_those_without_a_parent(shell, nothing_lost):
    shell.start("hostile orphan")
    shell.machine.expect("an orphan\n")
    shell.machine.send("\x03")
    shell.machine.expect(r"hostile was killed \(signal 9\)\n")
    shell.machine.expect(shell.ready)


def test_who_is_refused_vcpus_delays_nobody():
    """The exact admission test takes milliseconds with 200 VCPUs. It runs on its caller's budget,
    with interrupts on."""
    with m.Machine("-icount", "shift=1,sleep=off", "-kernel", str(m.quest("quest-test32.elf")),
                   "-append", "quest xapic admission=exact") as machine:
        m.Shell(machine, r"(?m)^> ")
        machine.send("hostile admit 300\r")
        found = machine.expect(r"hostile: latest wake-up (\d+) us alone, (\d+) us beside one that is refused VCPUs", timeout=120)
        assert int(found[2]) < int(found[1]) + 500, found[0]


def test_a_flood_can_be_ended(shell, nothing_lost):
    """A program writes 16 MiB to the console in one call, which takes longer than expect() waits.
    ^C works during the call."""
    if shell.ready == CELL_READY:
        pytest.skip("the fake cell's Linux takes no keys before it has shown all output")
    shell.start("hostile flood")
    shell.machine.expect("\x01")
    shell.machine.send("\x03")
    shell.machine.expect(r"hostile was killed \(signal 9\)\n")
    shell.machine.expect(shell.ready)


def test_in_the_background(shell, nothing_lost):
    pid = int(re.match(r"\[(\d+)\] spinner\n", shell.run("spinner &"))[1])
    row = next(line for line in shell.run("ps").splitlines() if re.match(rf" *{pid} +0 spinner +live", line))
    assert row.split()[5] == "1"                                # threads
    assert re.search(r"spinner +main +20.000 +100.000", shell.run("vcpus"))
    # the command runs while the spinner runs
    assert "25 primes" in shell.run("prime 100")
    shell.run(f"kill {pid}")
    assert m.until(lambda: f"[{pid}] spinner has ended: killed (signal 9)" in end_of(shell))
    assert "spinner" not in shell.run("vcpus")


def end_of(shell) -> str:
    """Returns all that the shell has printed so far before its next prompt (an ended background
    program)."""
    shell.run("echo")
    return shell.machine.text[-2000:]


def test_several_at_once_and_told_why_not(shell, nothing_lost):
    """The bound admits two VCPUs of 20/100 in addition to those of the kernel. Further programs run
    at best effort."""
    pids, outs = [], []
    for _ in range(3):
        outs.append(shell.run("spinner &"))
        pids.append(int(re.search(r"\[(\d+)\]", outs[-1])[1]))
    assert "best effort" not in outs[0] + outs[1]
    assert "no VCPU of 20/100 ms: the VCPU is not admitted" in outs[2] and "runs at best effort" in outs[2]
    assert shell.run("echo alive") == "alive\n"
    for pid in pids:
        shell.run(f"kill {pid}")
    assert m.until(lambda: all(f"[{pid}] spinner has ended" in end_of(shell) for pid in pids))


def test_vcpus_that_are_gone_hold_up_nobody(shell, nothing_lost):
    """VCPUs with a period of 1000 s are used and destroyed. Their use counts against the program
    that created them, and not against later programs."""
    said = re.fullmatch(r"hostile: (\d+) VCPUs came and went, then: there are too many .*\n", shell.run("hostile vcpus"))
    assert said and 14 <= int(said[1]) <= 16
    assert shell.run("hello") == "hello from nobody\n"
    assert "begins in" not in shell.run("vcpus")


def test_break_ends_what_is_waited_for(shell, nothing_lost):
    shell.start("spinner")
    shell.machine.send("\x03")
    shell.machine.expect(r"spinner was killed \(signal 9\)\n")
    shell.machine.expect(shell.ready)


def test_output_in_the_background_leaves_the_line(shell, nothing_lost):
    """After the output of a background program, the shell shows the prompt and the typed part of
    the line again, also for quesh -c."""
    shell.start("hello x &")
    shell.machine.expect(r"hello from x\n")
    shell.machine.expect(shell.ready)
    shell.start("logger 2 300 &")
    shell.machine.send("ec")
    shell.machine.expect(r"logger: 2 at .*\n(?:.*\n)*?> ec")
    shell.machine.send("ho same\r")
    shell.machine.expect(r"ho same\n(?:.*\n)*?same\n")
    shell.machine.expect(shell.ready)


def shown(text: str) -> list[str]:
    """Returns the rows as a terminal shows them, if a row is cleared from its start by CR and ESC [
    K. (m.Machine drops the CR.)"""
    return re.sub(r"(?m)^.*\x1b\[K", "", text).splitlines()


def test_a_line_being_typed_stays_whole(shell, nothing_lost):
    """Letters arrive during a program's output. In the end the output and the typed line are
    complete, and the shell runs the typed command."""
    start = shell.machine.seen
    pid = int(re.search(r"\[(\d+)\]", shell.run("logger 100000 10 &"))[1])
    shell.machine.expect(r"logger: 1 at")
    typed = "echo a line that is typed while another program prints"
    for letter in typed:
        shell.machine.send(letter)
        time.sleep(0.01)
    shell.machine.send("\r")
    shell.machine.expect(rf"> {typed}\n")
    shell.machine.expect(r"logger: \d+ at .*\n")
    shell.run(f"kill {pid}")
    assert m.until(lambda: f"[{pid}] logger has ended" in end_of(shell))
    rows = shown(shell.machine.text[start:shell.machine.seen])
    assert f"> {typed}" in rows and typed.removeprefix("echo ") in rows
    # the program's end may cut the last line
    logged = [row for row in rows if "logger: " in row][:-1]
    assert all(re.fullmatch(r"logger: \d+ at \d+\.\d+ s, -?\d+ us late", row) for row in logged), rows


def test_tab(shell, nothing_lost):
    shell.machine.send("pri\t100\r")
    shell.machine.expect(r"25 primes below 100")
    shell.machine.expect(shell.ready)
