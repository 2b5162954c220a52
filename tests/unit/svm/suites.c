// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

/* All that is pure, and the monitor on AMD-V */
const struct unit_test *const unit_suites[] = {
	paging_tests, paging_race_tests, nested_tests, icr_tests, decode_tests,
	objdump_tests, request_tests, multiboot2_tests, elf_tests,
	msr_tests, exits_tests, events_tests, kick_tests, manager_tests, steps_tests, tables_tests, front_tests,
	xapic_tests, guest_tests, pci_tests, pci_front_tests, pci_guard_tests, pci_manage_tests, state_tests,
	NULL
};
