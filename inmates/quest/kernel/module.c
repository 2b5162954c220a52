// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "elf.h"
#include "module.h"

#define ELF_MAGIC	"\177ELF"
#define ELF_MAGIC_LEN	4
#define CPIO_MAGIC	"0707"

/* Returns the first word of a module's text without its folders. */
static const char *name_of(const char *args, size_t *length)
{
	const char *at = boot_word(args, length);
	size_t i = *length;

	while (i && at[i - 1] != '/')
		i--;
	*length -= i;
	return at + i;
}

static const char *add_file(struct archive *a, const void *data, size_t size, const char *args,
			    bool program)
{
	char name[ARCHIVE_NAME];
	size_t length;
	const char *at = name_of(args, &length);

	if (!length || length >= sizeof(name))
		return "the first word of its text is its name, and has 1 to 31 bytes";
	memcpy(name, at, length);
	name[length] = 0;
	return archive_add_file(a, name, data, size, program);
}

/* Returns whether the module is a text, and begins unlike an archive. */
static bool is_text(const uint8_t *data, size_t size)
{
	size_t i;

	if (size >= strlen(CPIO_MAGIC) && !memcmp(data, CPIO_MAGIC, strlen(CPIO_MAGIC)))
		return false;
	for (i = 0; i < size; i++)
		if (data[i] == 0x7f ||
		    (data[i] < ' ' && data[i] != '\n' && data[i] != '\t' && data[i] != '\r'))
			return false;
	return true;
}

static const char *add_program(struct archive *a, const void *data, size_t size, const char *args)
{
	struct elf_plan plan;
	const char *wrong = elf_plan(&plan, data, size);

	return wrong ? wrong : add_file(a, data, size, args, true);
}

const char *module_add(struct archive *a, const void *data, size_t size, const char *args)
{
	if (!size)
		return "it is empty, or lies outside the memory";
	if (size >= ELF_MAGIC_LEN && !memcmp(data, ELF_MAGIC, ELF_MAGIC_LEN))
		return add_program(a, data, size, args);
	if (is_text(data, size))
		return add_file(a, data, size, args, false);
	return archive_add(a, data, size);
}

/* Returns the text of the last module with this name from its name on, or NULL. */
static const char *find_text(const struct boot_info *boot, const char *name, size_t length)
{
	unsigned int i = boot->num_modules;
	const char *at;
	size_t n;

	while (i--) {
		at = name_of(boot->modules[i].args, &n);
		if (boot->modules[i].end && n == length && !memcmp(at, name, n))
			return at;
	}
	return NULL;
}

struct out {
	char *line;
	size_t used;
};

/* Leaves room for a NUL. Returns false if the text does not fit. */
static bool put(struct out *o, const char *text, size_t n)
{
	if (n >= MODULE_LINE - o->used)
		return false;
	memcpy(o->line + o->used, text, n);
	o->used += n;
	o->line[o->used] = 0;
	return true;
}

bool module_line(char line[MODULE_LINE], const struct boot_info *boot, const char *word,
		 size_t length)
{
	struct out o = { line, 0 };
	const char *text;
	size_t n = 0;

	word += strlen(MODULE_START);
	length -= strlen(MODULE_START);
	while (n < length && word[n] != ',')
		n++;
	if (!n || n + 1 == length)
		return false;
	if (n < length && (!put(&o, "vcpu=", 5) || !put(&o, word + n + 1, length - n - 1) ||
			   !put(&o, " ", 1)))
		return false;
	text = find_text(boot, word, n);
	return put(&o, text ? text : word, text ? strlen(text) : n) && put(&o, " &", 2);
}
