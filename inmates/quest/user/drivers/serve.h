/* SPDX-License-Identifier: GPL-2.0-only */
/* A driver of the network function as a program: it serves the kernel (quest/nic.h). */
#ifndef QUEST_DRIVERS_SERVE_H
#define QUEST_DRIVERS_SERVE_H

#include <stddef.h>
#include <stdint.h>
#include <quest/nic.h>

/*
 * Drives the function until the kernel ends the program. `look` sees each received frame first;
 * NULL: nothing does. Returns why the function cannot be driven.
 */
const char *serve(void (*look)(const struct quest_nic *map, const volatile uint8_t *frame,
			       size_t length));

#endif
