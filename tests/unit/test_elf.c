// SPDX-License-Identifier: GPL-2.0-only
/* multiboot2.c: each malformation of an image, and random damage. */
#include <stdlib.h>
#include <string.h>
#include "image.h"
#include "unit.h"

#define M1	0x100000ul
#define MEMORY	(4 * M1)

static void one_tag(struct image *img, u32 type, u32 flags, u32 size, u32 value)
{
	u32 words[16] = { value };

	header_begin(img, IMAGE_HEADER);
	header_tag(img, type, flags, size, words);
	header_finish(img, true);
}

/* Tags larger than the header must not be followed. */
static void tag_size(struct image *img, u32 size)
{
	header_begin(img, IMAGE_HEADER);
	header_tag(img, 5, 1, 20, (u32[3]){ 0 });
	header_finish(img, true);
	put_at(img, IMAGE_HEADER + 16 + 4, size, 4);
}

static void without_end(struct image *img)
{
	header_begin(img, IMAGE_HEADER);
	header_tag(img, 6, 0, 8, NULL);
	header_finish(img, false);
}

static void many_segments(struct image *img, u32 n)
{
	u32 i;

	set_elf(img, ELF_PHOFF, 0x3000);
	set_elf(img, ELF_PHNUM, n);
	img->len = 0x3000 + n * 56;
	for (i = 0; i < n; i++) {
		u32 at = 0x3000 + i * (img->wide ? 56 : 32);

		memset(img->bytes + at, 0, img->wide ? 56 : 32);
		put_at(img, at, 1, 4);
		put_at(img, at + (img->wide ? 24 : 12), 0x100000 + i * 0x1000, 4);
		put_at(img, at + (img->wide ? 40 : 20), 0x1000, 4);
	}
}

static void elf_type(struct image *img, u32 offset, u8 value)
{
	img->bytes[offset] = value;
}

