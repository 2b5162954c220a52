// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files on channels of the driver, held by programs over the lives of the channels: the memory that
 * they take, and the items and pages that they show. The sanitizer finds any access to memory that
 * was given back.
 */
#include "world.h"
#include "unit.h"
#include <qv/end.h>
#include <linux/qv_channel.h>

#define CHANNELS	16u		/* of a cell; two cells have all pages of 2 MiB */

static struct world_cell cells[3];
static struct address_space space = { { &space.vmas, &space.vmas } };

static struct qv_channel_dev *channel(u32 cell, u32 n)
{
	return cells[cell].cell.channels[n];
}

static unsigned long at(const struct vm_area_struct *vma, u32 page)
{
	return (vma->pte[page] << PAGE_SHIFT);
}

/* Programs read and map all channels that there can be, over several lives of these */
static void all_held(void)
{
	static struct world_file files[4][2 * CHANNELS];
	static struct vm_area_struct maps[4][2 * CHANNELS];
	unsigned char item[64];
	u32 life, n, i;

	for (life = 0; life < 4; life++) {
		for (n = 0; n < 2; n++) {
			CHECK_EQ(world_create(&cells[n], 'a' + n, CHANNELS, QV_CHAN_RING, 64,
					      false), 0);
			world_start(&cells[n]);
		}
		CHECK_EQ(kernel_huge, 2 * CHANNELS);
		CHECK_EQ(world_create(&cells[2], 'c', 1, QV_CHAN_RING, 64, false), -EINVAL);
		CHECK_EQ(cells[2].reply.code, QV_E_TOO_MANY);
		for (i = 0; i < 2 * CHANNELS; i++) {
			struct vm_area_struct *vma = &maps[life][i];

			CHECK_EQ(world_open(&files[life][i], channel(i / CHANNELS, i % CHANNELS),
					    &space, FMODE_READ), 0);
			CHECK_EQ(world_mmap(vma, &files[life][i], 0, 3, VM_SHARED), 0);
			world_map(vma);
			CHECK_EQ(world_touch(vma, 0, NULL), QV_CHAN_MAGIC);
		}
		world_destroy(&cells[0]);
		world_destroy(&cells[1]);
		CHECK_EQ(kernel_huge, 0);
	}
	for (life = 0; life < 4; life++)
		for (i = 0; i < 2 * CHANNELS; i++) {
			CHECK_EQ(world_touch(&maps[life][i], 0, NULL), 0);
			CHECK_EQ(world_touch(&maps[life][i], 2, NULL), 0);
			CHECK_EQ(world_read(&files[life][i], item, 64), 0);
			world_unmap(&maps[life][i]);
			world_close(&files[life][i]);
		}
	CHECK_EQ(kernel_charged, 0);
	CHECK_EQ(kernel_bytes, 0);
}

/* A flood of opens. The largest items of all: a mailbox of 7 MiB */
static void flood(void)
{
	static struct world_file files[1000];
	u64 taken;
	u32 i;

	CHECK_EQ(world_create(&cells[0], 'a', 1, QV_CHAN_MAILBOX, 7u << 20, false), 0);
	world_start(&cells[0]);
	taken = kernel_bytes;
	for (i = 0; i < 1000; i++)
		CHECK_EQ(world_open(&files[i], channel(0, 0), &space, FMODE_READ), 0);
	CHECK_EQ(kernel_bytes, taken);
	CHECK(kernel_charged && kernel_charged <= 1000 * 128);
	for (i = 0; i < 1000; i++)
		world_close(&files[i]);
	CHECK_EQ(kernel_charged, 0);
	world_destroy(&cells[0]);
}

/* The channel goes after mmap(), before Linux has the mapping in its list */
static void late_mapping(void)
{
	struct vm_area_struct vma;
	struct world_file f;

	CHECK_EQ(world_create(&cells[0], 'a', 1, QV_CHAN_RING, 64, false), 0);
	world_start(&cells[0]);
	CHECK_EQ(world_open(&f, channel(0, 0), &space, FMODE_READ), 0);
	CHECK_EQ(world_mmap(&vma, &f, 0, 3, VM_SHARED), 0);
	world_destroy(&cells[0]);
	world_map(&vma);
	CHECK_EQ(world_touch(&vma, 1, NULL), 0);
	world_unmap(&vma);
	CHECK_EQ(world_mmap(&vma, &f, 0, 3, VM_SHARED), -ENODEV);
	world_close(&f);
}

