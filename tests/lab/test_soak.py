# SPDX-License-Identifier: GPL-2.0-only
"""A soak: after many lives of a cell Linux has all that it had before.

pytest's option --soak N sets the number of rounds. N/5 rounds crash the cell of a unit. A release
is tried with --soak 1000."""

import statistics

import pytest

from product import Product
from test_systemd import FILE, UNIT, asked, unit  # noqa: F401  (a fixture)
from test_watching import until

# By how much each count of Linux may grow. A 2 MiB page of a cell is too much
LIMITS = {"pages_kib": 2047, "objects_kib": 2047, "vmalloc_kib": 255, "areas": 8, "own_areas": 0,
          "files": 2, "threads": 3, "interrupts": 0, "devices": 0}
# Prints what LIMITS names from vmalloc_kib on. Areas of vmalloc that are freed, but not yet purged,
# do not count. Kernel threads for short work come and go.
COUNTS = """
awk '/^VmallocUsed:/ { print $2 }' /proc/meminfo
grep -vc unpurged /proc/vmallocinfo
grep -c '\\[qv\\]' /proc/vmallocinfo
ls /proc/[0-9]*/fd 2>/dev/null | grep -c '^[0-9]*$'
ps -eLo comm= | grep -vc -e kworker -e ps -e grep
wc -l </proc/interrupts
find /sys/class /sys/devices/virtual /dev -name '*qv*' | wc -l
true
"""
SAMPLES = 10


def state(qv: Product) -> dict[str, int]:
    """Returns the values of LIMITS. The journal is in memory here, so its old files go first."""
    qv.sh("journalctl --rotate --vacuum-size=1K -q")
    counts = map(int, qv.sh(COUNTS).split())
    return dict(zip(LIMITS, [qv.pages_kib(), qv.objects_kib(), *counts], strict=True))


def compare(found: list[dict[str, int]]) -> None:
    """The first and the last states must be alike. None of them is from before the first round,
    since Linux still loads programs then."""
    print(*LIMITS)
    for one in found:
        print(*one.values())
    few = max(1, len(found) // 3)
    for name, most in LIMITS.items():
        values = [one[name] for one in found]
        first, last = statistics.median(values[:few]), statistics.median(values[-few:])
        assert last - first <= most, (name, values)


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--soak")) or 50


@pytest.mark.slow
def test_soak_of_lives(qv: Product, rounds: int) -> None:
    """Rounds of create, start and destroy, without a unit."""
    qv.do("enable")
    found = []
    step = max(1, rounds // SAMPLES)
    for number in range(1, rounds + 1):
        qv.run_cell()
        assert qv.online() == "0-2"
        qv.do("cell destroy quest")
        assert qv.online() == qv.all_online
        if number % step == 0:
            found.append(state(qv))
    print(f"{rounds} rounds of create, start, destroy")
    compare(found)


@pytest.mark.slow
def test_soak_of_crashes(unit: Product, rounds: int) -> None:  # noqa: F811
    """The unit's process starts the cell again after each crash. It keeps its memory and its files,
    and each crash has the same few lines in the journal."""
    crashes = max(5, rounds // 5)
    unit.sh(f"echo 'restart: {{limit: 3, first: 10ms, most: 10ms, healthy: 1ms}}' >>{FILE}; "
            f"systemctl start {UNIT}", timeout=300)
    process = asked(unit, "MainPID")
    found: list[dict[str, int]] = []
    own: list[tuple[int, int]] = []  # open files and KiB of the process
    lines: list[int] = []            # of the journal for each crash
    step = max(1, crashes // SAMPLES)
    for number in range(1, crashes + 1):
        unit.machine.run("quesh quest -c 'crash memory'")
        until(lambda: unit.show()["failures"] == number and unit.show()["state"] == "running",
              f"life {number}")
        if number % step == 0:
            lines.append(round(int(unit.sh(f"journalctl -q -o cat -u {UNIT} | wc -l")) / step))
            found.append(state(unit))
            files, kib = unit.sh(f"cd /proc/{process}; ls fd | wc -l; "
                                 "awk '/^VmRSS/ { print $2 }' status").split()
            own.append((int(files), int(kib)))
    print(f"{crashes} rounds of crash and restart; lines in the journal for each: {lines}; "
          f"files and KiB of the process: {own}")
    compare(found)
    assert asked(unit, "MainPID") == process and asked(unit, "NRestarts") == "0"
    assert own[-1][0] == own[0][0] and own[-1][1] - own[0][1] < 1024, own
    assert max(lines[1:]) <= min(lines[1:]) + 10, lines
    unit.quesh("count")
    unit.assert_counting()
