# SPDX-License-Identifier: GPL-2.0-only
"""The state of a cell and its failure, in words and as data."""

from __future__ import annotations

from . import abi
from .exits import exit_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FAILURES = {
    abi.Failure.MEMORY: "it touched memory outside the cell",
    abi.Failure.MSR: "it touched an MSR that cells may not use",
    abi.Failure.PORT: "it touched an I/O port that it does not own",
    abi.Failure.TRIPLE_FAULT: "a triple fault",
    abi.Failure.INSTRUCTION: "it used an instruction that cells may not use",
    abi.Failure.IPI: "it sent an IPI to a CPU that is not its own",
    abi.Failure.EXIT: "an exit that the monitor does not expect",
    abi.Failure.MONITOR: "a fault in the cell's own monitor instance",
    abi.Failure.WATCHDOG: "its heartbeat stopped",
    abi.Failure.CPU_LOST: (
        "a CPU does not answer the monitor; it stays offline, with the cell's memory and devices"
    ),
    abi.Failure.PANIC: "the inmate panicked",
}

# The meaning of .address, for the reasons that set it
ADDRESSES = {
    abi.Failure.MEMORY: "address",
    abi.Failure.MSR: "msr",
    abi.Failure.PORT: "port",
    abi.Failure.IPI: "icr",
}

# The registers of abi.FailureRecord.regs, in their order
REGISTERS = (
    "rax",
    "rcx",
    "rdx",
    "rbx",
    "rsp",
    "rbp",
    "rsi",
    "rdi",
    "r8",
    "r9",
    "r10",
    "r11",
    "r12",
    "r13",
    "r14",
    "r15",
)


def state_name(state: int) -> str:
    """Returns the name of a state in the documents: created, loadable, running, shut-down,
    failed."""
    try:
        return abi.State(state).name.lower().replace("_", "-")
    except ValueError:
        return f"state-{state}"


def failure_name(reason: int) -> str:
    try:
        return abi.Failure(reason).name.lower().replace("_", "-")
    except ValueError:
        return f"reason-{reason}"


def failure_data(
    record: abi.FailureRecord, vendor: int, failed_ns: int = 0
) -> dict[str, Any] | None:
    """Returns the failure as in --json. Numbers of the machine are hexadecimal text. `failed_ns` is
    when it was, in CLOCK_BOOTTIME, or 0."""
    if not record.reason:
        return None
    return {
        "reason": failure_name(record.reason),
        "sentence": FAILURES.get(record.reason, "an unknown reason"),
        "cpu": record.cpu,
        "rip": f"{record.rip:#x}",
        "address": f"{record.address:#x}",
        "exit_code": f"{record.exit_code:#x}",
        "exit_name": exit_name(record.exit_code, vendor),
        "info1": f"{record.info1:#x}",
        "info2": f"{record.info2:#x}",
        "tsc": record.tsc,
        "failed_ns": failed_ns,
        "registers": registers(record),
        "bytes": bytes(record.bytes).hex(),
    }


def registers(record: abi.FailureRecord) -> dict[str, str]:
    return {
        **{name: f"{value:#x}" for name, value in zip(REGISTERS, record.regs)},
        **{
            name: f"{getattr(record, name):#x}"
            for name in ("rip", "rflags", "cr0", "cr2", "cr3", "cr4", "efer")
        },
    }


def record_fields(record: abi.FailureRecord) -> dict[str, str]:
    """Returns the fields of a failure in the journal."""
    found = registers(record).items()
    return {
        "QV_FAILURE": failure_name(record.reason),
        "QV_CPU": str(record.cpu),
        "QV_RIP": f"{record.rip:#x}",
        "QV_ADDRESS": f"{record.address:#x}",
        "QV_EXIT_CODE": f"{record.exit_code:#x}",
        "QV_REGISTERS": " ".join(f"{name}={value}" for name, value in found),
    }
