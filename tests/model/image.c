// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "image.h"
#include "unit.h"

const struct image_segment image_segments[3] = {
	{ 0x8000, 0xc0008000, 0xffffffff80008000, 0x800, 0x400, 0x400 },
	{ 0x100000, 0xc0100000, 0xffffffff80100000, 0x1000, 0x1000, 0x1234 },
	{ 0x200000, 0xd0000000, 0xffffffffd0000000, 0x2000, 0x100, 0x2000 },
};

void put_at(struct image *img, u32 offset, u64 value, u32 bytes)
{
	for (; bytes--; value >>= 8)
		img->bytes[offset++] = value;
}

u64 get_at(const u8 *p, u32 bytes)
{
	u64 v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

struct place { u8 offset32, bytes32, offset64, bytes64; };

static void set(struct image *img, u32 base, const struct place *at, u64 value)
{
	put_at(img, base + (img->wide ? at->offset64 : at->offset32), value,
	       img->wide ? at->bytes64 : at->bytes32);
}

void set_elf(struct image *img, enum elf_field field, u64 value)
{
	static const struct place at[] = {
		[ELF_ENTRY] = { 24, 4, 24, 8 }, [ELF_PHOFF] = { 28, 4, 32, 8 },
		[ELF_PHENTSIZE] = { 42, 2, 54, 2 }, [ELF_PHNUM] = { 44, 2, 56, 2 },
		[ELF_MACHINE] = { 18, 2, 18, 2 },
	};

	set(img, 0, &at[field], value);
}

void set_phdr(struct image *img, u32 n, enum phdr_field field, u64 value)
{
	static const struct place at[] = {
		[PH_TYPE] = { 0, 4, 0, 4 }, [PH_OFFSET] = { 4, 4, 8, 8 }, [PH_VA] = { 8, 4, 16, 8 },
		[PH_PA] = { 12, 4, 24, 8 }, [PH_FILE_LEN] = { 16, 4, 32, 8 },
		[PH_MEM_LEN] = { 20, 4, 40, 8 },
	};

	set(img, 64 + n * (img->wide ? 56 : 32), &at[field], value);
}

static u32 header_at, header_end;

void header_begin(struct image *img, u32 offset)
{
	header_at = offset;
	header_end = offset + 16;
	put_at(img, offset, 0xe85250d6, 4);
	put_at(img, offset + 4, 0, 4);
}

void header_tag(struct image *img, u32 type, u32 flags, u32 size, const u32 *words)
{
	u32 i;

	put_at(img, header_end, type, 2);
	put_at(img, header_end + 2, flags, 2);
	put_at(img, header_end + 4, size, 4);
	for (i = 0; 8 + 4 * i + 4 <= size; i++)
		put_at(img, header_end + 8 + 4 * i, words[i], 4);
	header_end += (size + 7) & ~7u;
}

void header_finish(struct image *img, bool end_tag)
{
	u32 len;

	if (end_tag)
		header_tag(img, 0, 0, 8, NULL);
	len = header_end - header_at;
	put_at(img, header_at + 8, len, 4);
	put_at(img, header_at + 12, -(0xe85250d6 + len), 4);
}

void image_good(struct image *img, bool wide)
{
	static const u32 requests[] = { 1, 2, 4, 6, 8 }, entry[] = { 0x100010 };
	u32 i, k;

	memset(img, 0, sizeof(*img));
	img->wide = wide;
	img->len = IMAGE_LEN;
	for (i = 0x800; i < IMAGE_LEN; i++)
		img->bytes[i] = i * 7 + i / 256;
	memcpy(img->bytes, wide ? "\177ELF\2\1\1" : "\177ELF\1\1\1", 7);
	put_at(img, 16, 2, 2);
	set_elf(img, ELF_MACHINE, wide ? 62 : 3);
	set_elf(img, ELF_ENTRY, wide ? 0xffffffff80100020 : 0xc0100020);
	set_elf(img, ELF_PHOFF, 64);
	set_elf(img, ELF_PHENTSIZE, wide ? 56 : 32);
	set_elf(img, ELF_PHNUM, 4);
	for (i = 0; i < 3; i++) {
		const struct image_segment *s = &image_segments[i];

		k = i ? i + 1 : 0;		/* the second program header is a note */
		set_phdr(img, k, PH_TYPE, 1);
		set_phdr(img, k, PH_OFFSET, s->offset);
		set_phdr(img, k, PH_VA, wide ? s->va64 : s->va32);
		set_phdr(img, k, PH_PA, s->gpa);
		set_phdr(img, k, PH_FILE_LEN, s->file_len);
		set_phdr(img, k, PH_MEM_LEN, s->mem_len);
	}
	set_phdr(img, 1, PH_TYPE, 4);
	set_phdr(img, 1, PH_OFFSET, ~0ull);
	set_phdr(img, 1, PH_FILE_LEN, ~0ull);
	header_begin(img, IMAGE_HEADER);
	header_tag(img, 1, 0, 28, requests);
	header_tag(img, 3, 0, 12, entry);
	header_finish(img, true);
}

/* ---- memory ---- */

static bool reach(struct memory *m, u64 gpa, u64 len)
{
	if (gpa > m->size || len > m->size - gpa) {
		m->outside++;
		return false;
	}
	return gpa + len <= m->limit;
}

static bool write_memory(void *ctx, u64 gpa, const void *from, u64 len)
{
	struct memory *m = ctx;

	if (!reach(m, gpa, len))
		return false;
	memcpy(m->bytes + gpa, from, len);
	return true;
}

static bool zero_memory(void *ctx, u64 gpa, u64 len)
{
	struct memory *m = ctx;

	if (!reach(m, gpa, len))
		return false;
	memset(m->bytes + gpa, 0, len);
	return true;
}

void memory_open(struct memory *m, u64 size)
{
	*m = (struct memory){ .size = size, .limit = size };
	m->target = (struct mb2_target){
		.size = size, .ctx = m, .write = write_memory, .zero = zero_memory
	};
	m->bytes = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m->bytes == MAP_FAILED)
		unit_give_up("no memory");
	if (size <= 64 << 20)
		memset(m->bytes, UNTOUCHED, size);
}

