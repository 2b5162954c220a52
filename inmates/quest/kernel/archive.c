// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "archive.h"

/* cpio(5), "New CRC Format": after the magic, 13 fields of 8 hexadecimal digits. */
#define MAGIC		"070702"
#define MAGIC_NO_SUMS	"070701"
#define MAGIC_LENGTH	6
#define FIELD_LENGTH	8
#define HEADER_LENGTH	(MAGIC_LENGTH + 13 * FIELD_LENGTH)
#define LAST_NAME	"TRAILER!!!"

#define MODE_TYPE	0170000
#define MODE_REGULAR	0100000
#define MODE_EXECUTE	0000111

enum field { MODE = 1, FILE_SIZE = 6, NAME_SIZE = 11, CHECKSUM = 12 };

struct member {
	uint32_t mode, checksum;
	bool has_checksum;
	size_t name_size, size, next;	/* next: offset of the next header */
	const char *name;
	const uint8_t *data;
};

static bool read_field(const char *header, enum field f, uint32_t *value)
{
	const char *at = header + MAGIC_LENGTH + f * FIELD_LENGTH;
	uint32_t v = 0;
	int i;
	char c;

	for (i = 0; i < FIELD_LENGTH; i++) {
		c = at[i];
		if (c >= '0' && c <= '9')
			v = v << 4 | (uint32_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			v = v << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
		else
			return false;
	}
	*value = v;
	return true;
}

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static const char *read_member(const char *archive, size_t size, size_t at, struct member *m)
{
	uint32_t name_size, file_size;

	if (size - at < HEADER_LENGTH)
		return "it ends within a header";
	m->has_checksum = !memcmp(archive + at, MAGIC, MAGIC_LENGTH);
	if (!m->has_checksum && memcmp(archive + at, MAGIC_NO_SUMS, MAGIC_LENGTH))
		return "it is not cpio's format 070701 or 070702 (cpio -H newc, cpio -H crc)";
	if (!read_field(archive + at, MODE, &m->mode) ||
	    !read_field(archive + at, FILE_SIZE, &file_size) ||
	    !read_field(archive + at, NAME_SIZE, &name_size) ||
	    !read_field(archive + at, CHECKSUM, &m->checksum))
		return "a header has something else than hexadecimal digits";
	at += HEADER_LENGTH;
	if (!name_size || name_size > size - at || archive[at + name_size - 1])
		return "a name does not end";
	m->name = archive + at;
	m->name_size = name_size;
	at = align4(at + name_size);
	if (at > size || file_size > size - at)
		return "a file does not end";
	m->data = (const uint8_t *)archive + at;
	m->size = file_size;
	m->next = align4(at + file_size);
	return NULL;
}

static uint32_t sum_of(const uint8_t *data, size_t n)
{
	uint32_t sum = 0;

	while (n--)
		sum += *data++;
	return sum;
}

/* Returns the part of the name behind the last slash. */
static const char *base_name(const char *name)
{
	const char *base = name;

	for (; *name; name++)
		if (*name == '/')
			base = name + 1;
	return base;
}

const char *archive_add_file(struct archive *a, const char *name, const void *data, size_t size,
			     bool program)
{
	struct archive_file *file;
	int n;

	name = base_name(name);
	n = archive_find(a, name);
	if (strlen(name) >= ARCHIVE_NAME || !*name)
		return "a name is too long";
	if (n < 0 && a->num_files == ARCHIVE_FILES)
		return "there are too many files";
	file = &a->files[n < 0 ? a->num_files++ : (unsigned int)n];
	copy_string(file->name, name, ARCHIVE_NAME);
	file->data = data;
	file->size = size;
	file->program = program;
	return NULL;
}

static const char *keep(struct archive *a, const struct member *m)
{
	if (m->has_checksum && sum_of(m->data, m->size) != m->checksum)
		return "a file's checksum is wrong";
	return archive_add_file(a, m->name, m->data, m->size, m->mode & MODE_EXECUTE);
}

const char *archive_add(struct archive *a, const void *data, size_t size)
{
	struct archive_file was[ARCHIVE_FILES];
	unsigned int num_files = a->num_files;
	const char *wrong = NULL;
	struct member m;
	size_t at = 0;

	memcpy(was, a->files, sizeof(was));
	while (!wrong) {
		wrong = at > size ? "it ends without its trailer" : read_member(data, size, at, &m);
		if (wrong || !strcmp(m.name, LAST_NAME))
			break;
		if ((m.mode & MODE_TYPE) == MODE_REGULAR)
			wrong = keep(a, &m);
		at = m.next;
	}
	if (wrong) {
		memcpy(a->files, was, sizeof(was));
		a->num_files = num_files;
	}
	return wrong;
}

int archive_find(const struct archive *a, const char *name)
{
	unsigned int i;

	for (i = 0; i < a->num_files; i++)
		if (!strcmp(a->files[i].name, name))
			return (int)i;
	return -1;
}
