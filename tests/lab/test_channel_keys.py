# SPDX-License-Identifier: GPL-2.0-only
"""Channels at run time: a cell opens one by a key, with Linux or with another cell."""

import pytest
from lab import channelbench
from lab.machine import Machine
from product import HERE, Product, TEST_IMAGE
from test_channel_devices import module
from test_channels import DEVICE, python
from test_isolation import Deed, deed as deed, ones
from test_watching import until

KEY_7 = f"{DEVICE}/key-0000000000000007"


def create(qv: Product, name: str, cpu: int, ends: str, memory: str = "4M", image: str = "quest.elf") -> None:
    qv.sh(f"sed 's/^name:.*/name: {name}/; s/^cpus:.*/cpus: [{cpu}]/; s/^memory:.*/memory: 16M/; "
          f"s/^image:.*/image: {image}/' "
          f"/usr/share/qv/configs/quest.yaml >/run/{name}.yaml; "
          f"echo 'dynamic-channels: {{memory: {memory}, with: [{ends}]}}' >>/run/{name}.yaml")
    qv.do(f"cell create /run/{name}.yaml --start")


def test_cell_and_linux_meet_by_a_key(qv: Product) -> None:
    qv.do("enable")
    create(qv, "one", 3, "linux")
    assert qv.show("one")["dynamic_channels"] == {"memory": 4 << 20, "with": ["linux"], "keys": []}
    assert "has not opened" in qv.refused("channel open one --key 7")
    assert "does not list that end" in qv.quesh("key open 7 two write ring 64 4", "one")
    qv.quesh("key open 7 linux write ring 64 4", "one")
    assert qv.quesh("key", "one") == "7 ring one:running linux:absent\n"
    assert qv.do("channel open one --key 7") == f"{KEY_7}\n"
    qv.quesh("key write 7 hello", "one")
    assert qv.sh(f"head -c 64 {KEY_7} | tr -d '\\0'") == "hello"
    assert [(c["name"], c["type"], c["device"]) for c in qv.ask("channel list")["channels"]] == \
        [("key-0000000000000007", "ring", KEY_7)]
    qv.quesh("key open 8 linux read four-slot 8", "one")
    assert "is in use" in qv.quesh("key open 9 linux read four-slot 8", "one"), "beyond the limit"
    # Linux leaves: a program with an open device is at its end, and the cell sees it
    assert python(qv, f"""
import subprocess
f = os.open("{KEY_7}", os.O_RDONLY)
subprocess.run(["qvctl", "channel", "close", "one", "--key", "7"], check=True, stdout=subprocess.DEVNULL)
say(os.read(f, 64) == b"")
say(os.path.exists("{KEY_7}"))
""") == [True, False]
    assert qv.quesh("key", "one").startswith("7 ring one:running linux:absent\n")
    # the cell leaves, and opens the same memory by another key
    qv.quesh("key close 7", "one")
    qv.quesh("key open 9 linux read four-slot 8", "one")
    qv.do("channel open one --key 9")
    qv.do("channel send key-0000000000000009 --text set")
    assert qv.quesh("key read 9", "one") == "set\n"
    assert qv.show("one")["dynamic_channels"]["keys"] == [9]
    qv.do("cell destroy one")
    assert qv.sh(f"find /dev -path '{DEVICE}/*'") == ""
    qv.do("disable")


@pytest.mark.slow
def test_close_that_meets_a_busy_monitor_is_tried_again(qv: Product) -> None:
    """The module parameter test_keys_busy stands for another call that holds the manager for longer
    than the driver's deadline."""
    busy = "/sys/module/qv/parameters/test_keys_busy"
    qv.do("enable")
    create(qv, "one", 3, "linux", "2M")
    qv.quesh("key open 7 linux write ring 64 4", "one")
    qv.do("channel open one --key 7")
    qv.sh(f"echo 2 >{busy}")
    for _ in range(2):
        assert "another management call" in qv.refused("channel close one --key 7")
        assert qv.sh(f"find /dev -path '{KEY_7}'") == "", "programs are at the end at once"
        assert qv.ask("channel list")["channels"] == []
        assert qv.quesh("key", "one") == "7 ring one:running linux:running\n", "the end is kept"
        assert "has not left" in qv.refused("channel open one --key 7")
    qv.do("channel close one --key 7")
    assert qv.quesh("key", "one") == "7 ring one:running linux:absent\n"
    assert "has not opened" in qv.refused("channel close one --key 7")
    qv.do("channel open one --key 7")
    # a cell that is destroyed, or started again, waits for nothing
    for last in ("cell shutdown one --timeout 0", "cell start one", "cell destroy one"):
        if "start" in last:
            qv.do(last)
            qv.quesh("key open 7 linux write ring 64 4", "one")
            qv.do("channel open one --key 7")
            continue
        qv.sh(f"echo 1 >{busy}")
        assert "another management call" in qv.refused("channel close one --key 7")
        qv.sh(f"echo 1 >{busy}")
        qv.do(last)
    assert qv.sh(f"cat {busy}") == "0\n"
    qv.do("disable")


