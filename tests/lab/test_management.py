# SPDX-License-Identifier: GPL-2.0-only
"""Management calls by a malicious root or a hostile kernel, and malformed images.

Each call is refused with a reason. Linux and another cell run on, and the kernel log stays clean."""

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from badimage import image
from product import CONFIGS, HERE, Product, module, program
from test_watchdog import described
from test_watching import until

QUEST2 = f"{CONFIGS}/quest2.yaml"
MAY_LOCK = "/run/quest2-watched.yaml"
IMAGE = "/usr/share/qv/images/quest.elf"

# ---- the result of every call in every state; E_* as in include/uapi/linux/qv_reply.h

CALLS = ("create", "start", "shutdown", "destroy", "info", "stats", "lock", "unlock", "enable", "disable")
TAKEN, STATE, NONE, HAS = "E_NAME_TAKEN", "E_STATE", "E_NO_CELL", "E_CELLS_EXIST"
STATES: dict[str, dict[str, str]] = {
    "absent": {"start": NONE, "shutdown": NONE, "destroy": NONE, "info": NONE, "stats": NONE, "lock": NONE,
               "unlock": NONE, "enable": "E_ENABLED"},
    "loadable": {"create": TAKEN, "shutdown": STATE, "info": "OK", "stats": "OK", "lock": STATE, "unlock": STATE,
                 "enable": "E_ENABLED", "disable": HAS},
    "running": {"create": TAKEN, "start": STATE, "info": "OK", "stats": "OK", "unlock": STATE,
                "enable": "E_ENABLED", "disable": HAS},
    "shut-down": {"create": TAKEN, "shutdown": STATE, "info": "OK", "stats": "OK", "lock": STATE, "unlock": STATE,
                  "enable": "E_ENABLED", "disable": HAS},
    "failed": {"create": TAKEN, "shutdown": STATE, "info": "OK", "stats": "OK", "lock": STATE, "unlock": STATE,
               "enable": "E_ENABLED", "disable": HAS},
    "locked": {"create": "E_LOCKED", "start": "E_LOCKED", "shutdown": "E_LOCKED", "destroy": "E_LOCKED",
               "info": "OK", "stats": "OK", "lock": STATE, "unlock": "E_NOT_AGREED", "enable": "E_ENABLED",
               "disable": "E_LOCKED"},
}
# The calls that succeed in a state and lead to another state
WORK = {"absent": ("create",), "loadable": ("start",), "running": ("shutdown",), "shut-down": ("start",),
        "failed": ("destroy",)}


def codes(qv: Product, *calls: str) -> dict[str, str]:
    qv.machine.put(HERE / "inside/states", "/run/states")
    return json.loads(qv.sh(f"python3 /run/states quest2 {MAY_LOCK} {' '.join(calls)}"))  # type: ignore[no-any-return]


def check(qv: Product, state: str) -> None:
    expected = STATES[state]
    calls = [c for c in CALLS if c in expected]
    assert codes(qv, *calls) == expected, state
    for call in WORK.get(state, ()):
        assert codes(qv, call) == {call: "OK"}, state


@pytest.mark.slow
def test_every_call_in_every_state_has_expected_result(qv: Product) -> None:
    qv.do("enable")
    assert described(qv, "quest2", 2, "off", "lock: may\\n") == MAY_LOCK
    assert set().union(*STATES.values()) == set(CALLS)
    check(qv, "absent")
    check(qv, "loadable")
    qv.quesh("echo up", "quest2")
    check(qv, "running")
    check(qv, "shut-down")
    qv.quesh("lock", "quest2")
    check(qv, "locked")
    qv.quesh("unlock", "quest2")
    qv.machine.run("quesh quest2 -c 'crash port'")
    assert qv.show("quest2")["state"] == "failed"
    check(qv, "failed")
    assert codes(qv, "disable", "create", "info", "disable") == {
        "disable": "E_NOT_ENABLED", "create": "E_NOT_ENABLED", "info": NONE}


def test_qvctl_of_a_later_version_can_end_qv(qv: Product) -> None:
    """As `systemctl restart qv.service` does after an upgrade, before the new module is loaded."""
    qv.sh("sed '/^status = /i from qv import abi; abi.ABI_VERSION += 1' $(command -v qvctl) >/run/later; chmod +x /run/later")
    qv.run_cell("quest", 3)
    said = qv.machine.run("/run/later cell start quest 2>&1; /run/later disable 2>&1").out
    assert "of the interface, this module" in said and "systemctl restart qv.service" in said
    assert "cells" in said and qv.show()["state"] == "running"
    qv.sh("/run/later cell destroy quest && /run/later disable && /run/later pool --set 0", timeout=300)
    assert qv.ask("status")["enabled"] is False