void memory_close(struct memory *m)
{
	munmap(m->bytes, m->size ? m->size : 1);
}

/* ---- boot information: multiboot2 specification, 3.6 ---- */

static const char *mmap_wrong(const struct memory *m, const u8 *tag, u32 size)
{
	u64 end = 0, ram = 0;
	u32 at;

	if (size < 16 || get_at(tag + 8, 4) != 24 || get_at(tag + 12, 4) != 0 || (size - 16) % 24)
		return "the head of the memory map";
	for (at = 16; at < size; at += 24) {
		u64 start = get_at(tag + at, 8), len = get_at(tag + at + 8, 8);
		u32 type = get_at(tag + at + 16, 4);

		if (start != end || !len || get_at(tag + at + 20, 4))
			return "the memory map has gaps, or is out of order";
		end = start + len;
		if (type == 1)
			ram += len;
		if (type == 1 && start < 0x100000 && end > 0xa0000)
			return "the memory map reports the console as RAM";
	}
	return end == m->size && ram == m->size - 0x60000 ? NULL : "the sum of the memory map";
}

static const char *tag_wrong(const struct memory *m, const u8 *tag, u32 size, const char *cmdline)
{
	u32 n = strnlen(cmdline, 1023);

	switch (get_at(tag, 4)) {
	case 3:
		return size > 16 && !tag[size - 1] && !(get_at(tag + 8, 4) & 0xfff) &&
		       get_at(tag + 8, 4) >= 0x100000 && get_at(tag + 12, 4) <= m->size &&
		       get_at(tag + 8, 4) < get_at(tag + 12, 4) ? NULL : "a module";
	case 1:
		return size == 8 + n + 1 && !memcmp(tag + 8, cmdline, n) && !tag[8 + n] ? NULL :
			"the command line";
	case 2:
		return size > 9 && !tag[size - 1] ? NULL : "the name of the loader";
	case 4:
		return size == 16 && get_at(tag + 8, 4) == 640 &&
		       get_at(tag + 12, 4) == m->size / 1024 - 1024 ?
		       NULL : "the basic memory sizes";
	case 6:
		return mmap_wrong(m, tag, size);
	case 8:
		return size >= 31 && get_at(tag + 8, 8) == 0xb8000 && get_at(tag + 16, 4) == 160 &&
		       get_at(tag + 20, 4) == 80 && get_at(tag + 24, 4) == 25 && tag[28] == 16 &&
		       tag[29] == 2 ? NULL : "the framebuffer";
	}
	return "an unexpected tag";
}

const u8 *info_module(const struct memory *m, u32 ebx, u32 n)
{
	const u8 *info = m->bytes + ebx;
	u32 at, type;

	for (at = 8; at < get_at(info, 4); at += (get_at(info + at + 4, 4) + 7) & ~7u) {
		type = get_at(info + at, 4);
		if (!type)
			break;
		if (type == 3 && !n--)
			return info + at;
	}
	return NULL;
}

const char *info_wrong(const struct memory *m, u32 ebx, const char *cmdline)
{
	u32 total, at, seen = 0;
	const char *why;

	if (ebx % 8 || ebx < 0x1000 || ebx >= 0xa0000)
		return "the boot information is at a wrong place";
	total = get_at(m->bytes + ebx, 4);
	if (total % 8 || total > 4096 || ebx + total > 0xa0000 || get_at(m->bytes + ebx + 4, 4))
		return "the head of the boot information";
	for (at = 8; at + 8 <= total;) {
		const u8 *tag = m->bytes + ebx + at;
		u32 type = get_at(tag, 4), size = get_at(tag + 4, 4);

		if (size < 8 || size > total - at)
			return "the size of a tag";
		at += (size + 7) & ~7u;
		if (type == 0)
			return size != 8 || at != total ? "the end tag" :
			       seen != (1 << 1 | 1 << 2 | 1 << 4 | 1 << 6 | 1 << 8) ?
			       "a tag is missing" : NULL;
		if (type > 31 || seen & 1u << type)
			return "a tag that appears twice";
		if (type != 3)			/* one for each module */
			seen |= 1u << type;
		why = tag_wrong(m, tag, size, cmdline);
		if (why)
			return why;
	}
	return "no end tag";
}
