# SPDX-License-Identifier: GPL-2.0-only
"""Programs in ring 3 do permitted and forbidden actions, and must leave nothing behind.

Quest runs alone and in a fake cell."""
import re
import subprocess
import sys
import time
import time

import pytest

from lab import bare as m

pytestmark = pytest.mark.usefixtures("built")

CHECKSUM = "6309e484"       # checksum of the edges in user/frame.py's frame

# Why `fault NAME` is killed: the exception, and the rest of the line.
# The last row differs between vendors of CPUs.
PAGE = "#PF page fault at [0-9a-f]{16}"
GENERAL = "#GP general protection at [0-9a-f]{16} "
FAULTS = {
    "divide": "#DE divide error at 0000400000400[0-9a-f]{3}\n",
    "jump": PAGE + r", executed 0000000000100000 \(not the program's: the kernel's part\)",
    "write": PAGE + r", wrote 0000000000100000 \(not the program's: the kernel's part\)",
    "read": PAGE + r", read 0000000000100000 \(not the program's: the kernel's part\)",
    "null": PAGE + r", wrote 0{16} \(a null pointer\)",
    "stack": PAGE + r", wrote [0-9a-f]{16} \(the guard below a stack: the stack is exhausted\)",
    "thread": PAGE + r", wrote [0-9a-f]{16} \(the guard below a stack: the stack is exhausted\)",
    "freed": PAGE + r", wrote [0-9a-f]{16} \(nothing is mapped there\)",
    "opcode": "#UD invalid opcode",
    "code": PAGE + r", wrote 0000400000400[0-9a-f]{3} \(read-only\)",
    "data": PAGE + r", executed [0-9a-f]{16} \(data, not code\)",
    "noncanonical": GENERAL,
    "x87": "#MF x87",
    "step": "#DB debug",
    **dict.fromkeys("hlt cli in out rdmsr wrmsr cr3 cr0 dr7 lidt invlpg wbinvd invd clts swapgs iret "
                    "int_f0 int3 iopl selector local".split(), GENERAL),
    **dict.fromkeys("sysret xsetbv vmmcall vmcall vmrun stgi vmxoff sysenter".split(), "#(GP|UD) "),
}
# Before QEMU checks the selectors, it pops IRET's words with the rights of the kernel, which SMAP
# forbids.
FAULTS["iret"] = "#(GP|PF) "

# QEMU 11 does not check the ring for these instructions, and ignores them; QEMU 7 and CPUs fault.
LET_PASS = {"wbinvd", "invd"}

CELL_READY = "> \x04"

FUZZ = r"fuzz: 60 children, (\d+) ended, (\d+) were killed, (\d+) of (\d+) calls tried"
CALLS = len(re.findall(r"\bC\(\d+, ", (m.TOP / "inmates/quest/user/include/quest/calls.h").read_text()))


def alone():
    return m.Machine("-kernel", str(m.quest("quest-test32.elf"))), r"(?m)^> "


def fake_cell():
    return m.Machine("-smp", "2", "-kernel", str(m.build_dir() / "inmates/tests/fakecell.elf"),
                     "-initrd", str(m.quest("quest-test.elf")), "-append", "fakecell"), CELL_READY


class Programs(m.Shell):
    """A shell whose run() returns a program's output without the line that its VCPU begins late.
    The shell prints this line only on a fast host."""

    def run(self, line: str) -> str:
        return re.sub(r"(?m)^\S+ begins in \d+ ms.*\n", "", super().run(line))


@pytest.fixture(params=[alone, fake_cell], ids=["alone", "cell"])
def shell(request, kept):
    return kept.shell(request.param, Programs)


def in_time(out: str) -> str:
    """Returns the output without the line that a VCPU begins late. That line depends on the
    programs that ran before."""
    return re.sub(r"(?m)^\S+ begins in \d+ ms, .*\n", "", out)


@pytest.fixture
def nothing_lost(shell):
    """Checks after a test that as many pages are free as before, and that no program or thread of a
    program exists."""
    def look():
        return (shell.run("meminfo"), re.findall(r"(?m)^ *\d+ (\S+)", shell.run("ps")))
    before = look()
    assert ", 0 programs" in before[0]
    yield
    assert m.until(lambda: look() == before, timeout=60), (before, look())


@pytest.fixture
def ways(shell):
    return shell.run("fault").split(":")[1].split()


def test_archive(shell):
    rows = [line.split() for line in shell.run("ls").splitlines()]
    names = {row[0]: row[-1] for row in rows}
    assert names["canny"] == names["calls"] == names["fuzz"] == "program"
    assert names["frame.pgm"] == "data"


