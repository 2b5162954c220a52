# SPDX-License-Identifier: GPL-2.0-only
"""Linux manages QV without permission, or manages resources that a cell holds."""

from .linux import Linux, WITNESS, attack


@attack("front-not-root", "a program without privileges opens /dev/qv and the witness's console",
        "refused")
def not_root(linux: Linux) -> None:
    for path in ("/dev/qv", "/dev/qv-cell/witness/console"):
        for how in ("<", ">"):
            done = linux.machine.run(
                f"setpriv --reuid=65534 --regid=65534 --clear-groups bash -c 'exec 3{how}{path}'")
            assert done.rc != 0 and "Permission denied" in done.out, done.out


@attack("front-online", "root takes the witness's CPU online", "refused")
def online(linux: Linux) -> None:
    done = linux.machine.run(f"echo 1 >/sys/devices/system/cpu/cpu{WITNESS}/online")
    assert done.rc != 0 and "not permitted" in done.out, done.out


@attack("front-rmmod", "root unloads the driver", "refused")
def rmmod(linux: Linux) -> None:
    assert linux.machine.run("rmmod qv").rc != 0


@attack("front-disable", "root switches QV off while a cell lives", "refused, with the reason")
def disable(linux: Linux) -> None:
    done = linux.machine.run("qvctl disable")
    assert done.rc == 1 and "remedy: " in done.out, done.out


@attack("front-ioctl-garbage", "root calls the driver with numbers and structures of garbage",
        "refused")
def ioctl_garbage(linux: Linux) -> None:
    said = linux.machine.run([
        "python3", "-c", r"""
import fcntl, os, random
random.seed(7)
fd = os.open('/dev/qv', os.O_RDWR)
bad = 0
for n in list(range(0x40)) * 4:
    for size in (0, 8, 512, 2048, 8192):
        number = 3 << 30 | (size & 0x3fff) << 16 | ord('Q') << 8 | n
        if n in (0x02, 0x03, 0x11, 0x12, 0x13):
            continue
        data = bytearray(random.randbytes(max(size, 8)))
        try:
            fcntl.ioctl(fd, number, data, True)
        except OSError as error:
            bad += 1
print('refused', bad)
"""
    ],
                             timeout=120)
    assert said.rc == 0 and int(said.out.split()[1]) > 1000, said.out
