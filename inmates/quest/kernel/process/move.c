// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../../user/include/quest/errors.h"
#include "../dispatch.h"
#include "../threadslot.h"
#include "../userchannel.h"
#include "../vcpu/iovcpu.h"
#include "../vcpu/uservcpu.h"
#include "exit.h"
#include "move.h"
#include "park.h"
#include "userthread.h"

#define PATIENCE_US	5000000
#define RETRY_US	10000
#define IMAGE_PAGES	((sizeof(struct program_image) + PAGE_SIZE - 1) / PAGE_SIZE)

static bool has_children(const struct process *p)
{
	int i;

	for (i = 0; i < PROCESS_MAX; i++)
		if (process_at(i) && process_at(i)->parent == p->pid)
			return true;
	return false;
}

static bool has_pipes(struct process *p)
{
	int fd;

	for (fd = 0; fd < FILES_MAX; fd++)
		if (p->files[fd].kind == FILE_PIPE_READ || p->files[fd].kind == FILE_PIPE_WRITE)
			return true;
	return false;
}

static bool can_go(struct process *p)
{
	return !has_children(p) && !has_pipes(p) && !shared_used(p) && !userchannel_used(p);
}

static void free_image(struct process *p)
{
	pages_free((uint64_t)(uintptr_t)p->image, IMAGE_PAGES);
	p->image = NULL;
}

/*
 * Checks for slots and pages for all threads. If there are, userthread_create() cannot fail while
 * interrupts are off.
 */
static int room_for_threads(const struct program_image *image)
{
	struct thread copy;
	unsigned int n = 0;
	int i;

	for (i = 0; i < THREAD_MAX; i++)
		n += !thread_snapshot(i, &copy);
	if (n < image->num_threads)
		return -EAGAIN;
	return pages_available() < image->num_threads * MOVE_THREAD_PAGES ? -ENOMEM : 0;
}

static void start_thread(struct process *p, const struct thread_image *i)
{
	struct thread *by_slot[STACKS_MAX], *t;

	(void)userthread_create(p, i->slot, &i->frame, NULL);
	threadslots_collect(p, by_slot);
	t = by_slot[i->slot];
	*t->fpu = i->fpu;
	t->restart = i->restart;
	if (uservcpu_usable(i->vcpu, p->pid))
		(void)uservcpu_bind(t, i->vcpu);
}

static int start_threads(struct process *p)
{
	int error = room_for_threads(p->image);
	unsigned int i;

	if (error)
		return error;
	for (i = 0; i < p->image->num_threads; i++)
		start_thread(p, &p->image->threads[i]);
	p->image->num_threads = 0;
	return 0;
}

/*
 * Cancels the move: threads that are already in the image are created again and continue. Returns
 * `error`.
 */
static int stay(struct process *p, int error)
{
	p->leaving = false;
	while (start_threads(p))
		thread_sleep_us(RETRY_US);
	free_image(p);
	return error;
}

/* Waits until all threads are parked. Returns 0 or an error. */
static int wait_for_threads(int pid, struct process *p, uint64_t until)
{
	while (p->image->num_threads < p->num_threads) {
		if (!park_wait(until))
			return -ETIMEDOUT;
		if (process_find(pid) != p || p->state != PROCESS_LIVE)
			return -ESRCH;
		if (p->ending)
			return -EINTR;
	}
	return can_go(p) ? 0 : -EBUSY;
}

/* Moves the VCPUs of `p`, which no longer have threads, into the image. */
static void take_vcpus(struct process *p)
{
	struct program_image *image = p->image;
	struct vcpu_image *v;
	int id;

	for (id = 0; id < SCHED_VCPUS && image->num_vcpus < MOVE_VCPUS; id++) {
		if (!uservcpu_owned(id, p->pid))
			continue;
		v = &image->vcpus[image->num_vcpus++];
		v->id = id;
		v->io_class = iovcpu_get(id);
		memcpy(v->plain, sched_vcpu(dispatch_sched(), id), VCPU_PLAIN);
		uservcpu_take(id);
	}
}

