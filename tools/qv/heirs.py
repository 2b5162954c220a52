# SPDX-License-Identifier: GPL-2.0-only
"""Cells that wait for the PCI functions of other cells."""

from __future__ import annotations

from . import abi
from .errors import Refused
from .words import pci_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .device import Device
    from .keys import CellConfig


def _listed(device: Device) -> Iterator[tuple[str, abi.CellInfo, abi.PciDevice]]:
    """Yields each function in the file of each cell, with the cell."""
    for name in device.names():
        info = device.info(name)
        for one in info.devices[: info.num_devices]:
            yield name, info, one


def check_holder(device: Device, cell: CellConfig) -> None:
    """Refuses if a cell has the function that `heir-of` does not name. The driver does not know
    that name."""
    wanted = {one.bdf: one.heir_of for one in cell.devices if one.heir_of}
    for name, _, one in _listed(device) if wanted else ():
        if one.bdf in wanted and not one.state & abi.DEVICE_HEIR and name != wanted[one.bdf]:
            raise Refused(
                f"the cell {name} has the PCI function {pci_name(one.bdf)}, "
                f"not the cell {wanted[one.bdf]}",
                f"`heir-of: {name}`, or wait until the cell {wanted[one.bdf]} has it again",
            )


def check_no_heir(device: Device, name: str) -> None:
    """Refuses if a running cell inherits a function as soon as this cell stops. The cell that is to
    replace this one could not have the function then."""
    info = device.info(name)
    devices = info.devices[: info.num_devices]
    held = {one.bdf for one in devices if not one.state & abi.DEVICE_HEIR}
    for other, its, one in _listed(device):
        waits = one.state & abi.DEVICE_HEIR and one.bdf in held
        if other != name and waits and its.state == abi.State.RUNNING:
            raise Refused(
                f"the cell {other} inherits the PCI function {pci_name(one.bdf)} as soon as "
                f"the cell {name} stops",
                f"qvctl cell destroy {other} first, and create it again afterwards",
            )
