/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Does to the memory of a channel what QV's manager and monitor instances do. Channels in files and
 * tests use it in place of QV.
 */
#ifndef QV_LIB_MANAGE_H
#define QV_LIB_MANAGE_H

#include <qv/channel.h>

/* Writes the life page into zeroed memory. `page` was laid out by qv_chan_lay_out(). */
void manage_make(void *window, const struct qv_chan_page *page, uint64_t session);
/* Starts an end under a new generation. Its section is zeroed after the life word changed. */
void manage_start(void *window, uint32_t end);
/* Changes the state of an end; its generation stays. */
void manage_state(void *window, uint32_t end, enum qv_chan_state state);

#endif
