// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading guest memory: one page at a time in this CPU's mapping, and
 * only pages that the guest's own nested tables let it read.
 */
#include "cpu.h"
#include "gmem.h"
#include "tables/nested.h"
#include "vendor.h"
#include "x86.h"

#define HIGH_END	(1ull << 32)

_Static_assert(QV_CHANNEL_GPA >= APIC_PAGE && QV_CHANNEL_GPA + (u64)QV_CHANNEL_LEN <= HIGH_END,
	       "a read of guest memory can reach a channel");
_Static_assert(QV_VA_GMEM + QV_MAX_CPUS * QV_PAGE <= QV_VA_LIFE, "mappings reach life pages");

void *gmem_map(const struct pcpu *cpu, u64 pa, u64 flags)
{
	u64 va = QV_VA_GMEM + cpu->index * QV_PAGE;

	me()->gmem_entries[cpu->index] = (pa & PT_ADDR) | flags | PT_P | PT_NX;
	invlpg(va);
	return (void *)(va | (pa & (QV_PAGE - 1)));
}

/*
 * Maps the byte at a guest-physical address: gmem_map(). Returns NULL if the guest may not read it.
 * The page of the APIC and all above up to 4 GiB is refused: a read of the APIC with another
 * width than 32 bits has an undefined effect (SDM vol. 3, 11.4.1.2), and a cell's channels are
 * there, which other ends write.
 */
static const void *gmem_look(struct pcpu *cpu, u64 gpa)
{
	u32 level;
	u64 e = *paging_find(&me()->nested, gpa, 1, &level);
	u64 inside = level_size(level) - 1;

	if (gpa >> me()->boot.phys_bits || gpa - APIC_PAGE < HIGH_END - APIC_PAGE)
		return NULL;
	/* Linux's tables are filled at the first touch: front_fill() */
	if (!(e & PT_P) && (!me()->nested.ram || e & NESTED_HOLE))
		return NULL;
	if (e & PT_P)
		gpa = (e & PT_ADDR & ~inside) | (gpa & inside);
	return gmem_map(cpu, gpa, 0);
}

bool guest_copy_phys(struct pcpu *cpu, void *to, u64 gpa, u32 len)
{
	while (len) {
		u32 chunk = QV_PAGE - (gpa & (QV_PAGE - 1));
		const void *from = gmem_look(cpu, gpa);

		if (!from)
			return false;
		if (chunk > len)
			chunk = len;
		memcpy(to, from, chunk);
		to = (u8 *)to + chunk;
		gpa += chunk;
		len -= chunk;
	}
	return true;
}

/*
 * The four paging modes. levels: number of table levels; bits: address bits per level; large:
 * highest level with large pages; size: bytes of an entry; root: mask of the root's address in CR3;
 * address: mask of a virtual address.
 */
static const struct walk_mode {
	u32 levels, bits, large, size;
	u64 root, address;
} modes[] = {
	{ 2, 10, 2, 4, PT_ADDR, ~0u },
	{ 3, 9, 2, 8, 0xffffffe0, ~0u },
	{ 4, 9, 3, 8, PT_ADDR, ~0ull },
	{ 5, 9, 3, 8, PT_ADDR, ~0ull },
};

/* Translates guest-virtual to guest-physical addresses by the guest's own tables */
static bool gmem_walk(struct pcpu *cpu, const struct guest_mode *m, u64 va, u64 *gpa)
{
	const struct walk_mode *w = &modes[!(m->cr4 & CR4_PAE) ? 0 : !(m->efer & EFER_LMA) ? 1 :
					   !(m->cr4 & CR4_LA57) ? 2 : 3];
	u32 shift = 12 + w->bits * w->levels, level = w->levels;
	u32 large = w->size == 4 && !(m->cr4 & CR4_PSE) ? 1 : w->large;
	u64 table = m->cr3 & w->root, entry;

	va &= w->address;
	*gpa = (u32)va;
	if (!(m->cr0 & CR0_PG))
		return true;
	for (;; level--, table = entry & PT_ADDR) {
		const void *p;

		shift -= w->bits;
		p = gmem_look(cpu, table + ((va >> shift) & ((1u << w->bits) - 1)) * w->size);
		if (!p)
			return false;
		entry = w->size == 8 ? *(const volatile u64 *)p : *(const volatile u32 *)p;
		if (!(entry & PT_P))
			return false;
		if (level == 1 || ((entry & PT_PS) && level <= large))
			break;
	}
	*gpa = (entry & PT_ADDR & -(1ull << shift)) | (va & ((1ull << shift) - 1));
	return true;
}

u32 guest_code(struct pcpu *cpu, u32 back, u8 *bytes, u32 len)
{
	struct guest_mode m;
	u32 done = 0, chunk;
	u64 va, gpa;

	vendor_mode(cpu, &m);
	va = m.cs_base + vendor_rip(cpu) - back;
	for (; done < len; done += chunk, va += chunk) {
		const void *from;

		chunk = QV_PAGE - (va & (QV_PAGE - 1));
		if (chunk > len - done)
			chunk = len - done;
		if (!gmem_walk(cpu, &m, va, &gpa) || !(from = gmem_look(cpu, gpa)))
			break;
		memcpy(bytes + done, from, chunk);
	}
	return done;
}

/* The bytes are those that the processor saved at the exit, or are read from guest memory */
bool mmio_decode(struct pcpu *cpu, struct decoded *d)
{
	struct guest_mode mode;
	u8 bytes[DECODE_MAX];
	u32 num = vendor_bytes(cpu, bytes);

	if (!num)
		num = guest_code(cpu, 0, bytes, sizeof(bytes));
	vendor_mode(cpu, &mode);
	return decode_access(bytes, num, mode.long_code ? DECODE_64 :
			     mode.big_code ? DECODE_32 : DECODE_16, cpu->regs, d);
}
