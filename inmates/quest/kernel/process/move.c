// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../../user/include/quest/errors.h"
#include "../dispatch.h"
#include "../lock.h"
#include "../panic.h"
#include "../threadslot.h"
#include "../userchannel.h"
#include "../userdriver.h"
#include "../vcpu/bind.h"
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

/* Returns whether a descriptor leads to something that cannot move: a pipe or a socket. */
static bool has_pipes(struct process *p)
{
	int fd;

	for (fd = 0; fd < FILES_MAX; fd++)
		if (p->files[fd].kind == FILE_PIPE_READ || p->files[fd].kind == FILE_PIPE_WRITE ||
		    p->files[fd].kind == FILE_SOCKET)
			return true;
	return false;
}

static bool can_go(struct process *p, bool migrates)
{
	return !has_children(p) && !has_pipes(p) && !shared_used(p) && !userdriver_used(p) &&
	       (migrates || !userchannel_used(p));
}

static void promise(struct program_image *image)
{
	image->promised++;
	threadslot_promise();
}

static void redeem(struct program_image *image)
{
	image->promised--;
	threadslot_redeem();
}

static void free_image(struct process *p)
{
	while (p->image->promised)
		redeem(p->image);
	pages_free((uint64_t)(uintptr_t)p->image, IMAGE_PAGES);
	p->image = NULL;
}

/* Frees the threads that have been created, and have not been started. */
static void drop_threads(struct program_image *image, bool promised)
{
	while (image->prepared) {
		threadslot_free(image->made[--image->prepared]);
		if (promised)
			promise(image);
		let_interrupts_in();
	}
}

/* A thread that is promised a slot cannot fail, unless the shell has the pages. */
static int prepare_thread(const struct process *p, struct thread **made,
			  const struct thread_image *i, bool promised)
{
	unsigned int kept = promised ? 0 : SHELL_THREADS;
	unsigned int pages = promised ? KSTACK_BYTES / PAGE_SIZE : MOVE_THREAD_PAGES;
	int error;

	if (promised)
		redeem(p->image);
	error = pages_unkept() < pages ? -ENOMEM :
		userthread_prepare(made, p, i->slot, &i->frame, kept);
	if (error && promised)
		promise(p->image);
	if (error)
		return error;
	*(*made)->fpu = i->fpu;
	(*made)->restart = i->restart;
	return 0;
}

/*
 * Creates all threads of the image, in slots and pages that are not kept for the shell, or returns
 * an error. Others run between two of them. Then start_threads() cannot fail.
 */
static int prepare_threads(const struct process *p)
{
	struct program_image *image = p->image;
	bool promised = image->promised;
	int error = 0;

	for (; image->prepared < image->num_threads && !error; let_interrupts_in()) {
		error = prepare_thread(p, &image->made[image->prepared],
				       &image->threads[image->prepared], promised);
		image->prepared += !error;
	}
	if (error)
		drop_threads(image, promised);
	return error;
}

/* All threads begin in one step. */
static void start_threads(struct process *p)
{
	struct program_image *image = p->image;
	unsigned int i;
	int vcpu;

	for (i = 0; i < image->num_threads; i++) {
		vcpu = image->threads[i].vcpu;
		userthread_start(image->made[i], p,
				 uservcpu_usable(vcpu, p->pid) ? vcpu : p->vcpu);
	}
	image->num_threads = image->prepared = 0;
	/* threads on VCPUs of shorter periods may wait for a lock of another one */
	lock_inherit(p);
}

/*
 * The threads of `p` leave the kernel on VCPU `vcpu`, so that they need not wait for budgets of
 * their own, and the move costs these budgets nothing. Negative: they return to their own VCPUs.
 */
static void bind_threads(const struct process *p, int vcpu)
{
	struct thread *by_slot[STACKS_MAX];
	unsigned int i;

	threadslots_collect(p, by_slot);
	for (i = 0; i < STACKS_MAX; i++)
		if (by_slot[i])
			(void)vcpu_bind(by_slot[i], vcpu < 0 ? by_slot[i]->own_vcpu : vcpu);
}

/*
 * Cancels the move: threads that are already in the image are created again and continue. Returns
 * `error`. The process has an image until then, so that no other thread moves it.
 */
static int stay(struct process *p, int error)
{
	bind_threads(p, -1);
	lock_inherit(p);
	p->leaving = false;
	while (prepare_threads(p))
		thread_sleep_us(RETRY_US);
	start_threads(p);
	free_image(p);
	return error;
}

/* Waits until all threads are parked. Returns 0 or an error. */
static int wait_for_threads(int pid, struct process *p, bool migrates, uint64_t until)
{
	while (p->image->num_threads < p->num_threads) {
		/* again after each thread: a lock may have moved others (lock.h) */
		bind_threads(p, thread_current()->own_vcpu);
		if (!park_wait(until))
			return -ETIMEDOUT;
		if (process_find(pid) != p || p->state != PROCESS_LIVE || !p->num_threads)
			return -ESRCH;
		if (p->ending)
			return -EINTR;
	}
	return can_go(p, migrates) ? 0 : -EBUSY;
}

