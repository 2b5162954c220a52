# SPDX-License-Identifier: GPL-2.0-only
"""Traffic by DMA of Linux's devices while the monitor owns the IOMMU: its costs, and its data while
cells with devices come and go."""

import json
from pathlib import Path
from typing import Any

import pytest

from devices import BEHIND_IOMMU, run
from product import Product

HERE = Path(__file__).resolve().parent
EDU, DISK, NIC = "00:10.0", "/dev/nvme0n1", "0000:00:12.0"
# name: the machine, whether Linux's devices use the monitor's table ("full")
MODES: dict[str, tuple[dict[str, Any], bool]] = {
    "intel-identity": ({"iommu": "intel", "boot_args": ("iommu=pt",)}, True),
    "amd-identity": ({"iommu": "amd", "boot_args": ("iommu=pt",)}, True),
    "intel-off": ({"iommu": "intel", "boot_args": ("intel_iommu=off",)}, True),
    "intel-translated": ({"iommu": "intel"}, False),
    "amd-translated": ({"iommu": "amd"}, False),
    "intel-scalable": ({"iommu": "intel-scalable"}, False),
    "intel-first-stage": ({"iommu": "intel-first-stage"}, False),
}


def marks(mode: str, kernel: str = "6.12") -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.machine(qemu_args=BEHIND_IOMMU, kernel=kernel, **MODES[mode][0]),)


def in_modes(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("full", [
        pytest.param(MODES[name][1], id=name, marks=(pytest.mark.slow, *marks(name)))
        for name in names])


def program(qv: Product, end: str) -> str:
    """The command that reads and sends until the end. The disk has its data after `prepare`."""
    return f"python3 /run/dma-traffic {DISK} $(ls /sys/bus/pci/devices/{NIC}/net) {end}"


def prepare(qv: Product) -> None:
    qv.machine.put(HERE / "inside/dma-traffic", "/run/dma-traffic")
    qv.sh("modprobe nvme; modprobe e1000e; udevadm settle; "
          f"timeout 60 sh -c 'until test -b {DISK}; do sleep 0.2; done'; {program(qv, 'prepare')}")


def good(found: dict[str, Any]) -> None:
    assert found["reads"] > 100 and found["bytes"] > 1 << 18, found
    assert not found["bad_reads"] and not found["bad_bytes"] and not found["errors"], found


def measured(qv: Product, on: bool, seconds: int = 15) -> dict[str, Any]:
    """Runs traffic. Returns what it did, with the exits of Linux's CPUs meanwhile by reason."""
    before = qv.ask("cell stats linux")["exits"] if on else {}
    found: dict[str, Any] = json.loads(qv.sh(program(qv, str(seconds))))
    after = qv.ask("cell stats linux")["exits"] if on else {}
    good(found)
    more = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    return {**found, "exits": more}


@in_modes("intel-identity", "intel-translated", "amd-identity", "amd-translated")
def test_what_a_read_and_a_packet_of_linux_cost(qv: Product, full: bool) -> None:
    """Two rounds of three states, so that a load of the host that changes slowly does not count."""
    prepare(qv)
    states = {"disabled": "", "enabled": "enable --no-iommu", "with --iommu": "enable --iommu"}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in states}
    for _ in range(2):
        for name, command in states.items():
            if command:
                qv.do(command)
            found[name].append(measured(qv, bool(command)))
            if command:
                qv.do("disable")
    memory = {}
    for name, all_ in found.items():
        reads, packets, seconds = (sum(one[key] for one in all_)
                                   for key in ("reads", "packets", "seconds"))
        exits = {reason: sum(one["exits"].get(reason, 0) for one in all_)
                 for reason in {reason for one in all_ for reason in one["exits"]}}
        memory[name] = exits.get("memory", 0)
        print(f"{name}: {reads} reads, {packets} packets in {seconds:.0f} s, "
              f"{sum(one['bytes'] for one in all_) >> 10} KiB by TCP; exits {exits}; memory exits "
              f"{memory[name] / (reads + packets):.4f} for each read or packet")
    reads, packets = (sum(one[key] for one in found["with --iommu"])
                      for key in ("reads", "packets"))
    # A unit of AMD-Vi that caches absent entries, as QEMU's does, needs a flush after each mapping
    each = qv.sh("cat /sys/class/iommu/*/amd-iommu/cap 2>/dev/null || echo 0").strip()
    most = 8 if int(each, 16) >> 26 & 1 else 1
    # The others are the first touches of memory, and register accesses while interrupts move
    assert memory["with --iommu"] < (1000 if full else most * (reads + packets)), (memory, each)


def seen(qv: Product, answer: str) -> str:
    """A wrong answer, the next one, and the screen of the cell."""
    return f"{answer!r}, then {qv.quesh('edu own')!r}; the screen:\n{qv.sh('quesh quest --dump')}"


@pytest.mark.parametrize("full, rounds", [
    *(pytest.param(True, 5, id=name, marks=marks(name))
      for name in ("intel-identity", "amd-identity")),
    *(pytest.param(MODES[name][1], 50, id=f"{name}-{kernel}-50",
                   marks=(pytest.mark.slow, *marks(name, kernel)))
      for kernel in ("6.12", "6.1") for name in MODES)])
