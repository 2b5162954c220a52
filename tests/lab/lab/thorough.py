# SPDX-License-Identifier: GPL-2.0-only
"""Tests in tests/lab that need --thorough. tests/attack/machines.py lists such attacks.

`make check` runs a sample of both, and `make check-all` runs all."""

from fnmatch import fnmatchcase

# In Bochs each of these tests takes half a minute or more. The same tests always run on AMD.
ON_INTEL = (
    # tests/attack has these attacks there: front-read-hidden, front-write-*, front-icr-*,
    # front-msr-*, front-instructions
    "test_cell_memory_is_hidden_from_linux*", "test_interrupts_to_cell_are_dropped*",
    "test_protected_msr_writes_are_dropped*", "test_hypervisor_instructions_raise_ud*",
    # on VT-x, test_crash_stops_only_its_cell also runs two cells
    "test_two_cells_run_independently*",
    # these tests are about the driver, which does not depend on the processor
    "test_watchdog_timeout_is_per_cell*", "test_busy_cell_is_not_failed*",
    # these tests repeat many times; other tests there take over and create cells once
    "test_create_destroy_50_times_leaks_no_memory*",
    "test_enable_disable_under_load_keeps_programs_intact*",
    # test_enable_with_kvm_loaded_is_refused covers kvm_intel, front-cr4-vmxe enabling VT-x
    "test_kvm_cannot_load_while_enabled*",
)
# These two ways of a reset are slow on AMD, too. The panic and the reset button are always tested
EVERYWHERE = ("test_log_survives_warm_reset[[]sysrq b]",
              "test_log_survives_warm_reset[[]triple fault]")


def rarely(name: str, in_bochs: bool) -> bool:
    """Returns whether a test of that name needs --thorough."""
    patterns = EVERYWHERE + (ON_INTEL if in_bochs else ())
    return any(fnmatchcase(name, pattern) for pattern in patterns)
