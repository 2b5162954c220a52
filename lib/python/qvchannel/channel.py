# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""One open channel."""

import asyncio
import ctypes
import struct
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock
from typing import Any, NamedTuple

from . import errors
from ._libqv import ffi, lib  # type: ignore[import-not-found]

TYPES = ("", "mailbox", "four-slot", "ring", "memory")
STATES = ("absent", "running", "stopped", "failed")
LONGEST_MS = 1000       # of one wait in C; then a close() in another thread is noticed
# Seconds between two looks of an asynchronous reader: a peer that dies may ring no bell.
LOOK_BELL, LOOK_NO_BELL = 0.1, 0.001


class Status(NamedTuple):
    """The state of a channel. All values of the peer are its claims."""
    generation: int         # of this end
    peer_generation: int
    peer: str               # absent, running, stopped, failed
    attached: bool          # the peer has attached
    waiting: int            # items in a ring
    high: int               # the most items that the ring's reader found
    items: int              # published, or number of the last (four-slot)
    lost: int
    refused: int


class Codec:
    """Translates between items and values."""

    def __init__(self, form: str | type | None) -> None:
        self.form = struct.Struct(form) if isinstance(form, str) else None
        self.structure: Any = form if isinstance(form, type) else None
        if self.structure and not issubclass(form, ctypes.Structure):
            raise TypeError("format is a text for struct, or a subclass of ctypes.Structure")

    @property
    def size(self) -> int:
        """Bytes of a value; 0: any."""
        if self.form:
            return self.form.size
        return ctypes.sizeof(self.structure) if self.structure else 0

    def value(self, data: bytearray) -> Any:
        if self.form:
            return self.form.unpack_from(data)
        if self.structure:
            return self.structure.from_buffer_copy(data)
        return memoryview(data).toreadonly()

    def data(self, value: Any) -> Any:
        """Returns an object with the bytes of a value. A tuple becomes the fields of a format."""
        if self.form:
            return self.form.pack(*value if isinstance(value, tuple) else (value,))
        return memoryview(value).cast("B")


class Handle:
    """A handle of libqv. close() during a call of another thread, or while a view of the channel's
    memory or a part of it exists, takes effect at the end of that use."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        # Lists, since append() and pop() need no lock: a signal handler may close a channel, too.
        self._uses: list[None] = []
        self._to_free = [raw]
        self._closed = False

    def check(self) -> None:
        if self._closed:
            raise ValueError("the channel is closed")

    def __enter__(self) -> Any:
        self._uses.append(None)     # before it looks at _closed: close() does the reverse
        if self._closed:
            self.__exit__()
            self.check()
        return self._raw

    def __exit__(self, *_: object) -> None:
        self._uses.pop()
        if self._closed:
            self._free_if_done()

    def close(self) -> None:
        self._closed = True
        self._free_if_done()

    def _free_if_done(self) -> None:
        if not self._uses:
            with suppress(IndexError):
                lib.qv_close(self._to_free.pop())

    def view(self, place: Any, size: int) -> memoryview:
        """Returns a view of the channel's memory."""
        self.__enter__()
        return memoryview(ffi.buffer(ffi.gc(ffi.cast("char *", place), self.__exit__), size))