/* Name; expected error (NULL: the image is loaded); change to a good image */
#define CHANGES(X) \
	X(nothing, NULL, (void)img) \
	X(empty, "it has no multiboot2 header in its first 32 KiB", img->len = 0) \
	X(short_of_header, "it has no multiboot2 header in its first 32 KiB", img->len = 0x200) \
	X(cut_in_header, "it has no multiboot2 header in its first 32 KiB", img->len = 0x20f) \
	X(cut_in_tags, "its multiboot2 header does not lie in the first 32 KiB", img->len = 0x210) \
	X(no_header, "it has no multiboot2 header in its first 32 KiB", \
	  put_at(img, IMAGE_HEADER, 0, 4)) \
	X(checksum, "the checksum of its multiboot2 header is wrong", \
	  img->bytes[IMAGE_HEADER + 12]++) \
	X(mips, "its multiboot2 header is not for i386", \
	  (put_at(img, IMAGE_HEADER + 4, 4, 4), \
	   put_at(img, IMAGE_HEADER + 12, get_at(img->bytes + IMAGE_HEADER + 12, 4) - 4, 4))) \
	X(tag_of_no_size, "a tag of its multiboot2 header has a wrong size", tag_size(img, 0)) \
	X(tag_of_7, "a tag of its multiboot2 header has a wrong size", tag_size(img, 7)) \
	X(tag_too_large, "a tag of its multiboot2 header has a wrong size", tag_size(img, 33)) \
	X(tag_huge, "a tag of its multiboot2 header has a wrong size", tag_size(img, 0xfffffffcu)) \
	X(tag_to_the_end, "its multiboot2 header has no end tag", tag_size(img, 32)) \
	X(no_end_tag, "its multiboot2 header has no end tag", without_end(img)) \
	X(short_entry_tag, "the entry tag of its multiboot2 header is too short", \
	  one_tag(img, 3, 0, 8, 0)) \
	X(demands_address, "its multiboot2 header demands tag 2, which a cell does not have", \
	  one_tag(img, 2, 0, 24, 0)) \
	X(wishes_address, NULL, one_tag(img, 2, 1, 24, 0)) \
	X(demands_efi_boot_services, NULL, one_tag(img, 7, 0, 8, 0)) \
	X(demands_efi_entry_i386, NULL, one_tag(img, 8, 0, 12, 0x100000)) \
	X(demands_efi_entry_amd64, NULL, one_tag(img, 9, 0, 12, 0x100000)) \
	X(demands_relocation, NULL, one_tag(img, 10, 0, 24, 0)) \
	X(demands_tag_11, "its multiboot2 header demands tag 11, which a cell does not have", \
	  one_tag(img, 11, 0, 8, 0)) \
	X(demands_unknown, "its multiboot2 header demands tag 77, which a cell does not have", \
	  one_tag(img, 77, 0, 8, 0)) \
	X(wishes_unknown, NULL, one_tag(img, 77, 1, 8, 0)) \
	X(demands_vbe, "its multiboot2 header demands boot information 7, which a cell does not " \
	  "have", one_tag(img, 1, 0, 12, 7)) \
	X(demands_efi_map, NULL, one_tag(img, 1, 0, 12, 17)) \
	X(wishes_vbe, NULL, one_tag(img, 1, 1, 12, 7)) \
	X(demands_memory_map, NULL, one_tag(img, 1, 0, 12, 6)) \
	X(asks_nothing, NULL, one_tag(img, 1, 0, 8, 0)) \
	X(console_flags, NULL, one_tag(img, 4, 0, 12, 3)) \
	X(framebuffer, NULL, one_tag(img, 5, 0, 20, 80)) \
	X(no_elf, "it is not an ELF file", elf_type(img, 1, 'e')) \
	X(no_elf_at_all, "it is not an ELF file", elf_type(img, 0, 0)) \
	X(class_0, "it is not little-endian ELF32 or ELF64", elf_type(img, 4, 0)) \
	X(class_3, "it is not little-endian ELF32 or ELF64", elf_type(img, 4, 3)) \
	X(big_endian, "it is not little-endian ELF32 or ELF64", elf_type(img, 5, 2)) \
	X(for_arm, "it is not for x86 (ELF machine)", set_elf(img, ELF_MACHINE, 40)) \
	X(for_the_other_x86, "it is not for x86 (ELF machine)", \
	  set_elf(img, ELF_MACHINE, img->wide ? 3 : 62)) \
	X(small_phdrs, "its program headers are too small", \
	  set_elf(img, ELF_PHENTSIZE, img->wide ? 55 : 31)) \
	X(no_phdrs, "it has nothing to load", set_elf(img, ELF_PHNUM, 0)) \
	X(phdrs_past_the_end, "its program headers lie outside the file", \
	  set_elf(img, ELF_PHOFF, IMAGE_LEN - 4 * 32 + 1)) \
	X(phdrs_far_away, "its program headers lie outside the file", \
	  set_elf(img, ELF_PHOFF, 0xfffffff0)) \
	X(phdrs_wrap, "its program headers lie outside the file", set_elf(img, ELF_PHOFF, ~0ull)) \
	X(phdrs_most, "its program headers lie outside the file", set_elf(img, ELF_PHNUM, 65535)) \
	X(phdrs_large_and_many, "its program headers lie outside the file", \
	  (set_elf(img, ELF_PHNUM, 65535), set_elf(img, ELF_PHENTSIZE, 65535))) \
	X(nothing_to_load, "it has nothing to load", set_elf(img, ELF_PHOFF, 0x2c00)) \
	X(segments_32, NULL, many_segments(img, 32)) \
	X(segments_33, "it has more than 32 segments", many_segments(img, 33)) \
	X(file_more_than_memory, "a segment has more bytes in the file than in memory", \
	  set_phdr(img, 2, PH_MEM_LEN, 0xfff)) \
	X(segment_past_the_end, "a segment lies outside the file", \
	  set_phdr(img, 2, PH_OFFSET, IMAGE_LEN - 0xfff)) \
	X(segment_ends_with_file, NULL, set_phdr(img, 2, PH_OFFSET, IMAGE_LEN - 0x1000)) \
	X(segment_offset_wraps, "a segment lies outside the file", \
	  set_phdr(img, 2, PH_OFFSET, ~0ull)) \
	X(segment_not_in_file, "a segment lies outside the file", \
	  (set_phdr(img, 2, PH_FILE_LEN, 0xfffff000), set_phdr(img, 2, PH_MEM_LEN, 0xfffff000))) \
	X(segment_past_memory, "a segment does not fit into the cell's memory", \
	  set_phdr(img, 3, PH_PA, MEMORY - 0x1fff)) \
	X(segment_ends_with_memory, NULL, set_phdr(img, 3, PH_PA, MEMORY - 0x2000)) \
	X(segment_address_wraps, "a segment does not fit into the cell's memory", \
	  set_phdr(img, 3, PH_PA, ~0ull)) \
	X(segment_of_4g, "a segment does not fit into the cell's memory", \
	  set_phdr(img, 3, PH_MEM_LEN, 0xffffffff)) \
	X(segment_on_console, \
	  "a segment covers the area from 640 KiB to 1 MiB, where the console is", \
	  set_phdr(img, 3, PH_PA, 0xb8000)) \
	X(segment_into_640k, \
	  "a segment covers the area from 640 KiB to 1 MiB, where the console is", \
	  set_phdr(img, 3, PH_PA, 0xa0000 - 0x1fff)) \
	X(segment_up_to_640k, NULL, set_phdr(img, 3, PH_PA, 0xa0000 - 0x2000)) \
	X(segment_before_1m, \
	  "a segment covers the area from 640 KiB to 1 MiB, where the console is", \
	  set_phdr(img, 2, PH_PA, 0xfffff)) \
	X(segments_same, "two segments overlap in memory", set_phdr(img, 3, PH_PA, 0x100000)) \
	X(segments_overlap_by_1, "two segments overlap in memory", \
	  set_phdr(img, 3, PH_PA, 0x101233)) \
	X(segments_touch, NULL, set_phdr(img, 3, PH_PA, 0x101234)) \
	X(segments_overlap_below, "two segments overlap in memory", \
	  set_phdr(img, 3, PH_PA, 0x8000 - 0x1fff)) \
	X(segments_touch_below, NULL, set_phdr(img, 3, PH_PA, 0x8000 - 0x2000)) \
	X(segment_over_info, NULL, \
	  (set_phdr(img, 3, PH_PA, 0x1000), set_phdr(img, 3, PH_MEM_LEN, 0x6000))) \
	X(segment_end_wraps, "a segment does not fit into the cell's memory", \
	  (set_phdr(img, 3, PH_PA, 0x7fffffff), set_phdr(img, 3, PH_MEM_LEN, 0x80000001))) \
	X(segment_to_4g, "a segment does not fit into the cell's memory", \
	  set_phdr(img, 3, PH_PA, 0xffffe000)) \
	X(segment_over_window_whole, \
	  "a segment covers the area from 640 KiB to 1 MiB, where the console is", \
	  (set_phdr(img, 3, PH_PA, 0x9f000), set_phdr(img, 3, PH_MEM_LEN, 0x100000))) \
	X(segment_one_byte_of_window, \
	  "a segment covers the area from 640 KiB to 1 MiB, where the console is", \
	  (set_phdr(img, 3, PH_PA, 0xfffff), set_phdr(img, 3, PH_FILE_LEN, 0), \
	   set_phdr(img, 3, PH_MEM_LEN, 1))) \
	X(phdrs_in_the_middle_of_nothing, "its program headers lie outside the file", \
	  set_elf(img, ELF_PHOFF, IMAGE_LEN)) \
	X(phdr_size_0, "its program headers are too small", set_elf(img, ELF_PHENTSIZE, 0)) \
	X(entry_in_data_of_nobody, "its entry point lies in none of its segments, or above 4 GiB", \
	  one_tag(img, 3, 0, 12, 0x380000)) \
	X(entry_on_console, "its entry point lies in none of its segments, or above 4 GiB", \
	  one_tag(img, 3, 0, 12, 0xb8000)) \
	X(entry_past_memory, "its entry point lies in none of its segments, or above 4 GiB", \
	  one_tag(img, 3, 0, 12, MEMORY)) \
	X(a_32_in_a_64, "it is not for x86 (ELF machine)", img->bytes[4] ^= 3) \
	X(segment_empty_anywhere, NULL, \
	  (set_phdr(img, 3, PH_FILE_LEN, 0), set_phdr(img, 3, PH_MEM_LEN, 0), \
					 set_phdr(img, 3, PH_PA, 0xb8000)))