/* A program that has claimed Linux's section continues in a page that is charged to it */
static void writer_continues(void)
{
	static const u64 word = 0x1234;
	struct vm_area_struct vma, reads;
	struct world_file f;
	u32 i;

	CHECK_EQ(world_create(&cells[0], 'a', 1, QV_CHAN_RING, 4096, true), 0);
	world_start(&cells[0]);
	CHECK_EQ(world_open(&f, channel(0, 0), &space, FMODE_READ | FMODE_WRITE), 0);
	CHECK_EQ(world_mmap(&vma, &f, 1, 2, VM_SHARED | VM_WRITE), -EPERM);
	CHECK_EQ(f.inode.i_cdev->ops->unlocked_ioctl(&f.file, QV_CHANNEL_CLAIM, 0), 0);
	CHECK_EQ(world_mmap(&vma, &f, 1, 2, VM_WRITE), -EPERM);		/* private */
	CHECK_EQ(world_mmap(&vma, &f, 1, 2, VM_SHARED | VM_WRITE), 0);
	CHECK_EQ(world_mmap(&reads, &f, 0, 3, VM_SHARED), 0);
	CHECK(!(reads.vm_flags & VM_MAYWRITE));
	world_map(&vma);
	world_map(&reads);
	world_touch(&vma, 1, &word);
	CHECK_EQ(world_touch(&reads, 2, NULL), word);
	CHECK_EQ(at(&reads, 2), at(&vma, 1));
	world_destroy(&cells[0]);
	CHECK_EQ(kernel_huge, 0);
	CHECK_EQ(world_touch(&reads, 2, NULL), 0);
	for (i = 0; i < 2; i++)
		world_touch(&vma, i, &word);
	CHECK_EQ(at(&vma, 0), at(&vma, 1));
	CHECK_EQ(world_touch(&reads, 0, NULL), 0);
	CHECK(kernel_charged >= PAGE_SIZE && kernel_charged < PAGE_SIZE + 512);
	world_unmap(&vma);
	world_unmap(&reads);
	world_close(&f);
	CHECK_EQ(kernel_charged, 0);
	CHECK_EQ(kernel_bytes, 0);
}

/* The end of the cell, in the same memory */
static void attach_peer(struct qv_end *peer, u32 cell)
{
	struct qv_channel_dev *c = channel(cell, 0);

	CHECK_EQ(qv_end_attach(peer, c->window, c->page.length, !c->self), 0);
}

