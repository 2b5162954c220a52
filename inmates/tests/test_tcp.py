# SPDX-License-Identifier: GPL-2.0-only
"""Streams of programs in Quest alone on an emulated PC. Its wire leads to QEMU's user network, so
that this test uses the sockets of Linux."""

import contextlib
import random
import re
import socket
import struct
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from lab import bare as m

pytestmark = pytest.mark.usefixtures("built")

READY = r"(?m)^> "
BOUND_NS = 20_000
CALLS = ("socket_send", "socket_receive", "socket_accept", "poll", "socket_shutdown")
PORTS = (7, 8, 80)  # of Quest, which the test can connect to
# A program of Linux behind 10.0.2.100:9, for each connection: sends back, and at last "end"
BACK = "guestfwd=tcp:10.0.2.100:9-cmd:sh -c 'cat; printf end'"


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


class Net:
    """Quest with a network, and how to reach its ports."""

    def __init__(self, word: str = "net=10.0.2.15/24,via=10.0.2.2",
                 image: str = "quest-test32.elf", options: tuple[str, ...] = ()) -> None:
        self.ports = {port: free_port() for port in PORTS}
        forwards = ",".join(f"hostfwd=tcp:127.0.0.1:{at}-:{port}" for port, at in self.ports.items())
        self.machine = m.Machine("-kernel", str(m.quest(image)), "-append", word,
                                 "-netdev", f"user,id=wire,restrict=off,{forwards},{BACK}",
                                 "-device", "e1000e,netdev=wire,romfile=", *options)
        self.shell = m.Shell(self.machine, READY)

    def connect(self, port: int) -> socket.socket:
        made = socket.create_connection(("127.0.0.1", self.ports[port]), 120)
        made.settimeout(120)
        return made

    def until(self, what: str) -> str:
        """Returns the answer of the command net once it contains `what`."""
        for _ in range(100):
            said = self.shell.run("net")
            if re.search(what, said):
                return said
            time.sleep(0.1)
        raise AssertionError(said)


@contextlib.contextmanager
def booted(*args: str, options: tuple[str, ...] = ()) -> Iterator[Net]:
    net = Net(*args, options=options)
    with net.machine:
        net.until("link up")
        yield net


def exchange(s: socket.socket, data: bytes) -> bytes:
    """Sends, and receives as many bytes."""
    s.sendall(data)
    got = b""
    while len(got) < len(data):
        part = s.recv(65536)
        assert part, len(got)
        got += part
    return got


def exchange_all(s: socket.socket, data: bytes) -> bytes:
    """Sends, and receives until the end."""
    got = b""
    with s:
        s.sendall(data)
        with contextlib.suppress(ConnectionResetError):
            while part := s.recv(65536):
                got += part
    return got


