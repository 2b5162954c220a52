# SPDX-License-Identifier: GPL-2.0-only
"""Cells that would inherit the PCI functions of a cell that is to be replaced."""

from types import SimpleNamespace
from typing import Any

import pytest

from qv import abi
from qv.errors import Refused
from qv.heirs import check_holder, check_no_heir

NIC = 0x00A0


def device(**cells: tuple[abi.State, bool]) -> Any:
    """A device file with cells that list one function: their states, and whether they wait."""
    def info(name: str) -> Any:
        state, waits = cells[name]
        one = SimpleNamespace(bdf=NIC, state=abi.DEVICE_HEIR if waits else 0)
        return SimpleNamespace(num_devices=1, devices=[one], state=state)
    return SimpleNamespace(names=lambda: list(cells), info=info)


def test_cell_with_a_running_heir_is_not_replaced() -> None:
    first = abi.State.RUNNING, False
    with pytest.raises(Refused, match="second inherits the PCI function 00:14.0") as refused:
        check_no_heir(device(first=first, second=(abi.State.RUNNING, True)), "first")
    assert refused.value.remedy.startswith("qvctl cell destroy second first")
    check_no_heir(device(first=first, second=(abi.State.FAILED, True)), "first")
    check_no_heir(device(first=first, second=(abi.State.RUNNING, False)), "first")
    # it only waits itself, so its end moves nothing
    check_no_heir(device(first=(abi.State.RUNNING, True), second=first), "first")


def test_heir_of_a_cell_that_does_not_have_the_function_is_refused() -> None:
    """Several cells may wait for it. If no cell has it, the driver refuses."""
    def heir(*of: str) -> Any:
        return SimpleNamespace(devices=[SimpleNamespace(bdf=NIC, heir_of=one) for one in of])
    runs = abi.State.RUNNING
    cells = device(first=(runs, True), second=(runs, False), third=(runs, True))
    with pytest.raises(Refused, match="the cell second has the PCI function 00:14.0, not the cell first") as refused:
        check_holder(cells, heir("first"))
    assert refused.value.remedy.startswith("`heir-of: second`")
    check_holder(cells, heir("second"))
    check_holder(cells, heir(""))
    check_holder(device(first=(runs, True)), heir("first"))
