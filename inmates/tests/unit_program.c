// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the archive and of the ELF files in it. Whatever a file contains, no memory outside it
 * is read.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../quest/kernel/archive.h"
#include "../quest/kernel/elf.h"
#include "../quest/mm/space.h"
#include "unit.h"

#define ROOM	4096

static char text[ROOM];
static size_t length;

static void pad(void)
{
	while (length % 4)
		text[length++] = 0;
}

static const char *format = "070702";

static void member(const char *name, unsigned int mode, const char *data)
{
	unsigned int sum = 0;
	const char *c;

	for (c = data; *c && !strcmp(format, "070702"); c++)
		sum += (unsigned char)*c;
	length += (size_t)sprintf(text + length,
				  "%s%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X"
				  "%08X", format, 1, mode, 0, 0, 1, 0, (unsigned int)strlen(data),
				  0, 0, 0, 0, (unsigned int)strlen(name) + 1, sum);
	length += (size_t)sprintf(text + length, "%s", name) + 1;
	pad();
	length += (size_t)sprintf(text + length, "%s", data);
	pad();
}

static void make(void)
{
	length = 0;
	member("bin", 0040755, "");
	member("bin/run", 0100755, "program");
	member("data", 0100644, "some data");
	member("TRAILER!!!", 0, "");
}

/* Reads an archive from memory that ends exactly at the archive's end. */
static const char *add(struct archive *a)
{
	char *exact = malloc(length);
	const char *wrong;

	memcpy(exact, text, length);
	wrong = archive_add(a, exact, length);
	free(exact);
	return wrong;
}

TEST(archive_lists)
{
	struct archive a = { 0 };

	make();
	CHECK(!archive_add(&a, text, length) && a.num_files == 2);
	CHECK(archive_find(&a, "run") == 0 && archive_find(&a, "data") == 1 &&
	      archive_find(&a, "bin") == -1);
	CHECK(a.files[0].program && !a.files[1].program);
	CHECK(a.files[1].size == 9 && !memcmp(a.files[1].data, "some data", 9));
}

/* cpio -H newc: no sums, "." and "./" in names, zeros up to a block's end */
TEST(archive_without_checksums)
{
	struct archive a = { 0 };

	format = "070701";
	length = 0;
	member(".", 0040755, "");
	member("./run", 0100755, "program");
	member("./sub/data", 0100644, "some data");
	member("TRAILER!!!", 0, "");
	memset(text + length, 0, ROOM - length);
	length = ROOM;
	CHECK(!archive_add(&a, text, length) && a.num_files == 2);
	CHECK(archive_find(&a, "run") == 0 && archive_find(&a, "data") == 1);
	CHECK(a.files[0].program && !a.files[1].program && a.files[1].size == 9);
	format = "070703";
	make();
	CHECK(strstr(add(&a), "070701 or 070702"));
	format = "070702";
}

TEST(archive_newer_files_win)
{
	struct archive a = { 0 };
	static char other[ROOM];

	make();
	memcpy(other, text, length);
	CHECK(!archive_add(&a, other, length));
	length = 0;
	member("data", 0100755, "other");
	member("TRAILER!!!", 0, "");
	CHECK(!archive_add(&a, text, length) && a.num_files == 2);
	CHECK(a.files[1].size == 5 && a.files[1].program);
}

TEST(archive_wrong_in_any_byte_or_short)
{
	struct archive a = { 0 };
	size_t i, whole;

	make();
	whole = length;
	for (length = 0; length < whole - 4; length++)
		CHECK(add(&a) && !a.num_files);
	length = whole;
	for (i = 0; i < whole; i++) {
		text[i] ^= 0x55;
		if (add(&a))
			CHECK(!a.num_files);		/* no file was added */
		a.num_files = 0;
		text[i] ^= 0x55;
	}
	for (i = 0; memcmp(text + i, "program", 7); i++)
		;
	text[i] = 'P';
	CHECK(!strcmp(add(&a), "a file's checksum is wrong"));
}

TEST(archive_names_and_numbers)
{
	struct archive a = { 0 };
	char name[16];
	int i;

	length = 0;
	member("a-name-that-is-longer-than-31-bytes", 0100644, "");
	member("TRAILER!!!", 0, "");
	CHECK(!strcmp(add(&a), "a name is too long"));
	for (i = 0; i <= ARCHIVE_FILES; i++) {
		length = 0;
		sprintf(name, "f%d", i);
		member(name, 0100644, "");
		member("TRAILER!!!", 0, "");
		CHECK(!add(&a) == (i < ARCHIVE_FILES));
	}
	CHECK(a.num_files == ARCHIVE_FILES);
}

