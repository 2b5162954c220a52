// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/boot.h>
#include <inmate/string.h>

enum mb2_tag_type {
	MB2_END = 0,
	MB2_CMDLINE = 1,
	MB2_MODULE = 3,
	MB2_BASIC_MEMORY = 4,
	MB2_MEMORY_MAP = 6,
};

#define MB_MEMORY_AVAILABLE	1

struct mb2_tag {
	uint32_t type, size;
};

struct mb2_module {
	struct mb2_tag tag;
	uint32_t start, end;
};

struct mb2_basic_memory {
	struct mb2_tag tag;
	uint32_t lower_kib, upper_kib;
};

struct mb2_memory_map {
	struct mb2_tag tag;
	uint32_t entry_size, entry_version;
};

struct mb2_memory_entry {
	uint64_t base, length;
	uint32_t type, reserved;
};

struct mb1_memory_entry {
	uint32_t size;			/* size of the rest of the memory map's entry */
	uint64_t base, length;
	uint32_t type;
} __attribute__((packed));

enum mb1_flags {
	MB1_HAS_MEMORY = 1 << 0,
	MB1_HAS_CMDLINE = 1 << 2,
	MB1_HAS_MODULES = 1 << 3,
	MB1_HAS_MAP = 1 << 6,
};

struct mb1_info {
	uint32_t flags, lower_kib, upper_kib, boot_device, cmdline;
	uint32_t mods_count, mods_addr, syms[4], map_length, map_addr;
};

struct mb1_module {
	uint32_t start, end, string, reserved;
};

static void add_ram(struct boot_info *out, uint64_t base, uint64_t length)
{
	struct boot_range *r;

	if (!length || base + length < base || out->num_ram == BOOT_MAX_RANGES)
		return;
	r = &out->ram[out->num_ram++];
	r->start = base;
	r->end = base + length;
}

/* Adds a module. Its text has at most `n` bytes. */
static void add_module(struct boot_info *out, uint64_t start, uint64_t end, const void *args,
		       size_t n)
{
	struct boot_module *m;

	if (out->num_modules == BOOT_MAX_MODULES) {
		out->more_modules++;
		return;
	}
	m = &out->modules[out->num_modules++];
	m->start = start;
	m->end = end;
	if (n >= sizeof(m->args))
		n = sizeof(m->args) - 1;
	memcpy(m->args, args, n);
	m->args[n] = 0;
}

static bool in_ram(const struct boot_info *out, uint64_t start, uint64_t end)
{
	unsigned int i;

	for (i = 0; i < out->num_ram; i++)
		if (out->ram[i].start <= start && end <= out->ram[i].end)
			return true;
	return false;
}

/* Empties each module outside the usable memory, so that it is neither read nor reserved. */
static void check_modules(struct boot_info *out)
{
	unsigned int i;

	for (i = 0; i < out->num_modules; i++)
		if (out->modules[i].end <= out->modules[i].start ||
		    !in_ram(out, out->modules[i].start, out->modules[i].end))
			out->modules[i].start = out->modules[i].end = 0;
}

static void add_basic_memory(struct boot_info *out, uint32_t lower_kib, uint32_t upper_kib)
{
	add_ram(out, 0, (uint64_t)lower_kib << 10);
	add_ram(out, 0x100000, (uint64_t)upper_kib << 10);
}

static bool mb2_memory_map(struct boot_info *out, const unsigned char *at, uint32_t size)
{
	struct mb2_memory_map map;
	struct mb2_memory_entry e;
	uint32_t off;

	if (size < sizeof(map))
		return false;
	memcpy(&map, at, sizeof(map));
	if (map.entry_size < sizeof(e))
		return false;
	for (off = sizeof(map); off + sizeof(e) <= size; off += map.entry_size) {
		memcpy(&e, at + off, sizeof(e));
		if (e.type == MB_MEMORY_AVAILABLE)
			add_ram(out, e.base, e.length);
		if (map.entry_size > size - off)
			break;
	}
	return true;
}

static void mb2_cmdline(struct boot_info *out, const unsigned char *at, uint32_t size)
{
	size_t n = size - sizeof(struct mb2_tag);

	if (n >= sizeof(out->cmdline))
		n = sizeof(out->cmdline) - 1;
	memcpy(out->cmdline, at + sizeof(struct mb2_tag), n);
	out->cmdline[n] = 0;
}

