# SPDX-License-Identifier: GPL-2.0-only
"""The Python module, with channels in files."""

import asyncio
import ctypes
import os
import re
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from pickle import PickleBuffer
from types import SimpleNamespace

import pytest

import qv as whole
import qvchannel as qv
from qv.errors import NotAllowed, Refused

PAGE = Path(__file__).resolve().parents[3] / "Documentation/how-to/channels.md"
WAIT = 60.0     # seconds, for an item that is sure to come


class Sample(ctypes.Structure):
    _fields_ = [("value", ctypes.c_double), ("time", ctypes.c_uint64)]


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Path]:
    def make(**words: object) -> Path:
        path = tmp_path / "channel"
        qv.create_file(path, **{"type": "ring", "item": 16, "slots": 4, **words})
        return path
    return make


def test_missing_cffi_is_named(tmp_path: Path) -> None:
    (tmp_path / "_cffi_backend.py").write_text("raise ImportError('none')\n")
    done = subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import qvchannel", tmp_path],
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("ImportError: channels need cffi: apt install python3-cffi-backend\n")


def test_qv_has_the_names_of_qvchannel() -> None:
    assert whole.CHANNEL_NAMES == set(qv.__all__)
    assert whole.open is qv.open
    assert not hasattr(whole, "other")


def test_qv_lists_the_names_for_tab() -> None:
    assert {name for name in dir(whole) if name[0] != "_"} == whole.CHANNEL_NAMES


@pytest.mark.parametrize("words, wrong", [
    ({"type": "fourslot"}, "type='fourslot' is not known (known: mailbox, four-slot, ring, memory"),
    ({"full": "blok"}, "full='blok' is not known (known: error, block, drop-newest, drop-oldest"),
    ({"bell": "oneshot"}, "bell='oneshot' is not known (known: True, False, one-shot"),
    ({"item": -8}, "item=-8 is not a number"),
    ({"slots": 1 << 40}, "slots=1099511627776 is not a number"),
    ({"name": "n" * 32}, "is longer than 31 bytes"),
    ({"schema": "s" * 64}, "is longer than 63 bytes"),
])
def test_wrong_words_of_a_file_are_named(made: Callable[..., Path], words: dict[str, object],
                                         wrong: str) -> None:
    with pytest.raises(qv.Usage, match=re.escape(wrong)):
        made(**words)


def test_wrong_end_or_state_is_named(made: Callable[..., Path]) -> None:
    path = made()
    with pytest.raises(qv.Usage, match="end=-1 is not a number"):
        qv.open_file(path, -1)
    with pytest.raises(qv.Usage, match=r"state='run' is not known \(known: absent, running"):
        qv.set_state(path, 0, "run")


def test_failures_of_files_have_their_own_remedy(made: Callable[..., Path], tmp_path: Path) -> None:
    """No file is a matter of `qvctl channel list`, and a wrong plan none of versions."""
    with pytest.raises(qv.NotFound, match=r"none: there is no such file; qv_file_create\(\) makes one$"):
        qv.open_file(tmp_path / "none", 0)
    with pytest.raises(qv.NotFound, match="there is no such folder; make it first$"):
        qv.create_file(tmp_path / "none" / "x", type="ring", item=16)
    with pytest.raises(qv.Layout, match="in multiples of 8; correct the plan$"):
        made(item=15)
    (tmp_path / "text").write_text("a thesis\n")
    with pytest.raises(qv.Layout, match="text: this is no channel"):
        qv.open_file(tmp_path / "text", 0)
    with pytest.raises(qv.Mismatch, match="this is no channel, so it stays; choose another name$"):
        qv.create_file(tmp_path / "text", type="ring", item=16)
    assert (tmp_path / "text").read_text() == "a thesis\n"


