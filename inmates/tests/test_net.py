# SPDX-License-Identifier: GPL-2.0-only
"""Quest's network alone on an emulated PC: the other end of the wire is this test, which sends and
receives whole frames."""

import contextlib
import os
import random
import re
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import bare as m

pytestmark = pytest.mark.usefixtures("built")

OURS, QUESTS = bytes.fromhex("020000000001"), bytes.fromhex("525400123456")
OUR_IP, QUEST_IP = bytes([192, 168, 7, 1]), bytes([192, 168, 7, 2])
ALL = b"\xff" * 6
ARP, IP = 0x0806, 0x0800
READY = r"(?m)^> "
BOUND_NS = 20_000
CALLS = ("nothing", "socket", "socket_bind", "socket_send", "socket_receive", "socket_connect",
         "socket_listen", "socket_accept", "poll")


def checksum(data: bytes) -> int:
    words = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while words >> 16:
        words = (words & 0xFFFF) + (words >> 16)
    return ~words & 0xFFFF


def frame(to: bytes, kind: int, data: bytes) -> bytes:
    return to + OURS + struct.pack(">H", kind) + data


def arp(operation: int, to: bytes) -> bytes:
    return frame(to, ARP, struct.pack(">HHBBH6s4s6s4s", 1, IP, 6, 4, operation, OURS, OUR_IP,
                                      bytes(6), QUEST_IP))


def ip(protocol: int, data: bytes) -> bytes:
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(data), 1, 0, 64, protocol, 0, OUR_IP,
                       QUEST_IP)
    return frame(QUESTS, IP, head[:10] + struct.pack(">H", checksum(head)) + head[12:] + data)


def echo(number: int, data: bytes) -> bytes:
    head = struct.pack(">BBHHH", 8, 0, 0, 7, number)
    return ip(1, head[:2] + struct.pack(">H", checksum(head + data)) + head[4:] + data)


def is_question(got: bytes) -> bool:
    """Returns whether the frame asks for the owner of an address of IP."""
    return got[12:14] == struct.pack(">H", ARP) and got[20:22] == b"\0\1"


def datagram(source: int, port: int, data: bytes) -> bytes:
    return ip(17, struct.pack(">HHHH", source, port, 8 + len(data), 0) + data)


class Wire:
    """The cable to the machine's network function: a datagram is a frame."""

    def __init__(self, folder: Path) -> None:
        self.here, self.there = folder / "test", folder / "machine"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.here))

    def arguments(self) -> tuple[str, ...]:
        return ("-netdev", f"dgram,id=wire,local.type=unix,local.path={self.there},"
                f"remote.type=unix,remote.path={self.here}",
                "-device", f"e1000e,netdev=wire,mac={QUESTS.hex(':')},romfile=")

    def send(self, *frames: bytes) -> None:
        for one in frames:
            self.socket.sendto(one, str(self.there))

    def receive(self, kind: int, limit: float = 300) -> bytes:
        """Returns the data of the next frame of this kind. Answers questions for our address."""
        self.socket.settimeout(limit)
        while True:
            got = self.socket.recv(65536)
            if is_question(got) and got[38:42] == OUR_IP:
                self.send(arp(2, QUESTS))
            if got[:6] in (OURS, ALL) and got[12:14] == struct.pack(">H", kind):
                return got[14:]

    def ping(self, number: int, data: bytes) -> bytes:
        """Returns the data of the answer. Asks again, since frames of a flood may be lost, and says
        where we are, since another frame may have said something else."""
        for _ in range(60):
            with contextlib.suppress(TimeoutError):
                self.send(arp(2, QUESTS), echo(number, data))
                return self._answer(number)
        raise AssertionError("no answer to a ping")

    def ask(self, port: int, data: bytes) -> None:
        """Sends a datagram until it comes back."""
        for _ in range(60):
            with contextlib.suppress(TimeoutError):
                self.send(datagram(4000, port, data))
                while True:
                    packet = self.receive(IP, 2)
                    source, to, length = struct.unpack(">HHH", packet[20:26])
                    answer = (source, to, packet[28:20 + length])
                    if packet[9] == 17 and answer == (port, 4000, data):
                        return
        raise AssertionError("no answer to a datagram")

    def _answer(self, number: int) -> bytes:
        while True:
            packet = self.receive(IP, 2)
            length = struct.unpack(">H", packet[2:4])[0]
            answer = packet[20:length]
            place = struct.pack(">HH", 7, number)
            if packet[9] == 1 and answer[:1] == b"\0" and answer[4:8] == place:
                assert not checksum(answer) and not checksum(packet[:20])
                return answer[8:]