def test_traffic_of_linux_survives_many_cells_with_a_device(
        qv: Product, full: bool, rounds: int) -> None:
    """From before enable until after disable, all data are right, and no function of Linux is
    blocked. In a few rounds the traffic has pauses, which leave time to the other steps."""
    prepare(qv)
    until = f"/run/stop {0.02 if rounds < 50 else 0}"
    qv.sh("rm -f /run/stop; systemd-run --unit traffic sh -c "
          f"'{program(qv, until)} >/run/traffic.json 2>/run/traffic.err'; sleep 2")
    groups = bool(qv.sh("ls /sys/kernel/iommu_groups"))
    qv.do("enable --iommu")
    assert qv.ask("status")["dma_level"] == ("full" if full else "devices")
    for _ in range(rounds):
        run(qv, f'{{pci: "{EDU}"}}')
        assert qv.show()["devices"][0]["dma"] == ("protected" if groups else "off")
        if groups:
            answer = qv.quesh("edu own")
            assert answer.split() == [b"OWN MEMORY WORKS".hex()], seen(qv, answer)
        qv.do("cell destroy quest")
    log = qv.do("log")
    qv.do("disable")
    qv.sh("sleep 2; touch /run/stop; "
          "timeout 60 sh -c 'while systemctl -q is-active traffic; do sleep 0.2; done'")
    found = json.loads(qv.sh("cat /run/traffic.json"))
    print(f"traffic during {rounds} cells: {found}")
    good(found)
    assert "blocked" not in log, log


XAPIC = {"intel": "intel-iommu,intremap=on,eim=off",
         "amd": "amd-iommu,intremap=on,xtsup=off,dma-remap=on"}


def counted(unit: str, *boot_args: str) -> pytest.MarkDecorator:
    return pytest.mark.machine(icount=True, boot_args=boot_args,
                               qemu_args=("-device", XAPIC[unit], *BEHIND_IOMMU))


@pytest.mark.slow
@pytest.mark.parametrize("mode", [
    pytest.param(f"{unit}-{name}", marks=counted(unit, *args))
    for unit in XAPIC for name, args in (("identity", ("iommu=pt",)), ("translated", ()))])
def test_taking_a_unit_holds_no_cpu_long(qv: Product, mode: str) -> None:
    """In counted time. The take is calls of one CPU; the others run Linux meanwhile."""
    qv.sh("modprobe nvme; modprobe e1000e; udevadm settle")
    longest: dict[str, tuple[float, float]] = {}
    for command in ("enable --no-iommu", "enable --iommu", "enable --iommu"):
        held = qv.ask(command)["held_ns"] / 1e3
        call = max(cpu["call_max_ns"] for cpu in qv.ask("cell stats linux")["cpus"]) / 1e3
        longest[command] = (held, call)
        print(f"{mode}, {command}: longest stay {held:.1f} us, longest call {call:.1f} us")
        qv.do("disable")
    # A CPU may wait for the slices of the others, with and without the unit
    assert longest["enable --iommu"][0] < longest["enable --no-iommu"][0] + 120, longest
    assert longest["enable --iommu"][1] < 100 + 20 * 1, longest


# Reads blocks one after another, in groups of 50. Prints the CPU time of a read in us in the median
# of the groups, since timers and other programs hit a few of them; and the sum of the last blocks.
READ = """
import hashlib, mmap, os, time
file, buffer, sums = os.open('/dev/nvme0n1', os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, 4096), hashlib.sha256()
times = []
for group in range(15):
    start = time.thread_time_ns()
    for number in range(50):
        os.preadv(file, [buffer], (group * 50 + number) * 4096)
    times.append(time.thread_time_ns() - start)
    sums.update(buffer)
print(sorted(times)[7] / 50 / 1e3, sums.hexdigest())
"""


@pytest.mark.slow
@counted("intel", "iommu=pt")
def test_reads_are_as_fast_where_linux_leaves_devices_untranslated(qv: Product) -> None:
    """In counted time, with and without alternately. CPU time alone counts: the emulated disk takes
    time of the host, while the counted clock jumps. A process takes 11.2 us for a read or 13.5, in
    each state, so the fastest of 15 counts. The fastest ones differ by less than 1 %."""
    qv.sh(f"modprobe nvme; timeout 60 sh -c 'until test -b {DISK}; do sleep 0.2; done'")
    found: dict[str, list[float]] = {"enable --no-iommu": [], "enable --iommu": []}
    sums = set()
    for _ in range(5):
        for command, times in found.items():
            qv.do(command)
            for _ in range(3):
                cpu_us, digest = qv.sh(f"taskset -c 1 python3 -c \"{READ}\"").split()
                times.append(float(cpu_us))
                sums.add(digest)
            qv.do("disable")
    without, with_iommu = (min(times) for times in found.values())
    print(f"CPU time of a read in us: {found}; throughput ratio {without / with_iommu:.3f}")
    assert len(sums) == 1
    assert without > 0.98 * with_iommu, found
