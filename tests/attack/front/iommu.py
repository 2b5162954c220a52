# SPDX-License-Identifier: GPL-2.0-only
"""Linux attacks by the IOMMU that the monitor owns, and by the device edu behind it."""

from pathlib import Path

from .linux import HUGE, Linux, ONES, WITNESS, attack

EDU = Path(__file__).resolve().parents[2] / "lab/inside/edu-dma"
UNIT = 0xFED90000
GCMD, GSTS, RTADDR, FEADDR, IQT, IQA, IRTA = 0x18, 0x1C, 0x20, 0x40, 0x88, 0x90, 0xB8
CALL, TAKE, GIVE, LOOK = 17, 0, 1, 2  # QV_HC_IOMMU
INDEX = 0x300  # an entry that Linux does not use
CELLS, BEYOND = 0x800, 0x4000  # the first entry for cells; behind the monitor's table
POSTED = 0xF2  # a vector of KVM that Linux only counts
PRESENT, LOGICAL, TIMES = 1, 1 << 2, 20
REQUEST_INTERRUPTS, REQUEST_WAIT, STORE, INTERRUPT = 4 | 1 << 4, 5, 1 << 5, 1 << 4


def edu(linux: Linux, *words: str) -> None:
    linux.machine.put(EDU, "/run/attack/edu-dma")
    done = linux.machine.run(f"python3 /run/attack/edu-dma 00:10.0 {' '.join(words)}")
    assert done.rc == 0, done.out


def register(linux: Linux, at: int) -> int:
    linux.do("load", UNIT + at)
    return linux.value()


def posted(linux: Linux) -> int:
    """Returns the number of interrupts with the vector POSTED on all CPUs.

    CPU 0, which gets them, takes those that are pending before it runs a program."""
    words = linux.machine.run("taskset -c 0 grep PIN: /proc/interrupts").out.split()
    return sum(int(word) for word in words[1:] if word.isdigit())


def announce(linux: Linux) -> None:
    linux.do("request", REQUEST_INTERRUPTS | INDEX << 32, 0)


def interrupts(linux: Linux, low: int, say: bool = True) -> int:
    """Has edu send messages by an entry. Returns how many of them Linux got."""
    before = posted(linux)
    linux.do("irte", INDEX, low, 0)
    if say:
        announce(linux)
    edu(linux, "interrupt", f"{INDEX:x}", str(TIMES))
    return posted(linux) - before


def own(linux: Linux) -> None:
    """An entry that names a CPU of Linux works: so the attack reaches the IOMMU."""
    assert interrupts(linux, PRESENT | POSTED << 16) > 0


FORGED = {
    "fixed": PRESENT | POSTED << 16 | WITNESS << 32,
    "nmi": PRESENT | 4 << 5 | WITNESS << 32,
    "init": PRESENT | 5 << 5 | WITNESS << 32,
    "smi": PRESENT | 2 << 5 | WITNESS << 32,
    "extint": PRESENT | 7 << 5 | WITNESS << 32,
    "logical": PRESENT | LOGICAL | POSTED << 16 | (1 | 1 << WITNESS) << 32,
    "all": PRESENT | POSTED << 16 | 0xFFFFFFFF << 32,
    "posted": PRESENT | 1 << 15 | POSTED << 16,
    "vector": PRESENT | 3 << 16,
}


def add_irte(kind: str, low: int) -> None:
    @attack(f"front-irte-{kind}",
            "its kernel rewrites an entry of its table for interrupts, and a device uses it: "
            f"{kind}",
            "absent in the monitor's table: dropped, counted, logged", where="iommu")
    def forge(linux: Linux) -> None:
        own(linux)
        got: list[int] = []
        linux.counted(lambda: got.append(interrupts(linux, low)), f"entry {INDEX} of the IOMMU")
        assert got == [0], got
        own(linux)
        linux.do("irte", INDEX, 0, 0)
        announce(linux)


for kind_, low_ in FORGED.items():
    add_irte(kind_, low_)


@attack("front-irte-silent",
        "its kernel rewrites an entry for interrupts, and does not announce it",
        "without effect: the IOMMU does not read Linux's table", where="iommu")
def irte_silent(linux: Linux) -> None:
    linux.do("irte", INDEX, 0, 0)
    announce(linux)
    assert interrupts(linux, PRESENT | POSTED << 16, say=False) == 0
    linux.do("irte", INDEX, 0, 0)


@attack("front-irte-beyond",
        "its kernel announces entries that the monitor keeps for cells, entries beyond its table, "
        "and all of them",
        "refused, counted, logged", where="iommu")
def irte_beyond(linux: Linux) -> None:
    # The monitor looks at the first of several entries beyond those of Linux
    for index, which in ((CELLS, CELLS << 32), (CELLS, 31 << 27 | 0xFFFF << 32),
                         (BEYOND, BEYOND << 32)):
        linux.do("irte", index, PRESENT | POSTED << 16 | WITNESS << 32, 0)
        try:
            linux.counted(lambda which=which: linux.do("request", REQUEST_INTERRUPTS | which, 0),
                          f"entry {index} of the IOMMU")
            edu(linux, "interrupt", f"{index:x}", str(TIMES))
        finally:
            linux.do("irte", index, 0, 0)
    own(linux)


