/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loader for multiboot2 images (ELF32, ELF64): Multiboot2 specification 2.0, sections 3.1 and 3.6.
 * It accesses memory through two functions only, so that tests on the host run it. Nothing in the
 * image is trusted.
 */
#ifndef QV_MULTIBOOT2_H
#define QV_MULTIBOOT2_H

#include "abi/types.h"

struct mb2_target {
	u64 size;		/* bytes of guest memory, from 0 */
	void *ctx;
	bool (*write)(void *ctx, u64 gpa, const void *from, u64 len);
	bool (*zero)(void *ctx, u64 gpa, u64 len);
};

struct mb2_entry {
	u32 eip, eax, ebx;
};

#define MB2_SEGMENTS	32

struct mb2_work {		/* working memory, too large for a kernel stack */
	struct mb2_elf {
		struct mb2_segment {
			u64 offset, file_len, gpa, mem_len, va;
		} seg[MB2_SEGMENTS];
		u32 num;
		u64 entry;
	} elf;
	struct mb2_info {
		u8 bytes[2048];
		u32 len;
	} info;
};

/* Loads the image. Returns NULL, or a clause that says what is wrong with the image */
const char *mb2_load(const u8 *image, u64 len, const struct mb2_target *target,
		     const char *cmdline, struct mb2_entry *entry, struct mb2_work *work);

#endif
