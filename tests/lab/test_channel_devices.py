# SPDX-License-Identifier: GPL-2.0-only
"""The devices of channels, for plain users: owner, sysfs, uevents, and read() and write() with
fork(), signals and rmmod. The inmate tests/lab/echo is the other end."""

import shlex

import pytest
from lab import build, channelbench, enter, roots
from product import Product, program
from test_channels import ORDERS, SENSOR, bells, exits, python

DEVICE, SYSFS = "/dev/qv-channel", "/sys/class/qv-channel"
AS_USER = "setpriv --reuid 1234 --regid 1234 --groups"
CELL = """name: echo
cpus: [3]
memory: 8M
image: /run/echo.elf
console: false
channels:
  - {name: values, type: four-slot, item: 64, writer: linux, readers: [echo]}
  - {name: values-back, type: four-slot, item: 64, writer: echo, readers: [linux], schema: twice@1}
  - {name: queue, type: ring, item: 8, slots: 4, full: block, writer: linux, readers: [echo],
     owner: "1234:1234", mode: 0600}
  - {name: queue-back, type: ring, item: 8, slots: 4, full: block, writer: echo, readers: [linux],
     owner: ":0", mode: 0644}
  - {name: talk, type: mailbox, item: 64, writer: linux, readers: [echo]}
"""


def enable(qv: Product) -> None:
    """Creates and starts the cell `echo`. The group qv exists."""
    qv.machine.put(channelbench.inmate(), "/run/echo.elf")
    qv.sh(f"systemd-sysusers && cat >/run/echo.yaml <<'X'\n{CELL}X")
    qv.do("enable")
    qv.do("cell create /run/echo.yaml")


def module(qv: Product) -> None:
    """Puts the Python module, which has a compiled part, into the machine."""
    home = roots.ensure("python")
    with build.lock():
        done = enter.run(home, ["make", "-s", "--no-print-directory", "-C", "lib/python", f"O={build.OUT}", "all"])
        assert done.returncode == 0, done.stdout
    packages = "usr/lib/python3/dist-packages"
    for path in (home / packages).glob("_cffi_backend*.so"):
        qv.machine.put(path, f"/{packages}/{path.name}")
    qv.machine.put(build.OUT / "lib/python/qvchannel", f"/{packages}/qvchannel")


@pytest.mark.slow
def test_user_of_group_qv_lists_and_reads(qv: Product) -> None:
    module(qv)
    enable(qv)
    qv.sh("id alice >/dev/null 2>&1 || useradd alice; systemd-sysusers; usermod --append --groups qv alice")
    user = "setpriv --reuid alice --regid alice --init-groups"
    assert qv.sh(f"cd {DEVICE}; stat -c '%n %U:%G %a' *").splitlines() == [
        "queue UNKNOWN:UNKNOWN 600", "queue-back root:root 644", "talk root:qv 660", "values root:qv 660",
        "values-back root:qv 660"]
    assert qv.show("echo")["channels"][2]["owner"] == "1234:1234"
    # udev has seen the devices and left owner and mode as they are
    assert "TAGS=:systemd:" in qv.sh(f"udevadm info {DEVICE}/talk").replace("CURRENT_", "").replace("E: ", "")
    assert "loadable" in qv.do("channel list")
    qv.do("cell start echo")
    table = qv.sh(f"{user} qvctl channel list").splitlines()
    assert [line.split()[0] for line in table] == ["NAME", "queue", "queue-back", "talk", "values", "values-back"]
    assert table[2].split() == ["queue-back", "ring", "8", "4", "echo:running", "linux:running", f"{DEVICE}/queue-back"]
    write = "import qv; qv.open('values').write(b'hello'.ljust(64))"
    assert qv.sh(f'{user} python3 -c "{write}"') == ""
    program = "import qv; print(bytes(qv.open('values-back').read(timeout=30)).decode().strip())"
    assert qv.sh(f'{user} python3 -c "{program}"') == "hello\n"
    # another user may neither open the device nor manage cells, but sees that the channel exists
    other = f"{AS_USER} 1234"
    r = qv.machine.run(f'{other} python3 -c "{program}"')
    assert r.rc == 1 and "qvchannel.errors.Permission" in r.out and "may not open the channel" in r.out
    assert "values-back" in qv.sh(f"{other} qvctl channel list")
    assert qv.machine.run(f"{other} qvctl cell list").rc == 1
    qv.sh(f"{other} qvctl channel send queue --text mine")
    assert qv.sh(f"{other} qvctl channel watch queue-back -n 1") == "mine\n"
    assert "twice@1" in qv.sh(f"{other} qvctl channel show values-back")
    qv.do("cell destroy echo")
    qv.do("disable")


