// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <inmate/string.h>
#include "../mm/space.h"
#include "elf.h"

/* System V ABI, chapters 4 and 5. */
struct elf_header {
	uint8_t ident[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, phoff, shoff;
	uint32_t flags;
	uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct program_header {
	uint32_t type, flags;
	uint64_t offset, vaddr, paddr, filesz, memsz, align;
};

/* Magic, 64 bits, little endian, version 1. */
static const uint8_t ident[] = { 0x7F, 'E', 'L', 'F', 2, 1, 1 };

#define TYPE_EXECUTABLE	2
#define MACHINE_X86_64	62
#define SEGMENT_LOAD	1
#define SEGMENT_INTERP	3
#define FLAG_EXECUTE	1u
#define FLAG_WRITE	2u

static const char *check_header(const struct elf_header *h, size_t size)
{
	if (memcmp(h->ident, ident, sizeof(ident)) || h->machine != MACHINE_X86_64)
		return "it is not an ELF file for x86-64";
	if (h->type != TYPE_EXECUTABLE)
		return "it is not a program linked to a fixed address";
	if (h->phentsize != sizeof(struct program_header) || h->phoff > size ||
	    h->phnum > (size - h->phoff) / sizeof(struct program_header))
		return "its program headers are not in the file";
	return NULL;
}

static const char *check_segment(const struct program_header *p, size_t size)
{
	if (p->offset > size || p->filesz > size - p->offset || p->filesz > p->memsz)
		return "a segment is not in the file";
	if (p->vaddr < USER_IMAGE || p->vaddr >= USER_SHARED || p->memsz > USER_SHARED - p->vaddr)
		return "a segment lies outside the memory of programs";
	if ((p->flags & FLAG_WRITE) && (p->flags & FLAG_EXECUTE))
		return "a segment may be written and executed";
	return NULL;
}

static const char *take_segment(struct elf_plan *plan, const struct program_header *p)
{
	struct elf_segment *s = &plan->segments[plan->num_segments];

	if (plan->num_segments == ELF_SEGMENTS)
		return "it has too many segments";
	*s = (struct elf_segment){
		.start = p->vaddr & ~(PAGE_SIZE - 1),
		.end = (p->vaddr + p->memsz + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1),
		.va = p->vaddr, .offset = p->offset, .size = p->filesz,
		.rights = p->flags & FLAG_EXECUTE ? USER_CODE :
			  p->flags & FLAG_WRITE ? USER_DATA : USER_READ,
	};
	/* ELF requires ascending addresses, so no two segments overlap */
	if (plan->num_segments && s->start < plan->end)
		return "two segments lie on one page, or out of order";
	plan->end = s->end;
	plan->num_segments++;
	return NULL;
}

static bool is_code(const struct elf_plan *plan, uint64_t va)
{
	const struct elf_segment *s;

	for (s = plan->segments; s < plan->segments + plan->num_segments; s++)
		if (va >= s->start && va < s->end)
			return s->rights == USER_CODE;
	return false;
}

const char *elf_plan(struct elf_plan *plan, const void *file, size_t size)
{
	struct program_header p;
	struct elf_header h;
	const char *wrong;
	unsigned int i;

	if (size < sizeof(h))
		return "it is too short for an ELF file";
	memcpy(&h, file, sizeof(h));
	wrong = check_header(&h, size);
	*plan = (struct elf_plan){ .entry = h.entry };
	for (i = 0; !wrong && i < h.phnum; i++) {
		memcpy(&p, (const char *)file + h.phoff + i * sizeof(p), sizeof(p));
		if (p.type == SEGMENT_INTERP)
			return "it wants shared libraries";
		if (p.type != SEGMENT_LOAD || !p.memsz)
			continue;
		wrong = check_segment(&p, size);
		if (!wrong)
			wrong = take_segment(plan, &p);
	}
	if (!wrong && !is_code(plan, h.entry))
		return "it begins outside its code";
	return wrong;
}
