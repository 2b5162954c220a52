// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both ends of messages (user/lib/ipc*.c), each in a thread of the host, one of which runs at a
 * time: programs that end in the middle of a message, and begin again, and ends that write what no
 * program writes. Headers are those of Quest's programs.
 */
#include <ipc.h>
#include <stdlib.h>
#include <string.h>
#include "../../../lib/linux/manage.h"
#include "../../quest/user/lib/ipcslot.h"
#include "../../quest/user/lib/raw.h"
#include "../moving/baton.h"
#include "unit.h"

#define ITEM	256
#define BODY	(ITEM - IPC_HEAD)
#define LIMIT_US 25000
#define STEPS	3000		/* of a thread, which ends within them */
#define MOST	(6 * BODY)
#define NS_PER_S 1000000000u
#define TEST_S	60		/* a test that takes longer hangs */

enum { SENDER, RECEIVER, SECOND };	/* threads; the first two are the numbers of the ends */

static struct qv_chan_page plan;
static unsigned char window[8 * QV_CHAN_PAGE] __attribute__((aligned(QV_CHAN_PAGE)));
static int running;		/* the thread that runs */
static bool begun[3], ended[3], dead[3], stopped;
static bool true_bells;		/* a sleep without a limit ends by a bell only */
static bool rang[2];		/* the bell of this end, since it slept last */
static uint64_t now_ns;

unsigned int alarm(unsigned int seconds);

/* ---- in place of the kernel ---- */

static void pause_here(void)
{
	baton_return((unsigned int)running);
}

int quest_channel_attach(const char *name, struct quest_channel *to)
{
	int end = *name == 'r' ? RECEIVER : SENDER;

	*to = (struct quest_channel){ (uint64_t)window, plan.length, (uint64_t)end };
	return end;
}

int quest_channel_open_key(const struct quest_key *key, struct quest_channel *to)
{
	(void)key;
	(void)to;
	return -ENODEV;
}

int quest_channel_detach(int channel)
{
	(void)channel;
	return 0;
}

int quest_channel_sleep(int channel, uint32_t seen, const struct timespec *until)
{
	bool bell;

	do {
		pause_here();
		if (stopped || dead[running])
			return -EINTR;
		bell = rang[channel] || !true_bells;
		rang[channel] = false;
	} while (!bell && !until);
	if (until)
		now_ns = (uint64_t)until->tv_sec * NS_PER_S + (uint64_t)until->tv_nsec;
	return until ? -ETIMEDOUT : (int)(seen + 1);
}

int quest_channel_ring(int channel)
{
	rang[!channel] = true;
	return 0;
}

int quest_ipc_wait(struct quest_ipc_wait *w)
{
	w->any_ns = w->now_ns = w->paper_ns = w->demand_ns;
	return 0;
}

int quest_clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	now_ns++;
	*t = (struct timespec){ (time_t)(now_ns / NS_PER_S), (long)(now_ns % NS_PER_S) };
	return 0;
}

/* ---- the world ---- */

static void begin(void)
{
	uint32_t i;

	plan = (struct qv_chan_page){
		.type = QV_CHAN_MAILBOX, .item = ITEM, .slots = 1, .ends = 2,
		.flags = QV_CHAN_BELL | QV_CHAN_RECONNECT, .name = "questions",
	};
	CHECK(!qv_chan_lay_out(&plan) && plan.length <= sizeof(window));
	memset(window, 0, sizeof(window));
	manage_make(window, &plan, 0x12345600);
	for (i = 0; i < 2; i++)
		manage_start(window, i);
	memset(begun, 0, sizeof(begun));
	memset(ended, 0, sizeof(ended));
	memset(dead, 0, sizeof(dead));
	memset(rang, 0, sizeof(rang));
	stopped = true_bells = false;
	baton_init();
	(void)alarm(TEST_S);
}

static void start(void *fn)
{
	((void (*)(void))fn)();
	ended[running] = true;
	baton_end();
}

/* Thread `n` runs until it sleeps; the first time it begins `fn`. */
static void step(int n, void (*fn)(void))
{
	if (ended[n])
		return;
	begun[n] = true;
	running = n;
	baton_give((unsigned int)n, start, (void *)fn);
	if (ended[n])
		baton_join((unsigned int)n);
}

/* Threads `first` and `second` run in turn until `first` has ended. Returns whether it has. */
static bool run(int first, void (*fn)(void), int second, void (*other)(void))
{
	int i;

	for (i = 0; i < STEPS && !ended[first]; i++) {
		step(first, fn);
		step(second, other);
	}
	return ended[first];
}