static bool mb2_one_tag(struct boot_info *out, const struct mb2_tag *tag,
			const unsigned char *at, struct mb2_basic_memory *basic)
{
	struct mb2_module mod;

	switch (tag->type) {
	case MB2_CMDLINE:
		mb2_cmdline(out, at, tag->size);
		return true;
	case MB2_MODULE:
		if (tag->size < sizeof(mod))
			return false;
		memcpy(&mod, at, sizeof(mod));
		add_module(out, mod.start, mod.end, at + sizeof(mod), tag->size - sizeof(mod));
		return true;
	case MB2_BASIC_MEMORY:
		if (tag->size < sizeof(*basic))
			return false;
		memcpy(basic, at, sizeof(*basic));
		return true;
	case MB2_MEMORY_MAP:
		return mb2_memory_map(out, at, tag->size);
	default:
		return true;
	}
}

bool boot_parse_mb2(struct boot_info *out, const void *info, size_t room)
{
	const unsigned char *at = info;
	struct mb2_basic_memory basic = { 0 };
	struct mb2_tag tag;
	uint32_t total;
	size_t off = 8;

	memset(out, 0, sizeof(*out));
	out->protocol = "multiboot2";
	if (room < 8)
		return false;
	memcpy(&total, at, sizeof(total));
	if (total > room)
		return false;
	for (;;) {
		if (off > total || total - off < sizeof(tag))
			return false;
		memcpy(&tag, at + off, sizeof(tag));
		if (tag.size < sizeof(tag) || tag.size > total - off)
			return false;
		if (tag.type == MB2_END)
			break;
		if (!mb2_one_tag(out, &tag, at + off, &basic))
			return false;
		off += ((size_t)tag.size + 7) & ~(size_t)7;
	}
	if (!out->num_ram)
		add_basic_memory(out, basic.lower_kib, basic.upper_kib);
	check_modules(out);
	return out->num_ram != 0;
}

bool boot_parse_mb1_map(struct boot_info *out, const void *map, size_t length)
{
	const unsigned char *at = map;
	struct mb1_memory_entry e;
	size_t off = 0;

	while (off < length) {
		if (length - off < sizeof(e))
			return false;
		memcpy(&e, at + off, sizeof(e));
		if (e.size < sizeof(e) - sizeof(e.size) || e.size > length - off - sizeof(e.size))
			return false;
		if (e.type == MB_MEMORY_AVAILABLE)
			add_ram(out, e.base, e.length);
		off += e.size + sizeof(e.size);
	}
	return true;
}

/* Returns the length of a module's text, as far as there is room for it. */
static size_t text_length(const char *text)
{
	size_t n = 0;

	while (n < BOOT_MODULE_ARGS && text[n])
		n++;
	return n;
}

static bool parse_mb1(struct boot_info *out, const struct mb1_info *info)
{
	const struct mb1_module *mods = (const void *)(uintptr_t)info->mods_addr;
	const char *args;
	uint32_t i;

	memset(out, 0, sizeof(*out));
	out->protocol = "multiboot";
	if (info->flags & MB1_HAS_CMDLINE)
		copy_string(out->cmdline, (const char *)(uintptr_t)info->cmdline,
			    sizeof(out->cmdline));
	if (info->flags & MB1_HAS_MODULES)
		for (i = 0; i < info->mods_count && i <= BOOT_MAX_MODULES; i++) {
			args = mods[i].string ? (const char *)(uintptr_t)mods[i].string : "";
			add_module(out, mods[i].start, mods[i].end, args, text_length(args));
		}
	if (info->flags & MB1_HAS_MAP) {
		if (!boot_parse_mb1_map(out, (const void *)(uintptr_t)info->map_addr,
					info->map_length))
			return false;
	} else if (info->flags & MB1_HAS_MEMORY) {
		add_basic_memory(out, info->lower_kib, info->upper_kib);
	}
	check_modules(out);
	return out->num_ram != 0;
}

bool boot_parse(struct boot_info *out, uint32_t magic, uint32_t address)
{
	const void *info = (const void *)(uintptr_t)address;

	memset(out, 0, sizeof(*out));
	out->protocol = "unknown";
	if (magic == MB2_BOOT_MAGIC)
		return boot_parse_mb2(out, info, 0x10000);
	if (magic == MB1_BOOT_MAGIC)
		return parse_mb1(out, info);
	return false;
}

const char *boot_word(const char *at, size_t *length)
{
	size_t n = 0;

	while (*at == ' ')
		at++;
	while (at[n] && at[n] != ' ')
		n++;
	*length = n;
	return at;
}

bool boot_option(const struct boot_info *info, const char *word)
{
	const char *at = info->cmdline;
	size_t n = strlen(word), length;

	for (at = boot_word(at, &length); length; at = boot_word(at + length, &length))
		if (length == n && !memcmp(at, word, n))
			return true;
	return false;
}
