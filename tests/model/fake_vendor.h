/* SPDX-License-Identifier: GPL-2.0-only */
/* What the fake machine needs of the vendor under test: svm/fake_vendor.c, vmx/fake_vendor.c. */
#ifndef FAKE_VENDOR_H
#define FAKE_VENDOR_H

#include "core/instance.h"

/* What only this vendor's driver says */
void fake_vendor_boot(struct qv_mon_boot *b);
/* The guest's access to @gpa exits, and is handled */
void fake_memory_exit(struct pcpu *cpu, u64 gpa, bool write);
/* From now on this CPU of the front end is at work; 0 at first */
void fake_as(u32 cpu);
/* Where functions end that do not return: fake_entry.c */
void fake_back_to(const char *name) __attribute__((noreturn));

#endif
