/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The calls for memory between sandboxes that users of Quest-V know, over channels. Memory of
 * channels is never executable, so VSHM_EXEC_ACCESS has no effect.
 *
 * Key K is the channel of the name "vshm-K", K in decimal, if the files of its cells list that
 * channel. They decide who takes part and who writes, so `sandboxes` and VSHM_CREATE have no effect
 * then.
 *
 * Else the key is opened at run time (channel_open_key()), by two cells whose files have
 * `dynamic-channels`. Bit N of `sandboxes` stands for the name N of vshm_sandboxes(). The first of
 * these that is not this cell is the other end. The cell that says VSHM_CREATE writes the queue or
 * the four slots, and the other reads. Both write memory. Such a channel has at most 2 MiB
 * with a page for the life of its ends.
 *
 * The functions that return int return minus the number of an error (channel.h), except for insert
 * and remove.
 */
#ifndef QUEST_VSHM_H
#define QUEST_VSHM_H

#include <stddef.h>

#define VSHM_NO_ACCESS		0x0
#define VSHM_READ_ACCESS	0x1
#define VSHM_WRITE_ACCESS	0x2
#define VSHM_EXEC_ACCESS	0x4
#define VSHM_ALL_ACCESS		0x7
#define VSHM_CREATE		0x80000000
#define VSHM_SANDBOXES		32

/*
 * Names the sandboxes: cells, or "linux". `names` stays in use. Without this call there are only
 * channels of the cell's file.
 */
void vshm_sandboxes(const char *const *names, unsigned int count);

/*
 * A four-slot or a ring that is open. The calls below neither ring a bell nor arm one. A program
 * that wants that calls channel_ring() and channel_wait() with .channel. The other members are the
 * library's own.
 */
struct vshm_channel {
	int channel;		/* channel.h */
	size_t element_size;
	void *item;		/* room for an item, which has at least 8 bytes */
};
typedef struct vshm_channel vshm_async_channel_t;
typedef struct vshm_channel vshm_circular_buffer_t;

/*
 * Sets *addr to the memory of key `vshm_key`, a channel of the type memory with at least `size`
 * bytes. EACCES: VSHM_WRITE_ACCESS, and this cell is not its writer. EINVAL: neither read nor write
 * access is asked for.
 */
int vshm_map(unsigned int vshm_key, unsigned int size, unsigned int sandboxes, unsigned int flags,
	     void **addr);

/*
 * Simpson's four slots: a channel of the type four-slot, whose item is `element_size`, rounded up
 * to a multiple of 8. A read copies the last value; zeros if there was none. Neither waits nor
 * fails because of the other end. At the reader's end a write does nothing.
 */
int mk_vshm_async_channel(vshm_async_channel_t *vac, unsigned int vshm_key, size_t element_size,
			  unsigned int sandboxes, unsigned int flags);
void vshm_async_channel_write(vshm_async_channel_t *vac, void *item);
void vshm_async_channel_read(vshm_async_channel_t *vac, void *item);

/*
 * A queue: a channel of the type ring with at least `buffer_size` slots. Insert and remove return
 * 0; -1: the queue is full or empty; -2: its counts cannot be right, this end has no such call, or
 * the connection has ended.
 */
int mk_vshm_circular_buffer(vshm_circular_buffer_t *vcb, unsigned int vshm_key, size_t buffer_size,
			    size_t element_size, unsigned int sandboxes, unsigned int flags);
int vshm_circular_buffer_insert(vshm_circular_buffer_t *vcb, void *item);
int vshm_circular_buffer_remove(vshm_circular_buffer_t *vcb, void *item);

#endif