@pytest.mark.slow
def test_driver_refuses_owners_that_qvctl_would_not_send(qv: Product) -> None:
    enable(qv)
    qv.do("cell destroy echo")
    assert qv.sh("""python3 - <<'X'
from qv import config, files
from qv.device import Device
from qv.errors import Refused
from qv.machine import Machine
cell = config.check_files(["/run/echo.yaml"], Machine.this())[0][0]
found = files.read(cell)
nobody = 2**32 - 1
for number, changes in (0, {"mode": 0o4755}), (0, {"uid": nobody}), (0, {"gid": nobody}), (0, {"writers": 2}), (5, {"uid": 1}):
    request = cell.request()
    if number == 5:
        request.channels[0].ends[0].value = b"other"
        request.channels[0].gid = request.channels[0].mode = 0
    for name, value in changes.items():
        setattr(request.channels[number % 5], name, value)
    try:
        print(Device().create(request, found).code)
    except Refused as refused:
        print(refused.sentence)
X
""").splitlines() == ["channel 'values' cannot be: " + why for why in (
        "its mode has other bits than those of reading and writing", "its owner is no user or group",
        "its owner is no user or group", "only the ends of a memory can be several writers",
        "only a channel with an end of Linux has an owner")]
    qv.do("disable")


@pytest.mark.slow
def test_attributes_and_uevents_follow_the_cell(qv: Product) -> None:
    enable(qv)

    def attribute(name: str, channel: str = "queue") -> str:
        return qv.sh(f"cat {SYSFS}/{channel}/{name}").strip()
    assert (attribute("ends"), attribute("state"), attribute("generation")) == ("linux echo", "absent absent", "0 0")
    assert qv.machine.run(f"cat {SYSFS}/queue/lost").rc == 1
    qv.sh("udevadm monitor --kernel --property --subsystem-match=qv-channel >/run/uevents & sleep 1")
    qv.do("cell start echo")
    assert [attribute(name) for name in ("type", "item", "slots", "full", "reconnect", "state")] == [
        "ring", "8", "4", "block", "auto", "running running"]
    assert (attribute("schema", "values-back"), attribute("type", "talk"), attribute("full", "talk")) == ("twice@1", "mailbox", "none")
    assert (attribute("bell"), attribute("writers")) == ("false", "linux")
    first = attribute("generation").split()
    assert all(map(int, first))
    assert python(qv, f"""
import fcntl, struct
f = os.open("{DEVICE}/queue", os.O_RDONLY)
words = struct.unpack("9QII", fcntl.ioctl(f, 0x80507164, bytes(80)))  # QV_CHANNEL_STATE
say([[word >> 8, word & 0xff] for word in words[:2]] + list(words[2:]))
""") == [[[int(first[0]), 1], [int(first[1]), 1], *[0] * 7, 2, 0]]
    assert python(qv, f"""
w, r = os.open("{DEVICE}/queue", os.O_WRONLY), os.open("{DEVICE}/queue-back", os.O_RDONLY)
for n in range(8):
    os.write(w, bytes([n] * 8))
    say(os.read(r, 8)[0])
""") == list(range(8))
    assert [attribute(name) for name in ("items", "waiting", "lost", "refused")] == ["8", "0", "0", "0"]
    assert [attribute(name, "queue-back") for name in ("items", "waiting")] == ["8", "0"]
    assert qv.ask("channel show queue-back")["counts"]["items"] == 8
    qv.do("cell shutdown echo")
    assert attribute("state") == "running stopped"
    qv.do("cell start echo")
    second = attribute("generation").split()
    assert second[0] == first[0] and int(second[1]) > int(first[1])
    # a reader that restarts may get items again that the writer has not seen it take
    assert int(attribute("items", "queue-back")) <= 4
    qv.do("cell destroy echo")
    qv.do("disable")
    assert qv.sh(f"ls {SYSFS}") == ""
    events: list[tuple[str, ...]] = []
    for text in qv.sh("sleep 1; pkill udevadm; cat /run/uevents").split("\n\n"):
        facts = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        if facts.get("DEVNAME") == "/dev/qv-channel/queue":
            events.append(tuple(facts.get(name, "") for name in ("ACTION", "QV_EVENT", "QV_END", "QV_STATE")))
    running, stopped = ("change", "connect", "echo", "running"), ("change", "disconnect", "echo", "stopped")
    assert events == [running, stopped, running, stopped, ("remove", "", "", "")]


