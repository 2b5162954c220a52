// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the boot loader's modules: programs and archives, and the lines that start programs.
 * Whatever a module contains, no memory outside it is read.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../quest/kernel/module.h"
#include "../quest/mm/space.h"
#include "unit.h"

/* A program of one segment, which is the whole file */
static struct {
	Elf64_Ehdr header;
	Elf64_Phdr ph;
} program;

static void make_program(void)
{
	memset(&program, 0, sizeof(program));
	memcpy(program.header.e_ident, "\177ELF\2\1\1", 7);
	program.header.e_type = 2;
	program.header.e_machine = 62;
	program.header.e_entry = USER_IMAGE;
	program.header.e_phoff = 64;
	program.header.e_phentsize = 56;
	program.header.e_phnum = 1;
	program.ph.p_type = 1;
	program.ph.p_flags = 5;
	program.ph.p_vaddr = USER_IMAGE;
	program.ph.p_filesz = program.ph.p_memsz = sizeof(program);
}

/* Adds a module from memory that ends exactly at the module's end. */
static const char *add(struct archive *a, const void *data, size_t size, const char *args)
{
	char *exact = malloc(size ? size : 1);
	const char *wrong;

	memcpy(exact, data, size);
	wrong = module_add(a, exact, size, args);
	free(exact);
	return wrong;
}

TEST(module_program_has_its_first_word_as_name)
{
	static const struct { const char *args, *name; } rows[] = {
		{ "hello", "hello" }, { "hello 1 2", "hello" }, { "  hello  x", "hello" },
		{ "/tmp/a/hello 1", "hello" }, { "a-name-of-exactly-31-characters", NULL },
	};
	unsigned int i;

	make_program();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct archive a = { 0 };

		CHECK(!module_add(&a, &program, sizeof(program), rows[i].args));
		CHECK(a.num_files == 1 && a.files[0].program &&
		      a.files[0].data == (const uint8_t *)&program &&
		      a.files[0].size == sizeof(program));
		CHECK(!strcmp(a.files[0].name, rows[i].name ? rows[i].name : rows[i].args));
	}
}

TEST(module_without_a_name_is_refused)
{
	static const char *const bad[] = {
		"", "   ", "/", "folder/ x", "a-name-of-more-than-31-characters",
	};
	struct archive a = { 0 };
	unsigned int i;

	make_program();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(strstr(module_add(&a, &program, sizeof(program), bad[i]), "its name"));
	CHECK(!a.num_files);
}

TEST(module_that_is_no_program_is_refused)
{
	struct archive a = { 0 };
	size_t n, i;

	make_program();
	for (n = 0; n < sizeof(program); n++)
		CHECK(add(&a, &program, n, "hello"));
	for (i = 0; i < sizeof(program); i++) {
		make_program();
		((uint8_t *)&program)[i] ^= 0xff;
		(void)add(&a, &program, sizeof(program), "hello");
	}
	make_program();
	program.ph.p_flags = 7;
	a.num_files = 0;
	CHECK(strstr(add(&a, &program, sizeof(program), "hello"), "written and executed"));
	CHECK(strstr(add(&a, "", 0, "hello"), "empty"));
	CHECK(strstr(add(&a, "\037\213 packed", 9, "hello"), "header"));
	CHECK(!a.num_files);
}

TEST(module_text_is_a_file)
{
	static const char *const binary[] = { "a\001b", "\177a", "a\033[0m", "0707" };
	struct archive a = { 0 };
	unsigned int i;

	CHECK(!module_add(&a, "# a\n\tb \303\244\r\n", 10, "/etc/faults and more"));
	CHECK(a.num_files == 1 && !a.files[0].program && a.files[0].size == 10);
	CHECK(!strcmp(a.files[0].name, "faults"));
	CHECK(strstr(add(&a, "text", 4, ""), "its name"));
	for (i = 0; i < sizeof(binary) / sizeof(binary[0]); i++) {
		unit_case("%u", i);
		CHECK(strstr(add(&a, binary[i], strlen(binary[i]), "x"), "header"));
	}
	CHECK(a.num_files == 1);
}

/* One member with any sizes: nothing is read beyond the end, and nothing is added. */
TEST(module_archive_may_be_hostile)
{
	static const unsigned int sizes[] = {
		0, 1, 7, 8, 0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffffd, 0xffffffff,
	};
	struct archive a = { 0 };
	char text[512];
	size_t n, i, k;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			n = (size_t)sprintf(text, "070701%08X%08X%032X%08X%032X%08X%08X%s", 1,
					    0100755, 0, sizes[i], 0, sizes[k], 0, "name");
			CHECK(add(&a, text, n + 1, "x"));
			CHECK(!a.num_files);
		}
	}
}

static struct boot_info boot = {
	.num_modules = 4,
	.modules = {
		{ 1, 2, "hello 1 2" }, { 1, 2, "/tmp/prime 100" }, { 1, 2, "hello 3" },
		{ 0, 0, "hello of no memory" },
	},
};

static const char *line_of(const char *word)
{
	static char line[MODULE_LINE];

	return module_line(line, &boot, word, strlen(word)) ? line : NULL;
}

TEST(module_start_words)
{
	CHECK(!strcmp(line_of("start=hello"), "hello 3 &"));
	CHECK(!strcmp(line_of("start=prime"), "prime 100 &"));
	CHECK(!strcmp(line_of("start=canny"), "canny &"));
	CHECK(!strcmp(line_of("start=hell"), "hell &"));
	CHECK(!strcmp(line_of("start=hello,control"), "vcpu=control hello 3 &"));
	CHECK(!line_of("start=") && !line_of("start=,control") && !line_of("start=hello,"));
}

TEST(module_start_words_may_be_long)
{
	char word[BOOT_CMDLINE];
	size_t n;

	memset(boot.modules[0].args, 'y', BOOT_MODULE_ARGS - 1);
	for (n = strlen(MODULE_START); n < sizeof(word); n++) {
		memset(word, 'x', n);
		memcpy(word, MODULE_START, strlen(MODULE_START));
		word[n] = 0;
		CHECK(!line_of(word) || strlen(line_of(word)) < MODULE_LINE);
		if (n > 8) {
			memcpy(word, "start=hello,", n < 12 ? n : 12);
			CHECK(!line_of(word) || strlen(line_of(word)) < MODULE_LINE);
		}
	}
}
