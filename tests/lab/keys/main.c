// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens a mailbox with another cell again and again, each time by another key. The cell "one" sends
 * the key, the cell "two" answers with three times the key. They do it once more, and then each of
 * them sleeps until the other one rings. Then both of them leave. After each such round, both of
 * them change their heartbeat. A cell that finds something wrong stops, and its heartbeat with it.
 */
#include <inmate/apic.h>
#include <inmate/boot.h>
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include <inmate/trap.h>
#include <qv/end.h>

#define ITEM		64
#define VECTOR		0x51
#define TIMER_VECTOR	0x61
#define PAUSE_MS	50	/* between two rounds: each request interrupts a CPU of Linux */

static volatile uint32_t bells;		/* that have come since it was set to 0 */

static void bell(struct trap_frame *frame)
{
	(void)frame;
	bells++;
}

static _Noreturn void wrong(const char *what, int result)
{
	print("%s: %d\n", what, result);
	for (;;)
		cpu_relax();
}

static void timer(struct trap_frame *frame)
{
	(void)frame;
	timer_fired();
}

/* Halts the CPU meanwhile. The timer may come early */
static void nap(uint64_t us)
{
	uint64_t at = rdtsc() + timer_from_us(us);

	irq_disable();
	while (rdtsc() < at) {
		timer_arm(at, rdtsc());
		__asm__ volatile("sti; hlt; cli");
	}
	irq_enable();
}

/* The manager may need even longer than the library waits */
static int settled(int answer, uint64_t *address)
{
	while (answer == QV_KEY_PENDING) {
		nap(PAUSE_MS * 1000);
		answer = cell_key_answer(address);
	}
	return answer;
}

/* Waits for memory: the peer may not have left the channel before this one yet */
static uint32_t open(uint32_t key, uint32_t self, struct qv_end *end)
{
	static struct qv_chan_page page __attribute__((aligned(64)));
	uint64_t address;
	int window, result;

	memset(&page, 0, sizeof(page));
	page.type = QV_CHAN_MAILBOX;
	page.item = ITEM;
	page.slots = 1;
	page.flags = QV_CHAN_BELL;
	if (qv_chan_describe_key(&page, key, "one", "two"))
		wrong("description", 0);
	do
		window = settled(cell_key_open(&page, QV_KEY_END(self, VECTOR, 0), &address),
				 &address);
	while (window == QV_KEY_FULL || window == QV_KEY_RATE);
	if (window < 0)
		wrong("open", window);
	memset(end, 0, sizeof(*end));
	result = qv_end_attach(end, (void *)(uintptr_t)address, QV_KEY_LEN, self);
	if (result)
		wrong("attach", result);
	return (uint32_t)window;
}

static void send(struct qv_end *end, uint32_t window, uint64_t value)
{
	uint64_t item[ITEM / sizeof(uint64_t)] = { value };
	int result;

	do
		result = qv_end_write(end, item, sizeof(item));
	while (result == QV_CHAN_FULL || result == QV_CHAN_ABSENT);
	if (result)
		wrong("write", result);
	cell_ring(window);
}

/* Sleeps. A bell may have come since .bells was set to 0 */
static void await_bell(void)
{
	irq_disable();
	while (!bells)
		__asm__ volatile("sti; hlt; cli");
	bells = 0;
	irq_enable();
}

static void expect(struct qv_end *end, uint64_t value)
{
	uint64_t data[ITEM / sizeof(uint64_t)];
	struct qv_item item;
	int result;

	do {
		cpu_relax();
		result = qv_end_read(end, data, sizeof(data), &item);
	} while (result == QV_CHAN_NOTHING || result == QV_CHAN_ABSENT);
	if (result)
		wrong("read", result);
	if (item.bytes != sizeof(data) || data[0] != value)
		wrong("another value than was sent", (int)data[0]);
}

/*
 * The end "two" is there when its first answer is: then "one" forgets the bells that have come. A
 * late bell of the first answer may still wake it, so it looks as often as needed
 */
static void exchange(struct qv_end *end, uint32_t window, uint32_t self, uint32_t key)
{
	if (self) {
		expect(end, key);
		bells = 0;
		send(end, window, 3ull * key);
		await_bell();
		expect(end, key + 1ull);
		send(end, window, 3ull * key + 3);
	} else {
		send(end, window, key);
		expect(end, 3ull * key);
		bells = 0;
		send(end, window, key + 1ull);
		await_bell();
		expect(end, 3ull * key + 3);
	}
}

_Noreturn void inmate_main(uint32_t magic, uint32_t boot_address);

_Noreturn void inmate_main(uint32_t magic, uint32_t boot_address)
{
	static struct qv_end end;
	uint32_t key, self, window;
	uint64_t unused = 0;
	int result;

	(void)magic;
	(void)boot_address;
	if (!cell_detect())
		cpu_stop();
	console_init();
	self = !strcmp(cell_info()->name, "two");
	trap_init();
	apic_init(cell_info()->x2apic);
	trap_set_irq(VECTOR, bell);
	trap_set_irq(TIMER_VECTOR, timer);
	timer_init(TIMER_VECTOR, cell_info()->tsc_khz, cpuid(1, 0).ecx >> 24 & 1);
	cell_key_sleep_by(nap);
	irq_enable();
	cell_set_state(QV_INMATE_RUNNING);
	for (key = 1;; key++) {
		window = open(key, self, &end);
		exchange(&end, window, self, key);
		do
			result = settled(cell_key_close(window), &unused);
		while (result == QV_KEY_RATE);
		if (result < 0)
			wrong("close", result);
		cell_beat();
		nap(PAUSE_MS * 1000);
	}
}
