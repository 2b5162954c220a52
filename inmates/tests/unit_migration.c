// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that a hostile cell can send: each wrong field is refused or replaced, and random
 * changes never leave a program with more than the rights of ring 3.
 */
#include <string.h>
#include "../quest/kernel/vcpu/vcpu.h"
#include "../quest/migration/check.h"
#include "../quest/mm/arena.h"
#include "../quest/user/include/quest/errors.h"
#include "unit.h"

#define KHZ	1000000
#define BUILD	0x123456789ull
#define NOW	(1ull << 40)
#define MASK	0xFFFFu
#define MXCSR	24

static struct mig_here here = { .now = NOW, .ahead = 0, .mxcsr_mask = MASK };
static struct mig_header h;
static struct program_image image;
static struct vcpu v;

static void put_vcpu(void)
{
	memcpy(image.vcpus[0].plain, &v, VCPU_PLAIN);
}

static void make(void)
{
	memset(&h, 0, sizeof(h));
	memset(&image, 0, sizeof(image));
	memset(&v, 0, sizeof(v));
	h = (struct mig_header){
		.magic = MIG_MAGIC, .version = MIG_VERSION,
		.build = BUILD, .tsc_khz = KHZ, .num_threads = 1,
		.num_vcpus = 1, .vcpu = VCPU_FIXED, .pages = 10, .heap = USER_IMAGE,
		.brk = USER_IMAGE + 5, .threads[2].state = SLOT_RUNS, .name = "program",
		.files[3] = { .kind = FILE_ARCHIVE, .name = "file" },
		.channels[1] = { "first", 7, USER_SHARED, 3 * PAGE_SIZE, 0, BELLS_MASK, 1, 0 },
		.channels[5] = { "next", 8, USER_SHARED + 3 * PAGE_SIZE, PAGE_SIZE, 1, 0, 0, 0 },
	};
	image.num_threads = image.num_vcpus = 1;
	image.vcpu = VCPU_FIXED;
	image.threads[0].slot = 2;
	image.threads[0].vcpu = image.vcpus[0].id = VCPU_FIXED;
	image.threads[0].frame.rip = USER_IMAGE;
	v.state = VCPU_ACTIVE;
	v.params = (struct vcpu_params){ "vcpu", MAIN_VCPU, 100, 1000, 0 };
	sporadic_init(&v.main, 100, 1000, NOW);
	put_vcpu();
}

static int answer(void)
{
	int error = mig_check_header(&h, BUILD, KHZ);

	return error ? error : mig_check_image(&h, &image, &here);
}

#define REFUSED(wrong, error)			\
	do {					\
		make();				\
		wrong;				\
		put_vcpu();			\
		CHECK(answer() == -(error));	\
	} while (0)

TEST(migration_refuses_headers)
{
	make();
	CHECK(!answer());
	REFUSED(h.magic++, EBADMSG);
	REFUSED(h.version++, EPROTO);
	REFUSED(h.build++, EPROTO);
	REFUSED(h.tsc_khz++, EPROTO);
	REFUSED(memset(h.name, 'x', sizeof(h.name)), EBADMSG);
	REFUSED(h.name[0] = '\033', EBADMSG);
	REFUSED(h.num_threads = 2, EBADMSG);
	REFUSED(h.num_threads = 0, EBADMSG);
	REFUSED(h.num_vcpus = MOVE_VCPUS + 1, EBADMSG);
	REFUSED(h.pages = ~0ull, EBADMSG);
	REFUSED(h.heap = 0, EBADMSG);
	REFUSED(h.brk = USER_IMAGE - 1, EBADMSG);
	REFUSED(h.brk = ~0ull, EBADMSG);
	REFUSED(h.threads[0].state = 7, EBADMSG);
	REFUSED(h.threads[2].detached = 2, EBADMSG);
	REFUSED(h.files[0].kind = FILE_PIPE_READ, EBADMSG);
	REFUSED(memset(h.files[3].name, 'x', ARCHIVE_NAME), EBADMSG);
	REFUSED(h.files[3].at = ~0ull, EBADMSG);
}

