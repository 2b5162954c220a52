// SPDX-License-Identifier: GPL-2.0-only
/* The loader of multiboot2 images: see multiboot2.h. */
#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <stdio.h>
#include <string.h>
#endif
#include "multiboot2.h"

#define MB2_HEADER_MAGIC	0xe85250d6u
#define MB2_BOOT_MAGIC		0x36d76289u
#define MB2_SEARCH		32768
/* start of the VGA window; the firmware area follows it */
#define LOW_END			0xa0000ull
#define HIGH_START		0x100000ull
#define MODULE_ALIGN		0x1000ull

static u64 get(const u8 *p, u32 bytes)
{
	u64 v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static bool inside(u64 offset, u64 size, u64 len)
{
	return offset <= len && size <= len - offset;
}

/* ---- ELF ---- */

static void read_phdr(const u8 *p, bool wide, struct mb2_segment *s, u32 *type)
{
	*type = get(p, 4);
	s->offset = wide ? get(p + 8, 8) : get(p + 4, 4);
	s->va = wide ? get(p + 16, 8) : get(p + 8, 4);
	s->gpa = wide ? get(p + 24, 8) : get(p + 12, 4);
	s->file_len = wide ? get(p + 32, 8) : get(p + 16, 4);
	s->mem_len = wide ? get(p + 40, 8) : get(p + 20, 4);
}

static const char *check_segment(const struct mb2_segment *s, u64 len, u64 memory)
{
	if (s->file_len > s->mem_len)
		return "a segment has more bytes in the file than in memory";
	if (!inside(s->offset, s->file_len, len))
		return "a segment lies outside the file";
	if (!inside(s->gpa, s->mem_len, memory))
		return "a segment does not fit into the cell's memory";
	if (s->gpa < HIGH_START && s->gpa + s->mem_len > LOW_END)
		return "a segment covers the area from 640 KiB to 1 MiB, where the console is";
	return NULL;
}

static const char *read_elf(const u8 *image, u64 len, u64 memory, struct mb2_elf *elf)
{
	u64 phoff, phentsize, phnum, i;
	bool wide;

	if (len < 64 || get(image, 4) != 0x464c457f)
		return "it is not an ELF file";
	if (image[5] != 1 || (image[4] != 1 && image[4] != 2))
		return "it is not little-endian ELF32 or ELF64";
	wide = image[4] == 2;
	if (get(image + 18, 2) != (wide ? 62 : 3))
		return "it is not for x86 (ELF machine)";
	phoff = wide ? get(image + 32, 8) : get(image + 28, 4);
	phentsize = get(image + (wide ? 54 : 42), 2);
	phnum = get(image + (wide ? 56 : 44), 2);
	elf->entry = wide ? get(image + 24, 8) : get(image + 24, 4);
	elf->num = 0;
	if (phentsize < (wide ? 56 : 32))
		return "its program headers are too small";
	if (!inside(phoff, phentsize * phnum, len))
		return "its program headers lie outside the file";
	for (i = 0; i < phnum; i++) {
		struct mb2_segment s;
		const char *why;
		u32 type;

		read_phdr(image + phoff + i * phentsize, wide, &s, &type);
		if (type != 1 || !s.mem_len)
			continue;
		if (elf->num == MB2_SEGMENTS)
			return "it has more than 32 segments";
		why = check_segment(&s, len, memory);
		if (why)
			return why;
		elf->seg[elf->num++] = s;
	}
	return elf->num ? NULL : "it has nothing to load";
}

static const char *overlaps(const struct mb2_elf *elf)
{
	u32 i, j;

	for (i = 0; i < elf->num; i++)
		for (j = 0; j < i; j++)
			if (elf->seg[i].gpa < elf->seg[j].gpa + elf->seg[j].mem_len &&
			    elf->seg[j].gpa < elf->seg[i].gpa + elf->seg[i].mem_len)
				return "two segments overlap in memory";
	return NULL;
}

/* Returns the physical address of the ELF entry, by the segment that contains it */
static u64 elf_entry(const struct mb2_elf *elf)
{
	u32 i;

	for (i = 0; i < elf->num; i++)
		if (elf->entry >= elf->seg[i].va &&
		    elf->entry - elf->seg[i].va < elf->seg[i].mem_len)
			return elf->entry - elf->seg[i].va + elf->seg[i].gpa;
	return elf->entry;
}

static bool in_a_segment(const struct mb2_elf *elf, u64 gpa)
{
	u32 i;

	for (i = 0; i < elf->num; i++)
		if (gpa >= elf->seg[i].gpa && gpa - elf->seg[i].gpa < elf->seg[i].mem_len)
			return true;
	return false;
}

/* ---- multiboot2 header ---- */

/* Returns the clause that the header demands something which has this number */
static const char *demands(struct mb2_work *work, const char *what, u32 number)
{
	snprintf(work->why, sizeof(work->why), "%s %u, which a cell does not have", what, number);
	return work->why;
}

/* Information about EFI (11, 12, 17 to 20) is absent as on each machine without EFI */
static bool known_information(u32 type)
{
	switch (type) {
	case 1: case 2: case 3: case 4: case 6: case 8:
	case 11: case 12: case 17: case 18: case 19: case 20:
		return true;
	default:
		return false;
	}
}

static const char *read_request(const u8 *tag, u32 size, struct mb2_work *work)
{
	u32 at;

	for (at = 8; at + 4 <= size; at += 4) {
		u32 type = get(tag + at, 4);

		if (!known_information(type))
			return demands(work, "its multiboot2 header demands boot information",
				       type);
	}
	return NULL;
}

/*
 * Tags without effect here: console, framebuffer, alignment, relocation. EFI's boot services and
 * entries (7 to 9) count on machines with EFI only
 */
static bool has_no_effect(u32 type)
{
	return type >= 4 && type <= 10;
}

static const char *read_tags(const u8 *h, u32 len, u64 *entry, struct mb2_work *work)
{
	u32 at = 16;

	while (at + 8 <= len) {
		u32 type = get(h + at, 2), size = get(h + at + 4, 4);
		bool optional = get(h + at + 2, 2) & 1;
		const char *why = NULL;

		if (size < 8 || size > len - at)
			return "a tag of its multiboot2 header has a wrong size";
		switch (type) {
		case 0:
			return NULL;
		case 1:
			if (!optional)
				why = read_request(h + at, size, work);
			break;
		case 3:
			if (size < 12)
				return "the entry tag of its multiboot2 header is too short";
			*entry = get(h + at + 8, 4);
			break;
		default:
			if (!optional && !has_no_effect(type))
				why = demands(work, "its multiboot2 header demands tag", type);
		}
		if (why)
			return why;
		at += (size + 7) & ~7u;
	}
	return "its multiboot2 header has no end tag";
}

static const char *read_header(const u8 *image, u64 len, u64 *entry, struct mb2_work *work)
{
	u64 at, end = len < MB2_SEARCH ? len : MB2_SEARCH;
	const char *why = "it has no multiboot2 header in its first 32 KiB";

	for (at = 0; at + 16 <= end; at += 8) {
		const u8 *h = image + at;
		u32 arch = get(h + 4, 4), size = get(h + 8, 4);

		if (get(h, 4) != MB2_HEADER_MAGIC)
			continue;
		/* Like GRUB: bytes with a wrong checksum are not a header, so search further */
		if ((u32)(MB2_HEADER_MAGIC + arch + size + get(h + 12, 4))) {
			why = "the checksum of its multiboot2 header is wrong";
			continue;
		}
		if (arch != 0)
			return "its multiboot2 header is not for i386";
		if (size < 16 || size > end - at)
			return "its multiboot2 header does not lie in the first 32 KiB";
		return read_tags(h, size, entry, work);
	}
	return why;
}

/* ---- modules ---- */

/*
 * Places the modules behind all segments, each at a page of its own. Their tags have 32 bits for an
 * address. Returns false if there is no room.
 */
static bool place_modules(struct mb2_work *work, u64 memory)
{
	const struct mb2_given *given = &work->given;
	u64 at = HIGH_START, end = memory < 1ull << 32 ? memory : 1ull << 32;
	u32 i;

	for (i = 0; i < work->elf.num; i++)
		if (work->elf.seg[i].gpa + work->elf.seg[i].mem_len > at)
			at = work->elf.seg[i].gpa + work->elf.seg[i].mem_len;
	for (i = 0; i < given->num_modules; i++) {
		at = (at + MODULE_ALIGN - 1) & ~(MODULE_ALIGN - 1);
		if (!inside(at, given->modules[i].len, end))
			return false;
		work->module_at[i] = at;
		at += given->modules[i].len;
	}
	return true;
}

/* ---- boot information ---- */

static void put(struct mb2_info *i, u64 value, u32 bytes)
{
	for (; bytes; bytes--, value >>= 8)
		i->bytes[i->len++] = value;
}

static void pad(struct mb2_info *i)
{
	while (i->len & 7)
		i->bytes[i->len++] = 0;
}

static u32 length(const char *s, u32 max)
{
	u32 n = 0;

	while (n < max && s[n])
		n++;
	return n;
}

/* Puts the first @n bytes of a string, which end a tag */
static void put_text(struct mb2_info *i, const char *s, u32 n)
{
	memcpy(i->bytes + i->len, s, n);
	i->len += n;
	put(i, 0, 1);
	pad(i);
}

static void put_string(struct mb2_info *i, u32 type, const char *s, u32 max)
{
	u32 n = length(s, max);

	put(i, type, 4);
	put(i, 8 + n + 1, 4);
	put_text(i, s, n);
}

static void put_module(struct mb2_info *i, const struct mb2_module *m, u64 at)
{
	u32 n = length(m->args, QV_MODULE_ARGS_LEN - 1);

	put(i, 3, 4);
	put(i, 16 + n + 1, 4);
	put(i, at, 4);
	put(i, at + m->len, 4);
	put_text(i, m->args, n);
}

static void put_range(struct mb2_info *i, u64 start, u64 end, u32 type)
{
	put(i, start, 8);
	put(i, end - start, 8);
	put(i, type, 4);
	put(i, 0, 4);
}

static void build_info(struct mb2_work *work, u64 memory)
{
	const struct mb2_given *given = &work->given;
	struct mb2_info *i = &work->info;
	u32 n;

	i->len = 8;
	put_string(i, 1, given->cmdline, QV_CMDLINE_LEN - 1);
	put_string(i, 2, "QV", 16);
	put(i, 4, 4);				/* tag: basic memory, in KiB */
	put(i, 16, 4);
	put(i, LOW_END / 1024, 4);
	put(i, (memory - HIGH_START) / 1024, 4);
	put(i, 6, 4);				/* memory map */
	put(i, 16 + 3 * 24, 4);
	put(i, 24, 4);
	put(i, 0, 4);
	put_range(i, 0, LOW_END, 1);
	put_range(i, LOW_END, HIGH_START, 2);
	put_range(i, HIGH_START, memory, 1);
	for (n = 0; n < given->num_modules; n++)
		put_module(i, &given->modules[n], work->module_at[n]);
	put(i, 8, 4);				/* tag: framebuffer, 80x25 EGA text */
	put(i, 31, 4);
	put(i, 0xb8000, 8);
	put(i, 160, 4);
	put(i, 80, 4);
	put(i, 25, 4);
	put(i, 16, 1);
	put(i, 2, 1);
	put(i, 0, 1);
	pad(i);
	put(i, 0, 4);				/* end */
	put(i, 8, 4);
	memset(i->bytes, 0, 8);
	i->bytes[0] = i->len & 0xff;
	i->bytes[1] = i->len >> 8;
}

/* Returns an address below 640 KiB that no segment covers, or 0 */
static u64 place_info(const struct mb2_elf *elf)
{
	u64 at;
	u32 i;

	for (at = 0x1000; at + sizeof(struct mb2_info) <= LOW_END; at += 0x1000) {
		for (i = 0; i < elf->num; i++)
			if (elf->seg[i].gpa < at + sizeof(struct mb2_info) &&
			    at < elf->seg[i].gpa + elf->seg[i].mem_len)
				break;
		if (i == elf->num)
			return at;
	}
	return 0;
}

/* Writes everything into the cell's memory. Returns false if the target rejects an address */
static bool write_all(const u8 *image, const struct mb2_target *t, const struct mb2_work *work,
		      u64 info_at)
{
	const struct mb2_given *given = &work->given;
	u32 i;

	for (i = 0; i < work->elf.num; i++) {
		const struct mb2_segment *s = &work->elf.seg[i];

		if (!t->write(t->ctx, s->gpa, image + s->offset, s->file_len) ||
		    !t->zero(t->ctx, s->gpa + s->file_len, s->mem_len - s->file_len))
			return false;
	}
	for (i = 0; i < given->num_modules; i++)
		if (!t->write(t->ctx, work->module_at[i], given->modules[i].bytes,
			      given->modules[i].len))
			return false;
	return t->write(t->ctx, info_at, work->info.bytes, work->info.len);
}

const char *mb2_load(const u8 *image, u64 len, const struct mb2_target *t, struct mb2_entry *out,
		     struct mb2_work *work)
{
	static const char too_small[] = "the cell's memory is too small for it";
	struct mb2_elf *elf = &work->elf;
	u64 entry = 0, at;
	const char *why;

	work->fits = true;
	why = read_header(image, len, &entry, work);
	if (!why)
		why = read_elf(image, len, t->size, elf);
	if (!why)
		why = overlaps(elf);
	if (why)
		return why;
	work->fits = t->size >= 2 * HIGH_START;
	if (!work->fits)
		return too_small;
	if (!entry)
		entry = elf_entry(elf);
	if (!in_a_segment(elf, entry) || entry >> 32)
		return "its entry point lies in none of its segments, or above 4 GiB";
	at = place_info(elf);
	if (!at)
		return "it leaves no room below 640 KiB for the boot information";
	work->fits = place_modules(work, t->size);
	if (!work->fits)
		return "its modules do not fit behind it into the cell's memory below 4 GiB";
	build_info(work, t->size);
	work->fits = write_all(image, t, work, at);
	if (!work->fits)
		return too_small;
	*out = (struct mb2_entry){ .eip = entry, .eax = MB2_BOOT_MAGIC, .ebx = at };
	return NULL;
}
