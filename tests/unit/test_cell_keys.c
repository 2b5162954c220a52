// SPDX-License-Identifier: GPL-2.0-only
/* A cell's calls for channels at run time: cell/keys.c. No manager answers but the test. */
#include <string.h>
#include "cell/cell.h"
#include "core/gmem.h"
#include "fake.h"
#include "unit.h"

#define PAGE_PA		(8u << 20)	/* the request, in the cell's RAM */
#define TARGET		3u		/* APIC id */
#define NMI		(4u << 8 | 1u << 14)

static u32 nmis;

static void hear(u32 low, u32 apic_id)
{
	CHECK_EQ(low, NMI);
	CHECK_EQ(apic_id, TARGET);
	CHECK_EQ(me()->bells.uses[0] & 1, 1);	/* the manager waits for it: posts_retarget() */
	nmis++;
}

/* A cell with one listed channel, and windows 1 and 2 */
static void open_cell(void)
{
	fake_open(true, true);
	fake_time();
	fake_become_cell();
	me()->boot.tsc_khz = 1;
	me()->req.num_channels = 3;
	me()->req.num_dynamic = 2;
	me()->req.bell_rate = 10;
	me()->cell.post.target = TARGET;
	memset(fake_ram + PAGE_PA, 0x5a, 2 * QV_PAGE);
	fake_ipi = hear;
	nmis = 0;
}

static s32 call(u32 nr, u64 a, u64 b)
{
	struct pcpu *cpu = pcpu_of(0);

	cpu->regs[GPR_RDI] = a;
	cpu->regs[GPR_RSI] = b;
	cpu->regs[GPR_RAX] = ~0ull;
	CHECK(cell_channel_call(cpu, nr));
	CHECK_EQ(cpu->regs[GPR_RAX] >> 32, 0);
	return (s32)cpu->regs[GPR_RAX];
}

static void answer(s32 result)
{
	me()->cell.post.answer = result;
	me()->cell.post.state = POST_ANSWERED;
}

static void post_and_answer(void)
{
	struct chan_post *post = &me()->cell.post;

	open_cell();
	CHECK_EQ(call(QV_CALL_ANSWER, 77, 0), QV_KEY_NONE);
	CHECK_EQ(call(QV_CALL_OPEN, PAGE_PA + QV_PAGE - 64, 1), 0);	/* across two pages */
	CHECK_EQ(nmis, 1);
	CHECK_EQ(post->state, POST_SENT);
	CHECK_EQ(post->nr, QV_CALL_OPEN);
	CHECK_EQ(post->ask.end, 1);
	CHECK(!memcmp(&post->ask.page, fake_ram + PAGE_PA, sizeof(post->ask.page)));
	CHECK_EQ(me()->bells.uses[0] & 1, 0);
	/* one request at a time, which no further call changes */
	CHECK_EQ(call(QV_CALL_CLOSE, 2, 0), QV_KEY_BUSY);
	CHECK_EQ(call(QV_CALL_OPEN, PAGE_PA, 0), QV_KEY_BUSY);
	CHECK_EQ(post->nr, QV_CALL_OPEN);
	CHECK_EQ(post->ask.end, 1);
	CHECK_EQ(nmis, 1);
	/* the NMI may be lost: it is sent again */
	CHECK_EQ(call(QV_CALL_ANSWER, 77, 0), QV_KEY_PENDING);
	CHECK_EQ(nmis, 2);
	answer(2);
	CHECK_EQ(call(QV_CALL_ANSWER, 77, 0), 2);
	CHECK_EQ(pcpu_of(0)->regs[GPR_RDI], 0xFFE00000);
	CHECK_EQ(call(QV_CALL_ANSWER, 77, 0), QV_KEY_NONE);
	CHECK_EQ(pcpu_of(0)->regs[GPR_RDI], 77);
	CHECK_EQ(call(QV_CALL_CLOSE, 2, 0), 0);
	CHECK_EQ(post->nr, QV_CALL_CLOSE);
	CHECK_EQ(post->ask.end, 2);
	answer(QV_KEY_DENIED);
	CHECK_EQ(call(QV_CALL_ANSWER, 77, 0), QV_KEY_DENIED);
	CHECK_EQ(pcpu_of(0)->regs[GPR_RDI], 77);
	answer(1);
	call(QV_CALL_ANSWER, 0, 0);
	CHECK_EQ(pcpu_of(0)->regs[GPR_RDI], 0xFFC00000);
}

/* Each refusal leaves the post free, and sends nothing */
static void refusals(void)
{
	const u64 bad[] = { PAGE_PA + 4, 0xfee00000, QV_CHANNEL_GPA, 0xfffffff8,
			    FAKE_BLOCK + (1u << 20) };
	struct chan_post *post = &me()->cell.post;
	u32 i;

	open_cell();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		unit_case("request at %llx:", (unsigned long long)bad[i]);
		CHECK_EQ(call(QV_CALL_OPEN, bad[i], 0), QV_KEY_MALFORMED);
		CHECK_EQ(post->state, POST_FREE);
	}
	unit_case("later:");
	CHECK_EQ(call(QV_CALL_OPEN, PAGE_PA, 0), 0);
	answer(1);
	CHECK_EQ(call(QV_CALL_ANSWER, 0, 0), 1);
	post->next = rdtsc() + (1ull << 40);	/* the last NMI is less than a millisecond old */
	CHECK_EQ(call(QV_CALL_OPEN, PAGE_PA, 0), QV_KEY_RATE);
	CHECK_EQ(call(QV_CALL_CLOSE, 1, 0), QV_KEY_RATE);
	CHECK_EQ(post->state, POST_FREE);
	CHECK_EQ(nmis, 1);
	post->state = POST_SENT;
	CHECK_EQ(call(QV_CALL_ANSWER, 0, 0), QV_KEY_PENDING);
	CHECK_EQ(nmis, 1);
}

/* #UD for the cell: no such call, or not for this cell */
static void no_call(void)
{
	struct pcpu *cpu = pcpu_of(0);
	u32 nr;

	open_cell();
	cpu->regs[GPR_RDI] = 1;
	CHECK(cell_channel_call(cpu, QV_CALL_BELL));	/* a window without a channel */
	cpu->regs[GPR_RDI] = 3;
	CHECK(!cell_channel_call(cpu, QV_CALL_BELL));
	CHECK(!cell_channel_call(cpu, QV_CALL_ANSWER + 1));
	CHECK(!cell_channel_call(cpu, ~0u));
	me()->req.num_dynamic = 0;
	for (nr = QV_CALL_OPEN; nr <= QV_CALL_ANSWER; nr++)
		CHECK(!cell_channel_call(cpu, nr));
	CHECK_EQ(nmis, 0);
	CHECK_EQ(me()->cell.post.state, POST_FREE);
}

UNIT_SUITE(cell_keys) = {
	{ "cell keys: a request and its answer", post_and_answer },
	{ "cell keys: refusals", refusals },
	{ "cell keys: calls that do not exist", no_call },
	{ 0 }
};
