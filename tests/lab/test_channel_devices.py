# SPDX-License-Identifier: GPL-2.0-only
"""The devices of channels, for plain users: owner, sysfs, uevents, and read() and write() with
fork(), signals and rmmod. The inmate tests/lab/echo is the other end."""

import shlex

import pytest
from lab import build, channelbench, enter, roots
from product import Product
from test_channels import python

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


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_driver_refuses_owners_that_qvctl_would_not_send(qv: Product) -> None:
    enable(qv)
    qv.do("cell destroy echo")
    assert qv.sh("""python3 - <<'X'
from qv import config
from qv.device import Device
from qv.errors import Refused
from qv.machine import Machine
cell = config.check_files(["/run/echo.yaml"], Machine.this())[0][0]
image = open("/run/echo.elf", "rb").read()
nobody = 2**32 - 1
for number, changes in (0, {"mode": 0o4755}), (0, {"uid": nobody}), (0, {"gid": nobody}), (0, {"reserved": 1}), (5, {"uid": 1}):
    request = cell.request()
    if number == 5:
        request.channels[0].ends[0].value = b"other"
        request.channels[0].gid = request.channels[0].mode = 0
    for name, value in changes.items():
        setattr(request.channels[number % 5], name, value)
    try:
        print(Device().create(request, image).code)
    except Refused as refused:
        print(refused.sentence)
X
""").splitlines() == ["channel 'values' cannot be: " + why for why in (
        "its mode has other bits than those of reading and writing", "its owner is no user or group",
        "its owner is no user or group", "a reserved member is not 0",
        "only a channel with an end of Linux has an owner")]
    qv.do("disable")


@pytest.mark.thorough
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
    first = attribute("generation").split()
    assert all(map(int, first))
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


@pytest.mark.thorough
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


@pytest.mark.thorough
@pytest.mark.machine(iommu="intel")
def test_polled_items_cost_no_exit(qv: Product) -> None:
    """Items go from Linux to a cell and back without an exit of the cell, as its APIC is direct."""
    found = channelbench.in_cell(qv.machine, lambda *argv: qv.sh(shlex.join(argv), 240))
    assert found["items"] >= 10_000
    assert found["exits"] < found["items"] / 1000, "those of starting the cell, and of Linux's requests"
