// SPDX-License-Identifier: GPL-2.0-only
/* Cells: taking what they need, loading, starting, stopping, giving everything back. */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/tsc.h>
#include "qv.h"
#include "multiboot2.h"

#define DOORBELL_VECTOR	0x21

LIST_HEAD(qv_cells);
u32 qv_num_cells;

struct qv_cell *qv_cell_find(const char *name)
{
	struct qv_cell *cell;

	list_for_each_entry(cell, &qv_cells, list)
		if (!strncmp(cell->name, name, QV_NAME_LEN))
			return cell;
	return NULL;
}

/* CPUs that have left Linux for a cell. Read without the lock when a CPU comes online */
static cpumask_t taken;

bool qv_cpu_in_cell(u32 linux_cpu)
{
	return cpumask_test_cpu(linux_cpu, &taken);
}

struct qv_mon_status *qv_cell_status(struct qv_cell *cell)
{
	return page_address(cell->block) + QV_OFF_STATUS;
}

int qv_no_cell(struct qv_reply *r, const char *name)
{
	return qv_refuse(r, QV_E_NO_CELL, "see 'qvctl cell list'", "there is no cell '%.31s'", name);
}

/* ---- loading ---- */

static bool write_memory(void *ctx, u64 gpa, const void *from, u64 len)
{
	return qv_memory_write(ctx, gpa, from, len);
}

static bool zero_memory(void *ctx, u64 gpa, u64 len)
{
	return qv_memory_zero(ctx, gpa, len);
}

static void write_info(struct qv_cell *cell)
{
	const struct qv_mon_status *front = page_address(qv_takeover.block) + QV_OFF_STATUS;
	struct qv_info *info = page_address(cell->memory.pages[0]) + QV_INFO_GPA;
	u32 i;

	BUILD_BUG_ON(sizeof(*info) > PAGE_SIZE);
	memset(info, 0, PAGE_SIZE);
	info->magic = QV_INFO_MAGIC;
	info->abi = QV_INFO_ABI;
	info->size = sizeof(*info);
	strscpy(info->name, cell->name, sizeof(info->name));
	info->memory = (u64)cell->memory.num * QV_HUGE;
	info->tsc_khz = tsc_khz;
	info->x2apic = qv_takeover.x2apic;
	info->num_cpus = cell->num_cpus;
	info->doorbell_vector = DOORBELL_VECTOR;
	info->may_lock = cell->config->lock != QV_LOCK_NEVER;
	for (i = 0; i < cell->num_cpus; i++)
		info->apic_ids[i] = front->cpus[qv_cpu_index(cell->cpus[i])].apic_id;
	strscpy(info->cmdline, cell->config->cmdline, sizeof(info->cmdline));
	qv_pci_info(cell, info);
}

static int load_image(struct qv_reply *r, struct qv_cell *cell)
{
	struct mb2_target target = {
		.size = (u64)cell->memory.num * QV_HUGE, .ctx = &cell->memory,
		.write = write_memory, .zero = zero_memory,
	};
	struct mb2_work *work = kvzalloc(sizeof(*work), GFP_KERNEL);
	struct mb2_entry entry;
	const char *why;

	if (!work)
		return qv_refuse(r, QV_E_NO_MEMORY, "", "no memory to load the image");
	why = mb2_load(cell->image, cell->config->image_len, &target, cell->config->cmdline, &entry, work);
	kvfree(work);
	if (why)
		return qv_refuse(r, QV_E_IMAGE, "check the image: is it a multiboot2 ELF for x86?",
				 "the image '%.60s' cannot be loaded: %s", cell->config->image_name, why);
	cell->entry = (struct qv_mon_entry){ .eip = entry.eip, .eax = entry.eax, .ebx = entry.ebx };
	write_info(cell);
	return 0;
}

static u32 count_runs(const struct qv_memory *memory)
{
	u32 i, runs = 0;

	for (i = 0; i < memory->num; i++)
		if (!i || page_to_phys(memory->pages[i]) != page_to_phys(memory->pages[i - 1]) + QV_HUGE)
			runs++;
	return runs;
}

static int prepare(struct qv_reply *r, struct qv_cell *cell)
{
	if (qv_memory_take(&cell->memory, cell->config->memory / QV_HUGE))
		return qv_refuse(r, QV_E_NO_MEMORY, "free memory, or give the cell less",
				 "Linux could not free %llu MiB in pieces of 2 MiB",
				 cell->config->memory >> 20);
	if (count_runs(&cell->memory) > QV_MON_RUNS)
		return qv_refuse(r, QV_E_NO_MEMORY, "try earlier after boot, or give the cell less",
				 "the free memory is too scattered: %u pieces, the monitor takes %u",
				 count_runs(&cell->memory), QV_MON_RUNS);
	cell->block = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_RETRY_MAYFAIL,
				  get_order(QV_BLOCK_CELL));
	if (!cell->block)
		return qv_refuse(r, QV_E_NO_MEMORY, "free memory",
				 "Linux has no 2 MiB for the cell's monitor instance");
	qv_console_reset(cell->console);
	return load_image(r, cell);
}

