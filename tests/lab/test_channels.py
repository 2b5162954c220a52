# SPDX-License-Identifier: GPL-2.0-only
"""Channels: memory that cells and Linux share."""

import json
import re
from typing import Any

import pytest
from product import Product, TEST_IMAGE
from test_isolation import Deed, deed as deed, ones, peek_all
from test_watching import until

SENSOR = "{name: sensor, type: four-slot, item: 64, writer: quest, readers: [linux]}"
ORDERS = "{name: orders, type: ring, item: 64, slots: 4, writer: linux, readers: [quest]}"
DEVICE = "/dev/qv-channel"
PYTHON = """
import errno, json, os, select
def say(x): print(json.dumps(x))
def fails(f, *a, **k):
    try: f(*a, **k)
    except OSError as e: return errno.errorcode[e.errno]
"""


def python(qv: Product, lines: str) -> list[Any]:
    """Runs a program in Linux. Returns what it says."""
    r = qv.machine.run(["python3", "-c", PYTHON + lines], merge=False)
    assert (r.rc, r.err) == (0, ""), r.err
    return [json.loads(line) for line in r.out.splitlines()]


def test_cell_and_programs_talk(qv: Product) -> None:
    qv.do("enable")
    file = qv.config("quest", 3, more=f"channels: [{SENSOR}, {ORDERS}]")
    qv.do(f"cell create {file} --start")
    assert [c["name"] for c in qv.show()["channels"]] == ["sensor", "orders"]
    assert qv.quesh("channels") == ("sensor four-slot quest:running linux:running\n"
                                    "orders ring linux:running quest:running\n")
    assert qv.quesh("chan write sensor hello") == ""
    assert qv.sh(f"head -c 64 {DEVICE}/sensor | tr -d '\\0'") == "hello"
    assert qv.quesh("chan write sensor again") == ""
    assert python(qv, f"""
f = os.open("{DEVICE}/sensor", os.O_RDONLY | os.O_NONBLOCK)
say(select.select([f], [], [], 60)[0] == [f])
say(os.read(f, 64)[:5].decode())
say(fails(os.read, f, 64))
say(os.pread(f, 100, 0)[:5].decode())
say(fails(os.read, f, 63))
say(select.select([f], [], [], 0)[0] == [])
g = os.open("{DEVICE}/sensor", os.O_RDONLY | os.O_NONBLOCK)
say(os.pread(g, 64, 0)[:5].decode())
say(fails(os.read, g, 64))  # pread() has read this value
w = os.open("{DEVICE}/sensor", os.O_RDWR)
say(fails(os.open, "{DEVICE}/sensor", os.O_RDWR))
say(fails(os.write, w, bytes(64)))
""") == [True, "again", "EAGAIN", "again", "EINVAL", True, "again", "EAGAIN", "EBUSY", "ENOTSUP"]
    assert python(qv, f"""
f = os.open("{DEVICE}/orders", os.O_WRONLY)
for n in range(4): os.write(f, (b"order %d" % n).ljust(64, bytes(1)))
say(fails(os.write, f, bytes(64)))
say(fails(os.write, f, bytes(8)))
""") == ["ENOBUFS", "EINVAL"]
    for number in range(4):
        assert qv.quesh("chan read orders") == f"order {number}\n"
    assert "newer" in qv.quesh("chan read orders")
    qv.sh("qvctl channel send orders --text 'set point'")
    assert qv.quesh("chan read orders") == "set point\n"
    assert qv.do("channel watch sensor -n 1") == "again\n"
    assert [(c["name"], c["device"]) for c in qv.ask("channel list")["channels"]] == \
        [("sensor", f"{DEVICE}/sensor"), ("orders", f"{DEVICE}/orders")]
    assert qv.ask("channel show sensor")["ends"] == [{"name": end, "state": "running"} for end in ("quest", "linux")]
    assert "Linux is at the other end" in qv.refused("channel send sensor --text x")
    # a reader waits, sees the next value, and ends when the writer stops
    qv.sh(f"(cat {DEVICE}/sensor | tr -d '\\0' >/run/seen; echo . >>/run/seen) >/dev/null 2>&1 &")
    qv.do("cell shutdown quest --timeout 0")
    qv.sh("until grep -q '[.]' /run/seen; do sleep 0.05; done", 120)
    assert qv.sh("cat /run/seen") == "again.\n"
    # it restarts: Linux's end and its device stay, the old value is gone
    qv.do("cell start quest")
    assert python(qv, f"""
f = os.open("{DEVICE}/sensor", os.O_RDONLY | os.O_NONBLOCK)
say(fails(os.read, f, 64))""") == ["EAGAIN"]
    qv.quesh("chan write sensor renewed")
    assert qv.sh(f"head -c 64 {DEVICE}/sensor | tr -d '\\0'") == "renewed"
    # it fails: that is known at once, and the device goes with the cell
    assert qv.machine.run("quesh quest -c 'crash triple'", merge=False).rc == 1
    assert python(qv, f"""
f = os.open("{DEVICE}/sensor", os.O_RDONLY)
say(os.read(f, 64)[:7].decode())
say(fails(os.read, f, 64))""") == ["renewed", "EPIPE"]
    qv.do("cell destroy quest")
    assert qv.sh(f"find /dev -path '{DEVICE}/*'") == ""
    qv.do("disable")