@pytest.mark.slow
def test_reads_with_fork_signals_and_rmmod(qv: Product) -> None:
    enable(qv)
    qv.do("cell start echo")
    assert python(qv, f"""
import signal, subprocess, threading, time
w, r = os.open("{DEVICE}/queue", os.O_WRONLY), os.open("{DEVICE}/queue-back", os.O_RDONLY)
say(fails(os.open, "{DEVICE}/queue", os.O_WRONLY))
# a child has the same open file: its close does not free the place of the writer, its write counts
child = os.fork()
if not child:
    os.write(w, b"a child!")
    os.close(w)
    os._exit(0)
os.waitpid(child, 0)
say(os.read(r, 8).decode())
say(fails(os.open, "{DEVICE}/queue", os.O_WRONLY))
os.write(w, b"a parent")
say(os.read(r, 8).decode())
# two readers of a ring: each item goes to one of them
second = os.open("{DEVICE}/queue-back", os.O_RDONLY)
os.write(w, b"item one"); os.write(w, b"item two")
say(sorted([os.read(r, 8).decode(), os.read(second, 8).decode()]))
# a signal ends a wait if its handler raises; without that the wait goes on
class Late(Exception): pass
def late(*_): raise Late
signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try: os.read(r, 8)
except Late: say("a signal")
signal.signal(signal.SIGALRM, lambda *_: os.write(w, b"by alarm"))
signal.setitimer(signal.ITIMER_REAL, 0.2)
say(os.read(r, 8).decode())
# SIGKILL in the middle of a wait gives the place of the writer back
t = subprocess.Popen(["cat", "{DEVICE}/talk"], stdout=subprocess.DEVNULL)
time.sleep(0.3)
t.kill()
say(t.wait())
# a reader keeps the module loaded
say(subprocess.run(["rmmod", "qv"], stderr=subprocess.DEVNULL).returncode)
os.close(w)
w = os.open("{DEVICE}/queue", os.O_WRONLY)
say("again")
# the messages of a mailbox have their own length. An empty one passes the turn
t = os.open("{DEVICE}/talk", os.O_RDWR)
for message in (b"four", b"", b"seven77"):
    say(os.write(t, message))
    error = fails(select.select, [t], [], [], 30)
    say(error or fails(os.read, t, 64) if not message else os.read(t, 64).decode())
""") == ["EBUSY", "a child!", "EBUSY", "a parent", ["item one", "item two"], "a signal", "by alarm", -9, 1, "again",
         4, "four", 0, "ENODATA", 7, "seven77"]
    # pread() gives the last value again, also to a second descriptor, which has read it itself
    assert python(qv, f"""
w = os.open("{DEVICE}/values", os.O_WRONLY)
a, b = (os.open("{DEVICE}/values-back", os.O_RDONLY) for _ in range(2))
os.write(w, b"v".ljust(64))
say([os.read(f, 64)[:1].decode() for f in (a, b)])
say([os.pread(f, 64, 0)[:1].decode() for f in (a, b, a)])
""") == [["v"] * 2, ["v"] * 3]
    qv.do("cell destroy echo")
    qv.do("disable")
    qv.sh("rmmod qv")


