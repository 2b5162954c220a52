// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading guest memory: one page at a time through this CPU's window, and
 * only pages that the guest's own nested tables let it read.
 */
#include "cpu.h"
#include "nested.h"
#include "vendor.h"

void *window(const struct pcpu *cpu)
{
	return (void *)(QV_VA_WINDOW + cpu->index * QV_PAGE);
}

void window_map(const struct pcpu *cpu, u64 pa)
{
	me()->windows[cpu->index] = (pa & PT_ADDR) | PT_P | PT_NX;
	invlpg((u64)window(cpu));
}

/* Guest-physical to physical; false: not the guest's to read */
static bool translate(u64 gpa, u64 *pa)
{
	u32 level;
	u64 e = *paging_find(&me()->nested, gpa, 1, &level);
	u64 inside = level_size(level) - 1;

	if (gpa >> me()->boot.phys_bits)
		return false;
	if (e & PT_P)
		*pa = (e & PT_ADDR & ~inside) | (gpa & inside);
	else if (is_front_end() && !(e & NESTED_HOLE))
		*pa = gpa;		/* not touched yet: identity */
	else
		return false;
	return true;
}

static const void *look(struct pcpu *cpu, u64 gpa)
{
	u64 pa;

	if (!translate(gpa, &pa))
		return NULL;
	window_map(cpu, pa);
	return (const u8 *)window(cpu) + (pa & (QV_PAGE - 1));
}

bool guest_copy_phys(struct pcpu *cpu, void *to, u64 gpa, u32 len)
{
	while (len) {
		u32 chunk = QV_PAGE - (gpa & (QV_PAGE - 1));
		const void *from = look(cpu, gpa);

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

static bool read_entry(struct pcpu *cpu, u64 gpa, u32 size, u64 *entry)
{
	const void *p = look(cpu, gpa);

	if (!p)
		return false;
	*entry = size == 8 ? *(const volatile u64 *)p : *(const volatile u32 *)p;
	return true;
}

#define CR0_PG	(1ull << 31)
#define CR4_PSE	(1ull << 4)
#define CR4_PAE	(1ull << 5)
#define CR4_LA57 (1ull << 12)
#define EFER_LMA (1ull << 10)

/* Guest-virtual to guest-physical by the guest's own tables, in all four modes of paging */
static bool walk(struct pcpu *cpu, const struct guest_mode *m, u64 va, u64 *gpa)
{
	bool wide = m->cr4 & CR4_PAE;		/* 8-byte entries, 9 bits a level */
	u32 bits = wide ? 9 : 10, size = wide ? 8 : 4;
	u32 level = m->efer & EFER_LMA ? (m->cr4 & CR4_LA57 ? 5 : 4) : wide ? 3 : 2;
	u64 table = m->cr3 & (level == 3 && wide ? 0xffffffe0ull : PT_ADDR);

	if (!(m->cr0 & CR0_PG)) {
		*gpa = (u32)va;
		return true;
	}
	if (!(m->efer & EFER_LMA))
		va = (u32)va;
	for (; level; level--) {
		u32 shift = 12 + bits * (level - 1);
		u64 entry, page = (1ull << shift) - 1;

		if (!read_entry(cpu, table + ((va >> shift) & ((1u << bits) - 1)) * size, size, &entry))
			return false;
		if (!(entry & PT_P))
			return false;
		entry &= PT_ADDR | PT_PS | 0xfff;
		if (level == 1 || ((entry & PT_PS) && level <= 3 &&
				   (wide ? !(level == 3 && !(m->efer & EFER_LMA)) :
					   !!(m->cr4 & CR4_PSE)))) {
			*gpa = (entry & PT_ADDR & ~page) | (va & page);
			return true;
		}
		table = entry & PT_ADDR;
	}
	return false;
}

u32 guest_code(struct pcpu *cpu, u8 *bytes, u32 len)
{
	struct guest_mode m;
	u32 done = 0;
	u64 va;

	vendor_mode(cpu, &m);
	va = m.cs_base + vendor_rip(cpu);
	while (done < len) {
		u64 gpa;
		u32 chunk = QV_PAGE - ((va + done) & (QV_PAGE - 1));

		if (chunk > len - done)
			chunk = len - done;
		if (!walk(cpu, &m, va + done, &gpa) || !guest_copy_phys(cpu, bytes + done, gpa, chunk))
			break;
		done += chunk;
	}
	return done;
}
