// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: for any bytes of an ELF image, no byte outside of it is read. Each accepted segment is
 *	inside the file and inside the cell's memory, outside the console, and overlaps no other
 *	segment
 * Bound: images of up to 128 bytes: any ELF header, up to 4 program headers of ELF32 or 2 of ELF64;
 *	any memory size
 * Assumed: nothing
 * Enough: each program header is read and checked alike, at an offset in the file that is any
 *	64-bit number
 * Options: --unwind 9 --unwindset main.0:129,read_elf.0:5
 * Seconds: 900
 * Mutation: driver/cell/multiboot2.c: `size <= len - offset` -> `offset + size <= len`: an offset
 *	that wraps around is accepted
 * Mutation: driver/cell/multiboot2.c: `if (!inside(phoff, phentsize * phnum, len))` ->
 *	`if (phoff > len)`: program headers beyond the end are read
 * Mutation: driver/cell/multiboot2.c: `if (!inside(s->gpa, s->mem_len, memory))` ->
 *	`if (s->gpa > memory)`: a segment beyond memory is accepted
 * Mutation: driver/cell/multiboot2.c: `if (len < 64 || ` -> `if (`: a file shorter than its header
 *	is read
 */
#include "cell/multiboot2.c"
#include "prove.h"

#define LEN	128u

int main(void)
{
	u8 file[LEN], *image;
	u64 len = any_u64(), memory = any_u64(), i, k;
	struct mb2_elf elf;
	const struct mb2_segment *s;

	ASSUME(len <= LEN);
	image = file + LEN - len;		/* the image is at the end of memory */
	for (i = 0; i < LEN; i++)
		file[i] = any_u8();
	if (read_elf(image, len, memory, &elf) || overlaps(&elf))
		return 0;
	PROVE(elf.num >= 1 && elf.num <= 4, "as many segments as fit");
	i = any_u64(), k = any_u64();
	ASSUME(i < elf.num && k < elf.num);
	s = &elf.seg[i];
	PROVE(s->offset <= len && s->file_len <= len - s->offset, "inside the file");
	PROVE(s->gpa <= memory && s->mem_len <= memory - s->gpa && s->mem_len >= s->file_len,
	      "inside the memory");
	PROVE(s->gpa + s->mem_len <= LOW_END || s->gpa >= HIGH_START, "not over the console");
	PROVE(i == k || s->gpa + s->mem_len <= elf.seg[k].gpa ||
	      elf.seg[k].gpa + elf.seg[k].mem_len <= s->gpa, "apart from the others");
	return 0;
}
