# SPDX-License-Identifier: GPL-2.0-only
"""The driver is absent, has another version, or gives its own sentences."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
from pathlib import Path

import pytest
from running import Run

from qv import abi, device
from qv.errors import NotAllowed, Refused
from qv.files import Files


def test_no_module(run: Run) -> None:
    run.system.fake = Refused("the module qv is not loaded: there is no /dev/qv", device.MODULE_REMEDY)
    assert run("cell", "list") == 1
    assert "modprobe qv" in run.err


def test_device_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="not loaded") as refusal:
        device.Device(str(tmp_path / "qv"))
    assert "modprobe qv" in refusal.value.remedy


def test_device_that_a_user_may_only_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is opened for reading: the driver then refuses calls that change something."""
    path, opened, may = tmp_path / "qv", os.open, [os.O_RDONLY]
    path.write_text("")

    def open_as_user(name: str, flags: int) -> int:
        if flags & os.O_ACCMODE not in may:
            raise PermissionError(errno.EACCES, "denied")
        return opened(name, flags)
    monkeypatch.setattr(os, "open", open_as_user)
    reader = device.Device(str(path))
    assert fcntl.fcntl(reader.fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    reader.close()
    may.clear()
    with pytest.raises(NotAllowed, match="may not open") as refusal:
        device.Device(str(path))
    assert "the group qv" in refusal.value.remedy


def test_files_are_passed_by_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver finds the bytes of the image and of each module at the addresses of the request."""
    seen: list[bytes] = []

    def ioctl(_fd: int, _request: int, q: abi.CellCreate, _mutate: bool) -> None:
        seen.append(ctypes.string_at(q.image, q.image_len))
        seen.extend(ctypes.string_at(m.data, m.len) for m in q.modules[:q.num_modules])
    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    device.Device("/dev/null").create(abi.CellCreate(num_modules=2), Files(b"image", [b"one\0", b"second"]))
    assert seen == [b"image", b"one\0", b"second"]


def test_driver_of_another_kind() -> None:
    """An unknown ioctl results in a sentence and a remedy, not in an errno."""
    with pytest.raises(Refused, match="does not know this request") as refusal:
        device.Device("/dev/null").status()
    assert refusal.value.remedy


@pytest.mark.parametrize("number", [1, 2, 12, 13, 16, 22, 25, 110])
def test_every_errno_becomes_a_sentence(number: int) -> None:
    refusal = device.refusal_from(abi.Reply(), OSError(number, "x"))
    assert refusal.sentence and refusal.remedy


def test_older_module_is_answered_by_the_restart_that_loads_the_new_one() -> None:
    answer = abi.Reply(code=abi.Reason.E_ABI, text=b"the caller has version 5 of the interface", remedy=b"x")
    refusal = device.refusal_from(answer, OSError(22, "x"))
    assert (refusal.sentence, refusal.code) == ("the caller has version 5 of the interface", abi.Reason.E_ABI)
    assert "systemctl restart qv.service" in refusal.remedy


def test_the_drivers_sentence_comes_first() -> None:
    answer = abi.Reply(code=abi.Reason.E_BUSY, text=b"another call\x1b is under way", remedy=b"wait")
    refusal = device.refusal_from(answer, OSError(16, "x"))
    assert (refusal.sentence, refusal.remedy, refusal.code) == ("another call? is under way", "wait", 20)