@pytest.mark.slow
def test_end_that_must_not_reconnect_starts_once(qv: Product) -> None:
    """With `reconnect: never`, the other end reads what is left, and then the state of the dead end.
    It never sees a new life, since the cell does not start again while the channel exists. A start
    that is refused makes the end absent: the cell was made again for it."""
    talk = ("{{name: {}, type: ring, item: 64, slots: 4, writer: quest, readers: [{}], "
            "reconnect: never}}")
    never = "or a cell has had this end and `reconnect` is `never`"
    read = f"""
f = os.open("{DEVICE}/up", os.O_RDONLY | os.O_NONBLOCK)
def take():
    try: return os.read(f, 64).rstrip(bytes(1)).decode()
    except OSError as e: return errno.errorcode[e.errno]
"""
    qv.do("enable")
    file = qv.config("quest", 3, more=f"channels: [{talk.format('up', 'linux')}, {talk.format('over', 'other')}]")
    qv.sh(f"sed 's/^name:.*/name: other/; s/^cpus:.*/cpus: [2]/; s/^memory:.*/memory: 16M/; "
          f"s/name: up, .*name: over/name: over/' {file} >/run/other.yaml")
    qv.do(f"cell create {file} --start")
    qv.do("cell create /run/other.yaml --start")
    for name in ("up", "over"):
        for text in ("first", "second"):
            qv.quesh(f"chan write {name} {text}")
    assert python(qv, read + "say(take())") == ["first"]
    assert qv.quesh("chan read over", "other") == "first\n"
    qv.do("cell shutdown quest --timeout 0")
    # a program that holds the device, while the cell is to start again
    assert python(qv, read + """
import subprocess
start = ["qvctl", "cell", "start", "quest"]
say([take() for _ in range(2)])
for _ in range(2):
    say(subprocess.run(start, capture_output=True).returncode)
    say([take() for _ in range(2)])
""") == [["second", ""], 1, ["EAGAIN", "EAGAIN"], 1, ["EAGAIN", "EAGAIN"]]
    assert never in qv.refused("cell start quest")
    assert qv.quesh("channels", "other") == "over ring quest:absent other:running\n"
    assert qv.quesh("chan read over", "other") == "second\n"
    assert "the peer is not there yet" in qv.quesh("chan read over", "other")
    # nor does another cell in its place
    qv.do("cell destroy quest")
    qv.do(f"cell create {file}")
    assert never in qv.refused("cell start quest")
    assert qv.quesh("channels", "other") == "over ring quest:absent other:running\n"
    # with its last end the channel goes, and the next one is new
    qv.do("cell destroy other")
    qv.do("cell start quest")
    qv.do("cell create /run/other.yaml --start")
    qv.quesh("chan write over third")
    assert qv.quesh("chan read over", "other") == "third\n"
    # the reader ends: the writer fills the ring, and then learns it
    assert qv.machine.run("quesh other -c 'crash triple'", merge=False).rc == 1
    for _ in range(4):
        assert qv.quesh("chan write over more") == ""
    assert "the peer failed" in qv.quesh("chan write over more")
    assert never in qv.refused("cell start other")
    qv.do("cell destroy quest other")
    qv.do("disable")