TEST(migration_refuses_places_of_channels)
{
	struct channel_image *c = &h.channels[1];

	REFUSED(c->name[0] = '\0', EBADMSG);
	REFUSED(memset(c->name, 'x', sizeof(c->name)), EBADMSG);
	REFUSED(c->at++, EBADMSG);
	REFUSED(c->at -= PAGE_SIZE, EBADMSG);
	REFUSED(c->at += PAGE_SIZE, EBADMSG);
	REFUSED(c->at = USER_END - PAGE_SIZE, EBADMSG);
	REFUSED(c->at = 0x100000, EBADMSG);
	REFUSED(c->at = ~0ull << 12, EBADMSG);
	REFUSED(c->length++, EBADMSG);
	REFUSED(c->length += PAGE_SIZE, EBADMSG);
	REFUSED(c->length = ~0ull << 12, EBADMSG);
	REFUSED(c->number = 1, EBADMSG);
	REFUSED(c->number = QV_INFO_MAX_CHANNELS, EBADMSG);
	REFUSED(c->bells++, EBADMSG);
	REFUSED(c->writes = 2, EBADMSG);
}

/* The claims of another cell give no right that the file of this cell does not give. */
TEST(migration_gives_channels_as_the_own_file_does)
{
	struct qv_chan_page page = {
		.type = QV_CHAN_MEMORY, .session = 7, .length = 3 * PAGE_SIZE, .ends = 3,
		.end[1].flags = QV_CHAN_END_WRITES,
	};
	struct channel_image c;

	make();
	c = h.channels[1];
	CHECK(mig_channel_fits(&c, &page, 0) && mig_channel_fits(&c, &page, 1));
	CHECK(!mig_channel_fits(&c, &page, 2) && !mig_channel_fits(&c, &page, 3));
	c.writes = 0;
	CHECK(mig_channel_fits(&c, &page, 1) && mig_channel_fits(&c, &page, 2));
	CHECK(!mig_channel_fits(&c, &page, 3));
	c.length -= PAGE_SIZE;
	CHECK(!mig_channel_fits(&c, &page, 0));
	c = h.channels[1];
	page.session++;
	CHECK(!mig_channel_fits(&c, &page, 0));
	page.session--;
	page.key = 1;
	CHECK(!mig_channel_fits(&c, &page, 0));
	page.key = 0;
	for (page.type = 0; page.type < 8; page.type++)
		CHECK(mig_channel_fits(&c, &page, 0) == (page.type == QV_CHAN_MEMORY));
}

TEST(migration_refuses_threads_and_vcpus)
{
	struct thread_image *t = &image.threads[0];

	REFUSED(t->slot = STACKS_MAX, EBADMSG);
	REFUSED(t->slot = 1, EBADMSG);
	REFUSED(t->frame.rip = 0x100000, EBADMSG);
	REFUSED(t->frame.rip = ~0ull, EBADMSG);
	REFUSED(t->vcpu = SHELL_VCPU, EBUSY);
	REFUSED(image.vcpu = SHELL_VCPU, EBUSY);
	REFUSED(image.vcpus[0].id = SHELL_VCPU, EBADMSG);
	REFUSED(image.vcpus[0].id = SCHED_VCPUS, EBADMSG);
	REFUSED(image.vcpus[0].io_class = -1, EBADMSG);
	REFUSED(v.state = VCPU_RETIRED, EBADMSG);
	REFUSED(v.params.type = BACKGROUND_VCPU, EBADMSG);
	REFUSED(v.params.type = (enum vcpu_type)1000000, EBADMSG);
	REFUSED(v.params.budget = 0, EBADMSG);
	REFUSED(v.params.budget = 1001, EBADMSG);
	REFUSED(v.params.period = ~0ull, EBADMSG);
	REFUSED(v.main.budget++, EBADMSG);
	REFUSED(v.main.length = SPORADIC_MAX + 1, EBADMSG);
	REFUSED(v.main.limit = SPORADIC_MAX + 1, EBADMSG);
	REFUSED(v.main.length = 0, EBADMSG);
	REFUSED(v.main.queue[0].amount++, EBADMSG);
	REFUSED(v.main.queue[0].at = ~0ull, EBADMSG);
	REFUSED(v.main.queue[0].at = NOW + ADMISSION_PERIOD_MAX, EBADMSG);
	REFUSED(v.main.usage = 100, EBADMSG);
	REFUSED((h.num_threads = image.num_threads = 2, h.threads[3].state = SLOT_RUNS,
		 image.threads[1] = *t), EBADMSG);
	REFUSED((h.num_vcpus = image.num_vcpus = 2, image.vcpus[1] = image.vcpus[0],
		 memcpy(image.vcpus[1].plain, &v, VCPU_PLAIN)), EBADMSG);
}

