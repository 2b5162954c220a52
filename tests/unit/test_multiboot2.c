// SPDX-License-Identifier: GPL-2.0-only
/* multiboot2.c: good images, where they are loaded, and the boot information. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "image.h"
#include "unit.h"

#define M1	0x100000ul

/* The modules that load() gives to the image */
static struct mb2_module modules[QV_MAX_MODULES];
static u32 num_modules;

static const char *load(struct image *img, struct memory *m, struct mb2_entry *entry,
			const char *cmdline)
{
	static struct mb2_work place, *work = &place;	/* `why` may lie in it */
	u8 *exact = exact_copy(img->bytes, img->len);
	const char *why;

	memset(work, 0xee, sizeof(*work));	/* the loader does not clear the memory first */
	memset(entry, 0xee, sizeof(*entry));
	work->given.cmdline = cmdline;
	work->given.num_modules = num_modules;
	memcpy(work->given.modules, modules, sizeof(modules));
	why = mb2_load(exact, img->len, &m->target, entry, work);
	CHECK(!why || work->fits == !strstr(why, "memory"));
	free(exact);
	CHECK_EQ(m->outside, 0);
	return why;
}

/*
 * Compares all of the memory: segments, the zeros after each segment, the boot information, and the
 * rest.
 */
static void check_memory(const struct image *img, const struct memory *m,
			 const struct mb2_entry *entry)
{
	u8 *want = malloc(m->size);
	u32 i;

	memset(want, UNTOUCHED, m->size);
	for (i = 0; i < 3; i++) {
		const struct image_segment *s = &image_segments[i];

		memset(want + s->gpa, 0, s->mem_len);
		memcpy(want + s->gpa, img->bytes + s->offset, s->file_len);
	}
	i = get_at(m->bytes + entry->ebx, 4);
	memcpy(want + entry->ebx, m->bytes + entry->ebx, i);
	for (i = 0; i < 3; i++)
		CHECK(entry->ebx + 4096 <= image_segments[i].gpa ||
		      entry->ebx >= image_segments[i].gpa + image_segments[i].mem_len);
	CHECK(!memcmp(want, m->bytes, m->size));
	free(want);
}

static void good(void)
{
	static const u64 sizes[] = { 4, 64, 6, 5 };
	static struct image img;
	u32 i;

	for (i = 0; i < 8; i++) {
		struct mb2_entry entry;
		struct memory m;

		unit_case("ELF%u, %lu MiB:", i & 1 ? 64 : 32, sizes[i / 2]);
		image_good(&img, i & 1);
		memory_open(&m, sizes[i / 2] * M1);
		CHECK_TEXT(load(&img, &m, &entry, "hello cell"), NULL);
		CHECK_EQ(entry.eip, 0x100010);
		CHECK_EQ(entry.eax, 0x36d76289);
		CHECK_TEXT(info_wrong(&m, entry.ebx, "hello cell"), NULL);
		check_memory(&img, &m, &entry);
		memory_close(&m);
	}
}

/*
 * e_entry is a virtual address, which the segment translates. The header's entry tag takes
 * precedence.
 */
static void entries(void)
{
	static const struct {
		u64 e_entry32, e_entry64;
		u32 tag, want;		/* want 0: rejected */
	} rows[] = {
		{ 0xc0100020, 0xffffffff80100020, 0, 0x100020 },
		{ 0xc0100020, 0xffffffff80100020, 0x100044, 0x100044 },
		{ 0xc0100000, 0xffffffff80100000, 0, 0x100000 },
		/* the last byte of the segment's memory */
		{ 0xc0101233, 0xffffffff80101233, 0, 0x101233 },
		{ 0xc0008000, 0xffffffff80008000, 0, 0x8000 },
		{ 0xd0001fff, 0xffffffffd0001fff, 0, 0x201fff },
		/* one byte past the segment: in no segment */
		{ 0xd0002000, 0xffffffffd0002000, 0, 0 },
		/* an address in no segment is used unchanged */
		{ 0x200100, 0x200100, 0, 0x200100 },
		{ 0x400000, 0x400000, 0, 0 },
		{ 0x300000, 0x300000, 0, 0 },	/* the address is in memory but in no segment */
		{ 0xc0100020, 0xffffffff80100020, 0x300000, 0 },
		{ 0xc0100020, 0xffffffff80100020, 0xb8000, 0 },
		{ 0xffffffff, ~0ull, 0, 0 },
		{ 0xc0100020, 0xffffffff80100020, 0x400000, 0 },
		{ 0xc0100020, 0xffffffff80100020, 0xffffffff, 0 },
	};
	static struct image img;
	u32 i;

	for (i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		u32 tag = rows[i / 2].tag;
		struct mb2_entry entry;
		struct memory m;
		const char *why;

		unit_case("row %u, ELF%u:", i / 2, i & 1 ? 64 : 32);
		image_good(&img, i & 1);
		set_elf(&img, ELF_ENTRY, i & 1 ? rows[i / 2].e_entry64 : rows[i / 2].e_entry32);
		header_begin(&img, IMAGE_HEADER);
		if (tag)
			header_tag(&img, 3, 0, 12, &tag);
		header_finish(&img, true);
		memory_open(&m, 4 * M1);
		why = load(&img, &m, &entry, "");
		CHECK_TEXT(why, rows[i / 2].want ? NULL :
			   "its entry point lies in none of its segments, or above 4 GiB");
		if (rows[i / 2].want)
			CHECK_EQ(entry.eip, rows[i / 2].want);
		memory_close(&m);
	}
}

