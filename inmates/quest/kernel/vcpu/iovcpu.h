/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which I/O VCPU serves which driver, by the classes of devices (enum iovcpu_class) that each VCPU
 * is for. Only the kernel's own I/O VCPUs serve drivers: with one of its own a program could starve
 * them.
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
 * VCPU `id` is for devices of `io_class`. For a VCPU of a program, that is recorded but has no
 * effect.
 */
void iovcpu_set(int id, int io_class, bool of_program);
int iovcpu_get(int id);

/*
 * Returns the I/O VCPU for a driver of devices of `io_class`: the one with the most of these
 * classes; INPUT_VCPU if none has any.
 */
int iovcpu_select(int io_class);

#endif
