# SPDX-License-Identifier: GPL-2.0-only
"""A user without privileges who may open channels tries to keep resources of root: the memory of
channels that are gone, the kernel's memory, the module."""

import pytest
from product import Product

USER = "setpriv --reuid 1234 --regid 1234 --clear-groups"
# Opens and maps each channel, waits until these are gone, and looks at what it has kept
HOLDER = r"""
import glob, mmap, os, sys, time
files = [os.open(path, os.O_RDONLY) for path in sorted(glob.glob("/dev/qv-channel/*"))]
maps = [mmap.mmap(f, 4096, mmap.MAP_SHARED, mmap.PROT_READ) for f in files]
untouched = [mmap.mmap(f, 4096, mmap.MAP_SHARED, mmap.PROT_READ) for f in files]
assert {m[:8] for m in maps} == {b"QVCHANNL"}
place = "/run/held/" + sys.argv[1]
with open(place, "w") as f: f.write(str(len(files)))
while not os.path.exists(place + ".look"): time.sleep(0.05)
assert {bytes(m[:]) for m in maps + untouched} == {bytes(4096)}
assert {os.read(f, 64) for f in files} == {b""}
with open(place + ".seen", "w") as f: f.write("nothing")
time.sleep(600)
"""
FLOOD = r"""
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
files, memory = [], open("/proc/meminfo")
try:
    while True: files.append(os.open("/dev/qv-channel/big", os.O_RDONLY))
except OSError as e: print(len(files), e.strerror)
free = [int(line.split()[1]) >> 10 for line in memory if line.startswith("MemAvailable")]
print(free[0])
"""


def cell(qv: Product, name: str, cpu: int, channels: list[str]) -> str:
    """Returns the file of a cell with channels of the user."""
    more = ", ".join(f'{{{words}, writer: {name}, readers: [linux], owner: "1234:1234", mode: 0600}}' for words in channels)
    path = qv.config("quest", cpu, more=f"channels: [{more}]")
    qv.sh(f"sed 's/^name:.*/name: {name}/; s/^memory:.*/memory: 16M/' {path} >/run/{name}.yaml")
    return f"/run/{name}.yaml"


def wait_for(qv: Product, path: str) -> str:
    return qv.sh(f"until [ -s {path} ]; do sleep 0.05; done; cat {path}", 120)


@pytest.mark.slow
def test_user_keeps_nothing_of_channels_that_are_gone(qv: Product) -> None:
    """All pages of 2 MiB are used, so a page that a program kept would be missed in the next life.
    The module stays while a descriptor exists, and qvctl names the program."""
    qv.do("enable")
    files = [cell(qv, name, cpu, [f"name: {name}{n}, type: ring, item: 64, slots: 4" for n in range(16)])
             for name, cpu in (("one", 3), ("two", 2))]
    qv.sh(f"rm -rf /run/held; mkdir -m 777 /run/held; cat >/run/holder.py <<'X'\n{HOLDER}X")
    for life in range(3):
        for file in files:
            qv.do(f"cell create {file} --start")
        qv.sh(f"{USER} python3 /run/holder.py {life} >/run/held/{life}.log 2>&1 & echo $! >>/run/held/pids")
        assert wait_for(qv, f"/run/held/{life}") == "32"
        qv.do("cell destroy one two")
    for life in range(3):
        qv.sh(f"touch /run/held/{life}.look")
        assert wait_for(qv, f"/run/held/{life}.seen") == "nothing"
    pid = qv.sh("head -1 /run/held/pids").strip()
    assert f"/dev/qv-channel/one0 is open in python3 (process {pid}): the module qv stays loaded" in qv.do("disable")
    assert qv.machine.run("rmmod qv").rc == 1
    qv.sh("for p in $(cat /run/held/pids); do kill $p; while [ -e /proc/$p ]; do sleep 0.05; done; done")
    assert qv.do("disable").splitlines() == ["QV is disabled already: Linux has the machine to itself"]
    qv.sh("rmmod qv")


@pytest.mark.slow
def test_flood_of_opens_takes_little_memory(qv: Product) -> None:
    """A thousand files on the largest mailbox, with items of 7 MiB, in a machine with 2 GiB."""
    qv.do("enable")
    qv.do(f"cell create {cell(qv, 'one', 3, [f'name: big, type: mailbox, item: {7 << 20}'])} --start")
    before = int(qv.sh("awk '/MemAvailable/ { print int($2 / 1024) }' /proc/meminfo"))
    said, free = qv.sh(f"cat >/run/flood.py <<'X'\n{FLOOD}X\n{USER} python3 /run/flood.py").splitlines()
    assert said.endswith("Too many open files") and int(said.split()[0]) > 1000
    assert int(free) > before - 100
    qv.do("cell destroy one")
    qv.do("disable")
