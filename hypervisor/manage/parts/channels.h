/* SPDX-License-Identifier: GPL-2.0-only */
/* Records of channels (channels.c), and the requests of cells for channels at run time. */
#ifndef QV_CHANNELS_H
#define QV_CHANNELS_H

#include "manage/manage.h"

/* channels.c */
bool channel_same(const void *a, const void *b, u32 len);	/* @len: a multiple of 8 */
/* Returns true if the described channel can be mapped, and @q is the cell that it names */
bool channel_ok(const struct qv_mon_create *q, const struct qv_mon_channel *c);
/* True if the bell of @c is a vector and a CPU of cell @q */
bool bell_ok(const struct qv_mon_create *q, const struct qv_mon_channel *c);
/* The target of the bell of @c, for cell @id; 0: it has no bell */
u64 bell_of(const struct qv_mon_create *q, const struct qv_mon_channel *c, u32 id);
/* Maps window @i of a cell at @gpa, for the cell and for its instance. Returns 0, or -1 */
int channel_map(const struct paging *nested, const struct paging *host, u64 gpa,
		const struct qv_mon_channel *c, u32 i);
/* Writes the life page of a new channel, which no end has yet */
struct qv_chan_page *channel_make(struct channel *r);
/* An end starts a life under a new generation */
void channel_start_end(struct qv_chan_page *life_page, u32 end, u8 state);
void channel_set_state(struct qv_chan_end *end, u8 from, u8 to);
/* Linux, which has end @end, may read all and write its own section. The rest stays a hole */
void channel_open_to_linux(struct channel *r, u32 end);
/*
 * Instance @id no longer has @end. The last one clears the channel, in pieces: false means that
 * there is more to clear. Its memory goes to the cell that set it aside, or to Linux
 */
bool channel_leave(struct pcpu *cpu, struct channel *r, u32 id, u32 end);

/*
 * channel_keys.c. Cell @id, whose block is open in QV_VA_MANAGE, opens or closes a channel. They
 * return a window, or enum qv_key_answer.
 */
s32 key_open(struct pcpu *cpu, u32 id, const struct qv_mon_channel *ask);
s32 key_close(struct pcpu *cpu, u32 id, u32 window);

#endif
