// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "fake.h"
#include "svm_exits.h"

void ram_write32(u64 pa, u32 value)
{
	memcpy(fake_ram + pa, &value, 4);
}

u32 ram_read32(u64 pa)
{
	u32 value;

	memcpy(&value, fake_ram + pa, 4);
	return value;
}

static struct vmcb *access(u64 gpa, bool write, const u8 *code, u64 rax)
{
	struct vmcb *v = vmcb_of(pcpu_of(0));

	v->exit_code = EXIT_NPF;
	v->info1 = write ? 7 : 5;
	v->info2 = gpa;
	v->exit_int_info = 0;
	v->rip = SVM_RIP;
	v->cr0 = 0x11;
	v->cs.attrib = 0xc9b;
	v->efer = EFER_SVME;
	v->rax = rax;
	v->num_bytes = 15;
	memset(v->bytes, 0x90, sizeof(v->bytes));
	memcpy(v->bytes, code, 3);
	svm_exit(pcpu_of(0));
	return v;
}

struct vmcb *exit_store(u64 gpa, u32 size, u32 value)
{
	static const u8 code[5][3] = {
		[1] = { 0x88, 0x07, 0x90 }, [2] = { 0x66, 0x89, 0x07 }, [4] = { 0x89, 0x07, 0x90 },
	};

	return access(gpa, true, code[size], value);
}

struct vmcb *exit_load(u64 gpa, u32 size)
{
	static const u8 code[5][3] = {
		[1] = { 0x8a, 0x07, 0x90 }, [2] = { 0x66, 0x8b, 0x07 }, [4] = { 0x8b, 0x07, 0x90 },
	};

	return access(gpa, false, code[size], ~0ull);
}

u64 exit_port_of(u32 port, u32 size, bool in, u64 rax)
{
	struct vmcb *v = vmcb_of(pcpu_of(0));

	v->exit_code = EXIT_IOIO;
	v->info1 = port << 16 | size << 4 | in;
	v->info2 = SVM_RIP + 2;
	v->exit_int_info = 0;
	v->rip = SVM_RIP;
	v->rax = rax;
	v->next_rip = SVM_RIP + 2;
	svm_exit(pcpu_of(0));
	return v->rax;
}