/* From now on all calls that wait fail. */
static void end_all(void)
{
	int n;

	stopped = true;
	for (n = SENDER; n <= SECOND; n++)
		if (begun[n])
			CHECK(run(n, NULL, n, NULL));
}

/* ---- programs ---- */

static ssize_t result[3];
static size_t bytes, reply_bytes;
static unsigned int resets;
static unsigned char text[MOST], got[MOST];

/* A sender that connects and calls once. */
static void call(void)
{
	struct ipc end;
	int error = ipc_open(&end, "sender", IPC_SLEEPS, 0);

	if (!error)
		error = ipc_connect(&end);
	memset(got, 0, sizeof(got));
	result[SENDER] = error ? error : ipc_call(&end, text, bytes, got, sizeof(got));
}

/* A receiver that replies with the first bytes of each request. */
static void serve(void)
{
	static unsigned char room[MOST];
	struct ipc end;
	ssize_t n = ipc_open(&end, "receiver", IPC_SLEEPS, 0);

	while (n >= 0) {
		n = ipc_receive(&end, room, sizeof(room));
		if (n >= 0)
			n = ipc_reply(&end, room, reply_bytes);
		resets += n == -ECONNRESET;
		/* of ipc_send(), or too long for the other end, which may have restarted */
		if (n == -EINVAL || n == -EMSGSIZE || n == -ECONNRESET)
			n = 0;
	}
	result[RECEIVER] = n;
}

/* A receiver whose program ends when it has taken a message. */
static void take_and_die(void)
{
	static unsigned char room[MOST];
	struct ipc end;

	CHECK(!ipc_open(&end, "receiver", IPC_SLEEPS, 0));
	CHECK_EQ(ipc_receive(&end, room, sizeof(room)), bytes);
	CHECK(!ipc_close(&end));
}

static void make_text(void)
{
	size_t i;

	for (i = 0; i < sizeof(text); i++)
		text[i] = (unsigned char)(i * 7 + 1);
}

TEST(messages_of_all_sizes_arrive)
{
	static const size_t sizes[] = { 0, 1, BODY - 1, BODY, BODY + 1, 3 * BODY, MOST };
	unsigned int i, j;

	make_text();
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (j = 0; j <= i; j++) {
			begin();
			bytes = sizes[i];
			reply_bytes = sizes[j];
			CHECK(run(SENDER, call, RECEIVER, serve));
			end_all();
			CHECK_EQ(result[SENDER], reply_bytes);
			CHECK(!memcmp(got, text, reply_bytes));
		}
}

/* The sender learns that the receiver restarted, and does not wait for the reply without end. */
TEST(sender_learns_that_the_receiver_ended_before_its_reply)
{
	begin();
	bytes = reply_bytes = 3;
	CHECK(run(RECEIVER, take_and_die, SENDER, call));
	CHECK(!ended[SENDER] && run(SENDER, call, SECOND, serve));
	end_all();
	CHECK_EQ(result[SENDER], -ECONNRESET);
}

/* The cell of end `n` restarts, with its thread. */
static void restart(int n)
{
	dead[n] = true;
	CHECK(run(n, NULL, n, NULL));
	manage_start(window, (uint32_t)n);
}

static void begin_call(int steps)
{
	begin();
	bytes = reply_bytes = MOST;
	resets = 0;
	for (; steps; steps--) {
		step(SENDER, call);
		step(RECEIVER, serve);
	}
	CHECK(!ended[SENDER]);
}

/* Either cell restarts in the middle of a message of many slots: the other end learns it once. */
TEST(message_ends_with_the_cell_of_an_end)
{
	int steps;

	make_text();
	for (steps = 3; steps < 19; steps++) {
		unit_case("after %d steps", steps);
		begin_call(steps);
		restart(SENDER);
		CHECK(run(SECOND, call, RECEIVER, serve));
		CHECK_EQ(result[SENDER], MOST);
		CHECK(!memcmp(got, text, MOST) && resets == 1);
		end_all();
		begin_call(steps);
		restart(RECEIVER);
		CHECK(run(SENDER, call, SECOND, serve));
		CHECK_EQ(result[SENDER], -ECONNRESET);
		end_all();
	}
}

TEST(bound_contains_the_whole_service)
{
	struct ipc end;

	begin();
	CHECK_EQ(ipc_open(&end, "receiver", IPC_SLEEPS, UINT64_MAX / 1000 + 1), -EINVAL);
	CHECK_EQ(ipc_open(&end, "receiver", IPC_SLEEPS, IPC_SERVICE_US_MAX + 1ul), -EINVAL);
	CHECK_EQ(ipc_open(&end, "receiver", IPC_SLEEPS, IPC_SERVICE_US_MAX), 0);
	CHECK_EQ(end.service_ns, IPC_SERVICE_US_MAX * 1000ul);
}

