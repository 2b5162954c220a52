/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of the fake machine that depend on the vendor: svm/fake_vendor.c, vmx/fake_vmcs.c. */
#ifndef FAKE_VENDOR_H
#define FAKE_VENDOR_H

#include "core/instance.h"

/* Fills in the boot data that only the driver of this vendor knows. */
void fake_vendor_boot(struct qv_mon_boot *b);
/* Makes the guest exit by an access to @gpa, and handles the exit. */
void fake_memory_exit(struct pcpu *cpu, u64 gpa, bool write);
/* Makes this CPU of the front end the current one; at first it is CPU 0. */
void fake_as(u32 cpu);
/* Ends a function that does not return: fake_entry.c. */
void fake_back_to(const char *name) __attribute__((noreturn));

#endif