@pytest.mark.slow
def test_message_before_the_cell_attaches_arrives(qv: Product) -> None:
    """Quest attaches at its first read, which rings no bell. Then both ends wait for a bell."""
    talk = "{name: talk, type: mailbox, item: 64, writer: linux, readers: [quest], bell: true}"
    read = """
import subprocess, threading, time
t = os.open("/dev/qv-channel/talk", os.O_RDWR)
def quest(): return subprocess.Popen(["quesh", "quest", "-c", "chan read talk 60000"], stdout=subprocess.PIPE, text=True)
"""
    qv.do("enable")
    qv.do(f"cell create {qv.config('quest', 3, more=f'channels: [{talk}]')} --start")
    assert python(qv, read + """
threading.Thread(target=os.write, args=[t, b"hello".ljust(64, bytes(1))], daemon=True).start()
time.sleep(0.5)
say(quest().communicate()[0])
""") == ["hello\n"]
    qv.do("cell shutdown quest --timeout 0")
    qv.do("cell start quest")
    assert python(qv, read + """
reads = quest()
say(select.select([], [t], [], 60)[1] == [t])
os.write(t, b"again".ljust(64, bytes(1)))
say(reads.communicate()[0])
""") == [True, "again\n"]
    qv.do("cell shutdown quest --timeout 0")
    qv.do("cell start quest")
    # a program that has claimed the end, as libqv does, waits for bells only
    assert python(qv, read + """
import fcntl
fcntl.ioctl(t, 0x7161)  # QV_CHANNEL_CLAIM
fcntl.ioctl(t, 0x7163)  # QV_CHANNEL_ARM
say(select.select([t], [], [], 1)[0])
reads = quest()
say(select.select([t], [], [])[0] == [t])
os.close(t)
t = os.open("/dev/qv-channel/talk", os.O_RDWR)
os.write(t, b"third".ljust(64, bytes(1)))
say(reads.communicate()[0])
""") == [[], True, "third\n"]
    qv.do("cell destroy quest")
    qv.do("disable")


@pytest.mark.slow
def test_device_of_memory_and_poll_of_full_ring(qv: Product) -> None:
    """poll() takes, drops and counts no item. A memory channel has mmap() only."""
    table = "{name: table, type: memory, item: 65536, writer: linux, readers: [quest]}"
    frames = "{name: frames, type: ring, item: 8, slots: 2, full: drop-oldest, writer: linux, readers: [quest]}"
    both = "{name: both, type: memory, item: 4096, writers: [quest, linux]}"
    qv.do("enable")
    qv.do(f"cell create {qv.config('quest', 3, more=f'channels: [{table}, {frames}, {ORDERS}, {both}]')} --start")
    assert python(qv, f"""
import fcntl, mmap
SHARED, R, W, X = mmap.MAP_SHARED, mmap.PROT_READ, mmap.PROT_WRITE, mmap.PROT_EXEC
f = os.open("{DEVICE}/table", os.O_RDWR)
say(fails(os.write, f, bytes(65536)))
say(fails(os.read, f, 65536))
say(fails(mmap.mmap, f, 4096, SHARED, R | X))
say(fails(mmap.mmap, f, 4096, SHARED, R | W, offset=4096))
fcntl.ioctl(f, 0x7161)  # QV_CHANNEL_CLAIM
say(fails(mmap.mmap, f, 4096, SHARED, R | W))
m = mmap.mmap(f, 65536, SHARED, R | W, offset=4096)
m[-8:] = b"the last"
say(mmap.mmap(f, 4096 + 65536, SHARED, R)[-8:].decode())
f = os.open("{DEVICE}/both", os.O_RDWR)
fcntl.ioctl(f, 0x7161)
mmap.mmap(f, 4096, SHARED, R | W, offset=4096)[:6] = b"second"
say(mmap.mmap(f, 8192, SHARED, R)[4096:4102].decode())
say(fails(mmap.mmap, f, 8192, SHARED, R | W))
def writable(f): return select.select([], [f], [], 0)[1] == [f]
w = os.open("{DEVICE}/frames", os.O_WRONLY)
for text in (b"1", b"2"): os.write(w, text.ljust(8, bytes(1)))
say([writable(w) for _ in range(3)])
w = os.open("{DEVICE}/orders", os.O_WRONLY)
for n in range(4):
    say(writable(w))
    os.write(w, bytes(64))
say(writable(w))
""") == ["ENOTSUP", "ENOTSUP", "EPERM", "EPERM", "EPERM", "the last", "second", "EPERM", [True] * 3, *[True] * 4, False]
    assert qv.quesh("chan read frames") == "1\n"
    # the reader takes all, Linux writes one more, and the reader starts again: there is room
    for _ in range(4):
        qv.quesh("chan read orders")
    write = f'f = os.open("{DEVICE}/orders", os.O_WRONLY); say(select.select([], [f], [], 60)[1] == [f]); os.write(f, bytes(64))'
    assert python(qv, write) == [True]
    qv.do("cell shutdown quest --timeout 0")
    qv.do("cell start quest")
    assert python(qv, write) == [True]
    qv.do("cell destroy quest")
    qv.do("disable")


