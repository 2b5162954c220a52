// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replaces QV in a machine without QV. Loads the inmate (a Multiboot module) as
 * the driver would, with info page and Multiboot2 information, and starts it on
 * CPU 0. CPU 1 plays Linux (relay.c).
 *
 * The text window of a PC's VGA is 32 KiB of memory: it holds the cell's window.
 * There are no traps, so an access that only a monitor forbids is not noticed.
 */
#include "fakecell.h"
#include <qv/end.h>

#define MB2_INFO	0x90000
#define TRAMPOLINE	0x8000
#define PIT_10_MS	11932
#define CHANNELS	0x2400000	/* above the fake cell, see fakecell.lds */
#define MIB		(1u << 20)
#define GENERATION	5

struct options options = { 16u << 20, DOORBELL_VECTOR, 0, false, false };
volatile bool relay_runs;

struct mb1_info {
	uint32_t flags, lower, upper, boot_device, cmdline, mods_count, mods_addr;
};

struct elf_header {
	uint8_t ident[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, phoff, shoff;
	uint32_t flags;
	uint16_t ehsize, phentsize, phnum;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, paddr, filesz, memsz, align;
};

extern const char trampoline[], trampoline_end[];
_Noreturn void enter(uint32_t entry, uint32_t info);
_Noreturn void prepare(const struct mb1_info *mbi);

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);

void *memcpy(void *to, const void *from, size_t n)
{
	void *ret = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	return ret;
}

void *memset(void *to, int c, size_t n)
{
	void *ret = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(c) : "memory");
	return ret;
}

static bool contains(const char *text, const char *word)
{
	size_t i;

	for (; *text; text++) {
		for (i = 0; word[i] && text[i] == word[i]; i++)
			;
		if (!word[i])
			return true;
	}
	return false;
}

static void read_options(const char *cmdline)
{
	if (contains(cmdline, "mem=8M"))
		options.memory = 8u << 20;
	if (contains(cmdline, "nodoorbell"))
		options.doorbell = 0;
	if (contains(cmdline, "doorbell=0xEF"))
		options.doorbell = 0xEF;
	if (contains(cmdline, "doorbell=0xF0"))
		options.doorbell = 0xF0;
	if (contains(cmdline, "channel-bell=0x20"))
		options.bell = 0x20;
	if (contains(cmdline, "channel-bell=0xEF"))
		options.bell = 0xEF;
	if (contains(cmdline, "channel-bell=0xF5"))
		options.bell = 0xF5;
	if (contains(cmdline, "keys"))
		options.keys = true;
	if (contains(cmdline, "x2apic"))
		options.x2apic = true;
}

static uint32_t measure_once(void)
{
	uint32_t begin, end, left;

	out8(0x61, in8(0x61) & ~3);
	out8(0x43, 0xB0);
	out8(0x42, 0xFF);
	out8(0x42, 0xFF);
	out8(0x61, in8(0x61) | 1);
	__asm__ volatile("rdtsc" : "=a"(begin) : : "edx");
	do {
		out8(0x43, 0x80);
		left = in8(0x42);
		left |= (uint32_t)in8(0x42) << 8;
	} while (0xFFFF - left < PIT_10_MS);
	__asm__ volatile("rdtsc" : "=a"(end) : : "edx");
	return (end - begin) / 10;
}

/* Returns the minimum of several measurements, since an interruption only adds time. */
static uint32_t measure_tsc_khz(void)
{
	uint32_t least = measure_once(), khz;
	int i;

	for (i = 0; i < 4; i++) {
		khz = measure_once();
		if (khz < least)
			least = khz;
	}
	return least;
}

/*
 * The cell has both ends of each channel, under two names, so that its programs can talk to each
 * other. Nothing keeps an end from the section of the other one but Quest.
 */
static const struct {
	const char *name, *other;
	uint32_t type, full, item, slots, length;
} channels[] = {
	{ "vshm-1", "vshm-2", QV_CHAN_FOUR_SLOT, 0, 64, 1, 2 * MIB },
	{ "vshm-3", "vshm-4", QV_CHAN_RING, QV_CHAN_FULL_BLOCK, 8, 4, 2 * MIB },
	{ "vshm-5", "vshm-6", QV_CHAN_MEMORY, 0, 15 * MIB, 1, 16 * MIB },
	{ "talk", "talk-far", QV_CHAN_MAILBOX, 0, 32, 1, 2 * MIB },
	{ "ninth", "tenth", QV_CHAN_RING, QV_CHAN_FULL_ERROR, 8, 4, 2 * MIB },
};

#define TALK	3

static struct qv_chan_page *talk;

static size_t length_of(const char *text)
{
	size_t n;

	for (n = 0; text[n]; n++)
		;
	return n;
}

