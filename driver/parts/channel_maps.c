// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of channels in programs. A mapping may exist longer than the channel: when the channel
 * goes, the mapping loses its pages, and the memory is Linux's again at once.
 *
 * Pages are mapped at the first access, with .lock of the channel held and .gone false. mmap() maps
 * none: Linux finds a new mapping to take its pages away only after mmap() has returned.
 */
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/version.h>
#include "qv.h"
#include "parts/channels.h"

/*
 * Linux keeps a list of the mappings of each inode. All programs open the same inode, unless root
 * has made more nodes of the device
 */
struct qv_channel_node {
	struct list_head list;
	struct address_space *space;	/* the inode exists while a file on it is open */
	u32 files;
};

int qv_channel_maps_open(struct qv_channel_file *f, struct file *file)
{
	struct qv_channel_dev *c = f->c;
	struct qv_channel_node *node;

	list_for_each_entry(node, &c->nodes, list)
		if (node->space == file->f_mapping)
			goto found;
	node = kzalloc(sizeof(*node), GFP_KERNEL_ACCOUNT);
	if (!node)
		return -ENOMEM;
	node->space = file->f_mapping;
	list_add(&node->list, &c->nodes);
found:
	node->files++;
	f->node = node;
	return 0;
}

void qv_channel_maps_close(struct qv_channel_file *f)
{
	if (!--f->node->files) {
		list_del(&f->node->list);
		kfree(f->node);
	}
	if (f->spare)
		__free_page(f->spare);
}

void qv_channel_maps_end(struct qv_channel_dev *c)
{
	struct qv_channel_node *node;

	list_for_each_entry(node, &c->nodes, list)
		unmap_mapping_range(node->space, 0, 0, 1);
}

/* Maps all pages, so a program that polls the channel has one fault only */
static vm_fault_t maps_all(const struct qv_channel_dev *c, struct vm_area_struct *vma)
{
	u64 at = (u64)vma->vm_pgoff << PAGE_SHIFT;
	vm_fault_t result = VM_FAULT_NOPAGE;
	unsigned long va = vma->vm_start;

	for (; va < vma->vm_end && result == VM_FAULT_NOPAGE; va += PAGE_SIZE, at += PAGE_SIZE)
		result = vmf_insert_pfn(vma, va, page_to_pfn(qv_channel_page(c, at)));
	return result;
}

/*
 * The channel is gone. Zeros for readers: a life page of zeros says so. A program that writes
 * continues in a page that it is charged for, since a signal would end it in the middle of a call
 */
static vm_fault_t maps_one(struct qv_channel_file *f, struct vm_fault *vmf)
{
	struct page *page = ZERO_PAGE(0);

	if (vmf->vma->vm_flags & VM_MAYWRITE) {
		f->spare = f->spare ?: alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		page = f->spare;
	}
	return page ? vmf_insert_pfn(vmf->vma, vmf->address & PAGE_MASK, page_to_pfn(page)) :
		      VM_FAULT_OOM;
}

static vm_fault_t maps_fault(struct vm_fault *vmf)
{
	struct qv_channel_file *f = vmf->vma->vm_file->private_data;
	struct qv_channel_dev *c = f->c;
	vm_fault_t result;

	mutex_lock(&c->lock);
	result = c->gone ? maps_one(f, vmf) : maps_all(c, vmf->vma);
	mutex_unlock(&c->lock);
	return result;
}

static const struct vm_operations_struct maps_ops = {
	.fault = maps_fault,
};

static void maps_flags(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/* Returns whether this file may map these bytes so. A private copy of a section is of no use */
static bool maps_allowed(const struct qv_channel_dev *c, const struct file *file,
			 const struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT, len = vma->vm_end - vma->vm_start;
	const struct qv_chan_end *own = &c->page.end[c->self];

	if (own->flags & QV_CHAN_END_WRITES)	/* one of several writers of a memory */
		own = &c->page.end[0];
	if (vma->vm_flags & VM_EXEC)
		return false;
	if (!(vma->vm_flags & VM_WRITE))
		return offset + len <= c->page.length;
	return vma->vm_flags & VM_SHARED && c->claimed == file && offset >= own->offset &&
	       offset + len <= own->offset + own->size;
}

int qv_channel_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct qv_channel_file *f = file->private_data;
	struct qv_channel_dev *c = f->c;
	int error;

	mutex_lock(&c->lock);
	error = !c->made || c->gone ? -ENODEV : maps_allowed(c, file, vma) ? 0 : -EPERM;
	mutex_unlock(&c->lock);
	if (error)
		return error;
	/* mprotect() can add no right later */
	maps_flags(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP,
		   VM_MAYEXEC | (vma->vm_flags & VM_WRITE ? 0 : VM_MAYWRITE));
	vma->vm_ops = &maps_ops;
	return 0;
}