def booted(folder: Path, more: str = "", image: str = "quest32.elf",
           options: tuple[str, ...] = ()) -> tuple[m.Machine, m.Shell, Wire]:
    wire = Wire(folder)
    machine = m.Machine("-kernel", str(m.quest(image)), "-append", f"net=192.168.7.2/24{more}",
                        *wire.arguments(), *options)
    shell = m.Shell(machine, READY)
    announced = wire.receive(ARP)  # from now on Quest receives
    assert announced[8:18] == QUESTS + QUEST_IP and announced[24:28] == QUEST_IP
    return machine, shell, wire


def count(shell: m.Shell, what: str) -> int:
    """Returns a number that the command net prints."""
    said = shell.run("net")
    found = re.search(what, said)
    assert found, said
    return int(found[1])


# with `apart` the driver is a program (test_apart.py)
@pytest.mark.parametrize("more", ["", ",polled,apart", pytest.param(",polled", marks=pytest.mark.slow),
                                  pytest.param(",apart", marks=pytest.mark.slow)])
def test_it_answers_pings(tmp_path: Path, more: str) -> None:
    machine, shell, wire = booted(tmp_path, more)
    with machine:
        wire.send(arp(1, ALL))
        assert wire.receive(ARP)[6:18] == b"\0\2" + QUESTS + QUEST_IP
        for number, length in enumerate((0, 1, 56, 1472)):
            data = random.Random(number).randbytes(length)
            assert wire.ping(number, data) == data
        assert "192.168.7.2/24, 52:54:00:12:34:56, link up" in shell.run("net")
        if "polled" in more:
            assert ", polled\n" in shell.run("net")
        else:
            assert count(shell, r"(\d+) interrupts") > 0
        assert count(shell, r"received (\d+) frames") >= 5 <= count(shell, r"sent (\d+) frames")


def fragment(rng: random.Random) -> bytes:
    """A part of a packet, of which others may overlap or lack."""
    whole = bytearray(ip(rng.choice((1, 6, 17)), rng.randbytes(rng.randrange(0, 200))))
    whole[18:20] = struct.pack(">H", rng.randrange(4))
    offset = rng.randrange(0x2000) >> rng.randrange(13)
    whole[20:22] = struct.pack(">H", rng.choice((0, 0x2000)) | offset)
    whole[24:26] = bytes(2)
    whole[24:26] = struct.pack(">H", checksum(whole[14:34]))
    return bytes(whole)


def segment(rng: random.Random) -> bytes:
    """A TCP segment with any flags and options, whose checksum is right."""
    size = rng.randrange(5, 16)
    head = struct.pack(">HHIIBBHHH", rng.randrange(65536), rng.choice((7, 80)),
                       rng.randrange(2**32), rng.randrange(2**32), size << 4, rng.randrange(256),
                       rng.randrange(65536), 0, rng.randrange(65536))
    body = head + rng.randbytes(4 * (size - 5) + rng.randrange(40))
    pseudo = OUR_IP + QUEST_IP + struct.pack(">BBH", 0, 6, len(body))
    return ip(6, body[:16] + struct.pack(">H", checksum(pseudo + body)) + body[18:])


def hostile(rng: random.Random) -> bytes:
    made = bytearray(rng.choice((
        lambda: arp(rng.randrange(4), rng.choice((ALL, QUESTS))),
        lambda: echo(rng.randrange(65536), rng.randbytes(rng.randrange(1400))),
        lambda: ip(17, rng.randbytes(rng.randrange(64))),
        lambda: frame(QUESTS, rng.randrange(65536), rng.randbytes(rng.randrange(1500))),
        lambda: fragment(rng), lambda: segment(rng),
    ))())
    for _ in range(rng.choice((0, 0, 1, 3))):
        made[rng.randrange(12, len(made))] = rng.randrange(256)
    return bytes(made[:rng.choice((len(made), rng.randrange(14, len(made) + 1)))])


