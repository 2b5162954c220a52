// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "../kernel/machine.h"
#include "../kernel/program.h"
#include "../user/include/quest/errors.h"
#include "build.h"
#include "pack.h"

static void pack_file(struct mig_file *to, const struct open_file *f)
{
	to->kind = f->kind;
	if (f->kind != FILE_ARCHIVE)
		return;
	to->at = f->at;
	to->size = archive.files[f->number].size;
	copy_string(to->name, archive.files[f->number].name, sizeof(to->name));
}

void mig_pack(struct mig_header *h, const struct process *p)
{
	unsigned int i;

	*h = (struct mig_header){
		.magic = MIG_MAGIC, .version = MIG_VERSION,
		.build = mig_build(), .tsc_khz = machine.tsc_khz,
		.num_threads = p->image->num_threads, .num_vcpus = p->image->num_vcpus,
		.vcpu = p->image->vcpu, .pages = p->space.pages,
		.heap = p->space.heap, .brk = p->space.brk, .epoch = p->epoch,
		.used = p->used, .children_used = p->children_used,
		.moves = p->wish.moves + 1,
	};
	copy_string(h->name, p->name, sizeof(h->name));
	for (i = 0; i < STACKS_MAX; i++)
		h->threads[i] = (struct mig_thread){
			p->threads[i].state, p->threads[i].detached, p->threads[i].result
		};
	for (i = 0; i < FILES_MAX; i++)
		pack_file(&h->files[i], &p->files[i]);
	memcpy(h->vcpu_names, p->vcpu_names, sizeof(h->vcpu_names));
}

struct mig_size mig_size_of(const struct mig_header *h)
{
	struct mig_size size = {
		.threads = h->num_threads, .vcpus = h->num_vcpus, .pages = (uint32_t)h->pages
	};
	unsigned int i;

	for (i = 0; i < QV_INFO_MAX_CHANNELS; i++)
		size.shared += (uint32_t)(h->channels[i].length / PAGE_SIZE);
	return size;
}

/* The same file has another number in another archive. */
static int unpack_file(struct open_file *f, const struct mig_file *from)
{
	*f = (struct open_file){ .kind = (enum file_kind)from->kind };
	if (f->kind != FILE_ARCHIVE)
		return 0;
	f->number = archive_find(&archive, from->name);
	f->at = from->at;
	return f->number < 0 || archive.files[f->number].size != from->size ? -ENOENT : 0;
}

int mig_unpack(struct process *p, const struct mig_header *h)
{
	unsigned int i;
	int error = 0;

	p->space.heap = h->heap;
	p->space.brk = h->brk;
	p->image->vcpu = h->vcpu;
	p->epoch = h->epoch;
	p->used = h->used;
	p->children_used = h->children_used;
	p->wish.moves = h->moves;
	p->num_threads = h->num_threads;
	for (i = 0; i < STACKS_MAX; i++)
		p->threads[i] = (struct process_thread){
			.state = (enum slot_state)h->threads[i].state,
			.detached = h->threads[i].detached, .result = h->threads[i].result
		};
	for (i = 0; i < FILES_MAX && !error; i++)
		error = unpack_file(&p->files[i], &h->files[i]);
	memcpy(p->vcpu_names, h->vcpu_names, sizeof(p->vcpu_names));
	return error;
}