# Orders to the cell `echo`, which sets words of its own sections
LIES = """
import mmap, struct, time
NAMES = ["values", "values-back", "queue", "queue-back", "talk"]
COUNT, BYTES, SLOT = 8, 16, 24  # indices of words in struct qv_chan_section
LARGEST = [0xffffffff, (1 << 64) - 1, 1 << 63]
def opened(name, flags): return os.open("/dev/qv-channel/" + name, flags | os.O_NONBLOCK)
files = {"values": opened("values", os.O_WRONLY), "queue": opened("queue", os.O_RDWR), "talk": opened("talk", os.O_RDWR),
         "queue-back": opened("queue-back", os.O_RDONLY), "values-back": opened("values-back", os.O_RDONLY)}
def words(name):
    f = opened(name, os.O_RDONLY)
    length, = struct.unpack_from("<Q", mmap.mmap(f, 4096, mmap.MAP_SHARED, mmap.PROT_READ), 160)
    return memoryview(mmap.mmap(f, length, mmap.MAP_SHARED, mmap.PROT_READ)).cast("Q")
windows = {name: words(name) for name in NAMES}
def at(name, word):
    cell = 1 if name in ("queue", "talk") else 0
    return windows[name][32 + 8 * cell + 1] // 8 + word
def order(name, word, value):
    os.write(files["values"], struct.pack("<4Q", 0x45494c, NAMES.index(name), word, value).ljust(64, bytes(1)))
    end = time.monotonic() + 90
    while windows[name][at(name, word)] != value: assert time.monotonic() < end
def lie(name, word, value, call, *args):
    was = windows[name][at(name, word)]
    order(name, word, value)
    ready = select.select([files[name]], [files[name]], [], 60)[:2] != ([], [])
    result = fails(call, files[name], *args)
    order(name, word, was)
    return (ready, result) == (True, "EBADMSG") or [name, word, hex(value), ready, result]
def comes(name, size):
    assert select.select([files[name]], [], [], 60)[0]
    return os.read(files[name], size)
"""


@pytest.mark.slow
def test_extreme_words_of_a_cell_are_ebadmsg(qv: Product) -> None:
    """A cell sets each index of its sections to values that no honest end writes. poll(), read() and write()
    return at once, and the error is kept for `qvctl channel list`."""
    enable(qv)
    qv.do("cell start echo")
    assert qv.sh(f"cat {SYSFS}/queue/last_error") == "none\n"
    assert [c["last_error"] for c in qv.ask("channel list")["channels"]] == [None] * 5
    assert all(result is True for result in python(qv, LIES + """
os.write(files["queue"], b"one item"); say(comes("queue-back", 8) == b"one item")
for value in [*LARGEST, 0]: say(lie("queue-back", COUNT, value, os.read, 8))
say(lie("queue-back", COUNT, 2, os.read, 8))  # an item that was never written
os.write(files["values"], b"a value".ljust(64)); say(comes("values-back", 64)[:7] == b"a value")
pair = windows["values-back"][at("values-back", COUNT)]
for value in LARGEST:
    say(lie("values-back", COUNT, value, os.read, 64))
    say(lie("values-back", SLOT + pair, value, os.read, 64))
os.write(files["talk"], b"message")
while windows["talk"][at("talk", COUNT)] != 1: time.sleep(0.01)
for value in LARGEST:
    say(lie("talk", BYTES, value, os.read, 64))
    say(lie("talk", COUNT, value, os.read, 64))
    say(lie("talk", COUNT, value, os.write, b"my turn?"))
say(comes("talk", 64) == b"message")
full, end = 0, time.monotonic() + 30
while full < 20:  # queue and queue-back are full, and the cell has an item of its own
    full = full + 1 if fails(os.write, files["queue"], bytes(8)) == "EAGAIN" else 0
    time.sleep(0.01)
    assert time.monotonic() < end
for value in [*LARGEST, 0]: say(lie("queue", COUNT, value, os.write, bytes(8)))
say(comes("queue-back", 8) == bytes(8))
"""))
    listed = {c["name"]: c for c in qv.ask("channel list")["channels"]}
    assert {name: (c["last_error"] or {}).get("error") for name, c in listed.items()} == {
        "values": None, "values-back": "corrupt", "queue": "corrupt", "queue-back": "corrupt", "talk": "corrupt"}
    assert " ago " in qv.do("channel list --rate 0.1")
    qv.do("cell destroy echo")
    qv.do("disable")