def test_calls(shell, nothing_lost):
    out = in_time(shell.run("calls"))
    assert re.fullmatch(r"calls: \d{2,} right, 0 wrong\n", out), out


def test_library(shell, nothing_lost):
    """Checks mutexes, condition variables, detached threads and text, with four threads at a
    time."""
    assert re.fullmatch(r"lib: \d{2,} right, 0 wrong\n", in_time(shell.run("lib")))


def test_names_of_posix_answer_as_posix_says(shell, nothing_lost):
    """Checks errno of each thread, attributes, keys, exec*() and streams."""
    assert re.fullmatch(r"!?posix: \d{2,} right, 0 wrong\n", in_time(shell.run("posix")))


def test_clocks(shell, nothing_lost):
    """Checks CLOCK_*, sleeps until a time, and VCPUs with times in microseconds."""
    assert re.fullmatch(r"clocks: \d{2,} right, 0 wrong\n", in_time(shell.run("clocks")))


def test_locks(shell, nothing_lost):
    """Checks mutexes that know their owner, time-outs and semaphores."""
    assert re.fullmatch(r"locks: \d{2,} right, 0 wrong\n", in_time(shell.run("locks")))


def test_pipes(shell, nothing_lost):
    """Checks end of file, flow control, atomic writes, SIGPIPE, interrupted waits, dup and dup2."""
    assert re.fullmatch(r"pipes: \d{2,} right, 0 wrong\n", in_time(shell.run("pipes")))


def test_shared_memory(shell, nothing_lost):
    """Shared pages are not copied by fork, are kept at a program's end, and are freed when no
    program has them."""
    out = in_time(shell.run("shared"))
    assert out.count("is killed: #PF") == 2 and re.search(r"shared: \d{2,} right, 0 wrong\n$", out), out


def test_channels(shell, nothing_lost):
    """The fake cell has both ends of each channel. Quest alone has none."""
    out = in_time(shell.run("channels"))
    assert out == "this cell has no channels\n" or "vshm-1 four-slot near:running far:running\n" in out
    for _ in range(2):
        lines = [line for line in shell.run("run channels").splitlines() if "is killed" not in line]
        assert re.fullmatch(r"channels: \d+ right, 0 wrong", "\n".join(lines)), lines


CHANNEL_FAULTS = {"life": r"wrote [0-9a-f]{16} \(read-only\)", "peer": r"wrote [0-9a-f]{16} \(read-only\)",
                  "closed": r"read [0-9a-f]{16} \(nothing is mapped there\)",
                  "execute": r"executed [0-9a-f]{16} \(data, not code\)"}


def test_channels_are_protected_and_have_one_user(kept):
    """A program reaches of a channel what its end may reach. The shell has a channel that no program has."""
    shell = kept.shell(fake_cell, Programs)
    for way, why in CHANNEL_FAULTS.items():
        assert re.search(why, shell.run(f"run channels {way}")), way
    shell.run("chan write vshm-1 hello")
    assert shell.run("chan read vshm-2") == "hello\n"
    shell.run("run channels wait &")
    assert m.until(lambda: "(used by pid " in shell.run("channels"))
    [pid] = re.findall(r"\(used by pid (\d+)\)", shell.run("channels"))
    assert f"the program with pid {pid} uses it" in shell.run("chan read vshm-4")
    assert "shared memory or channels" in shell.run(f"detach {pid}")
    shell.run(f"kill {pid}")
    assert m.until(lambda: "used by" not in shell.run("channels"))
    shell.run("chan write vshm-3 again")
    assert shell.run("chan read vshm-4") == "again\n"
    assert "no such channel" in shell.run("chan read nothing")


def admitted_or_not(out: str) -> str:
    """Returns the output without the line that a program gets no VCPU of its own."""
    return re.sub(r"(?m)^\S+: no VCPU of 20/100 ms: .*\n", "", in_time(out))


def test_pipelines(shell, nothing_lost):
    assert admitted_or_not(shell.run("hello a | wc")) == "1 3 13\n"
    assert re.fullmatch(r"1 3 \d+\n", admitted_or_not(shell.run("logger 3 1 | wc | wc")))
    # the flood ends, since no program reads it
    assert admitted_or_not(shell.run("pipes flood | hello")) == "hello from nobody\n"
    assert shell.run("hello | nothing") == "nothing: no such program; ls lists them\n"
    assert shell.run("hello |") == shell.run("hello | | wc") == "|: and which program? ls lists them\n"
    shell.start("pipes flood | spinner")
    shell.machine.send("\x03")
    shell.machine.expect(r"pipes was killed \(signal 9\)\n(?:.*\n)*?spinner was killed \(signal 9\)\n")
    shell.machine.expect(shell.ready)