static void command_lines(void)
{
	static struct image img;
	struct mb2_entry entry;
	struct memory m;
	char text[1200];
	u32 n;

	image_good(&img, true);
	memory_open(&m, 4 * M1);
	for (n = 0; n < sizeof(text); n += n < 20 ? 1 : 17) {
		memset(text, 'x', n);
		text[n] = 0;
		unit_case("%u characters:", n);
		CHECK_TEXT(load(&img, &m, &entry, text), NULL);
		CHECK_TEXT(info_wrong(&m, entry.ebx, text), NULL);
	}
	memset(text, 'y', 1023);
	text[1023] = 0;
	CHECK_TEXT(load(&img, &m, &entry, text), NULL);
	CHECK_TEXT(info_wrong(&m, entry.ebx, text), NULL);
	memory_close(&m);
}

/* The header may be at any multiple of 8 in the first 32 KiB. */
static void header_places(void)
{
	static const struct { u32 at; const char *why; } rows[] = {
		{ 0x180, NULL }, { 0x1f8, NULL }, { 0x700, NULL },
		{ 0x7fe8, NULL },	/* the header ends exactly at 32 KiB */
		{ 0x7ff0, "its multiboot2 header does not lie in the first 32 KiB" },
		{ 0x7ff8, "it has no multiboot2 header in its first 32 KiB" },
		{ 0x8000, "it has no multiboot2 header in its first 32 KiB" },
		{ 0x204, "it has no multiboot2 header in its first 32 KiB" },
	};
	static struct image img;
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mb2_entry entry;
		struct memory m;

		unit_case("header at %#x:", rows[i].at);
		image_good(&img, true);
		memset(img.bytes + IMAGE_HEADER, 0, 0x100);
		header_begin(&img, rows[i].at);
		header_finish(&img, true);
		img.len = rows[i].at < IMAGE_LEN ? IMAGE_LEN : 0x9000;
		memory_open(&m, 4 * M1);
		CHECK_TEXT(load(&img, &m, &entry, ""), rows[i].why);
		memory_close(&m);
	}
}

/* Data that resembles a header, or another program's header, is skipped. */
static void header_after_others(void)
{
	static const struct { u32 flaw; const char *why; } rows[] = {
		{ 0, NULL }, { 1, "the checksum of its multiboot2 header is wrong" },
	};
	static struct image img;
	u32 i;

	for (i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		struct mb2_entry entry;
		struct memory m;

		unit_case("row %u, ELF%u:", i / 2, i & 1 ? 64 : 32);
		image_good(&img, i & 1);
		put_at(&img, IMAGE_HEADER - 0x20, 0xe85250d6, 4);
		put_at(&img, IMAGE_HEADER - 0x18, 0xe85250d6, 4);
		img.bytes[IMAGE_HEADER + 12] += rows[i / 2].flaw;
		memory_open(&m, 4 * M1);
		CHECK_TEXT(load(&img, &m, &entry, ""), rows[i / 2].why);
		memory_close(&m);
	}
}

/*
 * Segments fill the memory below 640 KiB except for one gap. The boot information is put into the
 * gap, or the image is rejected.
 */