/* An I/O VCPU has at most the budget of its inherited period. */
TEST(migration_refuses_more_than_the_share_of_an_io_vcpu)
{
	make();
	v.params.type = IO_VCPU;
	pibs_init(&v.io, 100, 1000, NOW);
	pibs_dispatch(&v.io, NOW);
	put_vcpu();
	CHECK(!answer());
	v.io.left += 2;
	put_vcpu();
	CHECK(answer() == -EBADMSG);
	v.io.left = ~0ull;
	put_vcpu();
	CHECK(answer() == -EBADMSG);
}

TEST(migration_replaces_what_a_program_cannot_choose)
{
	struct thread_image *t = &image.threads[0];
	uint32_t mxcsr = ~0u;

	make();
	t->frame.cs = TRAP_KERNEL_CS;
	t->frame.ss = 0;
	t->frame.rflags = ~0ull;
	memcpy(t->fpu.fxsave + MXCSR, &mxcsr, sizeof(mxcsr));
	memset(&t->restart.again, 0xFF, 1);
	CHECK(!answer());
	CHECK(t->frame.cs == TRAP_USER_CS && t->frame.ss == TRAP_USER_SS);
	/* IF, and no IOPL, NT, VM, VIF, VIP */
	CHECK((t->frame.rflags & 0x200) && !(t->frame.rflags & 0x1A7000));
	memcpy(&mxcsr, t->fpu.fxsave + MXCSR, sizeof(mxcsr));
	CHECK(mxcsr == MASK && t->restart.again);
}

static uint64_t random_state = 1;

static uint64_t below(uint64_t n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % n;
}

TEST(migration_survives_random_images)
{
	unsigned int i, j, accepted = 0;
	uint8_t *bytes;
	size_t size;

	for (i = 0; i < 200000; i++) {
		make();
		here.ahead = below(2) ? 0 : (int64_t)(below(1ull << 31) - (1ull << 30));
		for (j = below(4); j; j--) {
			bytes = below(2) ? (uint8_t *)&h : (uint8_t *)&image.vcpus[0];
			size = bytes == (uint8_t *)&h ? sizeof(h) : sizeof(image.vcpus[0]);
			bytes[below(size)] = (uint8_t)below(256);
		}
		image.num_threads = h.num_threads <= STACKS_MAX ? h.num_threads : 0;
		image.num_vcpus = h.num_vcpus <= MOVE_VCPUS ? h.num_vcpus : 0;
		if (answer())
			continue;
		accepted++;
		memcpy(&v, image.vcpus[0].plain, VCPU_PLAIN);
		if (!image.num_vcpus || v.params.type != MAIN_VCPU)
			continue;
		/* the server still works: a charge of the whole budget ends */
		sporadic_unblock(&v.main, NOW);
		(void)sporadic_charge(&v.main, v.main.budget, NOW + v.main.budget);
		CHECK(v.main.length && v.main.length <= v.main.limit);
	}
	here.ahead = 0;
	CHECK(accepted > 1000);
}