@pytest.mark.slow
@pytest.mark.both_vendors
def test_two_cells_meet_and_linux_cannot(qv: Product, deed: Deed) -> None:
    qv.do("enable")
    base = set(ones(qv))
    create(qv, "one", 2, "two", "2M")
    create(qv, "two", 3, "one", "2M")
    before = set(ones(qv))
    qv.quesh("key open 7 two write ring 64 8", "one")
    nmis = qv.ask("cell stats one")["cpus"][0]["exits"]["nmi"]
    qv.quesh("key open 7 one read ring 64 8", "two")
    assert qv.quesh("key", "one") == "7 ring one:running two:running\n"
    assert qv.ask("cell stats one")["cpus"][0]["exits"]["nmi"] == nmis, "it costs the peer no exit"
    qv.quesh("key write 7 first", "one")
    assert qv.quesh("key read 7", "two") == "first\n"
    assert "has not opened" in qv.refused("channel open one --key 7")
    assert qv.ask("channel list")["channels"] == []
    assert set(ones(qv)) == before, "Linux reads none of it"
    # the cell that set the memory aside fails and goes: the other end keeps it
    qv.quesh("key write 7 second", "one")
    assert qv.machine.run("quesh one -c 'crash triple'", merge=False).rc == 1
    assert qv.quesh("key", "two") == "7 ring one:failed two:running\n"
    qv.do("cell destroy one")
    assert qv.quesh("key read 7", "two") == "second\n"
    assert qv.quesh("key", "two") == "7 ring one:absent two:running\n"
    create(qv, "one", 2, "two", "2M")
    qv.quesh("key open 7 two write ring 64 8", "one")
    assert qv.quesh("key", "two") == "7 ring one:running two:running\n"
    # the memory of the first life goes back with its last user
    qv.do("cell destroy one two")
    assert set(ones(qv)) == base
    qv.do("disable")


@pytest.mark.slow
def test_old_mapping_sees_no_new_channel(qv: Product) -> None:
    """Both channels lie in the same page, one after the other. A mapping of the first reads zeros."""
    qv.do("enable")
    create(qv, "one", 3, "linux", "2M")
    qv.quesh("key open 7 linux write ring 64 4", "one")
    qv.do("channel open one --key 7")
    qv.sh(f"""cat >/run/holder.py <<'END'
import mmap, os, time
f = os.open("{KEY_7}", os.O_RDONLY)
m = mmap.mmap(f, 4096, prot=mmap.PROT_READ)
os.close(f)
assert m[:8] == b"QVCHANNL"
open("/run/mapped", "w").close()
while not os.path.exists("/run/look"): time.sleep(0.05)
open("/run/seen", "w").write("zeros" if m[:] == bytes(4096) else "a channel")
END
rm -f /run/mapped /run/look /run/seen
python3 /run/holder.py >/dev/null 2>&1 &
until [ -e /run/mapped ]; do sleep 0.05; done""")
    qv.do("channel close one --key 7")
    qv.quesh("key close 7", "one")
    qv.quesh("key open 9 linux write ring 64 4", "one")
    qv.do("channel open one --key 9")
    assert qv.sh("touch /run/look; until [ -s /run/seen ]; do sleep 0.05; done; cat /run/seen", 120) == "zeros"
    qv.do("cell destroy one")
    qv.do("disable")


@pytest.mark.slow
@pytest.mark.both_vendors
def test_program_and_linux_meet_by_keys(qv: Product) -> None:
    """A program in ring 3 takes orders by the key 7 and answers by the key 8. Both ends sleep until
    a bell rings. The second program may get the last orders of the first again."""
    qv.do("enable")
    create(qv, "one", 3, "linux", image=TEST_IMAGE)
    for run in range(2):
        qv.quesh("run keys answer linux &", "one")
        until(lambda: qv.quesh("key", "one").count("used by pid") == 2, "the program has both channels")
        if not run:
            qv.do("channel open one --key 7")
            qv.do("channel open one --key 8")
        else:
            until(lambda: "absent" not in qv.quesh("key", "one"), "Linux still has its ends")
        assert python(qv, f"""
import time
orders, replies = (os.open(f"{DEVICE}/key-{{key:016x}}", how) for key, how in ((7, os.O_WRONLY), (8, os.O_RDONLY)))
def hear():
    text = os.read(replies, 64).rstrip(b"\\0").decode()
    return hear() if text.startswith("{run - 1}/") else text
heard = []
for n in range(100):
    while fails(os.write, orders, f"{run}/{{n}}".encode().ljust(64, b"\\0")) == "ENOBUFS":
        time.sleep(0.01)
    heard.append(hear())
say(heard)
""") == [[f"{run}/{n}" for n in range(100)]]
        # the kernel closes what a program leaves that is killed
        [pid] = {line.split()[-1].rstrip(")") for line in qv.quesh("key", "one").splitlines()}
        qv.quesh(f"kill {pid}", "one")
        until(lambda: qv.quesh("key", "one") == "", "the channels are closed")
    states = qv.sh("cat /sys/class/qv-channel/key-000000000000000[78]/state").split()
    assert sorted(states) == ["absent", "absent", "running", "running"]
    for key in (7, 8):
        qv.do(f"channel close one --key {key}")
    qv.do("cell destroy one")
    qv.do("disable")


