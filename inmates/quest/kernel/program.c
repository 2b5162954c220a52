// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/string.h>
#include "../arch/user.h"
#include "../mm/usercopy.h"
#include "../user/include/quest/errors.h"
#include "dispatch.h"
#include "elf.h"
#include "module.h"
#include "program.h"

struct archive archive;

/* start and end of the archive, from arch/archive.S */
extern const char archive_start[], archive_end[];

void program_init(const struct boot_info *boot)
{
	const char *wrong = archive_add(&archive, archive_start, archive_end - archive_start);
	unsigned int i;

	if (wrong)
		print("the programs in this image cannot be used: %s\n", wrong);
	for (i = 0; i < boot->num_modules; i++) {
		wrong = module_add(&archive, (const void *)(uintptr_t)boot->modules[i].start,
				   boot->modules[i].end - boot->modules[i].start,
				   boot->modules[i].args);
		if (wrong)
			print("module %u is not used: %s\n", i + 1, wrong);
	}
	if (boot->more_modules)
		print("more than %u modules: the others are not used; pack them into one archive\n",
		      BOOT_MAX_MODULES);
}

void program_start_frame(struct trap_frame *frame, uint64_t rip, uint64_t rsp)
{
	*frame = (struct trap_frame){
		.rip = rip, .rsp = rsp, .rflags = RFLAGS_FIXED | RFLAGS_IF_ON,
		.cs = TRAP_USER_CS, .ss = TRAP_USER_SS,
	};
}

static bool load_segment(struct space *s, const struct elf_segment *e, const uint8_t *data)
{
	size_t done, part;
	uint64_t at;

	if (!space_map(s, e->start, e->end, e->rights))
		return false;
	for (done = 0; done < e->size; done += part) {
		at = space_translate(s, e->va + done, SPACE_READ);
		part = PAGE_SIZE - at % PAGE_SIZE;
		if (part > e->size - done)
			part = e->size - done;
		memcpy((void *)(uintptr_t)at, data + e->offset + done, part);
		let_interrupts_in();
	}
	return true;
}

static bool load_all(struct space *s, const struct elf_plan *plan, const uint8_t *data)
{
	unsigned int i;

	for (i = 0; i < plan->num_segments; i++)
		if (!load_segment(s, &plan->segments[i], data))
			return false;
	s->heap = s->brk = plan->end;
	return space_map(s, space_stack_top(0) - STACK_BYTES, space_stack_top(0), USER_DATA);
}

/* Puts the strings at the top of the stack, and argv below them. */
static void put_args(struct space *s, const struct program_args *args, struct trap_frame *frame)
{
	uint64_t text = space_stack_top(0) - args->bytes, argv[ARGS_MAX + 1] = { 0 }, at;
	size_t offset = 0;
	unsigned int i;

	for (i = 0; i < args->count; i++) {
		argv[i] = text + offset;
		offset += strlen(args->text + offset) + 1;
	}
	/* 17 words are 136 bytes: 8 more bytes make a multiple of 16 */
	at = (text & ~15ull) - sizeof(argv) - 8;
	/* The stack is new and large enough, so neither copy can fail. */
	(void)copy_to_user(s, text, args->text, args->bytes);
	(void)copy_to_user(s, at, argv, sizeof(argv));
	frame->rdi = args->count;
	frame->rsi = at;
	frame->rsp = at;
}

int program_load(struct space *s, const struct program_args *args, struct trap_frame *frame,
		 const char **why)
{
	int file = archive_find(&archive, args->file);
	struct elf_plan plan;

	*why = "there is no program of that name";
	if (file < 0)
		return -ENOENT;
	*why = "it is not marked as a program";
	if (!archive.files[file].program)
		return -ENOEXEC;
	*why = elf_plan(&plan, archive.files[file].data, archive.files[file].size);
	if (*why)
		return -ENOEXEC;
	let_interrupts_in();
	*why = "there is not enough memory for it";
	if (!space_create(s))
		return -ENOMEM;
	if (!load_all(s, &plan, archive.files[file].data)) {
		space_destroy(s);
		return -ENOMEM;
	}
	*why = NULL;
	let_interrupts_in();
	program_start_frame(frame, plan.entry, 0);
	put_args(s, args, frame);
	return 0;
}
