/* SPDX-License-Identifier: GPL-2.0-only */
/* Multiboot2 images that the tests build, and the memory of a cell to load them into. */
#ifndef IMAGE_H
#define IMAGE_H

#include "cell/multiboot2.h"

#define IMAGE_LEN	0x3000u
#define IMAGE_HEADER	0x200u		/* offset of the multiboot2 header in the image */

struct image {
	bool wide;			/* ELF64 */
	u32 len;
	u8 bytes[IMAGE_LEN + 0x8000];
};

/* Three segments (below 640 KiB, at 1 MiB, at 2 MiB), an entry tag, an information request */
void image_good(struct image *img, bool wide);

void put_at(struct image *img, u32 offset, u64 value, u32 bytes);
u64 get_at(const u8 *p, u32 bytes);

/* Fields of the ELF header and of program header @n, at their offsets for this width */
enum elf_field { ELF_ENTRY, ELF_PHOFF, ELF_PHENTSIZE, ELF_PHNUM, ELF_MACHINE };
enum phdr_field { PH_TYPE, PH_OFFSET, PH_VA, PH_PA, PH_FILE_LEN, PH_MEM_LEN };
void set_elf(struct image *img, enum elf_field field, u64 value);
void set_phdr(struct image *img, u32 n, enum phdr_field field, u64 value);

/* Multiboot2 header: begin, then tags in order; finish sets length and checksum. */
void header_begin(struct image *img, u32 offset);
void header_tag(struct image *img, u32 type, u32 flags, u32 size, const u32 *words);
void header_finish(struct image *img, bool end_tag);

/* Segments of a good image */
struct image_segment {
	u64 gpa, va32, va64;
	u32 offset, file_len, mem_len;
};
extern const struct image_segment image_segments[3];

/* ---- a cell's memory ---- */

#define UNTOUCHED	0xcc

struct memory {
	u64 size, limit;	/* the first address at which the target rejects writes */
	u8 *bytes;
	struct mb2_target target;
	u32 outside;		/* number of accesses beyond the size of the target; must stay 0 */
};

void memory_open(struct memory *m, u64 size);
void memory_close(struct memory *m);

/*
 * Compares the boot information at @ebx with the specification and with @m. Returns NULL, or the
 * name of the part that is wrong.
 */
const char *info_wrong(const struct memory *m, u32 ebx, const char *cmdline);

/* Returns the n-th module tag of boot information that info_wrong() accepts, or NULL. */
const u8 *info_module(const struct memory *m, u32 ebx, u32 n);

#endif
