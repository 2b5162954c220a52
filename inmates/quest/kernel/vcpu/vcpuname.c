// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "../process/process.h"
#include "vcpuname.h"

static struct vcpuname *find(struct process *p, int name)
{
	int i;

	for (i = 0; i < VCPUNAMES; i++)
		if (p->vcpu_names[i].name == name)
			return &p->vcpu_names[i];
	return NULL;
}

/* Returns true if VCPU `id` has an entry, so that its id is not its name. */
static bool named(const struct process *p, int id)
{
	int i;

	for (i = 0; i < VCPUNAMES; i++)
		if (p->vcpu_names[i].name && p->vcpu_names[i].id == id)
			return true;
	return false;
}

int vcpuname_id(const struct process *p, int name)
{
	const struct vcpuname *n = name > 0 ? find((struct process *)p, name) : NULL;

	if (n)
		return n->id;
	return name > 0 && named(p, name) ? -1 : name;
}

static void set(struct process *p, int name, int id)
{
	struct vcpuname *n = find(p, name);

	if (!n)
		n = find(p, 0);
	if (n)				/* without a free entry, the program uses the VCPU's id */
		*n = (struct vcpuname){ name, id };
}

/* Another VCPU of the program may have that number as its name. */
int vcpuname_of_new(struct process *p, int id)
{
	int name;

	if (!find(p, id))
		return id;
	for (name = SCHED_VCPUS; find(p, name); name++)
		;
	if (!find(p, 0))
		return id;
	set(p, name, id);
	return name;
}

void vcpuname_drop(struct process *p, int name)
{
	struct vcpuname *n = name > 0 ? find(p, name) : NULL;

	if (n)
		*n = (struct vcpuname){ 0 };
}

void vcpuname_move(struct process *p, int was, int is)
{
	int i;

	for (i = 0; i < VCPUNAMES; i++) {
		if (!p->vcpu_names[i].name || p->vcpu_names[i].id != was)
			continue;
		p->vcpu_names[i].id = is;
		return;
	}
	set(p, was, is);
}