def test_it_survives_hostile_frames(tmp_path: Path) -> None:
    """Broken and misleading frames cost no memory, and the next ping is answered."""
    machine, shell, wire = booted(tmp_path)
    rng = random.Random(int(os.environ.get("QV_SEED", "1")))
    with machine:
        for turn in range(20):
            wire.send(*(hostile(rng) for _ in range(100)))
            assert wire.ping(turn, b"x" * 32) == b"x" * 32
        assert count(shell, "received ([0-9]+) frames") > 1000
        assert count(shell, "lack of memory ([0-9]+)") == 0
        # frames that follow each other without a pause: some may be lost
        wire.send(*(frame(QUESTS, 0x88B5, bytes(46)) for _ in range(2000)))
        assert wire.ping(30, b"") == b""


def test_program_echoes_datagrams(tmp_path: Path) -> None:
    machine, shell, wire = booted(tmp_path, image="quest-test32.elf")
    with machine:
        wire.send(arp(2, QUESTS))
        for _ in range(3):
            machine.send("udpecho\r")
            machine.expect("udpecho: ready\n")
            for length in (0, 1, 1000, 1472):
                wire.ask(7, random.Random(length).randbytes(length))
            # a burst: those that do not fit into the socket's queue are lost
            wire.send(*(datagram(4001, 7, b"burst") for _ in range(100)))
            wire.ask(7, b"end")
            came = machine.expect(r"udpecho: (\d+) came, (\d+) wrong\n")
            assert int(came[1]) >= 5 + 8 and came[2] == "0", machine.text
            machine.expect(READY)
        pid = re.findall(r"\[(\d+)\]", shell.run("udpecho &"))[0]
        while machine.text.count("udpecho: ready\n") < 4:
            shell.run("sleep 10")
        assert "it has children, pipes, sockets" in shell.run(f"detach {pid}")
        shell.run(f"kill {pid}")
        wire.send(datagram(4000, 7, b"end"))
        assert wire.ping(1, b"") == b""


@contextlib.contextmanager
def flood(wire: Wire) -> Iterator[None]:
    """Sends datagrams to port 9, pings, and frames of no protocol, as fast as the machine takes
    them. Drops the answers."""
    over = threading.Event()
    frames = [datagram(4002, 9, bytes(1472)), frame(QUESTS, 0x88B5, bytes(46)),
              echo(1, bytes(1472))]

    def send() -> None:
        while not over.is_set():
            with contextlib.suppress(BlockingIOError, TimeoutError):
                for one in frames:
                    wire.socket.sendto(one, socket.MSG_DONTWAIT, str(wire.there))

    def drain() -> None:
        wire.socket.settimeout(0.1)
        while not over.is_set():
            with contextlib.suppress(TimeoutError):
                got = wire.socket.recv(65536)
                if is_question(got):
                    wire.send(arp(2, QUESTS))

    threads = [threading.Thread(target=send), threading.Thread(target=drain)]
    for one in threads:
        one.start()
    try:
        yield
    finally:
        over.set()
        for one in threads:
            one.join()


def test_neither_sockets_nor_floods_delay_a_thread_on_a_vcpu(tmp_path: Path) -> None:
    """As test_worst_calls.py, with a network: a thread on a VCPU of 1 ms in 5 ms wakes at most
    20 us later than without a program and without packets. An instruction takes 1 ns."""
    # the usual VCPU of the network would leave no room for that thread
    machine, shell, wire = booted(tmp_path, " vcpu=nic,io.net,200us,10ms", "quest-test32.elf",
                                  m.COUNTED)

    def late(call: str) -> int:
        said = shell.run(f"worst {call} 100")
        found = re.search(rf"worst: {call} late=(\d+)", said)
        assert found, said
        return int(found[1])

    with machine:
        quiet = late("nothing")
        before = count(shell, r"received (\d+) frames")
        with flood(wire):
            found = {call: late(call) for call in CALLS}
        print(quiet, found)
        assert count(shell, r"received (\d+) frames") > before + 100
        assert {call: ns for call, ns in found.items() if ns > quiet + BOUND_NS} == {}, quiet
