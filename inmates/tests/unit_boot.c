// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/boot.h>
#include <stdlib.h>
#include <string.h>
#include "unit.h"

struct blob {
	uint8_t data[1024] __attribute__((aligned(8)));
	uint32_t length;
};

static void put32(struct blob *b, uint32_t v)
{
	memcpy(b->data + b->length, &v, 4);
	b->length += 4;
}

static void put64(struct blob *b, uint64_t v)
{
	memcpy(b->data + b->length, &v, 8);
	b->length += 8;
}

static void begin(struct blob *b)
{
	memset(b, 0, sizeof(*b));
	b->length = 8;
}

static void end(struct blob *b)
{
	put32(b, 0);
	put32(b, 8);
	memcpy(b->data, &b->length, 4);
}

static void put_cmdline(struct blob *b, const char *text)
{
	size_t n = strlen(text) + 1;

	put32(b, 1);
	put32(b, 8 + n);
	memcpy(b->data + b->length, text, n);
	b->length += (n + 7) & ~7u;
}

static void put_basic(struct blob *b, uint32_t lower, uint32_t upper)
{
	put32(b, 4);
	put32(b, 16);
	put32(b, lower);
	put32(b, upper);
}

static void put_map_head(struct blob *b, uint32_t entries, uint32_t entry_size)
{
	put32(b, 6);
	put32(b, 16 + entries * entry_size);
	put32(b, entry_size);
	put32(b, 0);
}

static void put_entry(struct blob *b, uint64_t base, uint64_t length, uint32_t type)
{
	put64(b, base);
	put64(b, length);
	put32(b, type);
	put32(b, 0);
}

/* Makes a copy of exact size, so that the sanitizer detects each access beyond its end. */
static bool parse(struct boot_info *out, const struct blob *b, size_t room)
{
	uint8_t *copy = malloc(room ? room : 1);
	bool ok;

	memcpy(copy, b->data, room);
	ok = boot_parse_mb2(out, copy, room);
	free(copy);
	return ok;
}

TEST(boot_reads_a_cell)
{
	struct boot_info i;
	struct blob b;

	begin(&b);
	put_cmdline(&b, "one two");
	put_basic(&b, 640, 15360);
	put_map_head(&b, 3, 24);
	put_entry(&b, 0, 0xA0000, 1);
	put_entry(&b, 0xA0000, 0x60000, 2);
	put_entry(&b, 0x100000, 0xF00000, 1);
	end(&b);
	CHECK(parse(&i, &b, b.length));
	CHECK(i.num_ram == 2);
	CHECK(i.ram[0].start == 0 && i.ram[0].end == 0xA0000);
	CHECK(i.ram[1].start == 0x100000 && i.ram[1].end == 0x1000000);
	CHECK(!strcmp(i.cmdline, "one two"));
	CHECK(boot_option(&i, "one") && boot_option(&i, "two"));
	CHECK(!boot_option(&i, "on") && !boot_option(&i, "three"));
}

TEST(boot_words)
{
	const char *line = "  one  two", *at;
	size_t n;

	at = boot_word(line, &n);
	CHECK(at == line + 2 && n == 3);
	at = boot_word(at + n, &n);
	CHECK(at == line + 7 && n == 3);
	at = boot_word(at + n, &n);
	CHECK(!*at && n == 0);
}

TEST(boot_takes_basic_memory_without_a_map)
{
	struct boot_info i;
	struct blob b;

	begin(&b);
	put_basic(&b, 640, 7168);
	end(&b);
	CHECK(parse(&i, &b, b.length));
	CHECK(i.num_ram == 2 && i.ram[1].end == 0x800000);
}

TEST(boot_takes_larger_entries)
{
	struct boot_info i;
	struct blob b;

	begin(&b);
	put_map_head(&b, 2, 32);
	put_entry(&b, 0, 0x1000, 1);
	put64(&b, 0);
	put_entry(&b, 0x2000, 0x1000, 1);
	put64(&b, 0);
	end(&b);
	CHECK(parse(&i, &b, b.length));
	CHECK(i.num_ram == 2 && i.ram[1].start == 0x2000);
}

static void put_module(struct blob *b, uint32_t start, uint32_t to, const char *text, uint32_t n)
{
	put32(b, 3);
	put32(b, 16 + n);
	put32(b, start);
	put32(b, to);
	if (n)
		memcpy(b->data + b->length, text, n);
	b->length += (n + 7) & ~7u;
}

TEST(boot_keeps_modules)
{
	struct boot_info i;
	struct blob b;

	begin(&b);
	put_module(&b, 0x300000, 0x301000, "hello 1 2", 10);
	put_basic(&b, 640, 7168);
	put_module(&b, 0x302000, 0x302001, "", 1);
	end(&b);
	CHECK(parse(&i, &b, b.length));
	CHECK(i.num_modules == 2 && i.modules[0].start == 0x300000 &&
	      i.modules[0].end == 0x301000 && i.modules[1].end == 0x302001);
	CHECK(!strcmp(i.modules[0].args, "hello 1 2") && !*i.modules[1].args && !i.more_modules);
}

