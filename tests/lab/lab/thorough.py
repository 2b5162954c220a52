# SPDX-License-Identifier: GPL-2.0-only
"""The tests of tests/lab that run on VT-x with --thorough only. For attacks see
tests/attack/test_inmates.py."""

from fnmatch import fnmatchcase

# Bochs needs more than half a minute for each. On AMD machines they always run.
ON_INTEL = (
    # tests/attack tries the same there: front-read-hidden, front-write-*, front-icr-*,
    # front-msr-*, front-instructions
    "test_cell_memory_is_hidden_from_linux*", "test_interrupts_to_cell_are_dropped*",
    "test_protected_msr_writes_are_dropped*", "test_hypervisor_instructions_raise_ud*",
    # on VT-x, test_crash_stops_only_its_cell also has two cells
    "test_two_cells_run_independently*",
    # these test the driver, which does not depend on the processor
    "test_watchdog_timeout_is_per_cell*", "test_busy_cell_is_not_failed*",
)


def rarely(name: str) -> bool:
    """Returns whether a test of that name is one of these."""
    return any(fnmatchcase(name, pattern) for pattern in ON_INTEL)