@pytest.mark.slow
def test_device_outlives_its_cell_while_it_is_open(qv: Product) -> None:
    qv.do("enable")
    qv.do(f"cell create {qv.config('quest', 3, more=f'channels: [{SENSOR}]')} --start")
    qv.quesh("chan write sensor hello")
    assert python(qv, f"""
import mmap, subprocess
f = os.open("{DEVICE}/sensor", os.O_RDONLY)
m = mmap.mmap(f, 4096 * 2, mmap.MAP_SHARED, mmap.PROT_READ)
say(m[:8].decode())
say(fails(mmap.mmap, f, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE))
for command in (["cell", "destroy", "quest"], ["disable"]):
    said = subprocess.run(["qvctl", *command], check=True, capture_output=True, text=True).stdout
say(f"{DEVICE}/sensor is open in python3 (process {{os.getpid()}})" in said)
say(subprocess.run(["rmmod", "qv"], stderr=subprocess.DEVNULL).returncode)
say(m[:8] == bytes(8))
say(os.read(f, 64) == b"")
say(os.path.exists("{DEVICE}/sensor"))
""") == ["QVCHANNL", "EACCES", True, 1, True, True, False]
    qv.sh("rmmod qv")


def test_programs_touch_nothing_when_a_channel_ends(qv: Product) -> None:
    """A program has mapped a channel, and reads and rings on while its cell is destroyed. Linux does
    not touch what it has given up: the log has no line about that."""
    more = "{name: big, type: ring, item: 4096, slots: 64, writer: linux, readers: [quest], bell: true}"
    qv.do("enable")
    before = qv.do("log").splitlines()
    qv.do(f"cell create {qv.config('quest', 3, more=f'channels: [{more}]')} --start")
    assert python(qv, f"""
import fcntl, mmap, struct, subprocess
RING = 0x7162  # QV_CHANNEL_RING
f = os.open("{DEVICE}/big", os.O_RDWR)
length, = struct.unpack_from("<Q", mmap.mmap(f, 4096, mmap.MAP_SHARED, mmap.PROT_READ), 160)
m = mmap.mmap(f, length, mmap.MAP_SHARED, mmap.PROT_READ)
fcntl.ioctl(f, 0x7161)  # QV_CHANNEL_CLAIM
own = mmap.mmap(f, 64 << 10, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=4096)
def touch():
    for at in range(0, length, 4096): m[at]
    for at in range(0, 64 << 10, 4096): own[at] = 7
    fcntl.ioctl(f, RING)
touch()
say(m[:8].decode())
destroyed = subprocess.Popen(["qvctl", "cell", "destroy", "quest"], stdout=subprocess.DEVNULL)
while destroyed.poll() is None: touch()
for _ in range(100): touch()
say(destroyed.returncode)
say(set(m[:]) == {{0}})
say(own[4096])
""") == ["QVCHANNL", 0, True, 7]
    log = [line for line in qv.do("log").splitlines() if line not in before]
    assert [line for line in log if "not its own" in line or "refused" in line] == []
    qv.do("disable")
    qv.sh("rmmod qv")