static void write_channel(struct qv_info_channel *info, unsigned int i, uint32_t address)
{
	struct qv_chan_page *page = (void *)address;
	unsigned int end;

	if (i == TALK)
		talk = page;

	memset(page, 0, channels[i].length);
	page->session = 1;
	memcpy(page->name, channels[i].name, length_of(channels[i].name));
	page->type = channels[i].type;
	page->full = channels[i].full;
	page->item = channels[i].item;
	page->slots = channels[i].slots;
	page->flags = QV_CHAN_RECONNECT;
	page->ends = 2;
	if (qv_chan_lay_out(page))
		say("fakecell: a channel cannot be laid out\n");
	for (end = 0; end < 2; end++, info++) {
		const char *name = end ? channels[i].other : channels[i].name;

		page->end[end].life = QV_CHAN_LIFE(GENERATION + end, QV_CHAN_IS_RUNNING);
		memcpy(page->end[end].name, end ? "far" : "near", end ? 4 : 5);
		memcpy(info->name, name, length_of(name));
		info->address = (uint32_t)page;
		info->length = channels[i].length;
		info->end = end;
		info->type = channels[i].type;
	}
}

void toggle_peer(void)
{
	volatile struct qv_chan_page *page = talk;
	bool runs = QV_CHAN_STATE(page->end[1].life) == QV_CHAN_IS_RUNNING;

	page->end[1].life = QV_CHAN_LIFE(GENERATION + 1, runs ? QV_CHAN_IS_STOPPED :
					 QV_CHAN_IS_RUNNING);
}

static void write_info_page(void)
{
	struct qv_info *info = (struct qv_info *)QV_INFO_GPA;
	uint32_t address = CHANNELS;
	unsigned int i;

	memset((void *)QV_SCREEN_GPA, 0, 0x8000);
	info->abi = QV_INFO_ABI;
	info->size = sizeof(*info);
	memcpy(info->name, "fake", 5);
	info->memory = options.memory;
	info->tsc_khz = measure_tsc_khz();
	info->x2apic = options.x2apic;
	info->num_cpus = 1;
	info->doorbell_vector = options.doorbell;
	memcpy(info->cmdline, "hello cell", 11);
	info->num_channels = 2 * sizeof(channels) / sizeof(channels[0]);
	for (i = 0; i < info->num_channels / 2; i++) {
		write_channel(&info->channels[2 * i], i, address);
		address += channels[i].length;
	}
	info->bells[0].vector = options.bell;
	if (options.keys)
		info->dynamic = 2;
	info->magic = QV_INFO_MAGIC;
}

static uint32_t *put_range(uint32_t *at, uint32_t base, uint32_t length, uint32_t type)
{
	const uint32_t entry[] = { base, 0, length, 0, type, 0 };

	memcpy(at, entry, sizeof(entry));
	return at + 6;
}

static void write_mb2_info(void)
{
	static const uint32_t head[] = {
		/* total size of the information, filled in at the end */
		0, 0,
		1, 8 + 11, 0x6C6C6568, 0x6563206F, 0x6C6C, 0,	/* "hello cell" */
		4, 16, 640, 0,			/* basic memory */
		6, 16 + 3 * 24, 24, 0,		/* tag: memory map of three ranges */
	};
	uint32_t *info = (uint32_t *)MB2_INFO, *at;

	memcpy(info, head, sizeof(head));
	info[11] = (options.memory >> 10) - 1024;
	at = info + sizeof(head) / 4;
	at = put_range(at, 0, 0xA0000, 1);
	at = put_range(at, 0xA0000, 0x60000, 2);
	at = put_range(at, 0x100000, options.memory - 0x100000, 1);
	*at++ = 0;
	*at++ = 8;
	info[0] = (uint32_t)at - MB2_INFO;
}

static uint32_t load(const char *file)
{
	const struct elf_header *h = (const void *)file;
	const struct elf_segment *s = (const void *)(file + h->phoff);
	int i;

	for (i = 0; i < h->phnum; i++, s++) {
		if (s->type != 1)
			continue;
		memset((void *)(uint32_t)s->paddr, 0, s->memsz);
		memcpy((void *)(uint32_t)s->paddr, file + s->offset, s->filesz);
	}
	return h->entry;
}

static void pause_some(void)
{
	volatile int i;

	for (i = 0; i < 1000000; i++)
		;
}

static void start_relay(void)
{
	memcpy((void *)TRAMPOLINE, trampoline, trampoline_end - trampoline);
	apic_on();
	send_ipi(1, 0x4500);
	pause_some();
	send_ipi(1, 0x4600 | TRAMPOLINE >> 12);
	while (!relay_runs)
		__asm__ volatile("pause");
}

_Noreturn void prepare(const struct mb1_info *mbi)
{
	const uint32_t *mods = (const uint32_t *)mbi->mods_addr;

	if (mbi->mods_count != 1) {
		say("fakecell: one module wanted\n");
		for (;;)
			__asm__ volatile("hlt");
	}
	read_options((const char *)mbi->cmdline);
	write_info_page();
	write_mb2_info();
	start_relay();
	enter(load((const char *)mods[0]), MB2_INFO);
}
