/* SPDX-License-Identifier: GPL-2.0-only */
/* For tests: the flags of the module parameter test_hooks. */
#ifndef QV_ABI_TEST_HOOKS_H
#define QV_ABI_TEST_HOOKS_H

#define QV_TEST_FAULTS		1u	/* guests may request a fault inside the monitor */
#define QV_TEST_BAD_VMRUN	2u	/* at enable, the second CPU's guest state is illegal */
/* at enable, the second CPU's processor refuses a step of the driver's (VT-x) */
#define QV_TEST_BAD_STEP	4u
#define QV_TEST_NO_GUARDS	8u	/* Linux may sleep and eject devices */

/*
 * For tests. A cell makes this call like those of qv/cell.h, to request a fault inside its monitor.
 * edi: QV_FAULT_*, esi: address. The fault makes the cell fail. Without QV_TEST_FAULTS the call is
 * #UD.
 */
#define QV_CALL_FAULT		0x5156
#define QV_FAULT_OPCODE		0	/* the monitor executes an invalid instruction */
/* the monitor reads a byte at the address (0: not mapped) */
#define QV_FAULT_READ		1
/* the monitor sets its stack to the address (0: a double fault) */
#define QV_FAULT_STACK		2

#endif