# Starts a program in Quest when the bell of Linux is armed: the word `armed` of its section is odd
WHEN_ARMED = """
import asyncio, mmap, struct, subprocess, threading, time
def window():
    f = os.open("/dev/qv-channel/sensor", os.O_RDONLY)
    length, = struct.unpack_from("<Q", mmap.mmap(f, 4096, mmap.MAP_SHARED, mmap.PROT_READ), 160)
    return mmap.mmap(f, length, mmap.MAP_SHARED, mmap.PROT_READ)
def write_when_armed(text):
    w = window()
    section, = struct.unpack_from("<Q", w, 256 + 64 + 8)
    while not struct.unpack_from("<Q", w, section + 16)[0] & 1: time.sleep(0.01)
    subprocess.run(["quesh", "quest", "-c", "chan write sensor " + text], check=True, stdout=subprocess.DEVNULL)
"""


@pytest.mark.slow
def test_one_shot_bells_ring_who_waits(qv: Product) -> None:
    """Without anyone who waits, items cost no exit. The device, libqv and asyncio arm the bell."""
    module(qv)
    sensor, orders = (text.replace("}", ", bell: one-shot}") for text in (SENSOR, ORDERS))
    qv.do("enable")
    qv.do(f"cell create {qv.config('quest', 3, more=f'channels: [{sensor}, {orders}]')} --start")
    assert [c["bell"] for c in qv.show()["channels"]] == ["one-shot", "one-shot"]
    rung, calls = bells(qv, "sensor"), exits(qv, "quest")
    for word in ("one", "two", "three"):
        qv.quesh(f"chan write sensor {word}")
    assert (bells(qv, "sensor"), exits(qv, "quest")) == (rung, calls)
    assert python(qv, WHEN_ARMED + """
f = os.open("/dev/qv-channel/sensor", os.O_RDONLY)
say(os.read(f, 64).rstrip(bytes(1)).decode())
writer = threading.Thread(target=write_when_armed, args=["four"])
writer.start()
say(os.read(f, 64).rstrip(bytes(1)).decode())
writer.join()
""") == ["three", "four"]
    assert (bells(qv, "sensor"), exits(qv, "quest")) == (rung + 1, calls + 1), "the bell of the device's read()"
    qv.quesh("chan write sensor five")
    assert (bells(qv, "sensor"), exits(qv, "quest")) == (rung + 1, calls + 1), "no end has armed it again"
    assert python(qv, WHEN_ARMED + """
import qv
c = qv.open("sensor")
def text(item): return bytes(item).rstrip(bytes(1)).decode()
async def main():
    say(text(await c.get()))
    waits = asyncio.create_task(c.get())
    await asyncio.get_running_loop().run_in_executor(None, write_when_armed, "six")
    say(text(await waits))
asyncio.run(main())
writer = threading.Thread(target=write_when_armed, args=["seven"])
writer.start()
say(text(c.read(timeout=60)))
writer.join()
""") == ["five", "six", "seven"]
    assert bells(qv, "sensor") > rung + 1
    # Quest waits for Linux, and its read of the ring rings no end
    calls = exits(qv, "quest")
    qv.sh("(quesh quest -c 'chan read orders 60000' >/run/order; echo . >>/run/order) >/dev/null 2>&1 &")
    qv.sh("sleep 0.5; qvctl channel send orders --text first")
    qv.sh("until grep -q '[.]' /run/order; do sleep 0.05; done", 90)
    assert qv.sh("cat /run/order").split() == ["first", "."]
    assert exits(qv, "quest") == calls
    qv.do("cell destroy quest")
    qv.do("disable")


