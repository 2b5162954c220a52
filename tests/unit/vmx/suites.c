// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

/* The monitor on VT-x; what is pure is tested beside AMD-V */
const struct unit_test *const unit_suites[] = {
	kick_tests, manager_tests, steps_tests, front_tests, vmx_msr_tests, vmx_exits_tests, vmx_events_tests, vmx_state_tests, vmx_caps_tests,
	NULL
};
