# SPDX-License-Identifier: GPL-2.0-only
"""Programs in ring 3 do permitted and forbidden actions, and must leave nothing behind.

Quest runs alone and in a fake cell."""
import re
import subprocess
import sys
import time

import pytest

from lab import bare as m
from programs import (alone, CHECKSUM, fake_cell,
                      in_time, nothing_lost as nothing_lost, Programs, shell as shell)

pytestmark = pytest.mark.usefixtures("built")

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

CALLS = len(re.findall(r"\bC\(\d+, ", (m.TOP / "inmates/quest/user/include/quest/calls.h").read_text()))
FUZZ = rf"fuzz: {CALLS} children, (\d+) ended, (\d+) were killed, (\d+) of (\d+) calls tried"


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
    assert shell.run("ls | wc") == "ls is a command of the shell; | is between programs\n"
    assert shell.run("hello a > x") == ">: this shell has no such operator; it has | and &\n"
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
    shell.machine.send(f"fuzz {CALLS} {seed}\r")  # each round begins with another call
    ended, killed, tried, known = map(int, shell.machine.expect(FUZZ).groups())
    assert ended + killed == CALLS
    assert tried == known == CALLS > 20
    shell.machine.expect(shell.ready)
    # a child of a child may wait without end, for example at a pipe of which it has both ends
    for pid in re.findall(r"(?m)^ *(\d+) +-?\d+ fuzz +live", shell.run("ps")):
        shell.run(f"kill {pid}")
    assert "25 primes" in shell.run("prime 100")


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
        machine.expect("module 1 is not used: a file does not end")
        assert "no such command" in m.Shell(machine, r"(?m)^> ").run("primzahl 100")


def test_programs_are_modules_and_start_at_boot(tmp_path):
    """A program by itself, with arguments; an archive without checksums; a text; a module that is
    none of them. Words of the command line start programs, one of them on a VCPU."""
    binaries = m.build_dir() / "inmates/quest/user/bin"
    (tmp_path / "greet").write_bytes((binaries / "hello").read_bytes())
    (tmp_path / "primzahl").write_bytes((binaries / "prime").read_bytes())
    archive = tmp_path / "more.cpio"
    pack = m.TOP / "inmates/quest/user/pack.py"
    subprocess.run([sys.executable, str(pack), str(archive), str(tmp_path / "primzahl")], check=True)
    archive.write_bytes(archive.read_bytes().replace(b"070702", b"070701"))
    (tmp_path / "text").write_text("a text is a file\n")
    (tmp_path / "data").write_bytes(b"\0none of them")
    modules = f"{tmp_path}/greet moon,{archive},{tmp_path}/data,{tmp_path}/text"
    words = "vcpu=control,main,1ms,10ms start=greet,control start=nothing"
    with m.Machine("-kernel", str(m.quest("quest32.elf")), "-initrd", modules, "-append", words) as machine:
        machine.expect(r"module 3 is not used: it ends within a header")
        machine.expect(r"(?m)^\[\d+\] greet")
        machine.expect(r"nothing is not started: no such program")
        shell = m.Shell(machine, r"(?m)^> ")
        assert "hello from moon" in shell.run("greet moon")
        assert "25 primes" in shell.run("primzahl 100")
        assert re.search(r"(?m)^text\s+17\b", shell.run("ls"))


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
