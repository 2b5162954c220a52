# SPDX-License-Identifier: GPL-2.0-only
"""Which of the tests in tests/lab are done on VT-x with --thorough only; tests/attack/test_inmates.py has the attacks'."""

from fnmatch import fnmatchcase

# Bochs needs half a minute and more for each. On AMD's machines they are done always.
ON_INTEL = (
    # attacks of tests/attack try the same there (front-read-hidden, front-write-*, front-icr-*, front-msr-*, front-instructions)
    "test_memory_of_a_cell*", "test_interrupts_to_a_cell*", "test_model_specific_registers*", "test_instructions_of_a_hypervisor*",
    # test_a_crash_stops_that_cell_and_no_other has two cells there
    "test_two_cells_at_once*",
    # how the driver counts, whatever the processor
    "test_the_time_is_the_cells_own*", "test_no_alarm_while_it_beats*",
)


def rarely(name: str) -> bool:
    """Whether a test of that name is one of them."""
    return any(fnmatchcase(name, pattern) for pattern in ON_INTEL)
