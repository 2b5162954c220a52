// SPDX-License-Identifier: GPL-2.0-only
/*
 * init of a crash kernel: writes all of /proc/vmcore to the disk with the serial number "kernel"
 * and reads it back. Before and after, it reads a word of the old memory, whose physical address is
 * on the command line as `beat=`. Prints the results on the console and switches the machine off.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096
#define CHUNK (256 * PAGE)
#define SEGMENTS 64

static int dump;
static Elf64_Phdr segments[SEGMENTS];
static int num_segments;

static void end(const char *why)
{
	printf("readdump: %s\n", why);
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void get(uint64_t at, void *to, size_t len)
{
	if (pread(dump, to, len, at) != (ssize_t)len)
		end("a part of the dump cannot be read");
}

static void open_dump(void)
{
	Elf64_Ehdr head;

	dump = open("/proc/vmcore", O_RDONLY);
	if (dump < 0)
		end("there is no /proc/vmcore");
	get(0, &head, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_type != ET_CORE ||
	    head.e_phnum > SEGMENTS)
		end("the dump is no core file");
	num_segments = head.e_phnum;
	get(head.e_phoff, segments, num_segments * sizeof(segments[0]));
}

static uint64_t word_at(uint64_t pa)
{
	uint64_t word;
	int i;

	for (i = 0; i < num_segments; i++) {
		const Elf64_Phdr *p = &segments[i];

		if (p->p_type != PT_LOAD || pa < p->p_paddr || pa - p->p_paddr >= p->p_filesz)
			continue;
		get(p->p_offset + (pa - p->p_paddr), &word, sizeof(word));
		return word;
	}
	end("the address is not in the dump");
	return 0;
}

/* Loads the modules of the lab's initramfs in their order; the disk needs them. */
static void load_modules(void)
{
	char name[64], path[80];
	FILE *order = fopen("/modules/order", "r");
	int file;

	while (order && fscanf(order, "%63s", name) == 1) {
		snprintf(path, sizeof(path), "/modules/%s", name);
		file = open(path, O_RDONLY);
		if (file < 0 || syscall(SYS_finit_module, file, "", 0))
			end("a module does not load");
		close(file);
	}
}

static int open_disk(int flags)
{
	char path[64], serial[32];
	char letter;
	FILE *file;
	bool found;

	for (letter = 'a'; letter <= 'z'; letter++) {
		snprintf(path, sizeof(path), "/sys/block/vd%c/serial", letter);
		file = fopen(path, "r");
		if (!file)
			continue;
		found = fgets(serial, sizeof(serial), file) && !strncmp(serial, "kernel", 6);
		fclose(file);
		snprintf(path, sizeof(path), "/dev/vd%c", letter);
		if (found)
			return open(path, flags);
	}
	return -1;
}

static unsigned char chunk[CHUNK] __attribute__((aligned(PAGE)));
static unsigned char other[CHUNK] __attribute__((aligned(PAGE)));

/* Reads each part of the dump into `chunk` and calls `look`. Returns the sum of the results. */
static uint64_t all_parts(uint64_t (*look)(int disk, uint64_t at, size_t len), int disk)
{
	uint64_t sum = 0, at;
	size_t len;
	int i;

	for (i = 0; i < num_segments; i++)
		for (at = 0; segments[i].p_type == PT_LOAD && at < segments[i].p_filesz;
		     at += len) {
			len = segments[i].p_filesz - at < CHUNK ? segments[i].p_filesz - at : CHUNK;
			get(segments[i].p_offset + at, chunk, len);
			sum += look(disk, segments[i].p_offset + at, len);
		}
	return sum;
}

static uint64_t write_part(int disk, uint64_t at, size_t len)
{
	if (pwrite(disk, chunk, len, at) != (ssize_t)len)
		end("the disk does not take the dump");
	return len;
}

static uint64_t count_ones(int disk, uint64_t at, size_t len)
{
	static unsigned char ones[PAGE];
	uint64_t hidden = 0;
	size_t page;

	(void)disk, (void)at;
	memset(ones, 0xff, sizeof(ones));
	for (page = 0; page + PAGE <= len; page += PAGE)
		hidden += !memcmp(chunk + page, ones, PAGE);
	return hidden;
}

static uint64_t count_different(int disk, uint64_t at, size_t len)
{
	uint64_t different = 0;
	size_t page;

	if (pread(disk, other, len, at) != (ssize_t)len)
		end("the disk does not give the dump back");
	for (page = 0; page + PAGE <= len; page += PAGE)
		different += memcmp(chunk + page, other + page, PAGE) != 0;
	return different;
}

static void write_all(void)
{
	int disk = open_disk(O_WRONLY);
	uint64_t bytes;

	if (disk < 0)
		end("there is no disk");
	get(0, chunk, PAGE);
	write_part(disk, 0, PAGE);		/* the header with the offsets of the parts */
	bytes = all_parts(write_part, disk);
	if (fsync(disk) || close(disk))
		end("the disk does not keep the dump");
	printf("readdump: wrote %llu MiB, %llu MiB of them ones\n", (unsigned long long)bytes >> 20,
	       (unsigned long long)all_parts(count_ones, -1) * PAGE >> 20);
	disk = open_disk(O_RDONLY | O_DIRECT);
	if (disk < 0)
		end("the disk is gone");
	printf("readdump: %llu pages differ from what was written\n",
	       (unsigned long long)all_parts(count_different, disk));
}

int main(void)
{
	char line[4096] = "", *at;
	uint64_t pa, beats[3];
	FILE *file;
	int console;

	mkdir("/proc", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	console = open("/dev/console", O_RDWR);
	dup2(console, 1);
	file = fopen("/proc/cmdline", "r");
	at = file && fgets(line, sizeof(line), file) ? strstr(line, "beat=") : NULL;
	if (!at)
		end("no beat= on the command line");
	pa = strtoull(at + 5, NULL, 0);
	load_modules();
	open_dump();
	beats[0] = word_at(pa);
	sleep(1);
	beats[1] = word_at(pa);
	write_all();
	beats[2] = word_at(pa);
	printf("readdump: beats %llu %llu %llu\n", (unsigned long long)beats[0],
	       (unsigned long long)beats[1], (unsigned long long)beats[2]);
	end("done");
}