# ---- a malicious root

@pytest.mark.parametrize("seed, seconds", [(1, 6), pytest.param(2, 30, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_absurd_ioctls_are_refused(qv: Product, seed: int, seconds: int) -> None:
    """Several threads send requests with absurd fields and requests that change while the driver
    reads them. See programs/ioctls.c."""
    qv.machine.put(program("ioctls"), "/run/ioctls")
    qv.run_cell("quest", 3)
    qv.quesh("count")
    counted = qv.count()
    said = qv.sh(f"/run/ioctls {seed} {seconds} {IMAGE} 2", seconds + 120)
    print(said)
    assert said.endswith("0 amiss\n"), said
    assert int(said.split()[0]) > 100
    cell = qv.show()
    assert (cell["state"], cell["failures"]) == ("running", 0)
    assert qv.count() > counted
    qv.assert_counting()
    for name in [c["name"] for c in qv.ask("cell list")["cells"] if c["name"] != "quest"]:
        qv.do(f"cell destroy {name}")
    assert qv.online() == "0-2"
    qv.check_kernel_log()


def test_device_files_are_closed_to_unprivileged_users(qv: Product) -> None:
    qv.run_cell()
    for deed in ("exec 3</dev/qv", "exec 3</dev/qv-cell/quest/console", "exec 3>/dev/qv-cell/quest/console"):
        said = qv.machine.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "bash", "-c", deed])
        assert "Permission denied" in said.out


@pytest.mark.slow
def test_console_reads_as_a_frame_buffer(qv: Product) -> None:
    """See inside/screen: read(), pread(), lseek(), the cursor's ioctl, and write() of keys."""
    qv.run_cell("quest", 3)
    qv.quesh("echo painted")
    qv.machine.put(HERE / "inside/screen", "/run/screen")
    screen = "\n".join(json.loads(qv.sh("python3 /run/screen"))).rstrip()
    assert screen.endswith("\npainted\n>")
    assert screen == "\n".join(line.rstrip() for line in qv.sh("quesh quest --dump").splitlines()).rstrip()
    # an attribute may be a newline
    first = qv.sh(r"head -c 160 /dev/qv-cell/quest/console | LC_ALL=C sed -z 's/\(.\)./\1/g'")
    assert first.rstrip() == screen.split("\n", 1)[0]


LOOKS = {"IOC_STATUS", "IOC_POOL", "IOC_POOL_CPUS", "IOC_CELL_LIST", "IOC_CELL_INFO", "IOC_STATS", "IOC_LOG"}


def user_looks(qv: Product, user: str) -> None:
    """A user of the group qv sees all cells and changes nothing."""
    assert qv.sh("stat -c '%U:%G %a' /dev/qv") == "root:qv 640\n"
    # as if the module had been loaded before there was the group
    qv.sh("chown root:root /dev/qv && chmod 600 /dev/qv && udevadm trigger /dev/qv && udevadm settle")
    assert qv.sh("stat -c '%U:%G %a' /dev/qv") == "root:qv 640\n"
    assert qv.sh(f"{user} qvctl cell list") == qv.do("cell list")
    assert qv.sh(f"{user} qvctl cell stats quest | head -1").startswith("EXITS")
    assert "qv.ko is loaded" in qv.sh(f"{user} qvctl log")
    said = qv.machine.run(f"{user} qvctl cell destroy quest")
    assert said.rc == 1 and "this needs root" in said.out
    qv.machine.put(HERE / "inside/looker", "/run/looker")
    found = json.loads(qv.sh(f"{user} python3 /run/looker"))
    assert len(found) == 20, found
    assert {call for call, result in found.items() if result == "OK"} == LOOKS
    assert {result for call, result in found.items() if call not in LOOKS} == {"EPERM"}
    assert qv.show()["state"] == "running"


@pytest.mark.slow
@pytest.mark.machine(fresh=True)
def test_groups_qv_and_qv_console(qv: Product) -> None:
    """udevd ignores a group that is not there when it reads its rules, and reads them again at its
    next start. A user of qv-console types; a user of qv looks, and does not type."""
    qv.sh("useradd carol; systemd-sysusers && systemctl restart systemd-udevd", timeout=300)
    qv.sh("useradd bob; usermod --append --groups qv-console bob; usermod --append --groups qv carol")
    for _ in range(2):
        qv.run_cell("quest", 3)
        qv.sh("udevadm settle")
        assert qv.sh("stat -c '%U:%G %a' /dev/qv-cell/quest/console") == "root:qv-console 660\n"
        said = qv.machine.run("setpriv --reuid bob --regid bob --init-groups quesh quest -t 60 -c uptime")
        assert said.rc == 0 and said.out.startswith("up "), said
        said = qv.machine.run("setpriv --reuid carol --regid carol --init-groups quesh quest -t 60 -c uptime")
        assert said.rc == 1 and "remedy: run it with sudo, or join the group qv-console" in said.out, said
        assert qv.machine.run("setpriv --reuid bob --regid bob --init-groups qvctl cell list").rc == 1
        user_looks(qv, "setpriv --reuid carol --regid carol --init-groups")
        qv.do("cell destroy quest")


# ---- a hostile kernel

@pytest.fixture
def hostile(qv: Product) -> Iterator[str]:
    """Loads the module qvcall while a cell runs. Yields the folder of the module's parameters."""
    qv.run_cell("quest", 3)
    qv.quesh("count")
    qv.machine.put(module("qvtouch", qv.machine.config.kernel), "/run/qvtouch.ko")
    qv.machine.put(module("qvcall", qv.machine.config.kernel), "/run/qvcall.ko")
    qv.sh("insmod /run/qvtouch.ko")
    hidden = [int(line, 16) for line in qv.sh("cat /sys/module/qvtouch/parameters/ones").split()]
    qv.sh("rmmod qvtouch")
    # Pages of the cell with a page of Linux directly before them
    edges = [page for page in hidden if page - (2 << 20) not in hidden]
    qv.sh(f"insmod /run/qvcall.ko hidden={edges[-1]:#x} cpu=2")
    yield "/sys/module/qvcall/parameters"
    qv.sh("rmmod qvcall")
    qv.assert_counting()
    assert qv.show()["failures"] == 0


@pytest.mark.slow
def test_hypercall_with_one_flaw_is_refused(qv: Product, hostile: str) -> None:
    rows = [line.split() for line in qv.sh(f"taskset -c 0 cat {hostile}/requests").splitlines()]
    assert len(rows) > 40
    wrong = [row for row in rows if row[1] != row[2]]
    assert not wrong
    assert [c["name"] for c in qv.ask("cell list")["cells"]] == ["quest"]
    assert re.search(r"hypercall 2 refused, error \d+", qv.do("log"))


@pytest.mark.slow
def test_hypercall_request_changed_during_read_is_refused(qv: Product, hostile: str) -> None:
    assert qv.sh(f"taskset -c 0 bash -c 'echo 3000 >{hostile}/storm'; cat {hostile}/value") == "0\n"


@pytest.mark.slow
def test_hypercall_with_bad_instance_or_number_is_refused(qv: Product, hostile: str) -> None:
    call, instance, pointer, state, ipi, bell = 0x100, 0x103, 0x102, 0x104, 0x11e, 0x122
    request = int(qv.sh(f"cat {hostile}/request"))
    hidden = int(qv.sh(f"cat {hostile}/hidden"))
    rows = [(number, i, instance)
            for number in (3, 4, 5, 6, 8) for i in (0, 2, 15, 16, 2**32 + 1, 2**64 - 1)]
    rows += [(number, i, instance) for number in (11, 16) for i in (0, 2, 15)]
    rows += [(number, 1, call) for number in (10, 18, 63, 64, 2**31, 2**32, 2**64 - 1)]
    rows += [(2, a, pointer)
             for a in (0x1001 + request, hidden, hidden - 64, 0xfee00000, 2**46, 2**64 - 8)]
    rows += [(3, 1, state), (5, 1, state)]
    rows += [(17, 1, state)]  # no IOMMU was given to the monitor
    rows += [(13, a, 0) for a in (0, 1, hidden, 2**64 - 1)]  # no channel there: nothing to do
    rows += [(number, a, bell) for number in (14, 15) for a in (0, 1, hidden, 2**64 - 1)]
    rows += [(12, 1, ipi), (12, 2**64 - 1, ipi)]  # enabled without --ipi direct
    rows += [(9, 0, call), (9, 5, call), (9, 2**32 + 1, call), (0, 0, 0)]
    script = "\n".join(f"echo {n:x} {a:x} >{hostile}/call; cat {hostile}/value" for n, a, _ in rows)
    found = [int(line) for line in qv.sh(script).split()]
    assert found == [answer for _, _, answer in rows]


# ---- malformed images; the whole table is tests/unit/test_elf.c

IMAGES = {
    "no header": "no multiboot2 header", "checksum": "checksum", "entry": "entry point lies in none", "machine": "not for x86",
    "headers": "program headers lie outside", "nothing": "nothing to load", "file": "lies outside the file",
    "sizes": "more bytes in the file than in memory", "console": "where the console is", "beyond": "does not fit",
    "wraps": "does not fit", "offset": "lies outside the file", "large": "does not fit",
}


# qvctl itself would reject an image with bad headers, so this test calls the driver directly
CREATE = """
import sys
from qv import config, device, errors, machine
found, problems = config.check_files([sys.argv[1]], machine.Machine.this())
assert not problems, problems
try:
    device.Device().create(found[0].request(), open(sys.argv[2], "rb").read())
except errors.Refused as refusal:
    print(refusal.sentence)
"""


@pytest.mark.slow
def test_malformed_image_is_refused(qv: Product, tmp_path: Path) -> None:
    qv.do("enable")
    for change, words in IMAGES.items():
        (tmp_path / "bad.elf").write_bytes(image(change))
        qv.machine.put(tmp_path / "bad.elf", "/run/bad.elf")
        said = qv.sh(f"python3 -c '{CREATE}' {QUEST2} /run/bad.elf")
        assert words in said and "cannot be loaded" in said, change
        assert qv.ask("cell list")["cells"] == []
    assert qv.online() == qv.all_online


@pytest.mark.slow
def test_cell_without_heartbeat_is_no_failure(qv: Product, tmp_path: Path) -> None:
    """A valid image that only halts. Without a first heartbeat the watchdog does not watch the
    cell."""
    good = bytearray(image(""))
    # the code is `hlt`, and a jump back to it
    good[0x40 + 56:0x80] = b"\xf4\xeb\xfd".ljust(8, b"\x90")
    good[24:32] = struct.pack("<Q", 0x100078)
    (tmp_path / "silent.elf").write_bytes(good)
    qv.machine.put(tmp_path / "silent.elf", "/run/silent.elf")
    path = described(qv, "quest", 3, "100ms")
    qv.sh(f"sed -i 's,^image:.*,image: /run/silent.elf,' {path}")
    qv.do(f"cell create {path} --start")
    qv.sh("sleep 2")
    cell = qv.show()
    assert (cell["state"], cell["heartbeat"]) == ("running", 0)
    # the inmate does not answer, so the driver uses force after 200 ms
    qv.do("cell shutdown quest --timeout 200")
    assert qv.show()["state"] == "shut-down"
    assert "stopped by force" in qv.do("log")


# Executes cld. Scans 2 MiB to 16 MiB for a nonzero word. If it finds such a word, it writes to port
# 0x99, with EDI behind the word. If all words are zero, it fills the memory and increments the
# heartbeat.
SCAN = bytes.fromhex("fc" "bf00002000" "b900003800" "31c0" "f3af" "751b"
                     "bf00002000" "b900003800" "b85a5a5a5a" "f3ab" "ff0500a00b00" "f390" "ebf6" "e699")


def scanner(folder: Path) -> Path:
    """Returns an image that fails its cell if a byte of the memory outside the image is not zero."""
    scan = bytearray(image("").ljust(0x200, b"\0"))
    scan[0x100:0x100 + len(SCAN)] = SCAN
    scan[24:32] = struct.pack("<Q", 0x100100)
    (folder / "scan.elf").write_bytes(scan)
    return folder / "scan.elf"


@pytest.mark.slow
def test_new_cell_has_zeroed_memory(qv: Product, tmp_path: Path) -> None:
    """A cell's memory contains only its image: at its first start, at a restart after shutdown, and
    as a new cell in memory that Linux has filled. The memory has no data of an earlier cell."""
    qv.machine.put(scanner(tmp_path), "/run/scan.elf")
    path = described(qv, "quest", 3, "off")
    qv.sh(f"sed -i 's,^image:.*,image: /run/scan.elf,; s,^memory:.*,memory: 16M,' {path}")

    def beats() -> None:
        until(lambda: qv.show()["heartbeat"] > 0 or qv.show()["state"] != "running", "the end of the scan")
        assert qv.show()["state"] == "running", qv.show()["failure"]

    qv.do(f"cell create {path} --start")
    beats()
    for _ in range(2):
        qv.do("cell shutdown quest --timeout 0")
        qv.do("cell start quest")
        beats()
    qv.do("cell destroy quest")
    qv.sh("dd if=/dev/urandom of=/dev/shm/dirt bs=1M count=600 status=none; rm /dev/shm/dirt")
    qv.do(f"cell create {path} --start")
    beats()
