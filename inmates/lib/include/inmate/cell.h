/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The inmate's side of include/qv/cell.h: info page, comm page, stream.
 * All but cell_detect() may only be called when that said true.
 */
#ifndef INMATE_CELL_H
#define INMATE_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <qv/cell.h>

/* Look for the info page and keep a copy. Returns false when not in a cell (or an unknown ABI). */
bool cell_detect(void);

/* Are we in a cell? */
bool cell_present(void);

/* Our copy of the info page; strings are NUL-terminated. */
const struct qv_info *cell_info(void);

/* comm.state: QV_INMATE_*. */
void cell_set_state(uint32_t state);

/* Change comm.heartbeat. */
void cell_beat(void);

/* comm.request, read once: QV_REQUEST_*. */
uint32_t cell_request(void);

/* QV_CALL_*: one exit; changes nothing but what it is for. */
void cell_call(uint32_t number);
/* The same, for a call with arguments (edi, esi). */
void cell_call_with(uint32_t number, uint64_t a, uint64_t b);

/* Take up to `room` key bytes. Returns how many; 0 also when Linux's index makes no sense. */
size_t cell_take_keys(uint8_t *keys, size_t room);

/* How often keys_head made no sense. */
uint64_t cell_bad_indices(void);

/* Publish the cursor (0..1999, or more: hidden) and that the screen changed. */
void cell_screen_changed(uint32_t cursor);

/* A shell's words to quesh: the longest line it takes; before READY, the status of the line carried out last. */
void cell_line_max(uint32_t bytes);
void cell_line_status(uint8_t status);

/* Append bytes to the stream; never waits. */
void cell_stream(const char *text, size_t n);

#endif