def test_data_of_a_wrong_size_has_its_numbers(made: Callable[..., Path]) -> None:
    with qv.open_file(made(), 0) as writer:
        for size in (0, 15, 17):
            with pytest.raises(qv.Size, match=f"channel: the data has {size} bytes, an item 16$"):
                writer.write(bytes(size))


def test_programs_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                  capsys: pytest.CaptureFixture[str]) -> None:
    """channels.md: the Python programs, in their order, print what the page shows after them."""
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    programs = re.findall(r"(?m)^```python\n((?:(?!```).*\n)*)```\n\n((?:    .*\n)*)", text)
    assert len(programs) >= 2
    for program, shown in programs:
        exec(program, {})  # pylint: disable=exec-used
        assert capsys.readouterr().out == re.sub(r"(?m)^    ", "", shown)


def test_item_is_a_memoryview(made: Callable[..., Path]) -> None:
    path = made()
    with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
        writer.write(b"0123456789abcdef")
        item = reader.read()
        assert isinstance(item, memoryview) and item.readonly and bytes(item) == b"0123456789abcdef"
        assert (reader.number, reader.lost) == (1, 0)
        with pytest.raises(qv.Size, match="the data has 5 bytes, an item 16"):
            writer.write(b"short")
        assert repr(reader) == "<qv channel channel: ring, items of 16 bytes>"


def test_struct_format(made: Callable[..., Path]) -> None:
    path = made()
    with (qv.open_file(path, 0, format="<dQ") as writer,
          qv.open_file(path, 1, format="<dQ") as reader):
        writer.write((2.5, 7))
        assert reader.read() == (2.5, 7)
    with pytest.raises(qv.Mismatch, match="items of 16 bytes, the program expects 8"):
        qv.open_file(path, 1, format="<d")


def test_ctypes_structure(made: Callable[..., Path]) -> None:
    path = made(type="four-slot", slots=1, schema="sample@1")
    with (qv.open_file(path, 0, format=Sample) as writer,
          qv.open_file(path, 1, format=Sample) as reader):
        writer.write(Sample(1.5, 9))
        writer.write(Sample(2.5, 10))
        sample = reader.read()
        assert (sample.value, sample.time) == (2.5, 10)
        with pytest.raises(qv.Empty):
            reader.read(timeout=0)
        assert reader.latest().time == 10
    with pytest.raises(qv.Mismatch, match="sample@1.*sample@2"):
        qv.open_file(path, 1, schema="sample@2")
    with pytest.raises(TypeError, match="ctypes.Structure"):
        qv.open_file(path, 1, format=int)


def test_claim_sends_at_the_end_and_not_after_an_exception(made: Callable[..., Path]) -> None:
    path = made()
    with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
        with writer.claim() as room:
            room[:] = bytes(range(16))
            with pytest.raises(qv.Empty):
                reader.read(timeout=0)
        with pytest.raises(KeyError), writer.claim():
            raise KeyError
        with reader.peek() as item:
            assert bytes(item) == bytes(range(16)) and item.readonly
        with pytest.raises(ValueError):
            item[0]     # released
        with pytest.raises(qv.Empty):
            reader.read(timeout=0)


def test_batches_send_and_take_several_items(made: Callable[..., Path]) -> None:
    path = made(slots=8, full="block")
    with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
        with pytest.raises(qv.Empty), reader.peek_n(3, timeout=0):
            pass
        with writer.claim_n(5) as rooms:
            for number, room in enumerate(rooms):
                room[:] = bytes([number] * 16)
            with pytest.raises(qv.Empty):
                reader.read(timeout=0)
        with pytest.raises(KeyError), writer.claim_n(2):
            raise KeyError
        with writer.claim_n(100) as rooms:
            assert len(rooms) == 3
            rooms[0][:] = bytes([5] * 16)
        with pytest.raises(ValueError):
            rooms[0][0] = 1     # released
        with reader.peek_n(3, timeout=WAIT) as items:
            assert [item[0] for item in items] == [0, 1, 2] and items[0].readonly
        assert (reader.number, reader.lost) == (3, 0)
        with pytest.raises(KeyError), reader.peek_n(2):
            raise KeyError
        assert reader.read()[0] == 5
        assert reader.status.waiting == 2
        with pytest.raises(BufferError), writer.claim_n(1) as rooms:
            array = PickleBuffer(rooms[0])
        array.release()
        with writer.claim_n(1):
            pass
        assert reader.status.waiting == 3