static void room_for_the_information(void)
{
	static struct image img;
	u32 at;

	for (at = 0; at < 0xa0000; at += 0x1000) {
		struct mb2_entry entry;
		struct memory m;
		const char *why;

		unit_case("room at %#x:", at);
		image_good(&img, true);
		set_elf(&img, ELF_PHNUM, 5);
		set_phdr(&img, 0, PH_PA, 0);
		set_phdr(&img, 0, PH_FILE_LEN, 0);
		set_phdr(&img, 0, PH_MEM_LEN, at);
		set_phdr(&img, 4, PH_TYPE, 1);
		set_phdr(&img, 4, PH_PA, at + 0x1000);
		set_phdr(&img, 4, PH_MEM_LEN, 0xa0000 - (at + 0x1000));
		memory_open(&m, 4 * M1);
		why = load(&img, &m, &entry, "x");
		if (at) {
			CHECK_TEXT(why, NULL);
			CHECK_EQ(entry.ebx, at);
			CHECK_TEXT(info_wrong(&m, entry.ebx, "x"), NULL);
		} else {	/* address 0 would be a null pointer */
			CHECK_TEXT(why, "it leaves no room below 640 KiB for the boot information");
		}
		memory_close(&m);
	}
}

static void unwilling_target(void)
{
	static const u64 limits[] = { 0, 0x8000, 0x8200, 0x100000, 0x101100, 0x200000, 0x201000 };
	static struct image img;
	u32 i;

	image_good(&img, true);
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct mb2_entry entry;
		struct memory m;

		unit_case("limit %#lx:", limits[i]);
		memory_open(&m, 4 * M1);
		m.limit = limits[i];
		CHECK(load(&img, &m, &entry, "") != NULL);
		memory_close(&m);
	}
}

/* With more memory than 32 bits can address, the entry must still be right. */
static void large_memory(void)
{
	static struct image img;
	struct mb2_entry entry;
	struct memory m;
	const char *why;

	memory_open(&m, 8192 * M1);
	image_good(&img, true);
	CHECK_TEXT(load(&img, &m, &entry, ""), NULL);
	CHECK_TEXT(info_wrong(&m, entry.ebx, ""), NULL);
	unit_case("entry above 4 GiB:");
	set_phdr(&img, 3, PH_PA, 0x140000000);
	set_elf(&img, ELF_ENTRY, 0xffffffffd0000010);
	header_begin(&img, IMAGE_HEADER);
	header_finish(&img, true);
	why = load(&img, &m, &entry, "");
	CHECK(why);			/* no 32-bit register can hold the address */
	memory_close(&m);
}

static const struct {
	u32 len;
	const char *args;
} some_modules[] = {
	{ 1, "one" }, { 0x1000, "two with arguments" }, { 0x1001, "" }, { 0x5000, "four" },
	{ 7, "five" }, { 8, "six" }, { 9, "seven" }, { 0x2345, "eight" },
};

static void make_modules(u32 n)
{
	static u8 bytes[8][0x5000];
	u32 i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < some_modules[i].len; k++)
			bytes[i][k] = k * 5 + i;
		modules[i] = (struct mb2_module){
			bytes[i], some_modules[i].len, some_modules[i].args
		};
	}
	num_modules = n;
}

/* Checks the n-th module tag and the module's bytes. Returns the address behind the module. */
static u64 check_module(const struct memory *m, const struct mb2_entry *entry, u32 n, u64 want)
{
	const struct mb2_module *mod = &modules[n];
	const u8 *tag = info_module(m, entry->ebx, n);
	u64 start, end;

	CHECK(tag);
	start = get_at(tag + 8, 4);
	end = get_at(tag + 12, 4);
	CHECK_EQ(start, want);
	CHECK_EQ(end, start + mod->len);
	CHECK_TEXT((const char *)tag + 16, mod->args);
	CHECK(!memcmp(m->bytes + start, mod->bytes, mod->len));
	return end;
}

static u64 page_up(u64 at)
{
	return (at + 0xfff) & ~0xfffull;
}

/* Modules begin on pages of their own behind the last segment, whatever the order of segments. */
static void modules_are_placed(void)
{
	static struct image img;
	struct mb2_entry entry;
	struct memory m;
	u32 n, i;
	u64 at;

	for (n = 0; n <= 2 * QV_MAX_MODULES + 1; n++) {
		unit_case("%u modules, ELF%u:", n / 2, n & 1 ? 64 : 32);
		image_good(&img, n & 1);
		make_modules(n / 2);
		memory_open(&m, 4 * M1);
		CHECK_TEXT(load(&img, &m, &entry, "line"), NULL);
		CHECK_TEXT(info_wrong(&m, entry.ebx, "line"), NULL);
		for (i = 0, at = 0x202000; i < num_modules; i++)
			at = check_module(&m, &entry, i, page_up(at));
		CHECK(!info_module(&m, entry.ebx, i));
		CHECK_EQ(m.bytes[at], UNTOUCHED);
		memory_close(&m);
	}
	num_modules = 0;
}