static void give_memory(struct qv_cell *cell)
{
	if (cell->block)
		__free_pages(cell->block, get_order(QV_BLOCK_CELL));
	cell->block = NULL;
	qv_memory_give(&cell->memory);
}

/* ---- into the monitor and back ---- */

static void fill_runs(struct qv_mon_create *m, const struct qv_memory *memory)
{
	u32 i;

	for (i = 0; i < memory->num; i++) {
		struct qv_mon_run *last = m->num_runs ? &m->runs[m->num_runs - 1] : NULL;
		u64 pa = page_to_phys(memory->pages[i]);

		if (last && last->pa + last->count * QV_HUGE == pa) {
			last->count++;
			continue;
		}
		m->runs[m->num_runs++] = (struct qv_mon_run){ .pa = pa, .count = 1 };
	}
}

static int hand_over(struct qv_reply *r, struct qv_cell *cell)
{
	struct qv_mon_create *m = alloc_pages_exact(sizeof(*m), GFP_KERNEL | __GFP_ZERO);
	u64 result;
	u32 i;

	if (!m)
		return qv_refuse(r, QV_E_NO_MEMORY, "free memory", "no memory for the request to the monitor");
	m->block_pa = page_to_phys(cell->block);
	m->window_pa = page_to_phys(cell->console->pages[0]);
	m->num_cpus = cell->num_cpus;
	m->doorbell_vector = DOORBELL_VECTOR;
	m->lock = cell->config->lock;
	m->debug = cell->config->debug;
	m->bell_rate = cell->config->bell_rate ?: QV_BELL_RATE;
	BUILD_BUG_ON(sizeof(m->name) != sizeof(cell->name));
	memcpy(m->name, cell->name, sizeof(m->name));
	for (i = 0; i < cell->num_cpus; i++)
		m->cpus[i] = qv_cpu_index(cell->cpus[i]);
	m->num_ports = cell->config->num_ports;
	for (i = 0; i < m->num_ports; i++) {
		m->ports[i].first = cell->config->ports[i].first;
		m->ports[i].last = cell->config->ports[i].last;
	}
	qv_pci_request(cell, m);
	m->entry = cell->entry;
	fill_runs(m, &cell->memory);
	qv_watch_now();		/* what the log has of the instance's last holder is still said of that one */
	result = qv_manage(QV_HC_CREATE, virt_to_phys(m));
	free_pages_exact(m, sizeof(*m));
	if (!result || result > QV_ME_BASE)
		return qv_refuse_monitor(r, result, "create the cell");
	cell->id = result;
	qv_log_holder(cell->id, cell->name);
	cell->log_seen = 0;
	cell->state = QV_STATE_LOADABLE;
	return 0;
}

/* CPUs that do not answer the monitor stay with the cell, and offline: nobody knows what they do */
static void give_cpus(struct qv_cell *cell)
{
	u32 i, kept = 0;

	for (i = 0; i < cell->cpus_taken; i++) {
		u32 cpu = cell->cpus[i];

		if (qv_cpu_lost(cpu)) {
			cell->cpus[kept++] = cpu;
			continue;
		}
		cpumask_clear_cpu(cpu, &taken);
		if (add_cpu(cpu))
			qv_log("driver", "CPU %u of cell %s did not come back online", cpu, cell->name);
	}
	cell->cpus_taken = kept;
	if (kept)
		cell->num_cpus = kept;
}

static int refuse_lost(struct qv_reply *r, struct qv_cell *cell)
{
	return qv_refuse(r, QV_E_CPU_STUCK, "destroy the cell again if the CPU comes back, else restart the machine when it can be spared",
			 "CPU %u of cell '%s' does not answer the monitor: it stays offline, with the cell's memory and devices",
			 cell->failure.cpu, cell->name);
}

/* The monitor has what is left of the cell's CPUs: they go back to Linux */
static int lost(struct qv_reply *r, struct qv_cell *cell)
{
	give_cpus(cell);
	if (cell->cpus_taken)
		qv_watch_lost(cell, cell->cpus[0]);
	return refuse_lost(r, cell);
}

/* Memory and CPUs leave the monitor's hands; the cell must not run */
static int reclaim(struct qv_reply *r, struct qv_cell *cell)
{
	u64 result;

	if (!cell->id)
		return 0;
	do {
		result = qv_manage(QV_HC_RECLAIM, cell->id);
		cond_resched();
	} while (result == 1);
	if (result == QV_ME_CPU_LOST)
		return lost(r, cell);
	if (result)
		return qv_refuse_monitor(r, result, "give the cell's memory back");
	cell->id = 0;
	return 0;
}