def test_batch_reports_items_that_were_overwritten(made: Callable[..., Path]) -> None:
    path = made(full="drop-oldest", slots=2)
    with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
        writer.write(bytes(16))
        writer.write(bytes(16))
        with pytest.raises(qv.Lapped), reader.peek_n(2):
            writer.write(bytes(16))


def test_peek_reports_an_item_that_was_overwritten(made: Callable[..., Path]) -> None:
    path = made(full="drop-oldest", slots=2)
    with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
        writer.write(bytes(16))
        with pytest.raises(qv.Lapped), reader.peek():
            for _ in range(5):
                writer.write(bytes(16))


@pytest.mark.parametrize("kind", ["ring", "mailbox", "four-slot"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, asyncio.CancelledError])
def test_peek_ends_with_its_block_after_an_exception(made: Callable[..., Path], kind: str,
                                                     error: type[BaseException]) -> None:
    path = made(type=kind, slots=4 if kind == "ring" else 1)
    with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
        writer.write(bytes(16))
        with pytest.raises(error), reader.peek():
            raise error
        if kind == "mailbox":
            reader.write(b"answer")     # it is this end's turn
        writer.write(bytes(range(16)), timeout=WAIT)
        assert bytes(reader.read(timeout=WAIT)) == bytes(range(16))


def test_block_ends_although_an_array_has_its_view(made: Callable[..., Path]) -> None:
    """As one of numpy has it."""
    path = made()
    with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
        with pytest.raises(BufferError), writer.claim() as room:
            array = PickleBuffer(room)
        writer.write(bytes(16))
        writer.write(bytes(range(16)))
        with pytest.raises(BufferError), reader.peek() as item:
            array = PickleBuffer(item)
        assert bytes(reader.read()) == bytes(range(16))
        array.release()


def test_peek_of_a_generator_that_is_closed_ends(made: Callable[..., Path]) -> None:
    path = made()
    with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
        def items() -> Iterator[bytes]:
            while True:
                with reader.peek() as item:
                    yield bytes(item)
        for number in range(2):
            writer.write(bytes([number] * 16))
        found = items()
        assert next(found) == bytes(16)
        found.close()
        assert bytes(reader.read()) == bytes([1] * 16)


@pytest.mark.parametrize("block", ["peek", "claim"])
def test_close_in_a_block_takes_effect_at_its_end(made: Callable[..., Path], block: str) -> None:
    path = made()
    with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
        writer.write(bytes(16))
        channel = reader if block == "peek" else writer
        with getattr(channel, block)() as item:
            channel.close()
            assert bytes(item) is not None
            with pytest.raises(ValueError, match="closed"):
                channel.ring()
        end = int(channel is reader)
        qv.open_file(path, end).close()     # it is free again


def test_close_in_another_thread_ends_a_read(made: Callable[..., Path]) -> None:
    reader = qv.open_file(made(), 1)
    timer = threading.Timer(0.05, reader.close)
    timer.start()
    with pytest.raises(ValueError, match="closed"):
        reader.read(timeout=WAIT)
    timer.join()


