# SPDX-License-Identifier: GPL-2.0-only
"""Datagrams that virtual machines of KVM send, to compare cells with them. They run without QV, on
the same emulated machine.

Each runs the same Linux as its host, on a CPU of its own, and has a virtio-net device with vhost. A
bridge joins them with the network function that the cells share. The function and the bridge are in
a network namespace, so every datagram goes through the function and over the cable."""

import re
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from typing import Any

from cells import Bench
from lab import cpio, enter, images, roots
from lab.errors import LabError
from network import FUNCTION, LINUX, LINUX_IP

TREE = "kvm"  # of the emulated machine, which has QEMU in it
DRIVERS = ("virtio_pci", "virtio_net")
MEMORY = "256M"
LIMIT, HOST_LIMIT = 60, 1800.0  # seconds of each clock until a virtual machine has done its work
INIT = """#!/bin/sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in $(cat /modules/order); do insmod /modules/$module; done
ip link set lo up
ip link set eth0 up
ip addr add $ADDRESS/24 dev eth0
echo has booted
while read -r line; do
	sh -c "$line" </dev/null
	echo "status $?"
done
"""


def archive() -> bytes:
    """Returns the initramfs: busybox, iperf with its libraries, the drivers."""
    tree, kernel = roots.ensure(TREE), images.kernel("6.12")
    made = cpio.Archive()
    for folder in ("bin", "dev", "proc", "sys"):
        made.folder(folder)
    made.device("dev/console", 5, 1)
    made.file("init", INIT.encode(), 0o755)
    made.file("bin/busybox", (tree / "usr/bin/busybox").read_bytes(), 0o755)
    made.link("bin/sh", "busybox")
    made.file("bin/iperf", (tree / "usr/bin/iperf").read_bytes(), 0o755)
    for name in re.findall(r"(/lib\S+) \(0x", enter.shell(tree, "ldd /usr/bin/iperf")):
        made.file(name[1:], (tree / "usr" / name[1:]).resolve().read_bytes(), 0o755)
    drivers = images.in_order(kernel.modules, DRIVERS)
    for path in drivers:
        made.file(f"modules/{path.name}", path.read_bytes())
    made.file("modules/order", "".join(f"{path.name}\n" for path in drivers).encode())
    return made.data()


def set_up(at: Bench, ports: Sequence[int]) -> None:
    """Linux has its address, a server for each port, and a bridge with the other function."""
    at.machine.run(["sh", "-c", "cat >/run/guest.cpio"], stdin=archive())
    at.machine.put(images.kernel("6.12").vmlinuz, "/run/vmlinuz")
    nic = "$(basename $(ls -d /sys/bus/pci/devices/0000:{}/net/*))"
    lines = [
        "modprobe -a e1000e kvm_amd tun vhost_net bridge; udevadm settle",
        f"nic={nic.format(LINUX)} other={nic.format(FUNCTION)}",
        f"ip link set $nic up; ip addr replace {LINUX_IP}/24 dev $nic",
        "ip netns add guests; ip link set $other netns guests",
        "ip -n guests link add br0 type bridge; ip -n guests link set br0 up",
        "ip -n guests link set $other master br0 up",
        "sysctl -qw net.core.rmem_max=4194304",
        *(f"systemd-run -q --collect --unit iperf{p} iperf -s -u -w 2M -p {p}" for p in ports),
    ]
    at.run("sh", "-ec", "; ".join(lines))


@contextmanager
def guest(at: Bench, name: str, cpu: int, address: str) -> Any:
    """Runs a virtual machine on a CPU."""
    words = [
        "ip", "netns", "exec", "guests", "taskset", "-c", str(cpu), "qemu-system-x86_64",
        "-accel", "kvm", "-cpu", "host", "-m", MEMORY, "-nodefaults", "-no-user-config", "-display", "none",
        "-no-reboot", "-kernel", "/run/vmlinuz", "-initrd", "/run/guest.cpio",
        "-append", f'"console=ttyS0 quiet ADDRESS={address}"',
        "-netdev", f"tap,id=net,ifname=tap-{name},script=no,downscript=no,vhost=on",
        "-device", f"virtio-net-pci,netdev=net,mac=52:54:00:00:01:0{cpu}", "-serial", f"pipe:/run/{name}",
    ]
    at.run("sh", "-ec", "\n".join([
        f"ip -n guests tuntap add tap-{name} mode tap vnet_hdr; ip -n guests link set tap-{name} master br0 up",
        f"mkfifo /run/{name}.in /run/{name}.out; : >/run/{name}.log",
        f"systemd-run -q --unit guest-{name} {' '.join(words)}",
        f"systemd-run -q --unit said-{name} sh -c 'exec cat /run/{name}.out >/run/{name}.log'",
    ]))
    try:
        wait(at, [name], "has booted", [1])
        yield
    finally:
        at.machine.run(["sh", "-c", f"systemctl stop guest-{name} said-{name}; rm /run/{name}.*; "
                        f"ip -n guests link del tap-{name}"])


def wait(
    at: Bench, names: Iterable[str], text: str, counts: Iterable[int], first: str = ""
) -> dict[str, str]:
    """Runs a command, and waits in the emulated machine until each of the virtual machines has
    printed a text so often. Returns all that they have printed."""
    loops = [
        f"until test $(grep -c '{text}' /run/{name}.log) -ge {count}; do "
        f"systemctl -q is-active guest-{name}; sleep 0.2; done"
        for name, count in zip(names, counts, strict=True)
    ]
    done = at.machine.run(["timeout", str(LIMIT), "sh", "-ec", "\n".join([first, *loops])], HOST_LIMIT)
    said = {name: at.run("cat", f"/run/{name}.log") for name in names}
    if done.rc:
        units = " ".join(f"-u guest-{name}" for name in names)
        log = at.machine.run(f"journalctl {units}").out
        raise LabError(f"a virtual machine does not print {text!r}: {said}\n{log}", "see what they print")
    return said


def send(at: Bench, senders: dict[str, int], seconds: int) -> dict[str, dict[str, int]]:
    """Each of the virtual machines sends datagrams to its port for so long, all at once. Returns for
    each what Linux's server has got."""
    before = {name: at.run("cat", f"/run/{name}.log") for name in senders}
    first = "\n".join(
        f"echo iperf -c {LINUX_IP} -u -b 10g -l 1472 -p {port} -t {seconds} >/run/{name}.in"
        for name, port in senders.items()
    )
    said = wait(at, senders, "^status ", [text.count("\nstatus ") + 1 for text in before.values()], first)
    found = {}
    for name in senders:
        after = said[name][len(before[name]):]
        form = (
            r"Sent (\d+) datagrams[\s\S]*Server Report:[\s\S]*"
            r"0\.0+-(\d+\.\d+) sec .* (\d+)/ *(\d+) \("
        )
        match = re.search(form, after)
        if not match:
            raise LabError(f"{name} has sent nothing that arrived:\n{after}", "see what it prints")
        late = re.search(r"(\d+) datagrams received out-of-order", after)
        lost, known = int(match[3]), int(match[4])
        found[name] = {"us": round(float(match[2]) * 1e6), "sent": int(match[1]), "bytes": (known - lost) * 1472,
                       "lost": lost, "late": int(late[1]) if late else 0, "known": known}
    return found