/* An item moves once, also if the program's memory is not there at first */
static void items(u32 type)
{
	struct world_file in, out;
	unsigned char item[64], seen[64];
	struct qv_end from, to;
	struct qv_item what;
	u32 i;

	CHECK_EQ(world_create(&cells[0], 'a', 1, type, 64, false), 0);
	CHECK_EQ(world_create(&cells[1], 'b', 1, type, 64, true), 0);
	world_start(&cells[0]);
	world_start(&cells[1]);
	CHECK_EQ(world_open(&in, channel(0, 0), &space, FMODE_READ), 0);
	CHECK_EQ(world_open(&out, channel(1, 0), &space, FMODE_WRITE), 0);
	attach_peer(&from, 0);
	attach_peer(&to, 1);
	CHECK_EQ(world_read(&in, seen, 64), -EAGAIN);
	for (i = 1; i < 4; i++) {
		memset(item, i, 64);
		CHECK_EQ(qv_end_write(&from, item, 64), 0);
		kernel_absent = KERNEL_NEVER;
		CHECK_EQ(world_read(&in, seen, 64), -EFAULT);
		kernel_absent = i;
		CHECK_EQ(world_read(&in, seen, 64), 64);
		CHECK(!memcmp(seen, item, 64));
		CHECK_EQ(world_read(&in, seen, 64), -EAGAIN);
		if (type == QV_CHAN_FOUR_SLOT) {
			in.file.f_pos = 0;	/* pread() */
			CHECK_EQ(world_read(&in, seen, 64), 64);
			CHECK(!memcmp(seen, item, 64));
			in.file.f_pos = 1;
		}

		kernel_absent = KERNEL_NEVER;
		CHECK_EQ(world_write(&out, item, 64), -EFAULT);
		CHECK(qv_end_read(&to, seen, 64, &what) != 0);
		kernel_absent = i;
		CHECK_EQ(world_write(&out, item, 64), 64);
		CHECK_EQ(qv_end_read(&to, seen, 64, &what), 0);
		CHECK_EQ(what.number, i);
		CHECK(!memcmp(seen, item, 64));
		CHECK(qv_end_read(&to, seen, 64, &what) != 0);
		kernel_absent = 0;
	}
	kernel_absent = 1000;			/* brought, and away again before each copy */
	CHECK_EQ(world_write(&out, item, 64), -EFAULT);
	CHECK(kernel_absent > 800);
	kernel_absent = 0;
	CHECK_EQ(world_write(&out, item, 63), -EINVAL);
	CHECK_EQ(world_read(&out, seen, 64), -EOPNOTSUPP);
	CHECK_EQ(world_write(&in, item, 64), -EOPNOTSUPP);
	world_destroy(&cells[0]);
	world_destroy(&cells[1]);
	CHECK_EQ(world_read(&in, seen, 64), 0);
	CHECK_EQ(world_write(&out, item, 64), -ENODEV);
	CHECK_EQ(in.inode.i_cdev->ops->poll(&in.file, NULL), EPOLLHUP);
	world_close(&in);
	world_close(&out);
}

static void items_of_ring(void)
{
	items(QV_CHAN_RING);
}

static void items_of_four_slot(void)
{
	items(QV_CHAN_FOUR_SLOT);
}

/* Messages of a mailbox have their own length, and the rest of their last word is zero */
static void messages(void)
{
	unsigned char seen[64], *slot;
	struct world_file f;
	struct qv_end peer;
	struct qv_item what;

	CHECK_EQ(world_create(&cells[0], 'a', 1, QV_CHAN_MAILBOX, 64, true), 0);
	world_start(&cells[0]);
	slot = channel(0, 0)->window;
	slot += PAGE_SIZE + QV_CHAN_DATA + sizeof(struct qv_chan_slot);
	CHECK_EQ(world_open(&f, channel(0, 0), &space, FMODE_READ | FMODE_WRITE), 0);
	CHECK_EQ(world_write(&f, "hello", 5), -EAGAIN);		/* the cell has not attached */
	attach_peer(&peer, 0);
	memset(slot, 0x77, 8);
	kernel_absent = 2;
	CHECK_EQ(world_write(&f, "hello", 5), 5);
	CHECK_EQ(world_write(&f, "more", 4), -EAGAIN);
	CHECK_EQ(qv_end_read(&peer, seen, 64, &what), 0);
	CHECK(what.bytes == 5 && !memcmp(seen, "hello", 5));
	CHECK(!memcmp(slot, "hello\0\0", 8));
	CHECK_EQ(qv_end_write(&peer, "", 0), 0);
	kernel_absent = KERNEL_NEVER;
	CHECK_EQ(world_read(&f, seen, 64), -EFAULT);
	CHECK_EQ(world_write(&f, "more", 4), -EFAULT);
	kernel_absent = 0;
	CHECK_EQ(world_read(&f, seen, 64), -ENODATA);
	CHECK_EQ(world_write(&f, "", 0), 0);
	world_destroy(&cells[0]);
	world_close(&f);
}

/* As the monitor does when the cell starts again; then its program attaches */
static void restart_peer(struct qv_end *peer, u32 cell)
{
	struct qv_channel_dev *c = channel(cell, 0);
	struct qv_chan_page *page = c->window;
	struct qv_chan_end *end = &page->end[!c->self];

	end->life = QV_CHAN_LIFE(QV_CHAN_GENERATION(end->life) + 10, QV_CHAN_IS_RUNNING);
	memset(c->window + end->offset, 0, QV_CHAN_DATA);
	attach_peer(peer, cell);
}

