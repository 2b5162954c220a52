# SPDX-License-Identifier: GPL-2.0-only
"""Linux accesses the memory, consoles and keyboards of cells."""

from .linux import HUGE, Linux, ONES, OPEN_PART, attack


@attack("front-read-hidden", "its kernel reads the monitor's and the witness's memory",
        "ones, or what it wrote itself; counted, logged")
def read_hidden(linux: Linux) -> None:
    def read() -> None:
        assert set(
            linux.each("peek", [(page + OPEN_PART, ) for page in linux.hidden()],
                       by="qvtouch")) <= {ONES, 0}

    linux.counted(read, "Linux (read|wrote) memory that is not its own at 0x", 0)


@attack("front-write-hidden", "its kernel writes all over the monitor's and the witness's memory",
        "dropped, counted, logged")
def write_hidden(linux: Linux) -> None:
    hidden = linux.hidden()

    def write() -> None:
        fills = [
            fill for page in hidden
            for fill in ((page + OPEN_PART, 0x4000, 0), (page + HUGE - 0x1000, 0x1000, 0xCC))
        ]
        assert None not in linux.each("fill", fills, by="qvtouch")

    linux.counted(write, "Linux wrote memory that is not its own at 0x")


@attack("front-write-open", "its kernel writes the counters and the log that it may read",
        "#GP in its kernel, counted")
def write_open(linux: Linux) -> None:
    assert None in linux.each("fill", [(page, 8, 0) for page in linux.hidden()],
                              by="qvtouch"), "the open parts"


KCORE = r"""
import struct
with open('/proc/kcore', 'rb', buffering=0) as f:
    head = f.read(64)
    at, size, count = struct.unpack_from('<Q', head, 32)[0], *struct.unpack_from('<HH', head, 54)
    f.seek(at)
    table = f.read(size * count)
    loads = [struct.unpack_from('<IIQQQQQQ', table, i * size) for i in range(count)]
    for page in %s:
        for kind, _, offset, va, pa, length, _, _ in loads:
            if kind == 1 and pa != 2**64 - 1 and pa <= page < pa + length:
                f.seek(offset + page - pa)
                try:
                    print(hex(page), set(f.read(4096)) - {0, 0xCC, 0xFF})
                except OSError as error:
                    print(hex(page), 'refused', error.errno)
"""


@attack("front-kcore",
        "a program of root reads the monitor's and the witness's memory through /proc/kcore",
        "ones, what Linux wrote itself, or refused")
def kcore(linux: Linux) -> None:
    pages = [page + 0x80000 for page in linux.hidden()]
    said = linux.machine.run(["python3", "-c", KCORE % pages])
    assert said.rc == 0, said.out
    for line in said.out.splitlines():
        assert line.endswith("set()") or "refused" in line, line


@attack("front-devmem", "a program of root reads and writes it through /dev/mem",
        "ones, dropped or refused")
def devmem(linux: Linux) -> None:
    page = linux.hidden()[-1] + 0x80000
    read = linux.machine.run(
        f"dd if=/dev/mem bs=4096 count=1 skip={page >> 12} status=none | od -An -v -tx1 | tr -d ' \\n'"
    )
    assert not read.out.strip("f\n ") or "not permitted" in read.out or not read.out.strip(
        "0\n "), read.out[:200]
    linux.machine.run(
        f"dd if=/dev/zero of=/dev/mem bs=4096 count=1 seek={page >> 12} conv=notrunc status=none")


CONSOLE = r"""
import ctypes, mmap, os, signal
fd = os.open('/dev/qv-cell/witness/console', os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
def map(length, prot, offset):
    at = libc.mmap(None, ctypes.c_size_t(length), prot, 1, fd, ctypes.c_long(offset))
    return None if at == ctypes.c_void_p(-1).value else at
assert map(0x8000, 3, 0) is None, 'mapped writable'
assert libc.mprotect(ctypes.c_void_p(map(0x8000, 1, 0)), ctypes.c_size_t(0x8000), 3) != 0, 'made writable'
assert ctypes.string_at(map(0x8000, 1, 0) + 0x1000, 0x1000) == bytes(0x1000), 'the info page is shown'
for length, offset, touched in ((0x9000, 0, 0x8000), (0x200000, 0, 0x1ff000), (0x1000, 0x8000, 0),
                                (0x1000, 0x7ffffffff000, 0)):
    at = map(length, 1, offset)
    child = os.fork()
    if child == 0:
        os._exit(0 if at is None else ctypes.string_at(at + touched, 1)[0] & 0 | 1)
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGBUS
    assert status == 0 or killed, (hex(offset + touched), status)
print('refused')
"""


@attack("front-console-map", "a program maps the witness's console writable, or beyond its end",
        "refused, or SIGBUS for it")
def console_map(linux: Linux) -> None:
    said = linux.machine.run(["python3", "-c", CONSOLE])
    assert said.rc == 0 and said.out == "refused\n", said.out


@attack("front-keys-flood", "a program writes a megabyte of garbage into the witness's keyboard",
        "taken or full; the witness beats")
def keys_flood(linux: Linux) -> None:
    linux.machine.run(
        "timeout 3 dd if=/dev/urandom of=/dev/qv-cell/witness/console bs=64k count=16 status=none")