def refused(linux: Linux, calls: list[tuple[int, ...]]) -> None:
    linux.counted(lambda: [linux.do("request", *call) for call in calls],
                  f"register {IQT:#x} of the IOMMU", len(calls))


@attack("front-iommu-store-hidden",
        "its kernel has the IOMMU store the end of a request in a cell and in the monitor",
        "refused, counted, logged", where="iommu")
def store_hidden(linux: Linux) -> None:
    refused(linux, [(REQUEST_WAIT | STORE | 0xBADBAD << 32, pa + at)
                    for pa in linux.hidden() for at in (0x20000, HUGE - 4)])


@attack("front-iommu-store-device",
        "its kernel has the IOMMU store the end of a request in a device and nowhere",
        "refused, counted, logged", where="iommu")
def store_device(linux: Linux) -> None:
    refused(linux, [(REQUEST_WAIT | STORE | 0x40 << 32, pa)
                    for pa in (UNIT + GCMD, 0xFEE00000 | WITNESS << 12, 0xFEC00000, 0xA0000,
                               1 << 40, 1 << 52, ONES, ONES - 3)])


@attack("front-iommu-requests",
        "its kernel makes requests that no unit knows, and asks for interrupts at their end",
        "refused, counted, logged", where="iommu")
def requests(linux: Linux) -> None:
    refused(linux, [*((kind, ONES) for kind in (0, 6, 7, 8, 15, ONES)),
                    (REQUEST_WAIT | INTERRUPT, 0)])


@attack("front-iommu-tail", "its kernel writes tails of its queue that are out of range",
        "refused, counted, logged", where="iommu")
def tail(linux: Linux) -> None:
    before = register(linux, IQT)
    tails = (0x1000, 8, 0xFFFFFFF0, 0xFFFFFFFF)
    linux.counted(lambda: [linux.do("store", UNIT + IQT, value) for value in tails],
                  f"register {IQT:#x} of the IOMMU", len(tails))
    assert register(linux, IQT) == before


@attack("front-iommu-pointers", "its kernel changes the pointers to tables and to the queue",
        "Linux reads its own values; dropped, counted, logged", where="iommu")
def pointers(linux: Linux) -> None:
    at = (RTADDR, RTADDR + 4, IRTA, IRTA + 4, IQA, IQA + 4)
    before, status = [register(linux, reg) for reg in at], register(linux, GSTS) & 0x96800000

    def change() -> None:
        for reg in at:
            linux.do("store", UNIT + reg, linux.hidden()[0] & 0xFFFFF000)
        linux.do("store", UNIT + GCMD, status | 1 << 30)
        linux.do("store", UNIT + GCMD, status | 1 << 24)

    linux.counted(change, f"register {IRTA:#x} of the IOMMU", len(at) + 2)
    assert [register(linux, reg) for reg in at] == before
    own(linux)


@attack("front-iommu-off",
        "its kernel switches translation, remapping and the queue off, and has a device write to a "
        "cell and use a forged entry",
        "Linux reads that they are off; the device is still confined", where="iommu")
def off(linux: Linux) -> None:
    status = register(linux, GSTS) & 0x96800000
    try:
        linux.counted(lambda: linux.do("store", UNIT + GCMD, 0),
                      f"register {GCMD:#x} of the IOMMU")
        assert not register(linux, GSTS) & 0x86000000
        edu(linux, "write",
            *(f"{pa + at:x}" for pa in linux.hidden() for at in (0, 0x20000)))
        assert interrupts(linux, FORGED["nmi"]) == 0
    finally:
        linux.do("store", UNIT + GCMD, status)
    own(linux)


@attack("front-iommu-fault-message",
        "its kernel aims the IOMMU's own fault interrupt at the witness",
        "kept for later; the IOMMU sends none", where="iommu")
def fault_message(linux: Linux) -> None:
    at = (0x38, 0x3C, FEADDR, FEADDR + 4)
    before = [register(linux, reg) for reg in at]
    for reg, value in zip(at, (0, 0x400, 0xFEE00000 | WITNESS << 12, 0), strict=True):
        linux.do("store", UNIT + reg, value)
    edu(linux, "write", *(f"{pa:x}" for pa in linux.hidden()))
    for reg, value in zip(at, before, strict=True):
        linux.do("store", UNIT + reg, value)


@attack("front-iommu-calls",
        "its kernel takes the IOMMU again, gives it back while cells live, and makes garbage calls",
        "an error code each", where="iommu")
def calls(linux: Linux) -> None:
    linux.refuses([(CALL, what) for what in (TAKE, GIVE, 3, 255, 1 << 31, 1 << 32,
                                             (1 << 32) + GIVE, ONES)])
    own(linux)


@attack("front-iommu-races",
        "two CPUs of its give and take the IOMMU and look at its faults at once",
        "an error code each, or without effect", where="iommu")
def races(linux: Linux) -> None:
    def flood(cpu: int, *acts: int) -> str:
        each = "; ".join(f"echo {CALL:x} {act:x} 7d0 >/sys/module/qvfront/parameters/flood"
                         for act in acts)
        return f"taskset -c {cpu} bash -c '{each}' &"

    done = linux.machine.run(f"{flood(0, GIVE)} {flood(1, LOOK, TAKE)} wait", timeout=120)
    assert done.rc == 0, done.out
    linux.refuses([(CALL, TAKE), (CALL, GIVE)])
    own(linux)