def test_driver_has_an_io_vcpu_of_its_class():
    """Keys are served by the I/O VCPU that the command line creates for input. Quest's own I/O VCPU
    and one of another class do not serve them."""
    words = "quest vcpu=nic,io.net,100us,10ms vcpu=keys,io.usb.input,300us,10ms vcpu=bad,io.keys,1ms,10ms"
    with m.Machine("-kernel", str(m.quest("quest-test32.elf")), "-append", words) as machine:
        machine.expect(r"vcpu=bad,io\.keys,1ms,10ms is not there: a VCPU is main or io, or io\.CLASS ")
        out = Programs(machine, r"(?m)^> ").run("vcpus counts")
    irqs = {name: int(n) for name, n in re.findall(r"(?m)^ *\d+ (\S+) +\d+ +\d+ +\d+ +\d+ +(\d+) ", out)}
    assert irqs["keys"] > 0 and irqs["nic"] == irqs["input"] == 0, out


@pytest.fixture(scope="module")
def counted():
    """A machine whose clock counts instructions."""
    with m.Machine(*m.COUNTED, "-kernel", str(m.quest("quest-test32.elf"))) as machine:
        yield Programs(machine, r"(?m)^> ")


def test_periodic_loop_does_not_drift(counted):
    """The loop works for 0.3 ms of each 3 ms. If its sleeps were relative, it would be 3 ms late
    after ten periods."""
    assert int(re.search(r"late by (\d+) ns", counted.run("clocks drift"))[1]) < 300000


def test_sample_of_a_periodic_loop_keeps_its_period(counted):
    """The program of Documentation/tutorial/quest-programs.md."""
    assert in_time(counted.run("periodic")) == "100 periods of 10 ms took 1000 ms\n"


def test_mutex_owner_inherits_the_waiters_vcpu(counted):
    """While a thread waits for a mutex, busy threads of lower priority get no CPU time. The same
    holds for a chain of owners.

    The owner computes for 12 ms with the mutex held, on a VCPU of 1 ms in a second.
    """
    out = counted.run("locks inherit")
    found = re.findall(r"waited (\d+) us behind (\d) owners, others ran (\d+) us", out)
    assert [behind for _, behind, _ in found] == ["1", "2"] and ", 0 wrong\n" in out, out
    assert all(9000 < int(waited) < 20000 and int(ran) < 1000 for waited, _, ran in found), out


def background(shell, line: str) -> int:
    """Starts a program with `&`. Returns its pid."""
    return int(re.search(r"\[(\d+)\]", shell.run(line + " &"))[1])


def test_program_moves(shell, nothing_lost):
    """A program has threads that wait in every way. It is detached, becomes plain data, and
    continues unchanged after it is attached."""
    pid = background(shell, "moves 4")
    assert m.until(lambda: "moves: ready" in end_of(shell))
    time.sleep(1)
    for _ in range(3):
        assert shell.run(f"detach {pid}") == ""
        ps = shell.run("ps")
        assert re.search(rf"(?m)^ *{pid} +0 moves +detached ", ps) and ps.count("moves") == 1
        assert "moves" not in shell.run("vcpus") and "no such program" in shell.run(f"detach {pid}")
        assert shell.run(f"attach {pid}") == "" and "no such program" in shell.run(f"attach {pid}")
        assert "moves" in shell.run("vcpus")
    assert m.until(lambda: f"[{pid}] moves has ended: exit" in end_of(shell))
    assert re.search(r"moves: \d+ right, 0 wrong\n", shell.machine.text[-8000:]), shell.machine.text[-8000:]


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
    assert "children, pipes, shared memory or channels" in shell.run(f"detach {pid}")
    shell.run(f"kill {pid}")
    assert m.until(lambda: f"[{pid}] hostile has ended" in end_of(shell))
    assert "no such program" in shell.run("detach 99999") and "usage" in shell.run("detach") + shell.run("attach x")


def test_kill_reaches_a_detached_program_when_it_is_back(shell, nothing_lost):
    pid = background(shell, "spinner")
    assert shell.run(f"detach {pid}") == "" and shell.run(f"kill {pid}") == ""
    assert shell.run(f"attach {pid}") == ""
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


def test_hello(shell, nothing_lost):
    assert shell.run("help hello").startswith("hello: a program: ")
    assert shell.run("hello" + " x" * 16) == "hello: too many words: 16 at most\n"
    assert in_time(shell.run("hello world")) == "hello from world\n"


