# SPDX-License-Identifier: GPL-2.0-only
"""Cells that wait for the PCI functions of other cells."""

from __future__ import annotations

from . import abi
from .errors import Refused
from .words import pci_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .device import Device


def check_no_heir(device: Device, name: str) -> None:
    """Refuses if a running cell inherits a function as soon as this cell stops. The cell that is to
    replace this one could not have the function then."""
    info = device.info(name)
    devices = info.devices[: info.num_devices]
    held = {one.bdf for one in devices if not one.state & abi.DEVICE_HEIR}
    for other in (one for one in device.names() if one != name):
        its = device.info(other)
        for one in its.devices[: its.num_devices]:
            waits = one.state & abi.DEVICE_HEIR and one.bdf in held
            if waits and its.state == abi.State.RUNNING:
                raise Refused(
                    f"the cell {other} inherits the PCI function {pci_name(one.bdf)} as soon as "
                    f"the cell {name} stops",
                    f"qvctl cell destroy {other} first, and create it again afterwards",
                )