/* Copies the VCPUs of `p`, which no longer have threads, into the image, or moves them there. */
static void take_vcpus(struct process *p, bool keep)
{
	struct program_image *image = p->image;
	struct vcpu_image *v;
	int id;

	image->vcpu = p->vcpu;
	image->keeps_vcpus = keep;
	for (id = 0; id < SCHED_VCPUS && image->num_vcpus < MOVE_VCPUS; id++) {
		if (!uservcpu_owned(id, p->pid))
			continue;
		v = &image->vcpus[image->num_vcpus++];
		v->id = id;
		v->io_class = iovcpu_get(id);
		memcpy(v->plain, sched_vcpu(dispatch_sched(), id), VCPU_PLAIN);
		if (!keep)
			uservcpu_take(id);
	}
}

/*
 * Returns the physical address of an empty image; 0: there is no memory. Lets others run, also
 * between two pages that it clears.
 */
static uint64_t new_image(void)
{
	uint64_t page = 0;
	size_t from = 0, i;

	while (!(page = pages_alloc_step(IMAGE_PAGES, &from)) && from != PAGES_SEARCHED)
		let_interrupts_in();
	for (i = 0; page && i < IMAGE_PAGES; i++) {
		memset((void *)(uintptr_t)(page + i * PAGE_SIZE), 0, PAGE_SIZE);
		let_interrupts_in();
	}
	return page;
}

int move_image(struct process *p)
{
	p->image = (struct program_image *)(uintptr_t)new_image();
	return p->image ? 0 : -ENOMEM;
}

static int check_can_leave(struct process *p, bool migrates)
{
	if (!p || p->state != PROCESS_LIVE || p->ending || p->leaving || !p->num_threads)
		return -ESRCH;
	return p->image || !can_go(p, migrates) ? -EBUSY : 0;
}

int move_detach(int pid, bool migrates)
{
	struct process *p = process_find(pid);
	int error = check_can_leave(p, migrates);
	uint64_t image;

	if (error)
		return error;
	image = new_image();
	/* others have run meanwhile */
	p = process_find(pid);
	error = image ? check_can_leave(p, migrates) : -ENOMEM;
	if (error) {
		if (image)
			pages_free(image, IMAGE_PAGES);
		return error;
	}
	p->image = (struct program_image *)(uintptr_t)image;
	p->leaving = true;
	wake_threads_of(p);
	error = wait_for_threads(pid, p, migrates, rdtsc() + timer_from_us(PATIENCE_US));
	/* the process has ended with all its threads, so the image contains no threads */
	if (error == -ESRCH) {
		if (process_find(pid) == p)
			p->image = NULL;
		pages_free(image, IMAGE_PAGES);
		return error;
	}
	if (error)
		return stay(p, error);
	take_vcpus(p, migrates);
	while (!migrates && p->image->promised)
		redeem(p->image);
	p->leaving = false;
	p->state = PROCESS_DETACHED;
	return 0;
}

static void rename_vcpu(struct program_image *image, int was, int is)
{
	unsigned int i;

	if (image->vcpu == was)
		image->vcpu = is;
	for (i = 0; i < image->num_threads; i++)
		if (image->threads[i].vcpu == was)
			image->threads[i].vcpu = is;
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
		rename_vcpu(image, image->vcpus[i].id, SCHED_VCPUS + (int)i);
		vcpuname_move(p, image->vcpus[i].id, SCHED_VCPUS * 2 + (int)i);
	}
	for (i = 0; i < image->num_vcpus; i++) {
		rename_vcpu(image, SCHED_VCPUS + (int)i, id[i] < 0 ? BEST_EFFORT_VCPU : id[i]);
		vcpuname_move(p, SCHED_VCPUS * 2 + (int)i, id[i] < 0 ? -1 : id[i]);
	}
	image->num_vcpus = 0;
}

/*
 * Creates the VCPUs of the image. With `all`, stops when a VCPU is not admitted, and returns the
 * error; else such a VCPU becomes best effort.
 */
static int put_vcpus(struct process *p, bool all)
{
	int id[MOVE_VCPUS];
	unsigned int i;

	for (i = 0; i < p->image->num_vcpus; i++) {
		id[i] = put_vcpu(p, i);
		if (all && id[i] < 0)
			return id[i];
	}
	rename_vcpus(p, id);
	return 0;
}

int move_admit(struct process *p)
{
	int error = put_vcpus(p, true);

	return error ? error : prepare_threads(p);
}

int move_attach(int pid)
{
	struct process *p = process_find(pid);
	struct program_image *image;
	int error;

	if (!p || p->state != PROCESS_DETACHED)
		return -ESRCH;
	image = p->image;
	/* so that no other thread that runs meanwhile attaches it, too */
	p->state = PROCESS_STARTING;
	if (!image->keeps_vcpus)
		(void)put_vcpus(p, false);
	/* a VCPU of another program may have got the id meanwhile */
	p->vcpu = uservcpu_usable(image->vcpu, pid) ? image->vcpu : BEST_EFFORT_VCPU;
	error = prepare_threads(p);
	p->state = error ? PROCESS_DETACHED : PROCESS_LIVE;
	if (error)
		return error;
	start_threads(p);
	free_image(p);
	return 0;
}

void move_discard(struct process *p, int status)
{
	if (p->image) {
		drop_threads(p->image, false);
		free_image(p);
	}
	p->ending = true;
	p->status = status;
	process_release(p);
}