/* ---- ends that write what no program of ipc.h writes ---- */

static unsigned int slots;

/* Writes a slot of random kind and length at this end's turn, and takes those of the other end. */
static void write_anything(const char *name)
{
	int channel = channel_open(name);
	unsigned char slot[ITEM];
	unsigned int n;

	for (n = 0; n < slots; pause_here()) {
		(void)channel_read(channel, slot, sizeof(slot));
		memset(slot, 0, sizeof(slot));
		slot[0] = (unsigned char)rnd_below(10);
		slot[4] = (unsigned char)rnd_below(3) * 100;
		slot[8] = (unsigned char)rnd_below(2) * 100;
		n += !channel_write(channel, slot, rnd_below(ITEM + 1));
	}
	CHECK(!channel_close(channel));
}

static void send_anything(void)
{
	write_anything("sender");
}

static void answer_anything(void)
{
	write_anything("receiver");
}

/* The receiver stays usable: the next sender gets its reply. */
TEST(receiver_survives_what_a_sender_writes)
{
	int i;

	for (i = 0; i < 500; i++) {
		unit_case("case %d", i);
		begin();
		slots = 1 + (unsigned int)rnd_below(3);
		bytes = reply_bytes = 3;
		CHECK(run(SECOND, send_anything, RECEIVER, serve));
		CHECK(run(SENDER, call, RECEIVER, serve));
		CHECK_EQ(result[SENDER], 3);
		end_all();
	}
}

/* A sender that calls until there is a reply. */
static void call_again(void)
{
	struct ipc end;
	ssize_t n = ipc_open(&end, "sender", IPC_SLEEPS, 0);
	bool reset;

	while (n != 3) {
		n = ipc_connect(&end);
		if (!n)
			n = ipc_call(&end, text, 3, got, sizeof(got));
		reset = n == -ECONNRESET || n == -EBADMSG || n == -EMSGSIZE || n >= 0;
		if (!CHECK(reset))
			break;
	}
	result[SENDER] = n;
}

/* The sender stays usable: it gets the reply of the next receiver by the same end. */
TEST(sender_survives_what_a_receiver_writes)
{
	int i;

	for (i = 0; i < 500; i++) {
		unit_case("case %d", i);
		begin();
		slots = 1 + (unsigned int)rnd_below(30);
		reply_bytes = 3;
		(void)run(SECOND, answer_anything, SENDER, call_again);
		CHECK(run(SENDER, call_again, RECEIVER, serve));
		CHECK_EQ(result[SENDER], 3);
		end_all();
	}
}

/* The first end of a mailbox, which waits for its turn before it writes. */
static void wait_and_write(void)
{
	int n = channel_open("sender");

	result[SENDER] = channel_wait(n, -1);
	if (!result[SENDER])
		result[SENDER] = channel_write(n, "question", 8);
	CHECK(!channel_close(n));
}

static void wait_and_read(void)
{
	int n = channel_open("receiver");

	result[RECEIVER] = channel_wait(n, -1);
	if (!result[RECEIVER])
		result[RECEIVER] = channel_read(n, got, sizeof(got));
	CHECK(!channel_close(n));
}

/* Both wait without a limit, and no bell tells the first end that the other one has attached. */
TEST(first_end_of_a_mailbox_finds_the_other_that_attaches_later)
{
	int n;

	begin();
	true_bells = true;
	for (n = 0; n < 3; n++)
		step(SENDER, wait_and_write);
	CHECK(!ended[SENDER]);
	CHECK(run(RECEIVER, wait_and_read, SENDER, wait_and_write));
	CHECK_EQ(result[SENDER], 0);
	CHECK_EQ(result[RECEIVER], 8);
	end_all();
}

static void wait_with_limit(void)
{
	int n = channel_open("sender");

	result[SENDER] = channel_wait(n, LIMIT_US);
	CHECK(!channel_close(n));
}

/* The look for the other end takes no time from the caller's limit, and adds none. */
TEST(wait_for_an_end_that_never_attaches_ends_at_its_limit)
{
	begin();
	true_bells = true;
	now_ns = 0;
	CHECK(run(SENDER, wait_with_limit, SENDER, NULL));
	CHECK_EQ(result[SENDER], -ETIMEDOUT);
	CHECK_EQ(now_ns / 1000, LIMIT_US);
}