#define X(name, answer, change) \
	static void change_##name(struct image *img) \
	{ \
		change; \
	}
CHANGES(X)
#undef X

static const struct {
	const char *name, *answer;
	void (*make)(struct image *img);
} changes[] = {
#define X(name, answer, change) { #name, answer, change_##name },
	CHANGES(X)
#undef X
};

static const char *load(const struct image *img, struct memory *m, struct mb2_entry *entry)
{
	static struct mb2_work work;
	u8 *exact = exact_copy(img->bytes, img->len);
	const char *why;

	work.given = (struct mb2_given){ .cmdline = "x y" };
	why = mb2_load(exact, img->len, &m->target, entry, &work);
	free(exact);
	CHECK_EQ(m->outside, 0);
	return why;
}

static bool is_untouched(const struct memory *m)
{
	u64 i;

	for (i = 0; i < m->size && m->bytes[i] == UNTOUCHED; i++)
		;
	return i == m->size;
}

static void one_change(void)
{
	static struct image img;
	u32 i;

	for (i = 0; i < 2 * sizeof(changes) / sizeof(changes[0]); i++) {
		struct mb2_entry entry;
		struct memory m;
		const char *why;

		image_good(&img, i & 1);
		changes[i / 2].make(&img);
		memory_open(&m, MEMORY);
		unit_case("%s, ELF%u:", changes[i / 2].name, i & 1 ? 64 : 32);
		why = load(&img, &m, &entry);
		CHECK_TEXT(why, changes[i / 2].answer);
		if (why)
			/* the image is rejected before anything is written */
			CHECK(is_untouched(&m));
		else
			CHECK_TEXT(info_wrong(&m, entry.ebx, "x y"), NULL);
		memory_close(&m);
	}
}

