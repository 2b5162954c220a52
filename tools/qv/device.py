# SPDX-License-Identifier: GPL-2.0-only
"""Calls to the driver: /dev/qv and its ioctls."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import select

from . import abi
from .errors import NotAllowed, NotLoaded, Refused
from .words import REPLACED_REMEDY, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeVar

    from .files import Files

    Argument = TypeVar("Argument", bound=Any)

DEVICE = "/dev/qv"
MODULE_REMEDY = (
    "load the module: modprobe qv (it is installed by `make install`; "
    "`qvctl doctor` says what is missing)"
)

# Sentences for an errno, if the driver gives no sentence.
_FALLBACK: dict[int, tuple[str, str]] = {
    errno.ENOTTY: (
        "the loaded driver does not know this request",
        f"qvctl and the loaded qv.ko are of different versions: {REPLACED_REMEDY}",
    ),
    errno.EPERM: ("this needs root", "run it with sudo, or as root"),
    errno.EACCES: ("this needs root", "run it with sudo, or as root"),
    errno.ENOMEM: (
        "Linux has not enough free memory for this request",
        "end programs that use memory, or give the cell less",
    ),
    errno.EBUSY: ("another management call is under way", "try again when it has ended"),
    errno.EINTR: ("the call was interrupted", "try again"),
    errno.EFAULT: (
        "the driver could not read what qvctl passed",
        "qvctl and qv.ko are of different versions: install both again",
    ),
}


def refusal_from(reply: abi.Reply, error: OSError | None) -> Refused:
    """Returns the driver's sentence, or else a sentence for the errno."""
    if reply.code == abi.Reason.E_ABI:  # as after an upgrade
        return Refused(text(reply.text), REPLACED_REMEDY, reply.code)
    if reply.text:
        return Refused(text(reply.text), text(reply.remedy), reply.code)
    number = error.errno if error is not None and error.errno is not None else 0
    if number in _FALLBACK:
        sentence, remedy = _FALLBACK[number]
        return Refused(sentence, remedy, reply.code)
    what = os.strerror(number) if number else f"reason code {reply.code}"
    return Refused(
        f"the driver refused without a sentence ({what})",
        "see `qvctl log` and dmesg for what happened",
        reply.code,
    )