/*
 * A question to an end that restarts has no answer. read() says so once, also if poll() or a second
 * write() has looked before. A program that has its answer learns nothing: it asks the new end
 */
static void question_lost(void)
{
	__poll_t (*look)(struct file *file, struct poll_table_struct *table);
	unsigned char seen[64];
	struct qv_item what;
	struct world_file f;
	struct qv_end peer;
	u32 polls;

	CHECK_EQ(world_create(&cells[0], 'a', 1, QV_CHAN_MAILBOX, 64, true), 0);
	world_start(&cells[0]);
	CHECK_EQ(world_open(&f, channel(0, 0), &space, FMODE_READ | FMODE_WRITE), 0);
	look = f.inode.i_cdev->ops->poll;
	attach_peer(&peer, 0);
	for (polls = 0; polls < 3; polls++) {
		unit_case("poll() looks %u times before read()", polls);
		CHECK_EQ(world_write(&f, "lost", 4), 4);
		CHECK_EQ(qv_end_read(&peer, seen, 64, &what), 0);
		CHECK_EQ(look(&f.file, NULL), 0);
		restart_peer(&peer, 0);
		if (polls)
			CHECK_EQ(look(&f.file, NULL) & EPOLLIN, EPOLLIN);
		if (polls > 1)
			CHECK_EQ(look(&f.file, NULL) & EPOLLIN, EPOLLIN);
		CHECK_EQ(world_read(&f, seen, 64), -EPIPE);
		CHECK_EQ(world_read(&f, seen, 64), -EAGAIN);
		CHECK_EQ(look(&f.file, NULL), EPOLLOUT | EPOLLWRNORM);
	}
	unit_case("the answer is there");
	CHECK_EQ(world_write(&f, "asked", 5), 5);
	CHECK_EQ(qv_end_read(&peer, seen, 64, &what), 0);
	CHECK_EQ(qv_end_write(&peer, "answer", 6), 0);
	CHECK_EQ(world_read(&f, seen, 64), 6);
	restart_peer(&peer, 0);
	CHECK_EQ(look(&f.file, NULL) & EPOLLIN, 0);
	CHECK_EQ(world_read(&f, seen, 64), -EAGAIN);
	unit_case("a question that replaces the lost one");
	CHECK_EQ(world_write(&f, "lost", 4), 4);
	restart_peer(&peer, 0);
	CHECK_EQ(look(&f.file, NULL) & EPOLLIN, EPOLLIN);
	CHECK_EQ(world_write(&f, "asked", 5), 5);
	CHECK_EQ(look(&f.file, NULL), 0);
	CHECK_EQ(world_read(&f, seen, 64), -EAGAIN);
	CHECK_EQ(qv_end_read(&peer, seen, 64, &what), 0);
	CHECK_EQ(qv_end_write(&peer, "answer", 6), 0);
	CHECK_EQ(world_read(&f, seen, 64), 6);
	unit_case("another program has claimed the end since");
	CHECK_EQ(world_write(&f, "lost", 4), 4);
	restart_peer(&peer, 0);
	CHECK_EQ(look(&f.file, NULL) & EPOLLIN, EPOLLIN);
	CHECK_EQ(f.inode.i_cdev->ops->unlocked_ioctl(&f.file, QV_CHANNEL_CLAIM, 0), 0);
	world_close(&f);
	CHECK_EQ(world_open(&f, channel(0, 0), &space, FMODE_READ | FMODE_WRITE), 0);
	CHECK_EQ(world_read(&f, seen, 64), -EAGAIN);
	world_destroy(&cells[0]);
	world_close(&f);
}

static void later(void)
{
	struct delayed_work *look = &channel(0, 0)->look;

	kernel_sleeps = true;
	look->run(&look->work);
	kernel_sleeps = false;
}

/*
 * An end that attaches rings no bell. A program that waits for its turn in a mailbox by poll(),
 * without a limit of time, learns it at the next look, once: by the device, and as libqv does,
 * which has claimed the end and waits for bells only
 */