@pytest.mark.slow
def test_program_of_quest_samples_for_linux(qv: Product) -> None:
    """The example of configs/sensor.yaml: a program on a VCPU of 1 ms, and a script in Linux."""
    qv.do("enable")
    qv.do("cell create /usr/share/qv/configs/sensor.yaml --start")
    qv.quesh("sampler &")
    until(lambda: "sensor four-slot quest:running linux:running (used by pid " in qv.quesh("channels"), "sampler")
    assert "uses it" in qv.quesh("chan read orders")
    done = qv.sh("/usr/share/qv/examples/sensor/plot.py --seconds 1 --set 0:80 --text")
    assert "the set point 80.0" in done.splitlines()[-1]
    until(lambda: python(qv, f"""
import struct
number, ns, value, set_point = struct.unpack("<QQdd", open("{DEVICE}/sensor", "rb", buffering=0).read(32))
say(set_point == 80 and 79 < value < 81 and ns // 1000000 >= number)""") == [True], "the value near the set point")
    counts = qv.ask("channel show orders")["counts"]
    assert counts == {"items": 1, "occupancy": 0, "high_water": 1, "lost": 0, "overruns": 0, "error": None}
    rate = json.loads(qv.do("channel hz sensor -n 1 --json"))
    assert rate["rate"] > 0 and rate["error"] is None
    qv.do("channel record sensor -n 3 --file /run/record")
    first, second, third = (json.loads(line) for line in qv.sh("cat /run/record").splitlines())
    assert first["seconds"] == 0 <= second["seconds"] <= third["seconds"] and len(third["hex"]) == 64
    qv.sh("""printf '{"seconds": %s, "hex": "0000000000003440"}\n' 0 0.01 >/run/orders""")
    qv.do("channel replay orders --file /run/orders --speed 2")
    until(lambda: qv.ask("channel show orders")["counts"]["items"] == 3, "the set points of the record")
    [late] = [one for one in qv.ask("latency quest")["histograms"] if one["name"] == "sampler/sample"]
    assert late["count"] >= 1000 and late["min_ns"] <= late["max_ns"] and late["missed"] <= late["count"]
    # the program ends: the shell may use the channel, which keeps the last value
    [pid] = set(re.findall(r"used by pid (\d+)", qv.quesh("channels")))
    qv.quesh(f"kill {pid}")
    until(lambda: "used by" not in qv.quesh("channels"), "the end of the sampler")
    assert qv.ask("channel show sensor")["counts"]["items"] > 0
    qv.quesh("chan write sensor hello")
    qv.do("cell destroy quest")
    qv.do("disable")


@pytest.mark.slow
@pytest.mark.both_vendors
def test_two_cells_share_what_linux_cannot_reach(qv: Product, deed: Deed) -> None:
    qv.do("enable")
    base = set(ones(qv))
    for name, cpu in (("one", 2), ("two", 3)):
        qv.sh(f"sed 's/^name:.*/name: {name}/; s/^cpus:.*/cpus: [{cpu}]/; s/^memory:.*/memory: 16M/' "
              f"/usr/share/qv/configs/quest.yaml >/run/{name}.yaml; echo 'channels: [{{name: talk, "
              f"type: ring, item: 64, slots: 8, writer: one, readers: [two]}}, {{name: back, type: "
              f"four-slot, item: 64, writer: two, readers: [one]}}]' >>/run/{name}.yaml")
        qv.do(f"cell create /run/{name}.yaml")
    blocks = set(ones(qv)) - base
    qv.do("cell start one")
    of_one = set(ones(qv)) - base - blocks
    assert len(of_one) == 8 + 2, "its RAM, and a page of 2 MiB for each channel"
    qv.do("cell start two")
    assert len(set(ones(qv)) - base - blocks - of_one) == 8
    assert qv.sh(f"find /dev -path '{DEVICE}/*'") == ""
    assert qv.quesh("channels", "two") == \
        "talk ring one:running two:running\nback four-slot two:running one:running\n"
    qv.quesh("chan write back hello", "two")
    assert qv.quesh("chan read back", "one") == "hello\n"
    qv.quesh("chan write talk first", "one")
    qv.quesh("chan write talk second", "one")
    assert qv.quesh("chan read talk", "two") == "first\n"
    # the writer fails. The other end sees it, and may drain the channel
    assert qv.machine.run("quesh one -c 'crash triple'", merge=False).rc == 1
    assert qv.quesh("channels", "two") == \
        "talk ring one:failed two:running\nback four-slot two:running one:failed\n"
    assert qv.quesh("chan read talk", "two") == "second\n"
    qv.do("cell destroy one")
    pages = (set(ones(qv)) - base - blocks) & of_one
    assert len(pages) == 2, "Linux has the memory of the first cell again, but not the channels"
    # another description of the same channel, and then the same again
    qv.sh("sed 's/slots: 8/slots: 16/' /run/one.yaml >/run/other.yaml")
    assert "two says of channel 'talk' slots: 8, but one says slots: 16" in qv.refused("cell create /run/other.yaml")
    qv.do("cell create /run/one.yaml --start")
    assert pages <= set(ones(qv))
    assert "restarted" in qv.quesh("chan read talk", "two")
    qv.quesh("chan write talk third", "one")
    assert qv.quesh("chan read talk", "two") == "third\n"
    qv.do("cell destroy one two")
    assert not pages & set(ones(qv))
    assert peek_all(qv, (a + at for a in pages for at in range(0, 8 * 4096, 4096))) == {0}
    qv.do("disable")
    assert ones(qv) == []