class Channel:
    """A channel that this program has open. `number` and `lost` describe the item read last: its
    number, and the items lost before it."""

    def __init__(self, handle: Any, codec: Codec, schema: str | None) -> None:
        self._handle, self._codec, self._lock = Handle(handle), codec, Lock()
        self._views: list[weakref.ref[memoryview]] = []
        self.number = self.lost = 0
        page = lib.qv_page(handle)
        self.name = ffi.string(page.name).decode()
        self.schema = ffi.string(page.schema).decode()
        self.type, self.item, self.slots = TYPES[page.type], page.item, page.slots
        self._variable = self.type == "mailbox"
        self._look = LOOK_BELL if page.flags & lib.QV_CHAN_BELL else LOOK_NO_BELL
        try:
            wanted = 0 if self._variable else codec.size
            text = ffi.NULL if schema is None else schema.encode()
            errors.checked(lib.qv_expect(handle, 0, wanted, text))
            if codec.size > self.item:
                raise errors.Mismatch(f"{self.name} has items of {self.item} bytes, "
                                      f"the format has {codec.size}")
        except errors.Error:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"<qv channel {self.name}: {self.type}, items of {self.item} bytes>"

    def __enter__(self) -> "Channel":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Closes the channel. A second call does nothing. A view of memory() is released; if a
        part of it is left, the channel stays open until that is gone."""
        handle = getattr(self, "_handle", None)
        if handle is None:
            return
        for found in self._views:
            with suppress(BufferError):     # a part is left
                view = found()
                if view is not None:
                    view.release()
        self._views.clear()
        handle.close()

    def fileno(self) -> int:
        """The descriptor for select and event loops: readable after a bell. Before each wait, call
        arm(), and read with a time-out of 0 until Empty is raised."""
        with self._handle as handle:
            return lib.qv_fd(handle)

    def arm(self) -> None:
        """Asks for one bell, after the next item. A call that waits takes this back."""
        with self._handle as handle:
            lib.qv_arm(handle)

    @property
    def status(self) -> Status:
        status = ffi.new("struct qv_end_status *")
        with self._handle as handle:
            lib.qv_status(handle, status)
        return Status(status.generation, status.peer_generation, STATES[min(status.peer, 3)],
                      status.attached, status.waiting, status.high, status.items, status.lost,
                      status.refused)

    def _call(self, call: Callable[[int], int], timeout: float | None) -> int:
        """Calls `call(milliseconds)` until it ends, and returns its result if that is no error.
        Signal handlers of Python run in between."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = LONGEST_MS
            if end is not None and timeout is not None:
                # with a time-out, libqv waits at least once, so that it reports a time-out
                left = max(int(timeout > 0), min(left, round((end - time.monotonic()) * 1000)))
            with self._lock:
                result = call(left)
            more = end is None or time.monotonic() < end
            if result == errors.TIMEOUT and timeout and not more:
                raise errors.timed_out(self.name, timeout)
            if result != errors.INTERRUPTED and not (result == errors.TIMEOUT and more):
                errors.checked(result)
                return result
            self._handle.check()

    def read(self, timeout: float | None = None) -> Any:
        """Waits for an item, at most `timeout` seconds, and returns its value. With 0 it does not
        wait, and raises Empty."""
        return self._taken(lib.qv_read, timeout)

    def latest(self) -> Any:
        """Returns the last value of a four-slot, even if it is not new."""
        return self._taken(lambda *arguments: lib.qv_read_again(*arguments[:-1]), 0)

    def _taken(self, call: Callable[..., int], timeout: float | None) -> Any:
        data, item = bytearray(self.item), ffi.new("struct qv_item *")
        room = ffi.from_buffer(data, require_writable=True)
        with self._handle as handle:
            self._call(lambda left: call(handle, room, self.item, item, left), timeout)
        ffi.release(room)
        self.number, self.lost = item.number, item.lost
        if self._variable:
            del data[item.bytes:]
            if len(data) < self._codec.size:
                raise errors.Size(f"{self.name}: a message of {len(data)} bytes, "
                                  f"the format has {self._codec.size}")
        return self._codec.value(data)

    def write(self, value: Any, timeout: float | None = None) -> None:
        """Writes an item. Waits for room in a ring with `full: block` and in a mailbox."""
        data = self._codec.data(value)
        shared = ffi.from_buffer(data)
        try:
            with self._handle as handle:
                self._call(lambda left: lib.qv_write(handle, shared, len(data), left), timeout)
        except errors.Size:
            raise errors.Size(f"{self.name}: the data has {len(data)} bytes, "
                              f"an item {self.item}") from None

    @contextmanager
    def claim(self, timeout: float | None = None) -> Iterator[memoryview]:
        """Yields room for an item, without a copy. The item is sent at the end of the block, and
        given up after an exception."""
        room = ffi.new("void **")
        with self._handle as handle:
            try:
                self._call(lambda left: lib.qv_claim(handle, room, left), timeout)
                with self._handle.view(room[0], self.item) as view:
                    yield view
            except BaseException:
                if room[0]:
                    lib.qv_abort(handle)
                raise
            errors.checked(lib.qv_commit(handle, self.item))

    @contextmanager
    def peek(self, timeout: float | None = None) -> Iterator[memoryview]:
        """Yields the next item, without a copy, until the end of the block. Then raises Lapped,
        Restarted or Corrupt if the item did not stay intact. After an exception in the block the
        item is read, too. Copy a value before you check it."""
        there, item = ffi.new("const void **"), ffi.new("struct qv_item *")
        with self._handle as handle:
            try:
                self._call(lambda left: lib.qv_peek(handle, there, item, left), timeout)
                self.number, self.lost = item.number, item.lost
                with self._handle.view(there[0], item.bytes).toreadonly() as view:
                    yield view
            except BaseException:
                if there[0]:
                    lib.qv_release(handle)
                raise
            errors.checked(lib.qv_release(handle))

    @contextmanager
    def claim_n(self, n: int, timeout: float | None = None) -> Iterator[list[memoryview]]:
        """As claim(), for 1 to `n` items of a ring, as many as there is room for. They are sent at
        the end of the block, and ring once."""
        with self._handle as handle:
            room = self._call(lambda left: lib.qv_claim_n(handle, n, left), timeout)
            try:
                with ExitStack() as views:
                    places = [lib.qv_claimed(handle, i) for i in range(room)]
                    yield [views.enter_context(self._handle.view(place, self.item))
                           for place in places]
            except BaseException:
                lib.qv_abort(handle)
                raise
            errors.checked(lib.qv_commit_n(handle, room))

    @contextmanager
    def peek_n(self, n: int, timeout: float | None = None) -> Iterator[list[memoryview]]:
        """As peek(), for 1 to `n` items of a ring, as many as there are. `number` is that of the
        last of them, and `lost` counts the items lost before any of them."""
        item = ffi.new("struct qv_item *")
        with self._handle as handle:
            found = self._call(lambda left: lib.qv_peek_n(handle, n, left), timeout)
            lost = 0
            try:
                with ExitStack() as views:
                    there = []
                    for i in range(found):
                        view = self._handle.view(lib.qv_peeked(handle, i, item), self.item)
                        there.append(views.enter_context(view.toreadonly()))
                        lost += item.lost
                    self.number, self.lost = item.number, lost
                    yield there
            except BaseException:
                lib.qv_release_n(handle, found)
                raise
            errors.checked(lib.qv_release_n(handle, found))

    def memory(self) -> memoryview:
        """Returns the bytes of a channel of type memory. They may be used until close()."""
        data, size, writable = ffi.new("void **"), ffi.new("uint64_t *"), ffi.new("bool *")
        with self._handle as handle:
            errors.checked(lib.qv_memory(handle, data, size, writable))
            view = self._handle.view(data[0], size[0])
            view = view if writable[0] else view.toreadonly()
            self._views = [*filter(lambda found: found() is not None, self._views),
                           weakref.ref(view)]
            return view

    def ring(self) -> None:
        """Rings the bell of the other ends. write() does this by itself."""
        with self._handle as handle:
            lib.qv_ring(handle)

    # ---- asyncio ----

    def _now(self) -> tuple[bool, Any]:
        try:
            return True, self.read(timeout=0)
        except (errors.Empty, errors.Absent, errors.Lapped):
            return False, None

    async def get(self) -> Any:
        """Waits in an event loop of asyncio for an item, and returns its value."""
        while True:
            there, value = self._now()
            if there:
                return value
            self.arm()      # a bell after this makes the descriptor readable
            there, value = self._now()
            if there:
                return value
            await self._readable()

    async def _readable(self) -> None:
        """Waits for a bell, or for a while."""
        loop, fd = asyncio.get_running_loop(), self.fileno()
        bell: asyncio.Future[None] = loop.create_future()
        loop.add_reader(fd, lambda: bell.done() or bell.set_result(None))
        try:
            await asyncio.wait_for(bell, self._look)
        except asyncio.TimeoutError:
            pass
        finally:
            loop.remove_reader(fd)

    async def __aiter__(self) -> AsyncIterator[Any]:
        """Yields items until the peer stops."""
        while True:
            try:
                value = await self.get()
            except errors.Stopped:
                return
            yield value