/* Makes a program of two segments. */
static struct {
	Elf64_Ehdr header;
	Elf64_Phdr ph[2];
	char bytes[64];
} elf;

static struct elf_plan plan;

static void make_elf(void)
{
	memset(&elf, 0, sizeof(elf));
	memcpy(elf.header.e_ident, "\177ELF\2\1\1", 7);
	elf.header.e_type = 2;
	elf.header.e_machine = 62;
	elf.header.e_entry = USER_IMAGE + 4;
	elf.header.e_phoff = 64;
	elf.header.e_phentsize = 56;
	elf.header.e_phnum = 2;
	elf.ph[0].p_type = elf.ph[1].p_type = 1;
	elf.ph[0].p_flags = 5;
	elf.ph[0].p_vaddr = USER_IMAGE;
	elf.ph[0].p_offset = 176;
	elf.ph[0].p_filesz = elf.ph[0].p_memsz = 32;
	elf.ph[1].p_flags = 6;
	elf.ph[1].p_vaddr = USER_IMAGE + 0x1010;
	elf.ph[1].p_offset = 208;
	elf.ph[1].p_filesz = 32;
	elf.ph[1].p_memsz = 0x2000;
}

static const char *wrong(void)
{
	return elf_plan(&plan, &elf, sizeof(elf));
}

TEST(elf_plans)
{
	make_elf();
	CHECK(!wrong() && plan.num_segments == 2 && plan.entry == USER_IMAGE + 4);
	CHECK(plan.segments[0].rights == USER_CODE && plan.segments[1].rights == USER_DATA);
	CHECK(plan.segments[1].start == USER_IMAGE + 0x1000 &&
	      plan.segments[1].end == USER_IMAGE + 0x4000);
	CHECK(plan.end == USER_IMAGE + 0x4000);
	elf.ph[0].p_flags = 4;
	CHECK(strstr(wrong(), "outside its code"));
}

#define REFUSED(change, reason) \
	do { make_elf(); change; CHECK(wrong() && strstr(wrong(), reason)); } while (0)

TEST(elf_refuses)
{
	REFUSED(elf.header.e_ident[0] = 0, "not an ELF");
	REFUSED(elf.header.e_ident[4] = 1, "not an ELF");
	REFUSED(elf.header.e_machine = 3, "not an ELF");
	REFUSED(elf.header.e_type = 3, "fixed address");
	REFUSED(elf.header.e_phoff = ~0ull, "not in the file");
	REFUSED(elf.header.e_phnum = 100, "not in the file");
	REFUSED(elf.header.e_phentsize = 8, "not in the file");
	REFUSED(elf.ph[0].p_offset = ~0ull, "not in the file");
	REFUSED(elf.ph[0].p_filesz = ~0ull, "not in the file");
	REFUSED(elf.ph[0].p_memsz = 1, "not in the file");
	REFUSED(elf.ph[1].p_memsz = ~0ull, "outside the memory");
	REFUSED(elf.ph[1].p_vaddr = 0x100000, "outside the memory");
	REFUSED(elf.ph[1].p_vaddr = USER_STACKS, "outside the memory");
	REFUSED(elf.ph[1].p_vaddr = ~0ull, "outside the memory");
	REFUSED(elf.ph[1].p_vaddr = USER_IMAGE + 0x800, "one page");
	REFUSED(elf.ph[0].p_flags = 7, "written and executed");
	REFUSED(elf.ph[1].p_type = 3, "shared libraries");
	REFUSED(elf.header.e_entry = USER_IMAGE + 0x1010, "outside its code");
	REFUSED(elf.header.e_entry = 0x100000, "outside its code");
	CHECK(elf_plan(&plan, &elf, 10));
}

TEST(elf_any_byte_may_be_wrong)
{
	size_t i, n;
	unsigned int s;

	for (i = 0; i < sizeof(elf) - sizeof(elf.bytes); i++) {
		for (n = 1; n < 256; n += 31) {
			make_elf();
			((uint8_t *)&elf)[i] ^= (uint8_t)n;
			if (wrong())
				continue;
			for (s = 0; s < plan.num_segments; s++) {
				const struct elf_segment *seg = &plan.segments[s];

				CHECK(seg->start >= USER_IMAGE && seg->end <= USER_END &&
				      seg->offset + seg->size <= sizeof(elf));
			}
		}
	}
}
