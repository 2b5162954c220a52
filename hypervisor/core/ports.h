/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_PORTS_H
#define QV_PORTS_H

#include "abi/types.h"

struct instance;
struct pcpu;
struct qv_mon_boot;
struct qv_mon_guard;

/* SMI command: a write by Linux is carried out and logged */
#define PORT_SMI	0xb2u
#define PORT_SMI_LAST	0xb3u

/* sets the result of an IN: al, ax or eax, by @size */
void port_result(struct pcpu *cpu, u32 size, u32 value);
/* true if no cell may have one of these ports */
bool ports_never(const struct qv_mon_boot *boot, u32 first, u32 last);
void ports_front(void);			/* selects the ports at which Linux exits */
/* Returns the guard that forbids Linux to write @size bytes of @value from @port on, or NULL */
const struct qv_mon_guard *ports_guard(u32 port, u32 size, u32 value);
/* True if a cell that was started has one of these ports, in its list or its devices' BARs */
bool ports_claimed(const struct instance *inst, u32 first, u32 last);
/* Makes @inst's guest exit at these ports, or ends that. Its CPUs see it when they next exit */
void ports_stop(struct instance *inst, u32 first, u32 last, bool stop);

#endif