int move_image(struct process *p)
{
	uint64_t page = pages_alloc(IMAGE_PAGES);

	if (!page)
		return -ENOMEM;
	memset((void *)(uintptr_t)page, 0, IMAGE_PAGES * PAGE_SIZE);
	p->image = (struct program_image *)(uintptr_t)page;
	return 0;
}

int move_detach(int pid)
{
	struct process *p = process_find(pid);
	struct program_image *image;
	int error;

	if (!p || p->state != PROCESS_LIVE || p->ending || p->leaving)
		return -ESRCH;
	if (!can_go(p))
		return -EBUSY;
	error = move_image(p);
	if (error)
		return error;
	image = p->image;
	p->leaving = true;
	wake_threads_of(p);
	error = wait_for_threads(pid, p, rdtsc() + timer_from_us(PATIENCE_US));
	/* the process has ended with all its threads, so the image contains no threads */
	if (error == -ESRCH) {
		pages_free((uint64_t)(uintptr_t)image, IMAGE_PAGES);
		return error;
	}
	if (error)
		return stay(p, error);
	take_vcpus(p);
	p->leaving = false;
	p->state = PROCESS_DETACHED;
	return 0;
}

static void rename_vcpu(struct process *p, int was, int is)
{
	unsigned int i;

	if (p->vcpu == was)
		p->vcpu = is;
	for (i = 0; i < p->image->num_threads; i++)
		if (p->image->threads[i].vcpu == was)
			p->image->threads[i].vcpu = is;
}

/* Creates VCPU `i` of the image. Returns its id or minus an error. */
static int put_vcpu(const struct process *p, unsigned int i)
{
	const struct vcpu_image *v = &p->image->vcpus[i];
	struct vcpu was = { .state = VCPU_FREE };

	memcpy(&was, v->plain, VCPU_PLAIN);
	was.params.owner = p->pid;
	return uservcpu_put(&was, v->io_class);
}

/*
 * The VCPUs of the image have new ids; negative: it was not created. Renames them in two steps,
 * first to numbers above all ids. Otherwise the new id of a VCPU could equal the old id of another
 * one.
 */
static void rename_vcpus(struct process *p, const int id[])
{
	struct program_image *image = p->image;
	unsigned int i;

	for (i = 0; i < image->num_vcpus; i++) {
		rename_vcpu(p, image->vcpus[i].id, SCHED_VCPUS + (int)i);
		vcpuname_move(p, image->vcpus[i].id, SCHED_VCPUS * 2 + (int)i);
	}
	for (i = 0; i < image->num_vcpus; i++) {
		rename_vcpu(p, SCHED_VCPUS + (int)i, id[i] < 0 ? BEST_EFFORT_VCPU : id[i]);
		vcpuname_move(p, SCHED_VCPUS * 2 + (int)i, id[i] < 0 ? -1 : id[i]);
	}
	image->num_vcpus = 0;
}

int move_admit(struct process *p)
{
	struct program_image *image = p->image;
	int id[MOVE_VCPUS], error = 0;
	unsigned int i;

	for (i = 0; i < image->num_vcpus && !error; i++) {
		id[i] = put_vcpu(p, i);
		error = id[i] < 0 ? id[i] : 0;
	}
	if (!error)
		error = room_for_threads(image);
	if (!error)
		rename_vcpus(p, id);
	return error;
}

void move_discard(struct process *p, int status)
{
	if (p->image)
		free_image(p);
	if (!p->ending)
		p->status = status;
	p->ending = true;
	process_release(p);
}

int move_attach(int pid)
{
	struct process *p = process_find(pid);
	int id[MOVE_VCPUS], error;
	unsigned int i;

	if (!p || p->state != PROCESS_DETACHED)
		return -ESRCH;
	/* so that no other thread that runs meanwhile attaches it, too */
	p->state = PROCESS_STARTING;
	for (i = 0; i < p->image->num_vcpus; i++)
		id[i] = put_vcpu(p, i);
	rename_vcpus(p, id);
	if (!sched_vcpu(dispatch_sched(), p->vcpu))
		p->vcpu = BEST_EFFORT_VCPU;
	error = start_threads(p);
	p->state = error ? PROCESS_DETACHED : PROCESS_LIVE;
	if (!error)
		free_image(p);
	return error;
}