@pytest.mark.slow
@pytest.mark.machine(iommu="intel")
def test_polled_items_cost_no_exit(qv: Product) -> None:
    """Items go from Linux to a cell and back without an exit of the cell, as its APIC is direct."""
    found = channelbench.in_cell(qv.machine, lambda *argv: qv.sh(shlex.join(argv), 240))
    assert found["items"] >= 10_000
    assert found["exits"] < found["items"] / 1000, "those of starting the cell, and of Linux's requests"


RACE = """name: echo
cpus: [3]
memory: 8M
image: /run/echo.elf
console: false
channels:
  - {name: values, type: four-slot, item: 64, writer: linux, readers: [echo], bell: true}
  - {name: queue, type: ring, item: 64, slots: 4, full: block, writer: linux, readers: [echo],
     bell: true}
  - {name: queue-back, type: ring, item: 64, slots: 4, full: drop-oldest, writer: echo,
     readers: [linux]}
  - {name: talk, type: mailbox, item: 64, writer: linux, readers: [echo]}
  - {name: raw, type: memory, item: 8192, writer: linux, readers: [echo]}
"""
SECONDS = 40


@pytest.mark.slow
@pytest.mark.machine(fresh=True, boot_args=("slub_debug=FZPU",))
def test_devices_survive_races_of_all_calls(qv: Product) -> None:
    """Threads of Linux use all calls of the devices, while the cell is created, starts, stops and is
    destroyed, QV goes off and on, and root unloads the driver. Linux checks all its small memory."""
    enable(qv)
    qv.do("cell destroy echo")
    qv.sh(f"cat >/run/race.yaml <<'X'\n{RACE}X")
    qv.machine.put(program("chanrace"), "/run/chanrace")
    race = qv.machine.start(f"/run/chanrace {SECONDS} values queue queue-back talk raw")
    lives = unloads = 0
    while race.rc is None:
        qv.do("cell create /run/race.yaml")
        unloads += qv.machine.run("rmmod qv").rc == 0
        for _ in range(lives % 3):
            qv.do("cell start echo")
            qv.do("cell shutdown echo --timeout 0")
        qv.do("cell start echo")
        qv.do("cell destroy echo")
        lives += 1
        if lives % 4 == 0:
            qv.do("disable")
            qv.machine.run("rmmod qv && modprobe qv")
            qv.do("enable")
    qv.machine.finish(race, 120)
    assert race.rc == 0, race.output
    assert int(race.output.split()[0]) > 1000 and lives > 2 and not unloads
    print(f"{race.output.decode().strip()}, {lives} lives of the cell")
    qv.do("disable")
    qv.sh("rmmod qv")
    assert "QV-bell" not in qv.sh("cat /proc/interrupts")


@pytest.mark.slow
@pytest.mark.machine(machine="intel")
def test_bell_has_one_exit_at_its_sender(qv: Product) -> None:
    """The measurement of `make bench`, with fewer rounds. The sender has one exit for each bell, the
    receiver none."""
    def run(*command: str) -> str:
        r = qv.machine.run(list(command), 300, merge=False)
        assert r.rc == 0, (command, r.out, r.err)
        return r.out
    rounds = 100
    found = channelbench.bells(qv.machine, run, rounds)
    print(found)
    assert set(found["ticks"]) == set(channelbench.BELLS)
    assert all(0 < ticks["min"] <= ticks["p50"] for ticks in found["ticks"].values())
    near, far = found["exits"]["near"], found["exits"]["far"]
    assert near.pop("hypercall") == 2 * rounds, "a bell to the other cell, and one to Linux"
    near.pop("cpuid", None)  # not of a bell: it makes one at most
    assert near == far == {}, found["exits"]