/* A module outside the usable memory keeps its number, and is empty. */
TEST(boot_empties_modules_outside_memory)
{
	static const uint32_t bad[][2] = {
		{ 0x300000, 0x300000 }, { 0x300000, 0x2FFFFF }, { 0xA0000, 0xA1000 },
		{ 0x9F000, 0xA0001 }, { 0x7FF000, 0x800001 }, { 0x800000, 0x801000 },
		{ 0x300000, 0xFFFFFFFF }, { 0xFFFFF000, 0x1000 },
	};
	struct boot_info i;
	struct blob b;
	unsigned int n;

	for (n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		begin(&b);
		put_module(&b, bad[n][0], bad[n][1], "bad", 4);
		put_module(&b, 0x7FF000, 0x800000, "good", 5);
		put_basic(&b, 640, 7168);
		end(&b);
		CHECK(parse(&i, &b, b.length) && i.num_modules == 2);
		CHECK(!i.modules[0].start && !i.modules[0].end);
		CHECK(i.modules[1].end == 0x800000 && !strcmp(i.modules[1].args, "good"));
	}
}

TEST(boot_cuts_texts_and_counts_modules)
{
	struct boot_info i;
	char text[200];
	struct blob b;
	unsigned int n;

	memset(text, 'x', sizeof(text));
	begin(&b);
	put_basic(&b, 640, 7168);
	put_module(&b, 0x300000, 0x301000, text, sizeof(text));	/* without a NUL */
	put_module(&b, 0x300000, 0x301000, NULL, 0);
	for (n = 2; n < BOOT_MAX_MODULES + 3; n++)
		put_module(&b, 0x300000, 0x301000, "", 1);
	end(&b);
	CHECK(parse(&i, &b, b.length));
	CHECK(i.num_modules == BOOT_MAX_MODULES && i.more_modules == 3);
	CHECK(strlen(i.modules[0].args) == BOOT_MODULE_ARGS - 1 && !*i.modules[1].args);
}

TEST(boot_refuses_nothing_and_too_little)
{
	struct boot_info i;
	struct blob b;
	size_t room;

	begin(&b);
	end(&b);
	CHECK(!parse(&i, &b, b.length));	/* the loader gives no memory information */
	begin(&b);
	put_cmdline(&b, "x");
	put_map_head(&b, 1, 24);
	put_entry(&b, 0, 0x1000, 1);
	end(&b);
	for (room = 0; room < b.length; room++)
		CHECK(!parse(&i, &b, room));
	CHECK(parse(&i, &b, b.length));
}

TEST(boot_refuses_bad_sizes)
{
	static const uint32_t bad[] = { 0, 7, 0x7FFFFFFF, 0xFFFFFFFF };
	struct boot_info i;
	struct blob b;
	unsigned int n;

	for (n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		begin(&b);
		put_basic(&b, 640, 7168);
		end(&b);
		memcpy(b.data + 12, &bad[n], 4);
		CHECK(!parse(&i, &b, b.length));
	}
	begin(&b);
	put_map_head(&b, 1, 8);
	put64(&b, 0);
	end(&b);
	CHECK(!parse(&i, &b, b.length));
}

TEST(boot_ignores_ranges_that_wrap)
{
	struct boot_info i;
	struct blob b;

	begin(&b);
	put_map_head(&b, 3, 24);
	put_entry(&b, 0xFFFFFFFFFFFFF000ull, 0x2000, 1);
	put_entry(&b, 0x1000, 0, 1);
	put_entry(&b, 0x5000, 0x1000, 1);
	end(&b);
	CHECK(parse(&i, &b, b.length));
	CHECK(i.num_ram == 1 && i.ram[0].start == 0x5000);
}

TEST(boot_survives_random_bytes)
{
	struct boot_info i;
	struct blob b;
	int round;
	size_t n;

	srand(1);
	for (round = 0; round < 20000; round++) {
		b.length = 8 + rand() % 200;
		for (n = 8; n < b.length; n++)
			b.data[n] = rand() % 4 ? rand() % 8 : rand();
		memcpy(b.data, &b.length, 4);
		parse(&i, &b, b.length);
		CHECK(i.num_ram <= BOOT_MAX_RANGES && i.num_modules <= BOOT_MAX_MODULES);
	}
}

TEST(boot_reads_the_old_map)
{
	struct boot_info i = { 0 };
	struct blob b = { .length = 0 };

	put32(&b, 20);
	put64(&b, 0);
	put64(&b, 0x9F000);
	put32(&b, 1);
	put32(&b, 24);
	put64(&b, 0x100000);
	put64(&b, 0x700000);
	put32(&b, 1);
	put32(&b, 0);
	CHECK(boot_parse_mb1_map(&i, b.data, b.length));
	CHECK(i.num_ram == 2 && i.ram[1].end == 0x800000);
	CHECK(!boot_parse_mb1_map(&i, b.data, b.length - 1));
	memset(b.data, 0xFF, 4);
	CHECK(!boot_parse_mb1_map(&i, b.data, b.length));
}
