/* SPDX-License-Identifier: GPL-2.0-only */
/* The head of the image, which is a flat binary without ELF headers: see image.lds. */
#ifndef QV_ABI_IMAGE_H
#define QV_ABI_IMAGE_H

#include "abi/types.h"

struct qv_image_header {
	char magic[8];		/* "QVMON01" */
	u32 entry;		/* address where a CPU enters from Linux, with rdi = struct pcpu */
	u32 text_end;		/* address: end of the executable part, page-aligned */
	u32 image_end;		/* address: end of the image */
	u32 vendor;		/* 1 AMD-V, 2 VT-x */
	u32 vectors;		/* address of the entries of exceptions 0..31, 4 bytes each */
	u32 vector_rest;	/* address of the entry of all other vectors */
	/* address: the monitor's segments; 0x10 code, 0x18 data, 0x20 TSS (hidden part only) */
	u32 gdt;
	/* hash of the headers that driver and monitor share (scripts/contract): equal in both */
	u32 build;
};

#endif
