# SPDX-License-Identifier: GPL-2.0-only
"""An ELF core of a cell, which gdb opens with the inmate's image: `qvctl cell dump`.

The file has the RAM once, in one piece from RAM on; its segments give ranges of it the virtual
addresses by which the CPU reached them. Only the registers of one CPU are known."""

from __future__ import annotations

import struct

from . import abi
from .condition import REGISTERS
from .walk import EFER_LMA, Range, Walk, paging_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

RAM = 4 << 20  # where RAM begins in the file, behind all headers
CHUNK = 64 << 10  # bytes; such a piece of zeros takes no room in the file
ZEROS = bytes(CHUNK)
ET_CORE, PT_LOAD, PT_NOTE = 4, 1, 4
NT_PRSTATUS, NT_PRPSINFO = 1, 3
# The signal by which Linux ends a program for the like of a failure: gdb names it
SIGILL, SIGABRT, SIGSEGV = 4, 6, 11
SIGNALS = {
    abi.Failure.NONE: 0,
    abi.Failure.MEMORY: SIGSEGV,
    abi.Failure.MSR: SIGILL,
    abi.Failure.PORT: SIGSEGV,
    abi.Failure.TRIPLE_FAULT: SIGSEGV,
}


class Form:
    """The layout of a core's structures for 64-bit and for 32-bit code. An empty name is a register
    that the monitor does not record."""

    def __init__(self, bits: int, machine: int, order: str, status: str, program: str) -> None:
        self.bits, self.machine = bits, machine
        self.order = order.split(",")
        self.status = struct.Struct(status)  # struct elf_prstatus: signal, registers
        self.program = struct.Struct(program)  # struct elf_prpsinfo: name, command line
        self.mask = (1 << bits) - 1


FORM64 = Form(
    64,
    62,
    "r15,r14,r13,r12,rbp,rbx,r11,r10,r9,r8,rax,rcx,rdx,rsi,rdi,,rip,,rflags,rsp,,,,,,,",
    "<12xh98x27Q8x",
    "<40x16s80s",
)
FORM32 = Form(
    32, 3, "rbx,rcx,rdx,rsi,rdi,rbp,rax,,,,,,rip,,rflags,rsp,", "<12xh58x17I4x", "<28x16s80s"
)


def _note(kind: int, content: bytes) -> bytes:
    return (
        struct.pack("<III8s", 5, len(content), kind, b"CORE") + content + bytes(-len(content) % 4)
    )


def _notes(form: Form, info: abi.CellInfo) -> bytes:
    record = info.failure
    known = {name: record.regs[i] for i, name in enumerate(REGISTERS)}
    known |= {"rip": record.rip, "rflags": record.rflags}
    registers = [known.get(name, 0) & form.mask for name in form.order]
    signal = SIGNALS.get(record.reason, SIGABRT)
    line = b" ".join(word for word in (info.image_name, info.cmdline) if word)
    return _note(NT_PRSTATUS, form.status.pack(signal, *registers)) + _note(
        NT_PRPSINFO, form.program.pack(info.name[:15], line[:79])
    )


def _header(form: Form, count: int) -> bytes:
    wide = form.bits == 64
    identity = b"\x7fELF" + bytes((2 if wide else 1, 1, 1)) + bytes(9)
    pattern = "<16sHHIQQQIHHHHHH" if wide else "<16sHHIIIIIHHHHHH"
    size = struct.calcsize(pattern)
    return struct.pack(
        pattern,
        identity,
        ET_CORE,
        form.machine,
        1,
        0,
        size,
        0,
        0,
        size,
        _segment_size(form),
        count,
        0,
        0,
        0,
    )


def _segment_size(form: Form) -> int:
    return 56 if form.bits == 64 else 32


def _segment(
    form: Form, kind: int, at: int, length: int, virtual: int = 0, physical: int = 0
) -> bytes:
    rights = 7 if kind == PT_LOAD else 0
    if form.bits == 64:
        return struct.pack("<IIQQQQQQ", kind, rights, at, virtual, physical, length, length, 1)
    return struct.pack("<IIIIIIII", kind, at, virtual, physical, length, length, rights, 1)


def headers(info: abi.CellInfo, ranges: list[Range]) -> bytes:
    """Returns the file up to the RAM. `info.failure` has the registers."""
    form = FORM64 if info.failure.efer & EFER_LMA else FORM32
    notes = _notes(form, info)
    head = _header(form, len(ranges) + 1)
    at = len(head) + (len(ranges) + 1) * _segment_size(form)
    assert at + len(notes) <= RAM
    loads = b"".join(
        _segment(form, PT_LOAD, RAM + part.physical, part.length, part.virtual, part.physical)
        for part in ranges
    )
    return head + _segment(form, PT_NOTE, at, len(notes)) + loads + notes


class Core:
    """The result: the form of the page tables in words, and whether all of them were walked."""

    def __init__(self, paging: str, whole: bool) -> None:
        self.paging, self.whole = paging, whole


def write(
    file: IO[bytes], info: abi.CellInfo, read: Callable[[int], bytes], console: dict[int, bytes]
) -> Core:
    """Writes the core of a cell to an empty file. `read` returns RAM from an address on, or nothing
    at its end; `console` has the console pages, which the inmate sees in place of RAM. Zeros take
    no room."""
    at = 0
    while piece := read(at):
        for part in range(0, len(piece), CHUNK):
            chunk = piece[part : part + CHUNK]
            if chunk != ZEROS:
                file.seek(RAM + at + part)
                file.write(chunk)
        at += len(piece)
    for address, content in console.items():
        file.seek(RAM + address)
        file.write(content)
    file.truncate(RAM + at)

    def load(address: int, length: int) -> bytes:
        file.seek(RAM + address)
        return file.read(length)

    failure = info.failure
    paging = paging_of(failure.cr0, failure.cr4, failure.efer)
    if paging:
        walk = Walk(paging, load, at)
        ranges, core = walk.ranges(failure.cr3), Core(paging.words, walk.whole)
    else:
        ranges, core = [Range(0, 0, at)], Core("off", True)
    file.seek(0)
    file.write(headers(info, ranges))
    return core
