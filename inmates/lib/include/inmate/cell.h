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
#include <qv/channel.h>

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
/* Makes call QV_CALL_* with arguments in edi and esi. Returns eax. */
uint32_t cell_call_with(uint32_t number, uint64_t a, uint64_t b);
/* The same. Changes `a` to the value of rdi after the call. */
uint32_t cell_call_both(uint32_t number, uint64_t *a, uint64_t b);

/*
 * Channels at run time: makes QV_CALL_OPEN or QV_CALL_CLOSE, and waits for the answer, with pauses
 * of 5 us to 100 ms, each twice as long as the one before. `end` is QV_KEY_END(); the caller sets
 * the handler of that vector with trap_set_irq(). Returns a window, or enum qv_key_answer.
 * QV_KEY_DENIED if the cell has no such channels. Sets `address` to that of the channel. One thread
 * at a time may call this. After 60 s it gives up, and returns QV_KEY_RATE or QV_KEY_BUSY if the
 * call was not accepted, and QV_KEY_PENDING if it was: then the window may be opened or closed
 * later, cell_key_answer() still returns that answer, and another request takes it away.
 */
int cell_key_open(const struct qv_chan_page *page, uint64_t end, uint64_t *address);
int cell_key_close(uint32_t window);

/*
 * Makes the calls above pause by `by`, which takes at least that time and lets other work run, or
 * halts the CPU. NULL: they spin, which takes time of a host from Linux if the machine is emulated.
 */
void cell_key_sleep_by(void (*by)(uint64_t us));

/*
 * The two steps of these calls, which never wait. cell_key_post() makes call `number` and returns 0
 * if it is posted; for QV_KEY_RATE and QV_KEY_BUSY call it again later. cell_key_answer() returns
 * the answer, or QV_KEY_PENDING.
 */
int cell_key_post(uint32_t number, uint64_t a, uint64_t b);
int cell_key_answer(uint64_t *address);

/* Returns a sentence for a refusal, without a full stop. */
const char *cell_key_sentence(int answer);

/*
 * Sets the handler of the bell of channel `n`, an index into cell_info()->channels. Returns false
 * if the channel has no bell to this cell. The caller of the handler signals the end of the
 * interrupt. The handler runs on the CPU that the info page names.
 */
bool cell_set_bell(unsigned int n, void (*handler)(struct trap_frame *frame));
/*
 * Rings the other ends of channel or window `n`, after its memory was written. A cell that rings
 * more often than its bell-rate waits here, with interrupts as they are.
 */
void cell_ring(unsigned int n);
/* The same, but never waits. Returns 0 if they were rung, else the TSC at which to try again. */
uint64_t cell_try_ring(unsigned int n);

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
 * cell_leave() asks the quesh that holds the keyboard to detach.
 */
void cell_line_max(uint32_t bytes);
void cell_line_status(uint8_t status);
void cell_leave(void);

/*
 * Tells Linux that this kernel cannot continue, and why: the first QV_PANIC_LEN bytes count. The
 * cell fails within 50 ms.
 */
void cell_panic(const char *why);

/* Appends bytes to the stream. Never waits. */
void cell_stream(const char *text, size_t n);

#endif
