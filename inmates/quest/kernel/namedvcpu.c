// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/string.h>
#include "dispatch.h"
#include "iovcpu.h"
#include "namedvcpu.h"
#include "process.h"
#include "vcpu.h"
#include "vcpuword.h"

#define KEY_LENGTH	(sizeof(VCPUWORD_KEY) - 1)
#define NAMED_MAX	(BOOT_CMDLINE / sizeof("vcpu=a,io,1s,2s"))	/* so many words fit */

static struct {
	char word[KEY_LENGTH + SCHED_NAME];
	int id;
} named[NAMED_MAX];
static unsigned int num_named;

static bool taken(const char *name)
{
	const struct vcpu *v;
	int id;

	for (id = 0; id < SCHED_VCPUS; id++) {
		v = sched_vcpu(dispatch_sched(), id);
		if (v && !strcmp(v->params.name, name))
			return true;
	}
	return false;
}

/* NULL; or why not. */
static const char *add(const char *word, int *id)
{
	struct vcpu_wish wish;
	const char *wrong = vcpuword_read(word, &wish);

	if (wrong)
		return wrong;
	if (taken(wish.name))
		return "there is a VCPU of that name: use another";
	if (num_named == NAMED_MAX)
		return sched_error_text(SCHED_FULL);
	*id = vcpu_create(wish.name, wish.type, wish.budget_us, wish.period_us, KERNEL_PID);
	if (*id < 0)
		return sched_error_text(*id);
	iovcpu_set(*id, wish.io_class, false);
	memcpy(named[num_named].word, VCPUWORD_KEY, KEY_LENGTH);
	copy_string(named[num_named].word + KEY_LENGTH, wish.name, SCHED_NAME);
	named[num_named++].id = *id;
	return NULL;
}

/* As much of a word as there is room for; safe to print. */
static void copy_word(char word[VCPUWORD_MAX + 1], const char *at, size_t length)
{
	size_t i;

	for (i = 0; i < length && i < VCPUWORD_MAX; i++)
		word[i] = at[i] > ' ' && at[i] <= '~' ? at[i] : '?';
	word[i] = 0;
}

void namedvcpus_init(const struct boot_info *boot)
{
	const char *at, *wrong;
	char word[VCPUWORD_MAX + 1];
	size_t length;
	int id = -1;

	for (at = boot_word(boot->cmdline, &length); length; at = boot_word(at + length, &length)) {
		if (length < KEY_LENGTH || memcmp(at, VCPUWORD_KEY, KEY_LENGTH))
			continue;
		copy_word(word, at, length);
		wrong = add(word, &id);
		if (wrong)
			print("%s is not there: %s\n", word, wrong);
		else
			print("%s is VCPU %d\n", word, id);
	}
}

int namedvcpu_find(const char *word)
{
	unsigned int i;

	for (i = 0; i < num_named; i++)
		if (!strcmp(named[i].word, word))
			return named[i].id;
	return SCHED_NO_VCPU;
}

const char *namedvcpu_word(unsigned int i)
{
	return i < num_named ? named[i].word : NULL;
}
