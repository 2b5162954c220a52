// SPDX-License-Identifier: GPL-2.0-only
/*
 * init of a crash kernel: reads the whole of /proc/vmcore, and before and after it a word of the
 * old memory whose physical address stands on the command line as `beat=`. Says what it found on
 * the console and switches the machine off.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
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
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_type != ET_CORE || head.e_phnum > SEGMENTS)
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

static void read_all(void)
{
	static unsigned char chunk[CHUNK], ones[PAGE];
	uint64_t bytes = 0, hidden = 0, at;
	size_t len, page;
	int i;

	memset(ones, 0xff, sizeof(ones));
	for (i = 0; i < num_segments; i++)
		for (at = 0; segments[i].p_type == PT_LOAD && at < segments[i].p_filesz; at += len) {
			len = segments[i].p_filesz - at < CHUNK ? segments[i].p_filesz - at : CHUNK;
			get(segments[i].p_offset + at, chunk, len);
			bytes += len;
			for (page = 0; page + PAGE <= len; page += PAGE)
				hidden += !memcmp(chunk + page, ones, PAGE);
		}
	printf("readdump: read %llu MiB, %llu MiB of them ones\n", (unsigned long long)bytes >> 20,
	       (unsigned long long)hidden * PAGE >> 20);
}

int main(void)
{
	char line[4096] = "", *at;
	uint64_t pa, beats[3];
	FILE *file;
	int console;

	mkdir("/proc", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	console = open("/dev/console", O_RDWR);
	dup2(console, 1);
	file = fopen("/proc/cmdline", "r");
	at = file && fgets(line, sizeof(line), file) ? strstr(line, "beat=") : NULL;
	if (!at)
		end("no beat= on the command line");
	pa = strtoull(at + 5, NULL, 0);
	open_dump();
	beats[0] = word_at(pa);
	sleep(1);
	beats[1] = word_at(pa);
	read_all();
	beats[2] = word_at(pa);
	printf("readdump: beats %llu %llu %llu\n", (unsigned long long)beats[0], (unsigned long long)beats[1],
	       (unsigned long long)beats[2]);
	end("done");
}
