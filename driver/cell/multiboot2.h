/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loader for multiboot2 images (ELF32, ELF64): Multiboot2 specification 2.0, sections 3.1 and 3.6.
 * It accesses memory through two functions only, so that tests on the host run it. Nothing in the
 * image is trusted.
 */
#ifndef QV_MULTIBOOT2_H
#define QV_MULTIBOOT2_H

#include <linux/qv.h>
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

/* A file that is loaded with the image, and the string that the image finds with it */
struct mb2_module {
	const u8 *bytes;
	u64 len;		/* 1 or more */
	const char *args;	/* the bytes behind the first QV_MODULE_ARGS_LEN - 1 are left out */
};

struct mb2_work {		/* too large for a kernel stack */
	struct mb2_given {	/* in: for the image's boot information */
		const char *cmdline;
		u32 num_modules;	/* 0..QV_MAX_MODULES */
		struct mb2_module modules[QV_MAX_MODULES];
	} given;
	/* out, with an error: false if it is only that the cell has too little memory */
	bool fits;
	char why[96];		/* room for a clause that mb2_load() returns */
	u64 module_at[QV_MAX_MODULES];
	struct mb2_elf {
		struct mb2_segment {
			u64 offset, file_len, gpa, mem_len, va;
		} seg[MB2_SEGMENTS];
		u32 num;
		u64 entry;
	} elf;
	struct mb2_info {
		u8 bytes[4000];
		u32 len;
	} info;
};

/*
 * Loads the image, and behind it the modules of work->given, which the caller has filled in.
 * Returns NULL, or a clause that says what is wrong with the image, which may lie in @work.
 */
const char *mb2_load(const u8 *image, u64 len, const struct mb2_target *target,
		     struct mb2_entry *entry, struct mb2_work *work);

#endif
