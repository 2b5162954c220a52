# SPDX-License-Identifier: GPL-2.0-only
"""Which of the tests in tests/lab are done on VT-x with --thorough only; tests/attack/test_inmates.py has the attacks'."""

from fnmatch import fnmatchcase

# Bochs needs half a minute and more for each. On AMD's machines they are done always.
ON_INTEL = (
    # tests/attack tries the same there: front-read-hidden, front-write-*, front-icr-*,
    # front-msr-*, front-instructions
    "test_cell_memory_is_hidden_from_linux*", "test_interrupts_to_cell_are_dropped*",
    "test_protected_msr_writes_are_dropped*", "test_hypervisor_instructions_raise_ud*",
    # test_crash_stops_only_its_cell has two cells there
    "test_two_cells_run_independently*",
    # how the driver counts, whatever the processor
    "test_watchdog_timeout_is_per_cell*", "test_busy_cell_is_not_failed*",
)


def rarely(name: str) -> bool:
    """Whether a test of that name is one of them."""
    return any(fnmatchcase(name, pattern) for pattern in ON_INTEL)