def test_use_after_close(made: Callable[..., Path]) -> None:
    path = made(type="memory", item=4096, slots=1)
    channel = qv.open_file(path, 0)
    view = channel.memory()
    view[0] = 1
    array = (ctypes.c_char * 16).from_buffer(channel.memory())
    channel.close()
    with pytest.raises(ValueError, match="released"):
        view[0] = 2
    assert array[0] == b"\1"    # its memory is mapped as long as it exists
    for call in (channel.memory, channel.fileno, channel.ring, channel.read,
                 lambda: channel.status, lambda: channel.write(b"")):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_select_is_woken_for_each_item_after_arm(made: Callable[..., Path]) -> None:
    path = made(slots=4, bell=True)
    with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
        with pytest.raises(TimeoutError):
            reader.read(timeout=0.01)   # from now on this end is rung only after it has armed
        for n in range(100):
            reader.arm()
            with pytest.raises(qv.Empty):
                reader.read(timeout=0)
            writer.write(bytes([n] * 16))
            assert select.select([reader], [], [], WAIT)[0] == [reader]
            assert bytes(reader.read(timeout=0)) == bytes([n] * 16)


def test_timeout_and_full(made: Callable[..., Path]) -> None:
    path = made(slots=1)
    with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
        with pytest.raises(TimeoutError, match="no success in 10 ms"):
            reader.read(timeout=0.01)
        writer.write(bytes(16))
        with pytest.raises(qv.Full):
            writer.write(bytes(16))
        assert reader.status.waiting == 1 and writer.status.refused == 1


def test_mailbox_has_messages_of_any_length(made: Callable[..., Path]) -> None:
    path = made(type="mailbox", item=64, slots=1)
    with qv.open_file(path, 0) as a, qv.open_file(path, 1) as b:
        a.write(b"question")
        assert bytes(b.read()) == b"question"
        b.write(b"")
        assert bytes(a.read()) == b""


def test_memory_is_writable_for_its_writer(made: Callable[..., Path]) -> None:
    path = made(type="memory", item=4096, slots=1)
    with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
        writer.memory()[:3] = b"abc"
        view = reader.memory()
        assert bytes(view[:3]) == b"abc" and view.readonly
        view.release()


@pytest.mark.parametrize("state, error", [("stopped", qv.Stopped), ("failed", qv.Failed)])
def test_dead_peer_is_an_error_after_its_items(made: Callable[..., Path], state: str,
                                               error: type) -> None:
    path = made()
    with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
        writer.write(bytes(16))
        qv.set_state(path, 0, state)
        reader.read()
        with pytest.raises(error):
            reader.read()
        assert reader.status.peer == state


def test_restart_is_an_error_once(made: Callable[..., Path]) -> None:
    path = made()
    with qv.open_file(path, 1, format="<QQ") as reader:
        with qv.open_file(path, 0, format="<QQ") as writer:
            writer.write((1, 1))
            assert reader.read() == (1, 1)
        qv.start(path, 0)
        with pytest.raises(qv.Restarted):
            reader.read()
        with qv.open_file(path, 0, format="<QQ") as writer:
            writer.write((2, 2))
            assert reader.read(WAIT) == (2, 2)


def test_corrupt_peer_is_an_error_of_its_own(made: Callable[..., Path]) -> None:
    path = made()
    with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
        writer.write(bytes(16))
        with open(path, "r+b") as file:
            file.seek(4096 + 64)        # `count` of the writer
            file.write(struct.pack("<Q", 2 ** 64 - 1))
        with pytest.raises(qv.Corrupt, match="restart the peer"):
            reader.read()


def test_unknown_channel_and_closed_channel(made: Callable[..., Path]) -> None:
    with pytest.raises(FileNotFoundError, match="/dev/qv-channel/none"):
        qv.open("none")
    for way in (lambda: qv.open(255), lambda: qv.open(key=255)):
        with pytest.raises(qv.NotFound, match="key-00000000000000ff"):
            way()
    for words in ({}, {"name": "none", "key": 1}, {"name": "none", "create": "quest"}, {"create": "quest"}):
        with pytest.raises(qv.Usage, match="a name, or a key"):
            qv.open(**words)  # type: ignore[arg-type]
    path = made()
    channel = qv.open_file(path, 0)
    with pytest.raises(qv.Busy):
        qv.open_file(path, 0)
    channel.close()
    channel.close()
    with pytest.raises(ValueError, match="closed"):
        channel.write(b"")


