/* SPDX-License-Identifier: GPL-2.0-only */
/* Registers that an entry into a guest does not switch. */
#ifndef QV_REGS_H
#define QV_REGS_H

void clear_registers(void);

#endif