MEETING = """name: {name}
cpus: [{cpu}]
memory: 8M
image: /run/keys.elf
watchdog: off
dynamic-channels: {{memory: 2M, with: [{peer}]}}
"""
HEARTBEAT = 0x2000  # in the console pages: the first word of the comm page
MEETINGS = 5


@pytest.mark.slow
@pytest.mark.machine(reboots=True, fresh=True)
def test_cells_meet_by_keys_after_linux_has_died(machine: Machine) -> None:
    """Two cells open channels by one key after the other, and count the keys in their heartbeats
    (tests/lab/keys). QEMU reads these out of the memory, since no program of Linux runs then."""
    qv = Product(machine)
    machine.put(channelbench.inmate("keys"), "/run/keys.elf")
    machine.put(HERE / "inside/physical", "/run/physical")
    qv.do("enable")
    places = {}
    for name, cpu, peer in (("one", 2, "two"), ("two", 3, "one")):
        qv.sh(f"cat >/run/{name}.yaml <<'X'\n{MEETING.format(name=name, cpu=cpu, peer=peer)}X")
        qv.do(f"cell create /run/{name}.yaml --start")
        places[name] = int(qv.sh(f"/run/physical /dev/qv-cell/{name}/console {HEARTBEAT:#x}"), 16)

    def met() -> dict[str, int]:
        said = {name: machine.qmp("human-monitor-command", **{"command-line": f"xp /1gx {place:#x}"})
                for name, place in places.items()}
        return {name: int(text.split(":")[1], 16) for name, text in said.items()}

    def meet(more: int) -> None:
        before = met()
        until(lambda: all(n >= before[name] + more for name, n in met().items()),
              f"{more} meetings after {before}", 900)

    meet(3)
    beats = {name: qv.show(name)["heartbeat"] for name in places}
    assert all(beats[name] <= n for name, n in met().items()), "these are not the heartbeats"
    machine.start("echo 1 >/proc/sys/kernel/sysrq; echo c >/proc/sysrq-trigger")
    until(lambda: "end Kernel panic" in machine.console_text(), "the panic")
    meet(MEETINGS)
    print(f"{beats} while Linux ran, {met()} after its death")


@pytest.mark.slow
def test_python_uses_a_device_and_its_blocks_end(qv: Product) -> None:
    """qv.open() takes the end of Linux. An exception ends a peek, close() in another thread ends a
    read, and a call after it is an exception. The item that was looked at is read."""
    module(qv)
    qv.do("enable")
    create(qv, "one", 3, "linux", "2M")
    qv.quesh("key open 7 linux write ring 64 4", "one")
    for word in ("first", "second", "third"):
        qv.quesh(f"key write 7 {word}", "one")
    assert python(qv, """
import qv, threading
def text(item): return bytes(item).rstrip(bytes(1)).decode()
def ends(call, *words):
    try: call(*words)
    except ValueError as e: return "closed" in str(e)
c = qv.open(key=7, create="one")
for error in KeyboardInterrupt, ZeroDivisionError:
    try:
        with c.peek(timeout=60) as item:
            say(text(item))
            raise error
    except error: pass
say(text(c.read(timeout=60)))
threading.Timer(0.5, c.close).start()
say(ends(c.read, 60))
say([ends(call) for call in (c.fileno, c.ring, c.read, lambda: c.status, lambda: c.write(b""))])
try: c.peek().__enter__()
except ValueError: say("peek")
qv.open(7).close()
say("open again")
""") == ["first", "second", "third", True, [True] * 5, "peek", "open again"]
    qv.do("channel close one --key 7")
    r = qv.machine.run(["python3", "-c", "import qv; qv.open(key=8, create='one')"])
    assert r.rc == 1 and "cell 'one' has not opened the key 8 with Linux (let the cell open it first" in r.out
    qv.do("cell destroy one")
    qv.do("disable")


@pytest.mark.slow
def test_programs_of_two_cells_share_memory_by_a_key(qv: Product) -> None:
    """By vshm_map() of Quest-V. Each of the two writes a word that the other one sees."""
    qv.do("enable")
    create(qv, "one", 2, "two", "2M", image=TEST_IMAGE)
    create(qv, "two", 3, "one", "2M", image=TEST_IMAGE)
    qv.quesh("run keys share one two create &", "one")
    until(lambda: qv.quesh("key", "one").startswith("17 memory one:running two:absent (used by pid"), "the first end")
    assert "shared" in qv.quesh("run keys share one two", "two", timeout=60)
    until(lambda: qv.quesh("key", "one") == "", "both have left")
    qv.do("cell destroy one two")
    qv.do("disable")