static void attached_later(void)
{
	__poll_t (*look)(struct file *file, struct poll_table_struct *table);
	long (*control)(struct file *file, unsigned int nr, unsigned long arg);
	struct world_file f;
	struct qv_end peer;
	u32 claims;

	for (claims = 0; claims < 2; claims++) {
		unit_case(claims ? "claimed" : "the device");
		CHECK_EQ(world_create(&cells[0], 'a', 1, QV_CHAN_MAILBOX, 64, true), 0);
		world_start(&cells[0]);
		CHECK_EQ(world_open(&f, channel(0, 0), &space, FMODE_READ | FMODE_WRITE), 0);
		look = f.inode.i_cdev->ops->poll;
		control = f.inode.i_cdev->ops->unlocked_ioctl;
		if (claims)
			CHECK_EQ(control(&f.file, QV_CHANNEL_CLAIM, 0), 0);
		CHECK_EQ(control(&f.file, QV_CHANNEL_ARM, 0), 0);
		later();
		CHECK_EQ(look(&f.file, NULL), 0);
		attach_peer(&peer, 0);
		later();
		CHECK_EQ(look(&f.file, NULL) & (EPOLLIN | EPOLLOUT), claims ? EPOLLIN : EPOLLOUT);
		CHECK_EQ(control(&f.file, QV_CHANNEL_ARM, 0), 0);
		later();
		CHECK_EQ(look(&f.file, NULL) & EPOLLIN, 0);
		restart_peer(&peer, 0);
		later();
		CHECK_EQ(look(&f.file, NULL) & EPOLLIN, claims ? EPOLLIN : 0);
		world_close(&f);
		world_destroy(&cells[0]);
	}
}

/* ---- programs on several CPUs, while a channel comes and goes ---- */

static _Atomic bool race_ends;
static _Atomic(struct qv_channel_dev *) race_channel;
/* Linux takes a lock for each open, and in cdev_del() */
static pthread_mutex_t race_opens = PTHREAD_MUTEX_INITIALIZER;

static void race_one(void)
{
	struct vm_area_struct vma;
	unsigned char item[64];
	struct world_file f;
	int error = -ENODEV, i;

	pthread_mutex_lock(&race_opens);
	if (race_channel)
		error = world_open(&f, race_channel, &space, FMODE_READ);
	pthread_mutex_unlock(&race_opens);
	if (error)
		return;
	if (!world_mmap(&vma, &f, 0, 3, VM_SHARED)) {
		world_map(&vma);
		for (i = 0; i < 20; i++) {
			u64 word = world_touch(&vma, 0, NULL);

			CHECK(word == QV_CHAN_MAGIC || !word);
			world_read(&f, item, 64);
			f.inode.i_cdev->ops->poll(&f.file, NULL);
		}
		world_unmap(&vma);
	}
	world_close(&f);
}

static void *race_thread(void *with)
{
	while (!race_ends)
		race_one();
	return NULL;
}

static void race(void)
{
	pthread_t threads[3];
	u32 i;

	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, race_thread, NULL);
	for (i = 0; i < 300; i++) {
		CHECK_EQ(world_create(&cells[0], 'a', 1, QV_CHAN_FOUR_SLOT, 64, false), 0);
		world_start(&cells[0]);
		race_channel = channel(0, 0);
		usleep(rnd_below(500));
		pthread_mutex_lock(&race_opens);
		race_channel = NULL;
		pthread_mutex_unlock(&race_opens);
		world_destroy(&cells[0]);
		CHECK_EQ(kernel_huge, 0);
	}
	race_ends = true;
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(kernel_charged, 0);
}

UNIT_SUITE(channel_files) = {
	{ "channel files: held over lives of all channels", all_held },
	{ "channel files: a flood of opens", flood },
	{ "channel files: a channel goes during mmap()", late_mapping },
	{ "channel files: a writer continues after the channel", writer_continues },
	{ "channel files: items of a ring", items_of_ring },
	{ "channel files: items of a four-slot", items_of_four_slot },
	{ "channel files: messages", messages },
	{ "channel files: a question to an end that restarts", question_lost },
	{ "channel files: the other end of a mailbox attaches later", attached_later },
	{ "channel files: programs on several CPUs", race },
	{ 0 }
};
