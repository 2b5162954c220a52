// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mends two faults of QEMU 10.0 to 11.1 when it is preloaded (LD_PRELOAD). The page how-to/lab.md
 * says how they show.
 *
 * target/i386/tcg/system/fpu_helper.c: cpu_clear_ignne() clears a bit in a word of CPU 0
 * (env->hflags2) from the threads of all CPUs, without a lock, whenever they load a state of the
 * FPU. So it undoes what CPU 0 does to other bits of the word at that time: with nested paging off
 * and on again, CPU 0 leaves its guest twice. Only a write to port 0xf0 sets the bit. It returns at
 * once here.
 *
 * target/i386/tcg/system/svm_helper.c: helper_vmrun() delivers an interrupt that the VMCB injects
 * (EVENTINJ, type 0), and leaves its vector in cs->exception_index. If the CPU's thread is then
 * told to pause before something else sets that field, cpu_handle_interrupt() takes it for a new
 * exception, and the guest gets the interrupt again, even with IF clear. The field has no use here,
 * as the vector is also an argument: its store becomes a NOP.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE		4096u
#define RET		0xc3
#define CALL		0xe8
#define VMRUN_LENGTH	8192	/* so many bytes from helper_vmrun() on are searched */
#define BEFORE		64	/* the store is at most so many bytes before the call */

static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
static const uint8_t store_esi[] = { 0x89, 0xb3 };	/* mov %esi, disp32(%rbx) */
static const uint8_t nop6[] = { 0x66, 0x0f, 0x1f, 0x44, 0, 0 };

static const char *write_code(uint8_t *at, const void *code, size_t length, const char *done)
{
	uintptr_t page = (uintptr_t)at & -(uintptr_t)PAGE;

	if (mprotect((void *)page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
		return "its page cannot be written";
	memcpy(at, code, length);
	mprotect((void *)page, 2 * PAGE, PROT_READ | PROT_EXEC);
	return done;
}

static const char *leave_at_once(uint8_t *function)
{
	static const uint8_t ret = RET;

	if (!function)
		return "there is no such function";
	if (!memcmp(function, endbr64, sizeof(endbr64)))
		function += sizeof(endbr64);
	return write_code(function, &ret, sizeof(ret), "returns at once");
}

/* The store of the vector is that of %esi below the CPU's state, just before the first call. */
static const char *forget_vector(uint8_t *vmrun, const uint8_t *deliver)
{
	uint8_t *call, *store = NULL, *p;
	int32_t offset;

	if (!vmrun || !deliver)
		return "there is no such function";
	for (call = vmrun; call < vmrun + VMRUN_LENGTH; call++) {
		memcpy(&offset, call + 1, sizeof(offset));
		if (*call == CALL && call + 5 + offset == deliver)
			break;
	}
	for (p = call - BEFORE; p < call; p++) {
		memcpy(&offset, p + sizeof(store_esi), sizeof(offset));
		if (memcmp(p, store_esi, sizeof(store_esi)) || offset >= 0)
			continue;
		if (store)
			return "two stores could be the vector's";
		store = p;
	}
	if (call == vmrun + VMRUN_LENGTH || !store)
		return "its code is not the known one";
	return write_code(store, nop6, sizeof(nop6), "delivers an interrupt once");
}

__attribute__((constructor)) static void mend(void)
{
	const char *ignne = leave_at_once(dlsym(RTLD_DEFAULT, "cpu_clear_ignne"));
	const char *vmrun = forget_vector(dlsym(RTLD_DEFAULT, "helper_vmrun"),
					  dlsym(RTLD_DEFAULT, "do_interrupt_x86_hardirq"));

	if (getenv("QV_SAY"))
		fprintf(stderr, "cpu_clear_ignne: %s\nhelper_vmrun: %s\n", ignne, vmrun);
}
