/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A world for the driver, lwIP and the sockets on the host: memory in place of the function's
 * registers, a clock, a heap of limited size, and a kernel with one thread. While a call waits, the
 * work of the thread `net` is done, and time passes.
 */
#ifndef NET_WORLD_H
#define NET_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of stdlib.h, whose types are those of Linux */
void *malloc(size_t n);
void free(void *at);
int posix_memalign(void **at, size_t alignment, size_t n);
char *getenv(const char *name);
int atoi(const char *text);
_Noreturn void abort(void);

#define WORLD_PID	7
#define FRAME_MAX	1600

/* Begins a new world with an interface of address 192.168.7.2/24, or of an address from DHCP. */
void world_begin(bool dhcp);

struct port;

/* The parts of that: the function alone, and an interface to any port. */
void world_plug(void);
void world_begin_at(const struct port *port, bool dhcp);

/* One in `n` of lwIP's allocations fails; 0: only those that exceed the heap. */
void world_fail(unsigned int n);

/* Returns the number of lwIP's allocations that were not freed. */
unsigned int world_allocated(void);

/* Does the work of the thread `net` once, at the time `us` later. */
void world_work(uint64_t us);

/* Counts the waits of calls from 0 again. Too many fail the test, since calls must return. */
void world_count_waits(void);

/* Only the time passes. */
void world_pass(uint64_t us);

/* The function receives a frame. False: it has no descriptor. */
bool world_receive(const void *frame, size_t length);

/*
 * The function receives a frame, but describes it by any length, status and errors. The frame is at
 * most FRAME_MAX bytes long.
 */
bool world_describe(const void *frame, size_t size, uint16_t length, uint8_t status,
		    uint8_t errors);

/* Returns the length of the next frame that the function sends; 0: no frame. */
size_t world_sent(uint8_t frame[FRAME_MAX]);

#endif