TEST(migration_foresees_what_admission_refuses)
{
	struct admission_entry set[SCHED_VCPUS] = { { false, 500, 1000 } };
	unsigned int i;

	make();
	CHECK(!mig_check_admission(&image, ADMISSION_EXACT, set, 1));
	CHECK(!mig_check_admission(&image, ADMISSION_BOUND, set, 1));
	for (i = 1; i < 6; i++)
		set[i] = (struct admission_entry){ false, 100, 1000 };
	CHECK(mig_check_admission(&image, ADMISSION_EXACT, set, 6) == -EADMIT);
	CHECK(mig_check_admission(&image, ADMISSION_BOUND, set, 6) == -EADMIT);
	for (i = 0; i < SCHED_VCPUS; i++)
		set[i] = (struct admission_entry){ false, 1, ADMISSION_PERIOD_MAX };
	CHECK(mig_check_admission(&image, ADMISSION_BOUND, set, SCHED_VCPUS) == -EADMIT);
	v.params.period = 0;
	put_vcpu();
	CHECK(mig_check_admission(&image, ADMISSION_EXACT, set, 0) == -EBADMSG);
}

/* A server that can never be used would count as past use for as long, if it is refused. */
TEST(migration_bounds_and_shifts_times)
{
	make();
	v.params.type = IO_VCPU;
	pibs_init(&v.io, 100, 1000, NOW);
	v.io.inherited = ADMISSION_PERIOD_MAX;
	v.io.eligible = NOW + ADMISSION_PERIOD_MAX;
	put_vcpu();
	CHECK(answer() == -EBADMSG);
	make();
	here.ahead = -5000;
	image.threads[0].restart.until = NOW;
	CHECK(!answer() && image.threads[0].restart.until == NOW - 5000);
	memcpy(&v, image.vcpus[0].plain, VCPU_PLAIN);
	CHECK(v.main.queue[0].at == NOW - 5000);
	here.ahead = 0;
}

/* The queue of a server stays sorted, whichever clock the source claims to have. */
TEST(migration_refuses_times_of_which_a_shift_wraps_some)
{
	make();
	v.main.length = 2;
	v.main.queue[0] = (struct replenishment){ 5, 50 };
	v.main.queue[1] = (struct replenishment){ 10, 50 };
	put_vcpu();
	CHECK(!answer());
	here.ahead = -7;
	put_vcpu();
	CHECK(answer() == -EBADMSG);
	here.ahead = 0;
}

TEST(migration_checks_pages)
{
	const struct { struct mig_page page; bool right; } pages[] = {
		{ { USER_IMAGE, PAGE_CODE, 0, 0 }, true },
		{ { USER_IMAGE, PAGE_CODE, 1, 3 * PAGE_SIZE }, true },
		{ { USER_IMAGE + 1, PAGE_CODE, 0, 0 }, false },
		{ { USER_IMAGE, PAGE_RIGHTS, 0, 0 }, false },
		{ { 0x100000, PAGE_DATA, 0, 0 }, false },
		{ { USER_SHARED, PAGE_DATA, 0, 0 }, false },
		{ { ~0ull << 12, PAGE_DATA, 0, 0 }, false },
		{ { USER_IMAGE, PAGE_DATA, 2, 0 }, false },
		{ { USER_IMAGE, PAGE_DATA, 1, 1 }, false },
		{ { USER_IMAGE, PAGE_DATA, 1, 4 * PAGE_SIZE }, false },
		{ { USER_IMAGE, PAGE_DATA, 1, ~0ull << 12 }, false },
	};
	unsigned int i;

	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		CHECK(mig_check_page(&pages[i].page, 4 * PAGE_SIZE) == pages[i].right);
	CHECK(!mig_check_page(&pages[1].page, 0));
}

TEST(arena_gives_each_page_once)
{
	uint64_t at, first = 5ull << 30;
	unsigned int i;

	CHECK(!arena_alloc() && !arena_has(0, &at));
	arena_init(first, 100 * PAGE_SIZE + 5);
	CHECK(arena_managed() == 100 && arena_available() == 100);
	for (i = 0; i < 100; i++) {
		at = arena_alloc();
		CHECK(at == first + i * PAGE_SIZE);
		CHECK(arena_has(at, &at) && at == i * PAGE_SIZE);
	}
	CHECK(!arena_alloc() && !arena_available());
	CHECK(!arena_has(first - 1, &at) && !arena_has(first + 100 * PAGE_SIZE, &at));
	arena_free(first + 7 * PAGE_SIZE);
	CHECK(arena_alloc() == first + 7 * PAGE_SIZE && !arena_alloc());
}
