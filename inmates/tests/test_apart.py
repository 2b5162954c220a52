# SPDX-License-Identifier: GPL-2.0-only
"""A network driver that is a program (`apart`): whatever fault it has, Quest continues, and the
driver runs again soon. The faults are those of drivers/faultydriver.c."""
import random
import re
import time
from pathlib import Path

import pytest
from test_net import QUESTS, booted, echo, frame
from test_recovery import Outage, outages
from test_tcp import booted as booted_with_linux
from test_tcp import exchange

from lab import bare as m

pytestmark = [pytest.mark.usefixtures("built"), pytest.mark.slow]

FAULT = 0x88B5
# In the order of faults[] there, each with its detector. After `more_sent` the driver is caught in
# its loop, and Quest notices it as soon as it sends a frame.
FAULTS = (
    ("crash", "exception"), ("to_kernel", "exception"), ("to_out", "exception"), ("leave", "exit"),
    ("hang", "beat"), ("stall", "beat"), ("more_frames", "exception"),
    ("more_sent", "beat exception"), ("long_frame", "exception"), ("wild", "exception"),
    ("leak", "pages"))
BACK_US = 50_000


def found(text: str, number: int) -> Outage:
    """Returns outage `number`, and checks that it is over."""
    all_of_them = outages(text)
    assert len(all_of_them) == number + 1, text
    return all_of_them[number]


def test_each_fault_of_the_driver_is_recovered(tmp_path: Path) -> None:
    """An instruction takes 1 ns in this machine, so the times do not depend on the host."""
    machine, shell, wire = booted(tmp_path, ",apart=faultydriver", "quest-test32.elf", m.COUNTED)
    with machine:
        assert wire.ping(0, b"first") == b"first"
        for number, (name, detector) in enumerate(FAULTS):
            wire.send(frame(QUESTS, FAULT, bytes([number]) + bytes(45)))
            for _ in range(100):
                shell.run("sleep 20")
                text = shell.run("recovery")
                if len(outages(text)) > number and outages(text)[number].alive > 0:
                    break
            outage = found(text, number)
            print(name, vars(outage))
            assert (outage.component, outage.strategy) == ("nic", "restart")
            assert outage.detector in detector.split(), name
            assert outage.alive < BACK_US, name
            data = random.Random(number).randbytes(1000)
            assert wire.ping(number + 1, data) == data, name
        assert machine.text.count("net: the driver is ended: ") >= 3
        assert "link up" in shell.run("net")
    assert "panic" not in machine.text


def test_pings_lost_by_a_crash_are_few(tmp_path: Path) -> None:
    """One ping each ms of the machine, also while the driver crashes."""
    machine, shell, wire = booted(tmp_path, ",apart=faultydriver", "quest-test32.elf")
    with machine:
        assert wire.ping(0, b"") == b""
        lost = []
        for _ in range(5):
            wire.send(frame(QUESTS, FAULT, bytes(46)))
            asked = 0
            start = time.monotonic()
            while True:
                asked += 1
                wire.send(echo(asked, b"again"))
                wire.socket.settimeout(0.01)
                try:
                    while wire.socket.recv(65536)[23:24] != b"\1":
                        pass
                    break
                except TimeoutError:
                    assert asked < 500
            lost.append((asked - 1, round((time.monotonic() - start) * 1000)))
        print("lost pings, ms:", lost, shell.run("recovery"))
        assert machine.text.count("recovery: nic is back after") == 5


def test_connections_survive_the_driver() -> None:
    """The other end is Linux. The driver is killed while bytes of a stream are on their way."""
    data = random.Random(1).randbytes(200_000)
    with booted_with_linux("net=10.0.2.15/24,via=10.0.2.2,apart") as net:
        net.machine.send("tcp echo &\r")
        net.machine.expect("tcp: ready\n")
        with net.connect(7) as s:
            for _ in range(3):
                assert exchange(s, data[:1000]) == data[:1000]
                s.sendall(data)
                [pid] = re.findall(r"(?m)^ *(\d+) +0 nicdriver", net.shell.run("ps"))
                net.shell.run(f"kill {pid}")
                got = b""
                while len(got) < len(data):
                    part = s.recv(65536)
                    assert part, len(got)
                    got += part
                assert got == data
        text = net.shell.run("recovery")
        assert [one.detector for one in outages(text)] == ["exit"] * 3, text
        print(text)
