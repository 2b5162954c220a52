// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include "../kernel/dispatch.h"
#include "../kernel/process/process.h"
#include "../mm/pages.h"
#include "../mm/usercopy.h"
#include "../user/include/quest/errors.h"
#include "checkpoint.h"
#include "replica.h"
#include "rule.h"
#include "takeover.h"

#define BUFFERS		2

static struct checkpoint {
	uint64_t memory[BUFFERS];	/* physical addresses; 0: no checkpoint */
	size_t room, bytes[BUFFERS];	/* bytes 0: empty */
	uint64_t saved[BUFFERS];	/* TSC at which it was complete */
	uint64_t age;
	unsigned int newest;
	bool busy;			/* a thread copies */
	bool resume;			/* the program may resume */
} checkpoints[COMPONENTS_MAX];

bool checkpoint_init(unsigned int n, size_t bytes, uint64_t age)
{
	struct checkpoint *k = &checkpoints[n];
	size_t pages = (bytes + PAGE_SIZE - 1) / PAGE_SIZE;

	*k = (struct checkpoint){ .memory = { pages_alloc(BUFFERS * pages) } };
	if (!k->memory[0])
		return false;
	k->memory[1] = k->memory[0] + pages * PAGE_SIZE;
	k->room = bytes;
	k->age = age;
	return true;
}

bool checkpoint_usable(unsigned int n, uint64_t now)
{
	const struct checkpoint *k = &checkpoints[n];

	return k->memory[0] && k->bytes[k->newest] && now - k->saved[k->newest] <= k->age;
}

void checkpoint_fetch(unsigned int n)
{
	struct checkpoint *k = &checkpoints[n];
	unsigned int spare = 1 - k->newest;
	uint64_t now = rdtsc(), age = 0;

	if (!k->memory[0])
		return;
	if (replica_used(n))
		k->bytes[spare] = replica_fetch(n, (void *)(uintptr_t)k->memory[spare], k->room,
						checkpoint_usable(n, now));
	else
		k->bytes[spare] = takeover_fetch(n, (void *)(uintptr_t)k->memory[spare], k->room,
						 &age);
	if (!k->bytes[spare])
		return;
	/* with a time after the copy, it could seem to come after the look that found the fault */
	k->saved[spare] = now - age;
	k->newest = spare;
}

void checkpoint_arm(unsigned int n, bool resume)
{
	checkpoints[n].resume = resume;
}

/* The component of program `p`, which is one. */
static unsigned int number_of(const struct process *p)
{
	return (unsigned int)p->component - 1;
}

/* Returns the checkpoint of program `p`; NULL: it has none. */
static struct checkpoint *checkpoint_of(const struct process *p)
{
	struct checkpoint *k = p->component ? &checkpoints[number_of(p)] : NULL;

	return k && k->memory[0] ? k : NULL;
}

typedef bool copy_part(const struct space *s, uint64_t user, void *kept, size_t n);

static bool copy_in(const struct space *s, uint64_t user, void *kept, size_t n)
{
	return copy_from_user(s, kept, user, n);
}

static bool copy_out(const struct space *s, uint64_t user, void *kept, size_t n)
{
	return copy_to_user(s, user, kept, n);
}

/* Copies page by page, and lets others run between two pages. Returns 0 or minus an error. */
static long copy_all(copy_part *copy, const struct process *p, uint64_t user, uint64_t kept,
		     size_t n)
{
	size_t done, part;

	for (done = 0; done < n; done += part) {
		part = n - done < PAGE_SIZE ? n - done : PAGE_SIZE;
		if (!copy(&p->space, user + done, (void *)(uintptr_t)(kept + done), part))
			return -EFAULT;
		let_interrupts_in();
		if (p->ending)		/* a fault meanwhile: do not keep what it may have spoilt */
			return -EINTR;
	}
	return 0;
}

/* Copies to the spare buffer. If it returns 0, the caller ends with end_save(). */
static long begin_save(struct checkpoint *k, const struct process *p, uint64_t from, size_t n)
{
	unsigned int spare = 1 - k->newest;
	long error;

	if (!n || n > k->room)
		return -EINVAL;
	if (k->busy)
		return -EBUSY;
	k->busy = true;
	k->bytes[spare] = 0;
	error = copy_all(copy_in, p, from, k->memory[spare], n);
	k->busy = !error;
	return error;
}

/* The spare buffer has the newest checkpoint, if `result` is no error. Returns `result`. */
static long end_save(struct checkpoint *k, size_t n, long result)
{
	unsigned int spare = 1 - k->newest;

	k->busy = false;
	if (result < 0)
		return result;
	k->bytes[spare] = n;
	k->saved[spare] = rdtsc();
	k->newest = spare;
	return result;
}

static void *spare_of(const struct checkpoint *k)
{
	return (void *)(uintptr_t)k->memory[1 - k->newest];
}

long checkpoint_save(const struct process *p, uint64_t from, size_t n)
{
	struct checkpoint *k = checkpoint_of(p);
	long error;

	if (!k || replica_used(number_of(p)))
		return -ENOTSUP;
	error = begin_save(k, p, from, n);
	return error ? error :
	       end_save(k, n, takeover_save(number_of(p), p, spare_of(k), n) ? 0 : -EINTR);
}

long checkpoint_vote(const struct process *p, uint64_t number, uint64_t from, size_t n)
{
	struct checkpoint *k = checkpoint_of(p);
	long error;

	if (!k || !replica_used(number_of(p)))
		return -ENOTSUP;
	error = begin_save(k, p, from, n);
	return error ? error :
	       end_save(k, n, replica_vote(number_of(p), p, number, spare_of(k), n));
}

long checkpoint_resume(const struct process *p, uint64_t to, size_t n)
{
	struct checkpoint *k = checkpoint_of(p);
	size_t bytes;
	long error;

	if (!k || !k->resume)
		return 0;
	bytes = k->bytes[k->newest];
	if (n < bytes)
		return -EINVAL;
	if (k->busy)
		return -EBUSY;
	k->busy = true;
	error = copy_all(copy_out, p, to, k->memory[k->newest], bytes);
	k->busy = false;
	return error ? error : (long)bytes;
}