@pytest.mark.slow
def test_long_channels_lie_in_many_pages(qv: Product) -> None:
    """Items of 1 MiB, and 8 MiB of memory: 4 MiB and 8 MiB, and a few pages more each."""
    big = "{name: big, type: four-slot, item: 1048576, writer: quest, readers: [linux]}"
    table = "{name: table, type: memory, item: 8388608, writer: linux, readers: [quest]}"
    third = "{name: third, type: memory, item: 4194304, writer: linux, readers: [quest]}"
    qv.do("enable")
    file = qv.config("quest", 3, more=f"channels: [{big}, {table}, {SENSOR}, {third}]")
    assert "have more than 16 MiB" in qv.refused(f"cell create {file}")
    file = qv.config("quest", 3, more=f"channels: [{big}, {table}, {SENSOR}]")
    qv.do(f"cell create {file} --start")
    # 3 and 5 pages of 2 MiB, and one for the sensor
    assert qv.show()["channel_memory"] == 9 << 21
    assert "channel RAM: 18 MiB" in qv.do("cell show quest")
    for word in ("one", "two", "three", "four", "five", "six"):
        qv.quesh(f"chan write big {word}")
        assert python(qv, f"""
f = os.open("{DEVICE}/big", os.O_RDONLY)
item = os.read(f, 1 << 20)
say([len(item), item.rstrip(bytes(1)).decode()])""") == [[1 << 20, word]]
    qv.quesh("chan write sensor hello")
    assert qv.sh(f"head -c 64 {DEVICE}/sensor | tr -d '\\0'") == "hello"
    assert python(qv, f"""
import fcntl, mmap
f = os.open("{DEVICE}/table", os.O_RDWR)
fcntl.ioctl(f, 0x7161)  # QV_CHANNEL_CLAIM
m = mmap.mmap(f, 8 << 20, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=4096)
marks = list(range(0, 8 << 20, 4096 * 3))
for at in marks: m[at:at + 8] = at.to_bytes(8, "little")
r = mmap.mmap(f, (8 << 20) + 4096, mmap.MAP_SHARED, mmap.PROT_READ)
say(all(r[4096 + at:4104 + at] == at.to_bytes(8, "little") for at in marks))""") == [True]
    # the last value is gone when its writer starts again
    qv.do("cell shutdown quest --timeout 0")
    qv.do("cell start quest")
    assert python(qv, f"""
f = os.open("{DEVICE}/big", os.O_RDONLY | os.O_NONBLOCK)
say(fails(os.read, f, 1 << 20))""") == ["EAGAIN"]
    qv.do("cell destroy quest")