def reset(s: socket.socket) -> None:
    """Closes with a reset instead of the usual end."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def test_programs_use_streams() -> None:
    rng = random.Random(1)
    with booted() as net:
        assert "tcp: 0 wrong" in net.shell.run("tcp errors")
        assert "tcp: 0 wrong" in net.shell.run("tcp to 9")
        net.machine.send("tcp echo\r")
        net.machine.expect("tcp: ready\n")
        for length in (1, 1460, 100_000):
            with net.connect(7) as s:
                data = rng.randbytes(length)
                assert exchange(s, data[:-1] or data) == (data[:-1] or data)
                s.shutdown(socket.SHUT_WR)
                assert s.recv(1) == b""
        reset(net.connect(7))
        with net.connect(7) as s:
            assert exchange(s, b"end") == b"end"
        net.machine.expect("tcp: 0 wrong\n")
        net.machine.expect(READY)
        net.machine.send("tcp polls\r")
        net.machine.expect("tcp: ready\n")
        several = [net.connect(8) for _ in range(5)]
        for s in several[1:] + several[:1]:
            assert exchange(s, b"to all") == b"to all"
        several[0].close()
        several[0] = net.connect(8)
        for s in several:
            assert exchange(s, b"again") == b"again"
        assert exchange(several[2], b"end") == b"end"
        net.machine.expect("tcp: 0 wrong\n")
        net.machine.expect(READY)
        # the end of the program has closed its connections
        assert several[1].recv(1) == b""
        for s in several:
            s.close()
        net.until("sockets 0; connections without one: closing 0")


def test_web_server_serves_several_at_once() -> None:
    """It starts at boot, before it is known whether there is a network."""
    with booted("net=10.0.2.15/24,via=10.0.2.2 start=httpd") as net:
        idle = [net.connect(80) for _ in range(4)]
        at = f"http://127.0.0.1:{net.ports[80]}"
        for n in (0, 17675, 100_000):
            with urllib.request.urlopen(f"{at}/bytes/{n}", timeout=60) as answer:
                assert answer.read() == b"q" * n
        with urllib.request.urlopen(f"{at}/frame.pgm", timeout=60) as answer:
            assert answer.read().startswith(b"P5") and answer.headers.get_content_type() == "image/x-portable-graymap"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{at}/nothing", timeout=60)
        assert b" 400 " in exchange_all(net.connect(80), b"x\r\n\r\n")
        assert b" 431 " in exchange_all(net.connect(80), b"GET /" + b"x" * 2000)
        with urllib.request.urlopen(at, timeout=60) as answer:
            assert b"; 7 requests, 3 refused" in answer.read()
        for s in idle:
            s.close()


def test_dhcp_gives_an_address() -> None:
    with booted("net=dhcp") as net:
        said = net.until("by DHCP")
        assert "10.0.2.15/24 via 10.0.2.2, by DHCP from 10.0.2.2 as `quest` for 86400 s, 52:54" in said
        net.machine.send("tcp echo\r")
        net.machine.expect("tcp: ready\n")
        with net.connect(7) as s:
            assert exchange(s, b"end") == b"end"
        net.machine.expect("tcp: 0 wrong\n")


def test_a_killed_program_leaves_no_connection() -> None:
    with booted() as net:
        pid = re.findall(r"\[(\d+)\]", net.shell.run("tcp hold &"))[0]
        while "tcp: ready" not in net.machine.text:
            net.shell.run("sleep 10")
        with net.connect(7) as s:
            s.sendall(b"x")
            net.until("sockets 2;")  # the other end takes nothing: the program waits in send()
            net.shell.run("sleep 100")
            net.shell.run(f"kill {pid}")
            while True:
                with contextlib.suppress(ConnectionResetError):
                    if s.recv(65536):
                        continue
                break
        net.until("sockets 0; connections without one: closing 0")
        with contextlib.suppress(ConnectionError), net.connect(7) as s:
            s.sendall(b"nothing listens")
            assert s.recv(1) == b""


def test_a_program_and_its_children_leave_sockets_and_calls_to_others() -> None:
    with booted() as net:
        pid = re.findall(r"\[(\d+)\]", net.shell.run("tcp crowd &"))[0]
        while net.machine.text.count("tcp: crowd") < 4:
            net.shell.run("sleep 10")
        net.shell.run("sleep 100")
        assert "tcp: 0 wrong" in net.shell.run("tcp errors")
        net.shell.run(f"kill -{pid}")
        net.until("sockets 0;")


def test_streams_do_not_delay_a_thread_on_a_vcpu() -> None:
    """As test_worst_calls.py, with a connection whose other end sends everything back: a thread on
    a VCPU of 1 ms in 5 ms wakes at most 20 us later than without a program. An instruction takes
    1 ns."""
    # the usual VCPU of the network would leave no room for that thread
    word = "net=10.0.2.15/24,via=10.0.2.2 vcpu=nic,io.net,200us,10ms"
    with booted(word, options=m.COUNTED) as net:
        late = {}
        for call in ("nothing", *CALLS):
            said = net.shell.run(f"worst {call} 40")
            found = re.search(rf"worst: {call} late=(\d+)", said)
            assert found, said
            late[call] = int(found[1])
        print(late)
        sent = re.search(r"sent \d+ frames, (\d+) bytes", net.shell.run("net"))
        assert sent and int(sent[1]) > 100_000
    quiet = late.pop("nothing")
    assert {call: ns for call, ns in late.items() if ns > quiet + BOUND_NS} == {}, quiet
