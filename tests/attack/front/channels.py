# SPDX-License-Identifier: GPL-2.0-only
"""Linux attacks channels. The cells peer-a and peer-b share two that Linux may not reach: "secret",
with `reconnect: never`, and "renewed". Linux and peer-a share "shown". The peers check that their
sections and life pages stay as they are (inmate/peer.c)."""

from product import module

from .linux import ERRORS, HUGE, Linux, NAMES, ONES, attack

PAGE = 0x1000
LENGTH = 3 * PAGE  # of each channel: the life page, and a section of each end
BOTH = ["peer-a", "peer-b"]
RETURN, BELL, RING = 13, 14, 15  # QV_HC_CHANNEL, ...
DIFFERS = "QV_ME_CHANNEL_DIFFERS"

MAGIC = 0x4C4E4E4148435651  # "QVCHANNL", with which a life page begins

# Prints the description of "shown". No program may map the life page or the peer's section writable
LOOK = r"""
import ctypes, mmap, os
f = os.open('/dev/qv-channel/shown', os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
for length, offset in ((0x1000, 0), (0x1000, 0x1000), (0x3000, 0)):
    assert libc.mmap(None, length, 3, 1, f, ctypes.c_long(offset)) == ctypes.c_void_p(-1).value
print(mmap.mmap(f, 0x3000, mmap.MAP_SHARED, mmap.PROT_READ)[:832].hex())
"""


def error(name: str) -> int:
    """The number of an error of the monitor."""
    return ERRORS[NAMES.index(name)]


def peers(linux: Linux, names: list[str]) -> None:
    linux.arena.ask("peers", names=names)


def shown(linux: Linux) -> tuple[list[int], bytes]:
    """The addresses of the pages of "shown", and its life page."""
    done = linux.machine.run(["python3", "-c", LOOK])
    assert done.rc == 0, done.out
    linux.do("find", MAGIC, by="qvtouch")
    first = linux.value("qvtouch")
    assert first, "Linux reads no life page"
    return [first, first + PAGE, first + 2 * PAGE], bytes.fromhex(done.out)


def of_peers(linux: Linux) -> list[int]:
    """Each 2 MiB that Linux may not reach while the peers run, except those of the witness. The
    search is done once for the same cells, since Linux reads back what it wrote there."""
    if linux.arena.peer_pages:
        peers(linux, BOTH)
        return linux.arena.peer_pages
    before = linux.hidden()
    peers(linux, BOTH)
    now = [int(a, 16) for a in linux.machine.run("cat /sys/module/qvtouch/parameters/ones").out.split()]
    found = [page for page in now if page not in before]
    assert len(found) == 2 * 3 + 3, "two blocks, two times 4 MiB, their channels, and the rest around \"shown\""
    linux.arena.peer_pages = found
    return found


@attack("front-channel-hidden", "its kernel reads and writes the memory of channels between two cells",
        "ones, or the values that it wrote; dropped, counted, logged")
def channel_hidden(linux: Linux) -> None:
    pages = of_peers(linux)
    places = [page + at for page in pages for at in (0, PAGE, 2 * PAGE, 4 * PAGE, 5 * PAGE)]

    def read() -> None:
        words = linux.each("peek", [(at, ) for at in places], by="qvtouch")
        whole = [page for n, page in enumerate(pages) if set(words[5 * n:5 * n + 5]) == {ONES}]
        assert len(whole) >= 5, "all but the two blocks, which have a part that Linux may read"

    def write() -> None:
        linux.each("fill", [(at, 64, 0) for at in places], by="qvtouch")

    linux.counted(read, "Linux (read|wrote) memory that is not its own at 0x")
    linux.counted(write, "Linux wrote memory that is not its own at 0x")


@attack("front-channel-read-only",
        "its kernel writes the life page and the peer's section of a channel that it reads",
        "#GP in its kernel, counted; programs cannot map them writable")
def channel_read_only(linux: Linux) -> None:
    peers(linux, BOTH)
    where, before = shown(linux)

    def write() -> None:
        for page in where[:2]:
            assert linux.each("fill", [(page, 8, ONES), (page + 0x40, 8, 0)], by="qvtouch") == [None, None]

    linux.counted(write, "Linux wrote memory that is not its own at 0x", 4)
    assert shown(linux)[1] == before


@attack("front-channel-scribble",
        "its kernel fills its section of a channel with ones, and the next 2 MiB",
        "its section is its own; all else is dropped or is its memory")
def channel_scribble(linux: Linux) -> None:
    peers(linux, BOTH)
    where, _ = shown(linux)
    assert None not in linux.each("fill", [(where[2], PAGE, ONES)], by="qvtouch")
    assert linux.each("peek", [(where[2], )], by="qvtouch") == [ONES]
    # the rest of the 2 MiB of the channel, which no end uses
    begin = where[0] & -HUGE
    rest = [at for at in range(begin, begin + HUGE, 16 * PAGE) if at not in where]
    linux.counted(lambda: linux.each("fill", [(at, 64, 0) for at in rest], by="qvtouch"),
                  "Linux wrote memory that is not its own at 0x")


@attack("front-channel-return",
        "its kernel returns channels that cells use, and memory that is no channel",
        "an error code for channels in use; else nothing")
