// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/ring.h>
#include <inmate/string.h>

static struct qv_info info;
static bool present;
static uint64_t bad_indices;

static volatile struct qv_comm *comm(void)
{
	return (volatile struct qv_comm *)QV_COMM_GPA;
}

bool cell_detect(void)
{
	const volatile struct qv_info *page = (const volatile struct qv_info *)QV_INFO_GPA;

	if (page->magic != QV_INFO_MAGIC || page->abi != QV_INFO_ABI || page->size < sizeof(info))
		return false;
	memcpy(&info, (const void *)page, sizeof(info));
	info.name[sizeof(info.name) - 1] = 0;
	info.cmdline[sizeof(info.cmdline) - 1] = 0;
	if (info.num_cpus > QV_INFO_MAX_CPUS)
		info.num_cpus = QV_INFO_MAX_CPUS;
	present = true;
	return true;
}

bool cell_present(void)
{
	return present;
}

const struct qv_info *cell_info(void)
{
	return &info;
}

void cell_set_state(uint32_t state)
{
	comm()->state = state;
}

void cell_idle(uint32_t cpus, uint64_t cycles)
{
	comm()->idle_cycles = cycles;
	comm()->idle_cpus = cpus;
}

void cell_beat(void)
{
	comm()->heartbeat++;
}

void cell_line_max(uint32_t bytes)
{
	comm()->line_max = bytes;
}

void cell_line_status(uint8_t status)
{
	comm()->line_status = QV_LINE_TOLD | status;
}

void cell_panic(const char *why)
{
	volatile struct qv_comm *c = comm();
	int i;

	for (i = 0; i < QV_PANIC_LEN && why[i]; i++)
		c->panic[i] = why[i];
	if (i < QV_PANIC_LEN)
		c->panic[i] = 0;	/* on standby, an earlier panic may have left text there */
	__atomic_store_n(&c->state, QV_INMATE_PANICKED, __ATOMIC_RELEASE);
	if (info.standby)
		cell_call(QV_CALL_FAIL);	/* does not return */
}

void cell_leave(void)
{
	comm()->leave++;
}

uint32_t cell_request(void)
{
	return comm()->request;
}

/* AMD's and Hygon's CPUs have VMMCALL, all others VMCALL. */
static bool amd(void)
{
	static enum { UNKNOWN, AMD, OTHER } maker;

	if (maker == UNKNOWN) {
		uint32_t first = cpuid(0, 0).ebx;	/* "Auth", "Hygo" */

		maker = first == 0x68747541 || first == 0x6f677948 ? AMD : OTHER;
	}
	return maker == AMD;
}

uint32_t cell_call_both(uint32_t number, uint64_t *a, uint64_t b)
{
	if (amd())
		__asm__ volatile("vmmcall" : "+a"(number), "+D"(*a) : "S"(b) : "memory");
	else
		__asm__ volatile("vmcall" : "+a"(number), "+D"(*a) : "S"(b) : "memory");
	return number;
}

uint32_t cell_call_with(uint32_t number, uint64_t a, uint64_t b)
{
	return cell_call_both(number, &a, b);
}

void cell_call(uint32_t number)
{
	(void)cell_call_with(number, 0, 0);
}

size_t cell_take_keys(uint8_t *keys, size_t room)
{
	volatile struct qv_comm *c = comm();
	uint32_t head = c->keys_head, tail = c->keys_tail;
	uint32_t n, i;

	if (!ring_valid(head, tail, QV_KEYS_LEN)) {
		bad_indices++;
		return 0;
	}
	n = ring_readable(head, tail, QV_KEYS_LEN);
	if (n > room)
		n = room;
	barrier();		/* read head before the keys: x86 keeps loads in order */
	for (i = 0; i < n; i++)
		keys[i] = c->keys[ring_slot(tail + i, QV_KEYS_LEN)];
	barrier();		/* read the keys before their slots are free again */
	if (n)
		c->keys_tail = tail + n;
	return n;
}

uint64_t cell_bad_indices(void)
{
	return bad_indices;
}

void cell_screen_changed(uint32_t cursor)
{
	volatile struct qv_comm *c = comm();

	c->cursor = cursor;
	barrier();
	c->screen_seq++;
}

void cell_stream(const char *text, size_t n)
{
	volatile uint8_t *ring = (volatile uint8_t *)QV_STREAM_GPA;
	uint32_t head = comm()->stream_head;

	for (; n; n--, head++)
		ring[ring_slot(head, QV_STREAM_LEN)] = (uint8_t)*text++;
	barrier();		/* write the bytes before the index: x86 keeps stores in order */
	comm()->stream_head = head;
}