static int stop(struct qv_reply *r, struct qv_cell *cell)
{
	u64 result;
	u32 i;

	if (!cell->in_monitor_running)
		return 0;
	result = qv_manage(QV_HC_STOP, cell->id);
	/*
	 * A start that failed by a silent CPU of Linux's began nothing: there is nothing to stop. When a CPU of the
	 * cell is lost, the others have stopped: destroying the cell asks it again
	 */
	if (result && result != QV_ME_STATE && result != QV_ME_CPU_LOST)
		return qv_refuse_monitor(r, result, "stop the cell");
	qv_console_set_instance(cell->console, 0);
	cell->in_monitor_running = false;
	for (i = 0; result && i < cell->num_cpus; i++)
		if (qv_cpu_lost(cell->cpus[i]))
			qv_watch_lost(cell, cell->cpus[i]);
	return 0;
}

int qv_cell_stop(struct qv_cell *cell)
{
	struct qv_reply r = { 0 };
	int error = stop(&r, cell);

	if (error)
		qv_log("driver", "%s is not stopped: %s", cell->name, r.text);
	return error;
}

static int take_cpus(struct qv_reply *r, struct qv_cell *cell)
{
	for (; cell->cpus_taken < cell->num_cpus; cell->cpus_taken++) {
		u32 cpu = cell->cpus[cell->cpus_taken];
		int error;

		cpumask_set_cpu(cpu, &taken);	/* nobody brings it back from now on */
		error = remove_cpu(cpu);
		if (error)
			cpumask_clear_cpu(cpu, &taken);
		if (error)
			return qv_refuse(r, QV_E_CPU, "see the kernel log (dmesg) for what holds it",
					 "Linux does not let go of CPU %u (error %d)", cpu, error);
	}
	return 0;
}

static void free_cell(struct qv_cell *cell)
{
	list_del(&cell->list);
	qv_num_cells--;
	qv_pci_give(cell);
	give_cpus(cell);
	give_memory(cell);
	if (cell->console)
		qv_console_destroy(cell->console);
	vfree(cell->image);
	kvfree(cell->config);
	kfree(cell);
}

/* ---- the calls ---- */

static struct qv_cell *new_cell(const struct qv_cell_create *q)
{
	struct qv_cell *cell = kzalloc(sizeof(*cell), GFP_KERNEL);

	if (!cell)
		return NULL;
	cell->config = kvmalloc(sizeof(*q), GFP_KERNEL);
	cell->image = vmalloc(q->image_len);
	cell->console = qv_console_create(q->name);
	list_add_tail(&cell->list, &qv_cells);
	qv_num_cells++;
	if (!cell->config || !cell->image || !cell->console) {
		free_cell(cell);
		return NULL;
	}
	*cell->config = *q;
	strscpy(cell->name, q->name, sizeof(cell->name));
	cell->num_cpus = q->num_cpus;
	memcpy(cell->cpus, q->cpus, sizeof(cell->cpus));
	cell->state = QV_STATE_CREATED;
	return cell;
}

int qv_cell_create(struct qv_cell_create *q)
{
	struct qv_reply *r = &q->reply;
	struct qv_cell *cell;
	int error = qv_cell_check(q);

	if (error)
		return error;
	cell = new_cell(q);
	if (!cell)
		return qv_refuse(r, QV_E_NO_MEMORY, "free memory", "no memory for the cell's image");
	if (copy_from_user(cell->image, u64_to_user_ptr(q->image), q->image_len))
		error = qv_refuse(r, QV_E_ARGUMENT, "", "the image is not readable");
	if (!error)
		error = qv_pci_take(r, cell);
	if (!error)
		error = prepare(r, cell);
	if (!error && q->console && qv_console_publish(cell->console))
		error = qv_refuse(r, QV_E_NO_MEMORY, "", "no console device could be made");
	if (!error)
		error = take_cpus(r, cell);
	if (!error)
		error = hand_over(r, cell);
	if (error) {
		free_cell(cell);
		return error;
	}
	qv_event(QV_EVENT_CELL, QV_STATE_LOADABLE, cell->name, "created: %llu MiB, %u CPUs, image loaded",
		 q->memory >> 20, q->num_cpus);
	return 0;
}

/* A stopped cell starts anew in the same pages: the monitor has cleared them */
static int renew(struct qv_reply *r, struct qv_cell *cell)
{
	int error = stop(r, cell);

	if (!error)
		error = reclaim(r, cell);
	if (error)
		return error;
	cell->state = QV_STATE_CREATED;
	qv_console_reset(cell->console);
	qv_pci_reset(cell);
	error = load_image(r, cell);
	if (!error)
		error = hand_over(r, cell);
	if (error)
		return error;
	if (cell->failure.reason)
		cell->last_failure = cell->failure;
	memset(&cell->failure, 0, sizeof(cell->failure));
	return 0;
}