def test_key_is_created_by_the_calls_of_qvctl(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal is an exception with its remedy. There is no device in this test, so the end of it
    all is that the channel is not found."""
    taken: list[tuple[str, int]] = []

    class Fake:
        """The device of the driver."""
        def open_channel(self, cell: str, key: int) -> None:
            taken.append((cell, key))
            if cell != "quest":
                raise Refused(f"cell '{cell}' has not opened the key", "let the cell open it first")

        def close(self) -> None:
            taken.append(("closed", 0))
    monkeypatch.setitem(sys.modules, "qv.device", SimpleNamespace(Device=Fake))
    with pytest.raises(qv.NotFound, match="key-0000000000000011"):
        qv.open(key=17, create="quest")
    with pytest.raises(qv.Error, match="has not opened the key .let the cell open it first"):
        qv.open(17, create="other")
    assert taken == [("quest", 17), ("closed", 0), ("other", 17), ("closed", 0)]

    def refused() -> Fake:
        raise NotAllowed("you may not open /dev/qv", "run it with sudo")
    monkeypatch.setitem(sys.modules, "qv.device", SimpleNamespace(Device=refused))
    with pytest.raises(qv.Permission, match="run it with sudo"):
        qv.open(17, create="quest")


def test_timeout_names_the_time_that_was_asked_for(made: Callable[..., Path]) -> None:
    """A signal divides the wait: the exception does not name the last part."""
    old = signal.signal(signal.SIGUSR1, lambda *_: None)
    with qv.open_file(made(), 1) as reader:
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        try:
            with pytest.raises(qv.Timeout, match="no success in 100 ms: the time-out passed"):
                reader.read(timeout=0.1)
        finally:
            timer.join()
            signal.signal(signal.SIGUSR1, old)


def test_signal_handler_runs_while_a_read_waits(made: Callable[..., Path]) -> None:
    path = made()
    with qv.open_file(path, 1) as reader:
        def handler(*_: object) -> None:
            raise InterruptedError
        old = signal.signal(signal.SIGUSR1, handler)
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        try:
            with pytest.raises(InterruptedError):
                reader.read()
        finally:
            timer.join()
            signal.signal(signal.SIGUSR1, old)


WRITER = """
import sys, qvchannel as qv
with qv.open_file(sys.argv[1], 0, format="<QQ") as writer:
    for n in range(int(sys.argv[2])):
        writer.write((n, ~n % 2 ** 64))
qv.set_state(sys.argv[1], 0, "stopped")
"""


@pytest.mark.parametrize("bell", [True, False])
def test_asyncio_reader_gets_each_item_of_another_process(made: Callable[..., Path],
                                                          bell: bool) -> None:
    path = made(full="block", slots=16, bell=bell)

    async def collect() -> list[int]:
        with qv.open_file(path, 1, format="<QQ") as reader:
            values = []
            async for n, inverse in reader:
                assert n ^ inverse == 2 ** 64 - 1 and reader.lost == 0
                values.append(n)
            return values
    with subprocess.Popen([sys.executable, "-c", WRITER, path, "2000"]) as child:
        assert asyncio.run(asyncio.wait_for(collect(), WAIT)) == list(range(2000))
    assert child.returncode == 0


def test_asyncio_reader_leaves_the_loop_to_others(made: Callable[..., Path]) -> None:
    async def both() -> tuple[object, str]:
        path = made()
        with qv.open_file(path, 0) as writer, qv.open_file(path, 1) as reader:
            async def other() -> str:
                await asyncio.sleep(0.02)
                writer.write(bytes(range(16)))
                return "done"
            item, text = await asyncio.gather(reader.get(), other())
            return bytes(item), text
    assert asyncio.run(asyncio.wait_for(both(), WAIT)) == (bytes(range(16)), "done")
