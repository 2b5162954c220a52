// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Channels at run time: qv/cell.h has the calls. */
#include <inmate/cell.h>
#include <inmate/cpu.h>

/*
 * Each call costs an exit, and a call that finds no answer may send an NMI to Linux. On a fast
 * machine the answer takes microseconds. On a slow emulator it takes seconds, and frequent calls
 * would make it take longer.
 */
#define FIRST_US	5
#define LONGEST_US	100000
#define PATIENCE_US	60000000

static void (*sleep)(uint64_t us);

void cell_key_sleep_by(void (*by)(uint64_t us))
{
	sleep = by;
}

static void spin(uint64_t us)
{
	uint64_t end = rdtsc() + us * cell_info()->tsc_khz / 1000;

	while ((int64_t)(rdtsc() - end) < 0)
		cpu_relax();
}

const char *cell_key_sentence(int answer)
{
	static const char *const sentences[] = {
		[0]			= "done",
		[-QV_KEY_PENDING]	= "the manager has not answered yet: ask again",
		[-QV_KEY_RATE]		= "too many requests: try again",
		[-QV_KEY_BUSY]		= "another request of this cell has no answer yet",
		[-QV_KEY_MALFORMED]	= "there can be no such channel: look at its description",
		[-QV_KEY_DENIED]	= "dynamic-channels of this cell's file does not list "
					  "that end",
		[-QV_KEY_DIFFERS]	= "the other end described this key differently, "
					  "or this end is taken",
		[-QV_KEY_FULL]		= "all memory of dynamic-channels is in use: close a key",
		[-QV_KEY_NONE]		= "no such channel is open",
		[-QV_KEY_STUCK]		= "a CPU of this cell did not answer: close it again",
	};
	unsigned int index = -(unsigned int)answer;

	return index < sizeof(sentences) / sizeof(sentences[0]) ? sentences[index] :
								  "the answer is not known";
}

struct patience {
	uint64_t next, waited;	/* us */
};

/* Pauses twice as long as before. Returns false, without a pause, when there were enough */
static bool pause_once(struct patience *p)
{
	if (p->waited >= PATIENCE_US)
		return false;
	if (sleep)
		sleep(p->next);
	else
		spin(p->next);
	p->waited += p->next;
	p->next = 2 * p->next < LONGEST_US ? 2 * p->next : LONGEST_US;
	return true;
}

int cell_key_answer(uint64_t *address)
{
	return (int)cell_call_both(QV_CALL_ANSWER, address, 0);
}

/* An answer that another thread gave up waiting for is in the way: takes it */
int cell_key_post(uint32_t number, uint64_t a, uint64_t b)
{
	uint64_t unused = 0;
	int result;

	if (!cell_info()->dynamic)
		return QV_KEY_DENIED;
	result = (int)cell_call_both(number, &a, b);
	if (result == QV_KEY_BUSY)
		(void)cell_key_answer(&unused);
	return result;
}

static int request(uint32_t number, uint64_t a, uint64_t b, uint64_t *address)
{
	struct patience p = { FIRST_US, 0 };
	int result;

	do
		result = cell_key_post(number, a, b);
	while ((result == QV_KEY_RATE || result == QV_KEY_BUSY) && pause_once(&p));
	if (result)
		return result;
	p.next = FIRST_US;
	do
		result = cell_key_answer(address);
	while (result == QV_KEY_PENDING && pause_once(&p));
	return result;
}

int cell_key_open(const struct qv_chan_page *page, uint64_t end, uint64_t *address)
{
	return request(QV_CALL_OPEN, (uintptr_t)page, end, address);
}

int cell_key_close(uint32_t window)
{
	uint64_t unused = 0;

	return request(QV_CALL_CLOSE, window, 0, &unused);
}