def channel_return(linux: Linux) -> None:
    pages = of_peers(linux)
    where, before = shown(linux)
    anything = [page + at for page in pages for at in (0, PAGE, LENGTH)]
    nothing = (0, 1, 8, 1 << 52, ONES, 0xFEE00000, where[1])
    answers = linux.hypercalls([(RETURN, a) for a in (*anything, *nothing)])
    in_use = [answer for answer in answers if answer == error("QV_ME_STATE")]
    assert len(in_use) == 3 and {*answers} == {0, error("QV_ME_STATE")}, answers
    linux.refuses([(RETURN, where[0])])
    assert shown(linux)[1] == before


@attack("front-channel-bell",
        "its kernel moves and rings bells: exceptions' vectors, CPUs of cells, channels of other cells",
        "an error code")
def channel_bell(linux: Linux) -> None:
    pages = of_peers(linux)
    where, before = shown(linux)
    linux.refuses([(BELL, where[0] | vector) for vector in range(1, 32)])
    # CPUs of peer-a and of the witness, and CPUs that do not exist
    linux.refuses([(BELL, where[0] | cpu << 56 | 0x80) for cpu in (3, 2, 4, 64, 255)])
    secret = [page + at for page in pages if page != where[0] & -HUGE for at in (0, LENGTH)]
    anything = [*secret, where[1], where[2], 0, 1 << 40]
    linux.refuses([(BELL, at | 0x80) for at in anything])
    linux.refuses([(RING, at) for at in anything])
    assert shown(linux)[1] == before


@attack("front-channel-claim",
        "its kernel creates cells that claim a channel: an impostor of a dead end, and others",
        "an error code, except for the dead end of a channel with `reconnect: auto`")
def channel_claim(linux: Linux) -> None:
    pages = of_peers(linux)
    where, life = shown(linux)
    answers = linux.hypercalls([(RETURN, at) for at in pages])
    here = [at for at, answer in zip(pages, answers)
            if answer == error("QV_ME_STATE") and at != where[0]]
    assert len(here) == 2, "secret and renewed, in either order"
    peers(linux, ["peer-a"])
    linux.arena.peer_pages = []

    def page(channel: str, flags: int, ends: tuple[str, str] = ("peer-a", "peer-b")) -> str:
        """The description of a channel, as the monitor has it: see qv/channel.h."""
        made = bytearray(life)
        made[16:24] = bytes(8)
        made[32:64] = channel.encode().ljust(32, b"\0")
        made[136:140] = flags.to_bytes(4, "little")
        for i, end in enumerate(ends):
            at = 256 + 64 * i
            made[at:at + 8] = bytes(8)
            made[at + 32:at + 64] = end.encode().ljust(32, b"\0")
        return made.hex()

    secret, renewed = page("secret", 0), page("renewed", 2)
    swapped, thief = page("renewed", 2, ("peer-b", "peer-a")), page("secret", 0, ("peer-a", "thief"))
    there = [at + off for at in pages if at not in here for off in (0, LENGTH)]
    claims = [f"{name} {end} {{:x}} {what}" for name, end, what in (
        ("peer-b", 1, secret), ("peer-a", 0, secret), ("peer-a", 0, renewed), ("thief", 1, thief),
        ("peer-b", 0, swapped), ("thief", 1, renewed))]
    cpu = 1
    linux.machine.put(module("qvcall", linux.machine.config.kernel), "/run/attack/qvcall.ko")
    try:
        assert linux.machine.run(f"echo 0 >/sys/devices/system/cpu/cpu{cpu}/online && "
                                 f"insmod /run/attack/qvcall.ko cpu={cpu}").rc == 0
        answers = claim(linux, [each.format(at) for at in here for each in claims])
        assert all(answer in ERRORS for answer in answers), answers
        assert answers.count(error(DIFFERS)) >= 6, answers
        # elsewhere it is a channel in memory of Linux that has the same name, or is refused
        claim(linux, [each.format(at) for at in there for each in claims])
        # the name and the end are right, and the file says that another cell may have the end again
        assert sorted(claim(linux, [f"peer-b 1 {at:x} {renewed}" for at in here])) == [0, error(DIFFERS)]
    finally:
        linux.machine.run(f"rmmod qvcall; echo 1 >/sys/devices/system/cpu/cpu{cpu}/online")


def claim(linux: Linux, lines: list[str]) -> list[int]:
    done = linux.machine.run("taskset -c 0 bash -c 'cd /sys/module/qvcall/parameters; while read -r line; do "
                             "echo \"$line\" >claim && cat value; done'",
                             timeout=600, stdin="".join(f"{line}\n" for line in lines).encode())
    answers = [int(word) for word in done.out.split()]
    assert done.rc == 0 and len(answers) == len(lines), done.out
    return answers


@attack("front-channel-race",
        "two of its CPUs return a channel all the time, while a cell starts and is destroyed",
        "each call is refused or harmless; the cell runs and Linux has its memory back")
def channel_race(linux: Linux) -> None:
    peers(linux, ["peer-a"])
    where, _ = shown(linux)
    linux.machine.run(
        "cd /sys/module/qvfront/parameters; "
        f"for cpu in 0 1; do taskset -c $cpu bash -c 'while test ! -e /run/attack/enough; do "
        f"echo {RETURN:x} {where[0]:x} 400 >flood; done' >/dev/null 2>&1 & done; sleep 0.1")
    try:
        for _ in range(5):
            peers(linux, [])
            peers(linux, ["peer-a"])
    finally:
        linux.machine.run("touch /run/attack/enough; sleep 0.3; "
                          "while pgrep -f '[>]flood' >/dev/null; do sleep 0.1; done; rm /run/attack/enough")
    where, _ = shown(linux)
    linux.refuses([(RETURN, where[0])])
    peers(linux, [])