def bells(qv: Product, channel: str) -> int:
    """How often Linux was interrupted by the bell of the channel, on all CPUs."""
    line = qv.sh(f"grep 'QV-bell.* {channel}$' /proc/interrupts").split(":")[1]
    return sum(int(word) for word in line.split("QV-bell")[0].split())


def exits(qv: Product, cell: str) -> int:
    return int(qv.sh(f"qvctl cell stats {cell} | awk '/^hypercall/ {{ print $NF }}'"))


@pytest.mark.slow
def test_bells_wake_linux_and_cells(qv: Product) -> None:
    """A bell is an interrupt with the channel's name. It follows its affinity, and CPUs that go."""
    with_bell = [text.replace("}", ", bell: true}") for text in (SENSOR, ORDERS)]
    qv.do("enable")
    qv.do(f"cell create {qv.config('quest', 3, more=f'channels: [{with_bell[0]}, {with_bell[1]}]')} --start")
    before = bells(qv, "sensor")
    qv.sh(f"(head -c 64 {DEVICE}/sensor | tr -d '\\0' >/run/seen; echo . >>/run/seen) >/dev/null 2>&1 &")
    qv.quesh("chan write sensor hello")
    qv.sh("until grep -q '[.]' /run/seen; do sleep 0.05; done", 120)
    assert qv.sh("cat /run/seen").split() == ["hello."]
    assert bells(qv, "sensor") == before + 1
    # one exit at the sender for each bell, and none at the receiver
    calls = exits(qv, "quest")
    for _ in range(3):
        qv.quesh("chan write sensor more")
    assert exits(qv, "quest") == calls + 3
    # Quest waits on its VCPU for the bell of Linux. A read of the ring rings, too
    qv.sh("(quesh quest -c 'chan read orders 60000' >/run/order; echo . >>/run/order) >/dev/null 2>&1 &")
    qv.sh("sleep 0.5; qvctl channel send orders --text first")
    qv.sh("until grep -q '[.]' /run/order; do sleep 0.05; done", 90)
    assert qv.sh("cat /run/order").split() == ["first", "."]
    assert exits(qv, "quest") == calls + 4
    irq = qv.sh("awk -F: '/QV-bell.* sensor$/ { print $1 + 0 }' /proc/interrupts").strip()
    for cpu in (1, 2, 0):
        qv.sh(f"echo {cpu} >/proc/irq/{irq}/smp_affinity_list")
        assert qv.sh(f"cat /proc/irq/{irq}/effective_affinity_list").strip() == str(cpu)
        before = bells(qv, "sensor")
        qv.quesh("chan write sensor moved")
        assert bells(qv, "sensor") > before
    # a CPU goes to another cell, and the bell to another CPU
    qv.sh(f"echo 2 >/proc/irq/{irq}/smp_affinity_list")
    qv.sh("sed 's/^name:.*/name: other/; s/^cpus:.*/cpus: [2]/; s/^memory:.*/memory: 16M/' "
          "/usr/share/qv/configs/quest.yaml >/run/other.yaml; qvctl cell create /run/other.yaml --start")
    assert qv.sh(f"cat /proc/irq/{irq}/effective_affinity_list").strip() in ("0", "1")
    before = bells(qv, "sensor")
    qv.quesh("chan write sensor renewed")
    assert bells(qv, "sensor") > before
    # poll() and asyncio wait for it
    assert python(qv, f"""
import asyncio, subprocess
f = os.open("{DEVICE}/sensor", os.O_RDONLY | os.O_NONBLOCK)
os.read(f, 64)
async def wait():
    seen = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_reader(f, lambda: seen.done() or seen.set_result(os.read(f, 64)))
    await asyncio.create_subprocess_exec("quesh", "quest", "-c", "chan write sensor loop")
    say((await seen)[:4].decode())
asyncio.run(wait())
""") == ["loop"]
    # the sender fails: its instance rings, so the reader learns it at once
    qv.sh(f"(cat {DEVICE}/sensor >/dev/null 2>/run/why; echo . >>/run/why) >/dev/null 2>&1 &")
    assert qv.machine.run("quesh quest -c 'crash triple'", merge=False).rc == 1
    qv.sh("until grep -q '^[.]' /run/why; do sleep 0.05; done", 120)
    assert "Broken pipe" in qv.sh("cat /run/why")
    qv.do("cell destroy quest other")
    assert "QV-bell" not in qv.sh("cat /proc/interrupts")
    qv.do("disable")


