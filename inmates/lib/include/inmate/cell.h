/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The inmate's side of include/qv/cell.h: info page, comm page, stream.
 * Call the other functions only if cell_detect() returned true.
 */
#ifndef INMATE_CELL_H
#define INMATE_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <inmate/trap.h>
#include <qv/cell.h>

/* Looks for the info page and copies it. Returns false outside a cell, or if the ABI is unknown. */
bool cell_detect(void);

/* Returns true in a cell. */
bool cell_present(void);

/* Returns the copy of the info page; its strings are NUL-terminated. */
const struct qv_info *cell_info(void);

/* Writes comm.state: QV_INMATE_*. */
void cell_set_state(uint32_t state);

/* Tells Linux the cycles in which `cpus` CPUs of the inmate were idle since its start, in sum. */
void cell_idle(uint32_t cpus, uint64_t cycles);

/* Increments comm.heartbeat. */
void cell_beat(void);

/* Returns comm.request, which it reads once: QV_REQUEST_*. */
uint32_t cell_request(void);

/* Makes call QV_CALL_* to the monitor. This causes one exit, and has no effect in the inmate. */
void cell_call(uint32_t number);
/* Makes call QV_CALL_* with arguments in edi and esi. */
void cell_call_with(uint32_t number, uint64_t a, uint64_t b);

/*
 * Sets the handler of the bell of channel `n`, an index into cell_info()->channels. Returns false
 * if the channel has no bell to this cell. The caller of the handler signals the end of the
 * interrupt. The handler runs on the CPU that the info page names.
 */
bool cell_set_bell(unsigned int n, void (*handler)(struct trap_frame *frame));
/* Rings the other ends of channel `n`, after its memory was written. */
void cell_ring(unsigned int n);

/*
 * Takes up to `room` key bytes, and returns their number. Also returns 0 if Linux's index is
 * invalid.
 */
size_t cell_take_keys(uint8_t *keys, size_t room);

/* Returns how often keys_head was invalid. */
uint64_t cell_bad_indices(void);

/*
 * Publishes the position of the cursor (0..1999; a larger value hides it), and that the screen has
 * changed.
 */
void cell_screen_changed(uint32_t cursor);

/*
 * A shell calls these to inform quesh. cell_line_max() gives the longest line that the shell
 * accepts. cell_line_status() gives the status of the last line, before QV_STREAM_READY.
 */
void cell_line_max(uint32_t bytes);
void cell_line_status(uint8_t status);

/* Appends bytes to the stream. Never waits. */
void cell_stream(const char *text, size_t n);

#endif
