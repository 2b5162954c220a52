// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes cpu_clear_ignne() of QEMU return at once. It clears a bit in a word of CPU 0
 * (env->hflags2) from the threads of all CPUs, without a lock, whenever they load a state of the
 * FPU. So it undoes what CPU 0 does to other bits of the word at that time: with nested paging off
 * and on again, CPU 0 leaves its guest twice. Only a write to port 0xf0 sets the bit. QEMU 10.0 to
 * 11.1: target/i386/tcg/system/fpu_helper.c. Loaded by LD_PRELOAD.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	4096u
#define RET	0xc3

static const uint8_t endbr64[4] = { 0xf3, 0x0f, 0x1e, 0xfa };

static const char *leave_at_once(uint8_t *function)
{
	uintptr_t page;

	if (!function)
		return "there is no such function";
	if (!memcmp(function, endbr64, sizeof(endbr64)))
		function += sizeof(endbr64);
	page = (uintptr_t)function & -(uintptr_t)PAGE;
	if (mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
		return "its page cannot be written";
	*function = RET;
	mprotect((void *)page, PAGE, PROT_READ | PROT_EXEC);
	return "returns at once";
}

__attribute__((constructor)) static void ignne(void)
{
	const char *done = leave_at_once(dlsym(RTLD_DEFAULT, "cpu_clear_ignne"));

	if (getenv("QV_SAY"))
		fprintf(stderr, "cpu_clear_ignne: %s\n", done);
}
