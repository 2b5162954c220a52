// SPDX-License-Identifier: GPL-2.0-only
/*
 * fault WHAT: does what a program must not do. Only this program is killed. fault: prints the list.
 */
#include <quest.h>
#include <stdio.h>
#include <string.h>

#define KERNEL_ADDRESS	0x100000ul	/* address of the kernel's first instruction */

static void divide(void)
{
	/* the division is in assembler, since a compiler may choose any quotient */
	__asm__ volatile("xorl %%ecx, %%ecx; movl $1, %%eax; cltd; idivl %%ecx"
			 : : : "rax", "rcx", "rdx", "cc");
}

static void jump(void)
{
	((void (*)(void))KERNEL_ADDRESS)();
}

static void write_kernel(void)
{
	*(volatile long *)KERNEL_ADDRESS = 0;
}

static void read_kernel(void)
{
	printf("%lx\n", *(volatile long *)KERNEL_ADDRESS);
}

static void null(void)
{
	volatile long *p = NULL;

	__asm__ volatile("" : "+r"(p));
	*p = 1;
}

/* GCC warns that the recursion never ends, which is intended. */
#pragma GCC diagnostic ignored "-Winfinite-recursion"
static long deeper(long n)
{
	volatile long room[100] = { n };

	return deeper(n + 1) + room[n % 100];
}

static void stack(void)
{
	printf("%ld\n", deeper(0));
}

/* The program has given this memory back, but the TLB may still have its address. */
static void freed(void)
{
	char *page = (char *)(((uintptr_t)sbrk(8192) + 4095) & ~4095ul);

	*(volatile char *)page = 1;
	(void)sbrk(-8192);
	*(volatile char *)page = 2;
}

static void opcode(void)
{
	__asm__ volatile("ud2");
}

static void code(void)
{
	*(volatile char *)(uintptr_t)code = 0;
}

static void data(void)
{
	static unsigned char ret[] = { 0xC3 };

	((void (*)(void))(uintptr_t)ret)();
}

static void noncanonical(void)
{
	*(volatile long *)0x8000000000000000ul = 1;
}

/* x87, not SSE: QEMU's emulation raises no SSE exception. */
static void x87(void)
{
	const unsigned short unmasked = 0x0340;

	__asm__ volatile("fldcw %0; fld1; fldz; fdivrp; fwait" : : "m"(unmasked));
}

static void *overrun(void *arg)
{
	stack();
	return arg;
}

/* One thread faults while the other waits: both are killed. */
static void thread(void)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, overrun, NULL))
		(void)pthread_join(t, NULL);
}

/* Privileged instructions: the processor must reject each. */
#define PRIVILEGED(name, text) \
	static void name(void) { __asm__ volatile(text : : : "rax", "rcx", "rdx", "memory"); }
PRIVILEGED(hlt, "hlt")
PRIVILEGED(cli, "cli")
PRIVILEGED(in, "inb $0x80, %%al")
PRIVILEGED(out, "outb %%al, $0xF9")
PRIVILEGED(rdmsr, "movl $0xC0000080, %%ecx; rdmsr")
PRIVILEGED(wrmsr, "movl $0xC0000082, %%ecx; xorl %%eax, %%eax; xorl %%edx, %%edx; wrmsr")
PRIVILEGED(cr3, "movq %%cr3, %%rax")
PRIVILEGED(cr0, "movq %%rax, %%cr0")
PRIVILEGED(dr7, "movq %%dr7, %%rax")
PRIVILEGED(lidt, "lidt (%%rsp)")
PRIVILEGED(invlpg, "invlpg (%%rsp)")
PRIVILEGED(wbinvd, "wbinvd")
PRIVILEGED(invd, "invd")
PRIVILEGED(clts, "clts")
PRIVILEGED(swapgs, "swapgs")
PRIVILEGED(sysret, "sysretq")
PRIVILEGED(iret, "pushq $0x10; pushq %%rsp; pushfq; pushq $0x8; "
		 "leaq 1f(%%rip), %%rax; pushq %%rax; iretq; 1:")
PRIVILEGED(int_f0, "int $0xF0")
PRIVILEGED(int3, "int3")
PRIVILEGED(xsetbv, "xorl %%ecx, %%ecx; movl $7, %%eax; xorl %%edx, %%edx; xsetbv")
PRIVILEGED(vmmcall, "movl $2, %%eax; vmmcall")
PRIVILEGED(vmcall, "movl $2, %%eax; vmcall")
PRIVILEGED(vmrun, "vmrun")
PRIVILEGED(stgi, "stgi")
PRIVILEGED(vmxoff, "vmxoff")
PRIVILEGED(step, "pushfq; orl $0x100, (%%rsp); popfq; nop")
PRIVILEGED(iopl, "pushfq; orl $0x3000, (%%rsp); popfq; inb $0x80, %%al")
PRIVILEGED(selector, "movl $0x10, %%eax; movl %%eax, %%ss")
PRIVILEGED(local, "movl $0x1007, %%eax; movl %%eax, %%ds")
PRIVILEGED(sysenter, "sysenter")

#define WAY(name) { #name, name }
static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	WAY(divide), WAY(jump), { "write", write_kernel },
	{ "read", read_kernel }, WAY(null), WAY(stack),
	WAY(freed), WAY(opcode), WAY(code), WAY(data), WAY(noncanonical), WAY(x87), WAY(thread),
	WAY(hlt), WAY(cli), WAY(in), WAY(out), WAY(rdmsr),
	WAY(wrmsr), WAY(cr3), WAY(cr0), WAY(dr7), WAY(lidt),
	WAY(invlpg), WAY(wbinvd), WAY(invd), WAY(clts), WAY(swapgs),
	WAY(sysret), WAY(iret), WAY(int_f0), WAY(int3),
	WAY(xsetbv), WAY(vmmcall), WAY(vmcall), WAY(vmrun), WAY(stgi), WAY(vmxoff),
	WAY(step), WAY(iopl), WAY(selector), WAY(local), WAY(sysenter),
};

int main(int argc, char **argv)
{
	unsigned int i, n = sizeof(ways) / sizeof(ways[0]);

	for (i = 0; i < n && argc == 2; i++) {
		if (strcmp(ways[i].name, argv[1]))
			continue;
		ways[i].run();
		printf("fault: %s did no harm, and was not refused\n", argv[1]);
		return 1;
	}
	printf("fault one of:");
	for (i = 0; i < n; i++)
		printf(" %s", ways[i].name);
	printf("\n");
	return 0;
}
