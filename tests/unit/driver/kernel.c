// SPDX-License-Identifier: GPL-2.0-only
#include "kernel.h"
#include "world.h"
#include "unit.h"

static unsigned char zeros[4096] __attribute__((aligned(4096)));
u32 tsc_khz = 1000000;
struct page kernel_zero_page = { zeros };
static pthread_mutex_t tables = PTHREAD_MUTEX_INITIALIZER;	/* Linux's locks of page tables */
_Atomic u64 kernel_huge, kernel_bytes, kernel_charged;
_Atomic(u32) kernel_absent;
bool kernel_sleeps;

/* ---- memory ---- */

struct page *alloc_pages(gfp_t gfp, unsigned int order)
{
	size_t size = PAGE_SIZE << order, i;
	struct page *pages = calloc(1 << order, sizeof(*pages));
	unsigned char *at = aligned_alloc(PAGE_SIZE, size);

	memset(at, gfp & __GFP_ZERO ? 0 : 0x77, size);
	for (i = 0; i < 1u << order; i++)
		pages[i].at = at + i * PAGE_SIZE;
	if (order == 9)
		kernel_huge++;
	else
		*((gfp & GFP_KERNEL_ACCOUNT) == GFP_KERNEL_ACCOUNT ? &kernel_charged :
		  &kernel_bytes) += size;
	return pages;
}

void __free_pages(struct page *page, unsigned int order)
{
	if (order == 9)
		kernel_huge--;
	else
		kernel_charged -= PAGE_SIZE << order;
	free(page->at);
	free(page);
}

struct block {
	u64 size;
	bool charged;
	unsigned char at[] __attribute__((aligned(16)));
};

void *kzalloc(size_t size, gfp_t gfp)
{
	struct block *b = calloc(1, sizeof(*b) + size);

	b->size = size;
	b->charged = (gfp & GFP_KERNEL_ACCOUNT) == GFP_KERNEL_ACCOUNT;
	*(b->charged ? &kernel_charged : &kernel_bytes) += size;
	return b->at;
}

void kfree(const void *p)
{
	struct block *b = container_of(p, struct block, at);

	if (!p)
		return;
	*(b->charged ? &kernel_charged : &kernel_bytes) -= b->size;
	free(b);
}

/* Only the length is like that of the pages, since no test looks at a channel of several pieces */
void *vmap(struct page **pages, u32 num, int flags, int prot)
{
	return aligned_alloc(PAGE_SIZE, num * PAGE_SIZE);
}

void vunmap(void *at)
{
	free(at);
}

/* A thread that takes a lock twice, or sleeps with the page tables locked, would hang */
void kernel_lock(struct mutex *m)
{
	struct timespec soon;

	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec += 60;
	if (pthread_mutex_timedlock(&m->is, &soon))
		unit_give_up("a lock is not given back");
}

/* ---- programs ---- */

vm_fault_t vmf_insert_pfn(struct vm_area_struct *vma, unsigned long va, u64 pfn)
{
	u64 *pte = &vma->pte[(va - vma->vm_start) / PAGE_SIZE];

	CHECK(va >= vma->vm_start && va < vma->vm_end);
	/* as BUG_ON() of Linux: no private mapping that may be written */
	CHECK(!(vma->vm_flags & VM_MAYWRITE) || vma->vm_flags & VM_SHARED);
	CHECK(vma->vm_flags & VM_PFNMAP);
	pthread_mutex_lock(&tables);
	if (!*pte)
		*pte = pfn;
	pthread_mutex_unlock(&tables);
	return VM_FAULT_NOPAGE;
}

void unmap_mapping_range(struct address_space *space, u64 from, u64 len, int cows)
{
	struct vm_area_struct *vma;

	CHECK(!from && !len);
	pthread_mutex_lock(&tables);
	list_for_each_entry(vma, &space->vmas, list)
		memset(vma->pte, 0, sizeof(vma->pte));
	pthread_mutex_unlock(&tables);
}

/* The program's memory is absent for the next `kernel_absent` copies, or always */
static bool absent(void)
{
	if (kernel_absent && kernel_absent != KERNEL_NEVER)
		return kernel_absent--;
	return kernel_absent;
}

long copy_to_user_nofault(void *to, const void *from, size_t n)
{
	if (absent())
		return -EFAULT;
	memcpy(to, from, n);
	return 0;
}

long copy_from_user_nofault(void *to, const void *from, size_t n)
{
	return copy_to_user_nofault(to, from, n);
}

size_t fault_in_readable(const char *at, size_t n)
{
	return kernel_absent == KERNEL_NEVER ? n : 0;
}

size_t fault_in_safe_writeable(const char *at, size_t n)
{
	return fault_in_readable(at, n);
}

void world_map(struct vm_area_struct *vma)
{
	pthread_mutex_lock(&tables);
	list_add(&vma->list, &vma->vm_file->f_mapping->vmas);
	pthread_mutex_unlock(&tables);
}

void world_unmap(struct vm_area_struct *vma)
{
	pthread_mutex_lock(&tables);
	list_del(&vma->list);
	pthread_mutex_unlock(&tables);
}

u64 world_touch(struct vm_area_struct *vma, u32 page, const u64 *value)
{
	struct vm_fault vmf = { vma, vma->vm_start + page * PAGE_SIZE + 8, vma->vm_pgoff + page };
	u64 *pte = &vma->pte[page], *word, was;

	for (;;) {
		pthread_mutex_lock(&tables);
		if (*pte)
			break;
		pthread_mutex_unlock(&tables);
		if (vma->vm_ops->fault(&vmf) != VM_FAULT_NOPAGE)
			unit_give_up("a program gets a signal");
	}
	word = (u64 *)(uintptr_t)(*pte << PAGE_SHIFT);
	was = *word;
	if (value && CHECK(word != (u64 *)zeros && vma->vm_flags & VM_WRITE))
		*word = *value;
	pthread_mutex_unlock(&tables);
	return was;
}

void put_device(struct device *dev)
{
	if (!__atomic_sub_fetch(&dev->users.counter, 1, __ATOMIC_SEQ_CST))
		dev->release(dev);
}