class Device:
    """The open device /dev/qv, with a method for each call."""

    def __init__(self, path: str = DEVICE) -> None:
        try:
            self.fd = self._open(path)
        except OSError as error:
            raise self._open_refusal(path, error) from None

    @staticmethod
    def _open(path: str) -> int:
        """A user who may only read the device sees all and changes nothing."""
        flags = os.O_CLOEXEC | os.O_NONBLOCK
        try:
            return os.open(path, os.O_RDWR | flags)
        except PermissionError:
            return os.open(path, os.O_RDONLY | flags)

    @staticmethod
    def _open_refusal(path: str, error: OSError) -> Refused:
        if error.errno in (errno.ENOENT, errno.ENXIO, errno.ENODEV):
            return NotLoaded(f"the module qv is not loaded: there is no {path}", MODULE_REMEDY)
        if error.errno in (errno.EACCES, errno.EPERM):
            return NotAllowed(
                f"you may not open {path}", "run it with sudo, or as root; the group qv may look"
            )
        return Refused(
            f"{path} cannot be opened ({os.strerror(error.errno or 0)})",
            "see dmesg for the messages of the module",
        )

    def close(self) -> None:
        os.close(self.fd)

    def _call(self, request: int, argument: Argument) -> Argument:
        argument.reply.abi = abi.ABI_VERSION
        failed: OSError | None = None
        try:
            fcntl.ioctl(self.fd, request, argument, True)
        except OSError as error:
            failed = error
        if failed is not None or argument.reply.code:
            raise refusal_from(argument.reply, failed)
        return argument

    def status(self) -> abi.StatusInfo:
        return self._call(abi.IOC_STATUS, abi.StatusInfo())

    def enable(
        self, strict: bool = False, ipi_direct: bool = False, iommu: bool | None = None
    ) -> abi.Reply:
        """`iommu`: the monitor must own the IOMMU; False: it must not; None: where it can."""
        flags = (
            abi.ENABLE_STRICT * strict
            | abi.ENABLE_IPI_DIRECT * ipi_direct
            | abi.ENABLE_IOMMU * (iommu is True)
            | abi.ENABLE_NO_IOMMU * (iommu is False)
        )
        return _reply(self._call(abi.IOC_ENABLE, abi.Enable(flags=flags)))

    def disable(self) -> abi.Reply:
        return _reply(self._call(abi.IOC_DISABLE, abi.Simple()))

    def pool(self) -> abi.Pool:
        return self._call(abi.IOC_POOL, abi.Pool())

    def set_pool(self, size: int) -> abi.Pool:
        return self._call(abi.IOC_POOL, abi.Pool(flags=abi.POOL_SET, size=size))

    def kept_cpus(self) -> list[int]:
        """Returns the CPUs that are kept ready for cells."""
        found = self._call(abi.IOC_POOL_CPUS, abi.PoolCpus())
        return list(found.cpus)[: found.num_cpus]

    def keep_cpus(self, cpus: list[int]) -> abi.Reply:
        request = abi.PoolCpus(flags=abi.POOL_SET, num_cpus=len(cpus))
        request.cpus[: len(cpus)] = cpus
        return _reply(self._call(abi.IOC_POOL_CPUS, request))

    def create(self, request: abi.CellCreate, files: Files) -> abi.Reply:
        request.image, request.image_len = _address(files.image), len(files.image)
        for module, contents in zip(request.modules, files.modules):
            module.data, module.len = _address(contents), len(contents)
        return _reply(self._call(abi.IOC_CELL_CREATE, request))

    def _by_name(self, request: int, name: str, timeout_ms: int = 0) -> abi.Reply:
        argument = abi.CellName(name=_name(name), timeout_ms=timeout_ms)
        return _reply(self._call(request, argument))

    def start(self, name: str) -> abi.Reply:
        return self._by_name(abi.IOC_CELL_START, name)

    def shutdown(self, name: str, timeout_ms: int) -> abi.Reply:
        return self._by_name(abi.IOC_CELL_SHUTDOWN, name, timeout_ms)

    def destroy(self, name: str) -> abi.Reply:
        return self._by_name(abi.IOC_CELL_DESTROY, name)

    def lock(self, name: str) -> abi.Reply:
        return self._by_name(abi.IOC_CELL_LOCK, name)

    def unlock(self, name: str, timeout_ms: int) -> abi.Reply:
        return self._by_name(abi.IOC_CELL_UNLOCK, name, timeout_ms)

    def _by_key(self, request: int, name: str, key: int) -> abi.Reply:
        argument = abi.ChannelKey(name=_name(name), key=key)
        return _reply(self._call(request, argument))

    def open_channel(self, name: str, key: int) -> abi.Reply:
        return self._by_key(abi.IOC_CHANNEL_OPEN, name, key)

    def close_channel(self, name: str, key: int) -> abi.Reply:
        return self._by_key(abi.IOC_CHANNEL_CLOSE, name, key)

    def names(self) -> list[str]:
        answer = self._call(abi.IOC_CELL_LIST, abi.CellList())
        count = min(answer.num_cells, abi.MAX_CELLS)
        return [text(answer.names[i].value) for i in range(count)]

    def info(self, name: str) -> abi.CellInfo:
        return self._call(abi.IOC_CELL_INFO, abi.CellInfo(name=_name(name)))

    def sample(self, name: str, cpu: int) -> abi.FailureRecord:
        """Returns the registers of a CPU of a running cell, if the cell's file has `debug:
        true`."""
        at: abi.FailureRecord = self._call(
            abi.IOC_CELL_SAMPLE, abi.CellSample(name=_name(name), cpu=cpu)
        ).at
        return at

    def memory(self, name: str, first: int) -> bytes:
        """Returns RAM of a cell that has ended, from an address on, or nothing at its end. The
        cell's file must have `debug: true`."""
        room = ctypes.create_string_buffer(2 << 20)
        argument = abi.CellMemory(name=_name(name), buf=ctypes.addressof(room), len=len(room))
        setattr(argument, "from", first)
        self._call(abi.IOC_CELL_MEMORY, argument)
        return room.raw[: min(argument.len, len(room))]

    def stats(self, name: str, reset_held: bool = False) -> list[abi.CpuStats]:
        room = (abi.CpuStats * abi.MAX_CPUS)()
        argument = abi.Stats(
            name=_name(name),
            num_cpus=abi.MAX_CPUS,
            reset_held=int(reset_held),
            cpus=ctypes.addressof(room),
        )
        self._call(abi.IOC_STATS, argument)
        return list(room)[: min(argument.num_cpus, abi.MAX_CPUS)]

    def log(self, reader: abi.Log) -> bytes:
        """Returns the next lines for `reader`, which this call moves on; nothing at the end."""
        room = ctypes.create_string_buffer(64 << 10)
        reader.buf, reader.len = ctypes.addressof(room), len(room)
        self._call(abi.IOC_LOG, reader)
        return room.raw[: min(reader.len, len(room))]

    def events(self, timeout: float | None = None) -> Iterator[abi.Event]:
        """Yields events as they arrive, until none arrives within `timeout` seconds."""
        poller = select.poll()
        poller.register(self.fd, select.POLLIN)
        size = ctypes.sizeof(abi.Event)
        while poller.poll(None if timeout is None else timeout * 1000):
            try:
                data = os.read(self.fd, 64 * size)
            except BlockingIOError:
                continue
            if len(data) < size:
                raise Refused(
                    "the driver no longer gives events", "see dmesg for the messages of the module"
                )
            for at in range(0, len(data) - size + 1, size):
                yield abi.Event.from_buffer_copy(data, at)


def _reply(
    argument: abi.Enable
    | abi.Simple
    | abi.CellCreate
    | abi.CellName
    | abi.ChannelKey
    | abi.PoolCpus,
) -> abi.Reply:
    reply: abi.Reply = argument.reply
    return reply


def _address(contents: bytes) -> int:
    """Returns where the bytes are. from_buffer_copy() would copy them; c_char_p refers to them."""
    return ctypes.cast(ctypes.c_char_p(contents), ctypes.c_void_p).value or 0


def _name(name: str) -> bytes:
    raw = name.encode()
    if not raw or len(raw) >= abi.NAME_LEN:
        raise Refused(
            f"there is no cell named {name!r}", "see `qvctl cell list`", abi.Reason.E_NO_CELL
        )
    return raw
