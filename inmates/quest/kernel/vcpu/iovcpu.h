/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selects the I/O VCPU that serves a driver, by the classes of devices (enum iovcpu_class) of each
 * VCPU. Only the kernel's own I/O VCPUs serve drivers. If a program's I/O VCPU could serve a
 * driver, the program could starve that driver.
 */
#ifndef QUEST_IOVCPU_H
#define QUEST_IOVCPU_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the class whose name is the `n` characters at `name`; 0 if no class has that name. */
int iovcpu_class_of(const char *name, size_t n);

/* Returns whether all bits of `io_class` are classes. */
bool iovcpu_known(int io_class);

/*
 * Sets the classes of devices that VCPU `id` is for. For a VCPU of a program, they are recorded but
 * have no effect.
 */
void iovcpu_set(int id, int io_class, bool of_program);
int iovcpu_get(int id);

/*
 * Returns the I/O VCPU for a driver of devices of `io_class`: the VCPU that has most of these
 * classes; INPUT_VCPU if no VCPU has any of them.
 */
int iovcpu_select(int io_class);

#endif