static void too_little_memory(void)
{
	static const u64 sizes[] = { 0, 4096, 0x9f000, M1, 2 * M1 - 4096, 2 * M1 };
	static struct image img;
	u32 i;

	image_good(&img, true);
	set_elf(&img, ELF_PHNUM, 1);		/* there is only the memory below 640 KiB */
	set_elf(&img, ELF_ENTRY, 0xffffffff80008000);
	header_begin(&img, IMAGE_HEADER);
	header_finish(&img, true);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct mb2_entry entry;
		struct memory m;

		unit_case("%lu bytes:", sizes[i]);
		memory_open(&m, sizes[i]);
		CHECK_EQ(load(&img, &m, &entry) == NULL, sizes[i] == 2 * M1);
		memory_close(&m);
	}
}

/* Truncates the file at every length. */
static void cut_short(void)
{
	static struct image img;
	struct mb2_entry entry;
	struct memory m;
	u32 i;

	memory_open(&m, MEMORY);
	for (i = 0; i < IMAGE_LEN; i++) {
		image_good(&img, i & 1);
		img.len = i;
		unit_case("%u bytes:", i);
		CHECK_EQ(load(&img, &m, &entry) == NULL, i >= 0x2100);
	}
	memory_close(&m);
}

/* Overwrites random bytes of a good image. The loader must not crash or access memory outside. */
static void random_damage(void)
{
	static const u64 values[] = {
		0, 1, 7, 8, 16, 0x7fffffff, 0x80000000, 0xffffffff,
		~0ull, 1ull << 63, 0xb8000, 0x9ffff, 0x3fffff,
	};
	static struct image img;
	struct mb2_entry entry;
	struct memory m;
	u32 round, i, n, fine = 0;

	memory_open(&m, MEMORY);
	for (round = 0; round < 60000; round++) {
		const char *why;

		image_good(&img, round & 1);
		for (i = 0, n = 1 + rnd_below(3); i < n; i++) {
			u32 at = rnd() & 1 ? rnd_below(64 + 4 * 56) : IMAGE_HEADER + rnd_below(80);

			if (rnd() & 1)
				img.bytes[at] = rnd();
			else
				put_at(&img, at & ~3u, values[rnd_below(13)], 1 << rnd_below(4));
		}
		if (!rnd_below(8))
			img.len = rnd_below(IMAGE_LEN);
		unit_case("round %u:", round);
		why = load(&img, &m, &entry);
		if (why)
			continue;
		fine++;
		CHECK(entry.eip < MEMORY);
		CHECK_TEXT(info_wrong(&m, entry.ebx, "x y"), NULL);
	}
	unit_case("after all:");
	CHECK(fine > 5000);
	memory_close(&m);
}

UNIT_SUITE(elf) = {
	{ "multiboot2: each malformation has its error message", one_change },
	{ "multiboot2: too little memory is rejected", too_little_memory },
	{ "multiboot2: truncated files are rejected", cut_short },
	{ "multiboot2: random damage causes no access outside", random_damage },
	{ 0 }
};
