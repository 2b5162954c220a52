/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which I/O VCPU serves which driver: by the classes of devices (enum iovcpu_class) that each is for. Only the kernel's own
 * I/O VCPUs serve drivers: a program could starve them with one of its own.
 */
#ifndef QUEST_IOVCPU_H
#define QUEST_IOVCPU_H

#include <stdbool.h>
#include <stddef.h>

/* The class whose name is the `n` characters at `name`; 0: none such. */
int iovcpu_class_of(const char *name, size_t n);

/* Are these bits classes, or none? */
bool iovcpu_known(int io_class);

/* VCPU `id` is for the devices `io_class`; of a program: that is only remembered. */
void iovcpu_set(int id, int io_class, bool of_program);
int iovcpu_get(int id);

/* For a driver of the devices `io_class`: the I/O VCPU with the most of these classes; INPUT_VCPU: none has any. */
int iovcpu_select(int io_class);

#endif