def test_canny_finds_the_same_edges(shell, nothing_lost):
    for line in ("canny", "run canny", "canny 3"):
        assert f"checksum {CHECKSUM}" in shell.run(line)
    assert in_time(shell.run("canny 1 show")).count("\n") == 25


def test_primes(shell, nothing_lost):
    assert "1229 primes below 10000" in shell.run("prime 10000")


def test_logger_is_never_early(shell, nothing_lost):
    late = [int(us) for us in re.findall(r"(-?\d+) us late", shell.run("logger 5 20"))]
    assert len(late) == 5 and min(late) >= 0


def test_what_cannot_run(shell, nothing_lost):
    assert "no such program; ls lists them" in shell.run("run nothing")
    assert "no such program" in shell.run("run frame.pgm")
    assert "usage: run" in shell.run("run")
    assert "there is no such program" in shell.run("kill 99999")
    assert "usage: kill" in shell.run("kill all")


def test_each_fault_is_listed(ways):
    assert set(ways) == set(FAULTS)


@pytest.mark.parametrize("way", FAULTS)
def test_fault_kills_the_program_only(shell, nothing_lost, way):
    out = shell.run(f"fault {way}")
    if way in LET_PASS and "did no harm" in out:
        pytest.skip("this QEMU lets every ring execute it")
    assert re.search(rf"fault \(pid \d+, thread \d+\) is killed: {FAULTS[way]}", out), out
    assert re.search(r"\nfault was killed \(signal (4|5|8|11)\)\n", out), out


def test_a_hundred_runs_lose_nothing(shell, nothing_lost):
    for i in range(100):
        out = shell.run(("prime 100", "fault null", "fault thread", "canny")[i % 4])
        assert ("25 primes", "null pointer", "exhausted", CHECKSUM)[i % 4] in out


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_hostile_system_calls(shell, nothing_lost, seed):
    shell.machine.send(f"fuzz 60 {seed}\r")
    ended, killed, tried, known = map(int, shell.machine.expect(FUZZ).groups())
    assert ended + killed == 60
    assert tried == known == CALLS > 20
    shell.machine.expect(shell.ready)
    # a child of a child may wait without end, for example at a pipe of which it has both ends
    for pid in re.findall(r"(?m)^ *(\d+) +-?\d+ fuzz +live", shell.run("ps")):
        shell.run(f"kill {pid}")
    assert "25 primes" in shell.run("prime 100")


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


def test_a_module_brings_programs(tmp_path):
    """An archive from outside the image, here with another name for a program, and a broken
    program."""
    pack = m.TOP / "inmates/quest/user/pack.py"
    binary = m.build_dir() / "inmates/quest/user/bin/prime"
    (tmp_path / "primzahl").write_bytes(binary.read_bytes())
    (tmp_path / "broken").write_bytes(binary.read_bytes()[:200])
    archive = tmp_path / "archive.cpio"
    subprocess.run([sys.executable, str(pack), str(archive), str(tmp_path / "primzahl"), str(tmp_path / "broken")],
                   check=True)
    with m.Machine("-kernel", str(m.quest("quest32.elf")), "-initrd", str(archive)) as machine:
        shell = m.Shell(machine, r"(?m)^> ")
        assert "25 primes" in shell.run("primzahl 100")
        assert "not in the file" in shell.run("broken")
    archive.write_bytes(archive.read_bytes()[:-300])
    with m.Machine("-kernel", str(m.quest("quest32.elf")), "-initrd", str(archive)) as machine:
        machine.expect(r"module 0 is no archive of programs: ")
        assert "no such command" in m.Shell(machine, r"(?m)^> ").run("primzahl 100")


@pytest.mark.parametrize("cpu", ["qemu64", "max", "max,-smap,-smep,-umip"])
def test_processors(cpu):
    """Programs also run without NX, SMEP, SMAP and UMIP. Quest uses the features that the CPU
    has."""
    with m.Machine("-cpu", cpu, "-kernel", str(m.quest("quest-test32.elf"))) as machine:
        shell = m.Shell(machine, r"(?m)^> ")
        assert re.search(r"calls: \d+ right, 0 wrong", shell.run("calls"))
        assert "the kernel's part" in shell.run("fault write")


def test_packing_is_repeatable(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    for out in (a, b):
        subprocess.run([sys.executable, str(m.TOP / "inmates/quest/user/frame.py"), str(out)], check=True)
    assert a.read_bytes() == b.read_bytes() and a.read_bytes()[:3] == b"P5\n"