int qv_cell_start(struct qv_reply *r, struct qv_cell *cell)
{
	u64 result;
	int error;

	if (cell->state == QV_STATE_RUNNING)
		return qv_refuse(r, QV_E_STATE, "nothing to do", "cell '%s' is running already", cell->name);
	if (cell->failure.reason == QV_FAIL_CPU_LOST)	/* it may have fewer CPUs than its image was told */
		return refuse_lost(r, cell);
	if (cell->state != QV_STATE_LOADABLE) {
		error = renew(r, cell);
		if (error)
			return error;
	}
	cell->beat = cell->still_ms = 0;
	cell->stop_later = cell->forced = false;
	cell->started_ns = ktime_get_boottime_ns();
	cell->start_tsc = qv_rdtsc();
	result = qv_manage(QV_HC_START, cell->id);
	/* A CPU that did not come in time may come yet: then there is something to stop */
	cell->in_monitor_running = !result || result == QV_ME_CPU_STUCK;
	if (result)
		return qv_refuse_monitor(r, result, "start the cell");
	cell->state = QV_STATE_RUNNING;
	qv_console_set_instance(cell->console, cell->id);
	cell->first_entry_ns = div_u64((READ_ONCE(qv_cell_status(cell)->first_entry_tsc) -
					cell->start_tsc) * 1000000, tsc_khz);
	qv_event(QV_EVENT_CELL, QV_STATE_RUNNING, cell->name, "runs");
	return 0;
}

/* Waits in Linux, with the lock given up: other calls go on meanwhile */
bool qv_cell_await(const char *name, u32 timeout_ms, bool (*what)(struct qv_cell *cell))
{
	u64 end = ktime_get_boottime_ns() + (u64)timeout_ms * NSEC_PER_MSEC;
	u64 started_ns = qv_cell_find(name)->started_ns;
	struct qv_cell *cell;

	while (ktime_get_boottime_ns() < end) {
		mutex_unlock(&qv_lock);
		msleep_interruptible(5);
		mutex_lock(&qv_lock);
		cell = qv_cell_find(name);
		if (!cell || cell->started_ns != started_ns || !cell->in_monitor_running)
			return false;
		if (what(cell))
			return true;
		if (cell->state != QV_STATE_RUNNING || signal_pending(current))
			return false;
	}
	return false;
}

static bool halted(struct qv_cell *cell)
{
	return READ_ONCE(cell->console->comm->state) == QV_INMATE_HALTED;
}

int qv_cell_shutdown(struct qv_reply *r, struct qv_cell *cell, u32 timeout_ms)
{
	char name[QV_NAME_LEN];
	bool by_itself = false;
	u64 started;
	int error;

	if (cell->state != QV_STATE_RUNNING)
		return qv_refuse(r, QV_E_STATE, "nothing to do", "cell '%s' is not running", cell->name);
	started = cell->started_ns;
	strscpy(name, cell->name, sizeof(name));
	if (timeout_ms) {
		qv_console_request(cell->console, QV_REQUEST_SHUTDOWN);
		by_itself = qv_cell_await(name, timeout_ms, halted);
		cell = qv_cell_find(name);
		if (!cell)
			return qv_no_cell(r, name);
		if (cell->state != QV_STATE_RUNNING || cell->started_ns != started)
			return 0;		/* it failed or was stopped meanwhile: that one runs no more */
		if (!by_itself && signal_pending(current))
			return qv_refuse(r, QV_E_INTERRUPTED, "call it again, or: qvctl cell destroy",
					 "the wait was interrupted; cell '%s' was asked to shut down and may still run",
					 cell->name);
	}
	error = stop(r, cell);
	if (error)
		return error;
	qv_watch_now();
	if (cell->failure.reason == QV_FAIL_CPU_LOST)
		return refuse_lost(r, cell);
	if (cell->state == QV_STATE_RUNNING) {
		cell->state = QV_STATE_SHUT_DOWN;
		cell->forced = !by_itself;
	}
	qv_event(QV_EVENT_CELL, cell->state, cell->name, by_itself ? "shut down" : "stopped by force");
	return 0;
}

int qv_cell_destroy(struct qv_reply *r, struct qv_cell *cell)
{
	char kept[QV_NAME_LEN];
	int error;

	strscpy(kept, cell->name, sizeof(kept));
	WRITE_ONCE(cell->console->gone, true);	/* terminals: it is not just stopped */
	error = stop(r, cell);
	qv_watch_now();
	if (!error)
		error = reclaim(r, cell);
	if (error) {
		WRITE_ONCE(cell->console->gone, false);
		return error;
	}
	free_cell(cell);
	qv_event(QV_EVENT_CELL, 0, kept, "destroyed");
	return 0;
}