/* The last byte of the cell's memory, or of the first 4 GiB, may belong to a module. */
static void modules_need_room(void)
{
	static const char why_not[] =
		"its modules do not fit behind it into the cell's memory below 4 GiB";
	static const struct { u64 memory, segment; u32 more; const char *why; } rows[] = {
		{ 4 * M1, 4 * M1 - 0x4000, 0, NULL },
		{ 4 * M1, 4 * M1 - 0x4000, 1, why_not },
		{ 4 * M1, 4 * M1 - 0x3000, 0, why_not },
		{ 4 * M1, 4 * M1 - 0x2000, 0, why_not },
		{ 8192 * M1, 4096 * M1 - 0x4000, 0, NULL },
		{ 8192 * M1, 4096 * M1 - 0x4000, 1, why_not },
		{ 8192 * M1, 4096 * M1, 0, why_not },
	};
	static u8 bytes[0x1001];
	static struct image img;
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mb2_entry entry;
		struct memory m;

		unit_case("row %u:", i);
		image_good(&img, true);
		set_phdr(&img, 3, PH_PA, rows[i].segment);	/* of 0x2000 bytes */
		modules[0] = (struct mb2_module){ bytes, 1, "a" };
		modules[1] = (struct mb2_module){ bytes, 0x1000 + rows[i].more, "b" };
		num_modules = 2;
		memory_open(&m, rows[i].memory);
		CHECK_TEXT(load(&img, &m, &entry, ""), rows[i].why);
		if (rows[i].why && m.size == 4 * M1)	/* nothing was written */
			CHECK_EQ(m.bytes[image_segments[0].gpa], UNTOUCHED);
		memory_close(&m);
	}
	num_modules = 0;
}

/* The longest command line and the longest texts of all modules fit into the boot information. */
static void longest_texts(void)
{
	char line[QV_CMDLINE_LEN], args[QV_MODULE_ARGS_LEN + 9];
	static struct image img;
	struct mb2_entry entry;
	struct memory m;
	u32 i;

	memset(line, 'y', sizeof(line) - 1);
	line[sizeof(line) - 1] = 0;
	memset(args, 'z', sizeof(args) - 1);
	args[sizeof(args) - 1] = 0;
	image_good(&img, true);
	make_modules(QV_MAX_MODULES);
	for (i = 0; i < num_modules; i++)
		modules[i].args = args;
	memory_open(&m, 4 * M1);
	CHECK_TEXT(load(&img, &m, &entry, line), NULL);
	CHECK_TEXT(info_wrong(&m, entry.ebx, line), NULL);
	args[QV_MODULE_ARGS_LEN - 1] = 0;
	CHECK_TEXT((const char *)info_module(&m, entry.ebx, 7) + 16, args);
	memory_close(&m);
	num_modules = 0;
}

/* The Quest image of this build, if it was built */
static void quest(void)
{
	u32 len = 4 << 20;
	struct image *img;
	struct mb2_entry entry;
	struct memory m;
	char name[512];
	FILE *f;

	snprintf(name, sizeof(name), "%s/inmates/quest/quest.elf", build_folder());
	f = fopen(name, "rb");
	if (!f)
		return;
	img = malloc(sizeof(*img) + len);
	img->len = fread(img->bytes, 1, len, f);
	fclose(f);
	memory_open(&m, 16 * M1);
	unit_case("%s:", name);
	CHECK_TEXT(load(img, &m, &entry, "quest"), NULL);
	CHECK_TEXT(info_wrong(&m, entry.ebx, "quest"), NULL);
	CHECK(entry.eip >= M1 && entry.eip < 16 * M1);
	CHECK(m.bytes[entry.eip] != UNTOUCHED || m.bytes[entry.eip + 1] != UNTOUCHED);
	memory_close(&m);
	free(img);
}

UNIT_SUITE(multiboot2) = {
	{ "multiboot2: good images are loaded", good },
	{ "multiboot2: the entry is translated", entries },
	{ "multiboot2: command lines are passed on", command_lines },
	{ "multiboot2: the header is found in the first 32 KiB", header_places },
	{ "multiboot2: data that resembles a header is skipped", header_after_others },
	{ "multiboot2: the boot information finds room", room_for_the_information },
	{ "multiboot2: a failing target is reported", unwilling_target },
	{ "multiboot2: more than 4 GiB of memory works", large_memory },
	{ "multiboot2: modules are placed behind the image", modules_are_placed },
	{ "multiboot2: modules that do not fit are rejected", modules_need_room },
	{ "multiboot2: the longest texts fit", longest_texts },
	{ "multiboot2: Quest as built is loaded", quest },
	{ 0 }
};