@pytest.mark.slow
@pytest.mark.both_vendors
def test_bells_between_cells(qv: Product) -> None:
    """Linux is not in the path. A bell to a cell that has stopped goes nowhere."""
    qv.do("enable")
    for name, cpu, bell in (("one", 2, "true"), ("two", 3, "{vector: 80, cpu: 0}")):
        qv.sh(f"sed 's/^name:.*/name: {name}/; s/^cpus:.*/cpus: [{cpu}]/; s/^memory:.*/memory: 16M/' "
              f"/usr/share/qv/configs/quest.yaml >/run/{name}.yaml; echo 'channels: [{{name: talk, type: ring, "
              f"item: 64, slots: 8, writer: one, readers: [two], bell: {bell}}}]' >>/run/{name}.yaml")
        qv.do(f"cell create /run/{name}.yaml --start")
    assert "QV-bell" not in qv.sh("cat /proc/interrupts")
    calls = exits(qv, "two")
    qv.sh("(quesh two -c 'chan read talk 600000' >/run/talk; echo . >>/run/talk) >/dev/null 2>&1 &")
    qv.sh("sleep 0.5")
    qv.quesh("chan write talk first", "one")
    qv.sh("until grep -q '[.]' /run/talk; do sleep 0.05; done", 600)
    assert qv.sh("cat /run/talk").split() == ["first", "."]
    assert exits(qv, "two") == calls + 1, "its own bell after the read, and none for the bell of the other cell"
    qv.do("cell destroy two")
    qv.quesh("chan write talk second", "one")
    assert qv.show("one")["state"] == "running"
    qv.do("cell destroy one")
    qv.do("disable")


@pytest.mark.slow
@pytest.mark.machine(icount=True)
def test_bell_is_served_with_the_period_of_who_waits(qv: Product) -> None:
    """The I/O VCPU of bells has 2 % of 10 ms. It inherits the period of the VCPU of the program
    that waits, and its budget with it. A line typed in the shell would make it inherit from the
    shell, so `vcpus` is typed before the bell. The shell reads that line after an item without a
    bell."""
    wait = "{name: vshm-4, type: ring, item: 64, slots: 4, writer: linux, readers: [quest], bell: true}"
    go = wait.replace("vshm-4", "go").replace(", bell: true", "")
    vcpus = "[{name: slow, C: 5ms, T: 40ms}, {name: fast, C: 1ms, T: 8ms}]"
    qv.do("enable")
    qv.do("cell create " + qv.config("quest", 3, TEST_IMAGE, f"channels: [{wait}, {go}]\\nvcpus: {vcpus}") + " --start")
    for vcpu, row in (("slow", ["0.800", "40.000"]), ("fast", ["0.160", "8.000"]), ("", ["0.200", "10.000"])):
        if vcpu:
            qv.quesh(f"vcpu={vcpu} channels wait &", timeout=120)
            qv.quesh("sleep 200", timeout=120)  # of the machine's time: the program sleeps now
        shell = qv.machine.start(["quesh", "quest"], tty=(30, 100))
        until(lambda: b"> " in shell.output, "the prompt", 60)
        tables = qv.sh("quesh quest --dump").count("scheduling:")
        shell.write(b"chan read go 600000\rvcpus\r")
        until(lambda: "> chan read go 600000" in qv.sh("quesh quest --dump").splitlines()[-1], "the echo of the line", 60)
        qv.do("channel send vshm-4 --text wake")
        qv.do("channel send go --text go")
        until(lambda: qv.sh("quesh quest --dump").count("scheduling:") > tables, "the table", 120)
        assert re.findall(r" input +I/O +(\S+) +(\S+) ", qv.sh("quesh quest --dump"))[-1] == tuple(row)
        shell.write(b"\x1d")
        qv.machine.finish(shell, 60)
        assert ("used by" in qv.quesh("channels", timeout=120)) is False
        qv.quesh("chan read vshm-4", timeout=120)
    qv.do("cell destroy quest")
    qv.do("disable")
