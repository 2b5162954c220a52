/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of Linux's headers as the channels and the log of the driver use, for tests on this
 * machine. The Makefile makes each <linux/...h> that these files include from this one. kernel.c
 * has the functions: pages that the sanitizer watches, page tables of programs, files.
 */
#ifndef UNIT_KERNEL_H
#define UNIT_KERNEL_H

#define _GNU_SOURCE
#include <linux/types.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include "abi/types.h"

/* ---- words ---- */
typedef unsigned int gfp_t, uint, fmode_t, vm_fault_t;
typedef unsigned long vm_flags_t, pgoff_t;
typedef unsigned short umode_t;
typedef struct { u32 value; } kuid_t, kgid_t;
typedef struct { int counter; } atomic_t;

#define __user
#define __printf(a, b)
#define THIS_MODULE		NULL
#define MODULE_PARM_DESC(a, b)
#define module_param(a, b, c)
#define KERNEL_VERSION(a, b, c)	(((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE	KERNEL_VERSION(6, 12, 0)
#define BUILD_BUG_ON(c)		_Static_assert(!(c), #c)
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(a, b)	(((a) + (b) - 1) / (b))
#define ALIGN(a, b)		(((a) + (b) - 1) / (b) * (b))
#define min_t(t, a, b)		((t)(a) < (t)(b) ? (t)(a) : (t)(b))
#define container_of(p, t, m)	((t *)((char *)(p) - offsetof(t, m)))
#define READ_ONCE(x)		(*(volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile __typeof__(x) *)&(x) = (v))
#define NSEC_PER_MSEC		1000000ull
#define MSEC_PER_SEC		1000u
#define swap(a, b)		do { __typeof__(a) _a = (a); (a) = (b); (b) = _a; } while (0)
#define HZ			250
#define ERESTARTSYS		512
#define KUIDT_INIT(v)		((kuid_t){ v })
#define KGIDT_INIT(v)		((kgid_t){ v })
#define uid_valid(u)		((u).value != ~0u)
#define gid_valid(g)		((g).value != ~0u)
#define atomic_read(a)		__atomic_load_n(&(a)->counter, __ATOMIC_SEQ_CST)
#define atomic_inc(a)		__atomic_add_fetch(&(a)->counter, 1, __ATOMIC_SEQ_CST)
#define vscnprintf		vsnprintf
#define scnprintf		snprintf
#define cond_resched()		((void)0)
#define IS_ERR(p)		((uintptr_t)(p) >= (uintptr_t)-4095)
#define PTR_ERR(p)		((long)(p))
#define ERR_PTR(e)		((void *)(long)(e))
#define strscpy(to, from, n)	((void)snprintf(to, n, "%s", from))
#define kasprintf(gfp, ...)	NULL
#define msecs_to_jiffies(ms)	((ms) / 4)
#define ktime_get_boottime_ns()	1ull
#define ktime_get_ns()		qv_rdtsc()
#define NSEC_PER_SEC		1000000000ull
extern u32 tsc_khz;
#define div_u64(a, b)		((u64)(a) / (b))
#define do_div(n, b)		({ u64 _n = (n); (n) = _n / (b); (u32)(_n % (b)); })
#define u64_to_user_ptr(a)	((void *)(uintptr_t)(a))
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)

/* ---- lists ---- */
struct list_head { struct list_head *next, *prev; };
#define LIST_HEAD(name)		struct list_head name = { &name, &name }
#define list_entry(p, t, m)	container_of(p, t, m)
#define list_for_each_entry(p, head, m)						\
	for (p = list_entry((head)->next, __typeof__(*p), m); &p->m != (head);	\
	     p = list_entry(p->m.next, __typeof__(*p), m))
static inline void INIT_LIST_HEAD(struct list_head *l) { l->next = l->prev = l; }
static inline void list_add(struct list_head *new, struct list_head *head)
{
	new->next = head->next;
	new->prev = head;
	head->next->prev = new;
	head->next = new;
}
static inline void list_add_tail(struct list_head *new, struct list_head *head)
{
	list_add(new, head->prev);
}
static inline void list_del(struct list_head *l)
{
	l->next->prev = l->prev;
	l->prev->next = l->next;
}

/* ---- locks and waiting ---- */
struct mutex { pthread_mutex_t is; };
#define DEFINE_MUTEX(name)	struct mutex name = { PTHREAD_MUTEX_INITIALIZER }
#define mutex_init(m)		pthread_mutex_init(&(m)->is, NULL)
#define mutex_lock(m)		kernel_lock(m)
#define mutex_unlock(m)		pthread_mutex_unlock(&(m)->is)
typedef struct { int unused; } raw_spinlock_t, spinlock_t;
#define DEFINE_SPINLOCK(name)	spinlock_t name
#define spin_lock_irqsave(l, flags) ((void)(l), (flags) = 0)
#define spin_unlock_irqrestore(l, flags) ((void)(l), (void)(flags))
#define raw_spin_lock_init(l)	((void)(l))
typedef struct { int unused; } wait_queue_head_t;
#define init_waitqueue_head(w)	((void)(w))
extern bool kernel_sleeps;		/* a program sleeps in poll() */
#define wq_has_sleeper(w)	kernel_sleeps
#define wake_up_interruptible(w) ((void)(w))
#define wait_event_interruptible_timeout(w, condition, t) ((void)(t), -ERESTARTSYS)
struct work_struct { int unused; };
struct delayed_work { struct work_struct work; void (*run)(struct work_struct *work); };
#define INIT_DELAYED_WORK(w, f)	((w)->run = (f))
#define DECLARE_DELAYED_WORK(name, f) struct delayed_work name = { .run = (f) }
#define to_delayed_work(w)	container_of(w, struct delayed_work, work)
#define schedule_delayed_work(w, t) ((void)(w), (void)(t))
#define cancel_delayed_work_sync(w) ((void)(w))
#define signal_pending(t)	false
#define current			NULL

/* ---- memory ---- */
#define PAGE_SHIFT		12
#define PAGE_SIZE		4096ul
#define PAGE_MASK		(~(PAGE_SIZE - 1))
#define GFP_KERNEL		1u
#define __GFP_ZERO		2u
#define __GFP_NOWARN		0u
#define __GFP_RETRY_MAYFAIL	0u
#define GFP_KERNEL_ACCOUNT	9u		/* charged to the program */
#define VM_MAP			0
#define PAGE_KERNEL		0
#define get_order(n)		(__builtin_ctzll(n) - PAGE_SHIFT)
struct page { void *at; };
#define page_address(p)		((p)->at)
#define page_to_phys(p)		((u64)(uintptr_t)(p)->at)
#define page_to_pfn(p)		(page_to_phys(p) >> PAGE_SHIFT)
#define ZERO_PAGE(va)		(&kernel_zero_page)
#define alloc_page(gfp)		alloc_pages(gfp, 0)
#define __free_page(p)		__free_pages(p, 0)
#define kvfree			kfree
#define kvmalloc_array(n, size, gfp) kzalloc((n) * (size), gfp)
extern struct page kernel_zero_page;
struct page *alloc_pages(gfp_t gfp, unsigned int order);
void __free_pages(struct page *page, unsigned int order);
void *kzalloc(size_t size, gfp_t gfp);
void kfree(const void *p);
void *vmap(struct page **pages, u32 num, int flags, int prot);
void vunmap(void *at);
void kernel_lock(struct mutex *m);

/* ---- programs: their memory, mappings ---- */
#define VM_WRITE		0x2ul
#define VM_EXEC			0x4ul
#define VM_SHARED		0x8ul
#define VM_MAYWRITE		0x20ul
#define VM_MAYEXEC		0x40ul
#define VM_PFNMAP		0x400ul
#define VM_IO			0x4000ul
#define VM_DONTEXPAND		0x40000ul
#define VM_DONTDUMP		0x4000000ul
#define VM_FAULT_OOM		1u
#define VM_FAULT_SIGBUS		2u
#define VM_FAULT_NOPAGE		0x100u
struct address_space { struct list_head vmas; };
struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff;
	vm_flags_t vm_flags;
	struct file *vm_file;
	const struct vm_operations_struct *vm_ops;
	struct list_head list;			/* of the address space */
	u64 pte[16];				/* pfn; 0: none */
};
struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long address, pgoff;
};
struct vm_operations_struct { vm_fault_t (*fault)(struct vm_fault *vmf); };
vm_fault_t vmf_insert_pfn(struct vm_area_struct *vma, unsigned long va, u64 pfn);
void unmap_mapping_range(struct address_space *space, u64 from, u64 len, int cows);
long copy_to_user_nofault(void *to, const void *from, size_t n);
long copy_from_user_nofault(void *to, const void *from, size_t n);
size_t fault_in_readable(const char *at, size_t n);
size_t fault_in_safe_writeable(const char *at, size_t n);
#define copy_to_user(to, from, n) (memcpy(to, from, n), 0)
static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}

/* ---- files and devices ---- */
#define FMODE_READ		1u
#define FMODE_WRITE		2u
#ifndef O_NONBLOCK
#define O_NONBLOCK		04000
#endif
#define EPOLLIN			1u
#define EPOLLOUT		4u
#define EPOLLERR		8u
#define EPOLLHUP		16u
#define EPOLLRDNORM		64u
#define EPOLLWRNORM		256u
#define poll_wait(file, w, t)	((void)(w))
#define compat_ptr_ioctl	NULL
#define noop_llseek		NULL
struct poll_table_struct;
struct inode { struct cdev *i_cdev; struct address_space *i_mapping; };
struct file {
	fmode_t f_mode;
	unsigned int f_flags;
	loff_t f_pos;
	struct address_space *f_mapping;
	void *private_data;
};
struct file_operations {
	void *owner;
	int (*open)(struct inode *inode, struct file *file);
	int (*release)(struct inode *inode, struct file *file);
	ssize_t (*read)(struct file *file, char *to, size_t len, loff_t *pos);
	ssize_t (*write)(struct file *file, const char *from, size_t len, loff_t *pos);
	__poll_t (*poll)(struct file *file, struct poll_table_struct *table);
	int (*mmap)(struct file *file, struct vm_area_struct *vma);
	long (*unlocked_ioctl)(struct file *file, unsigned int nr, unsigned long arg);
	void *compat_ioctl, *llseek;
};
struct device;
struct attribute_group;
struct kobject;
struct class { const char *name; };
struct device_type {
	const char *name;
	const struct attribute_group **groups;
	char *(*devnode)(const struct device *, umode_t *, kuid_t *, kgid_t *);
};
struct device {
	atomic_t users;
	void (*release)(struct device *dev);
	const struct class *class;
	const struct device_type *type;
	dev_t devt;
};
struct kref { int unused; };
struct miscdevice { int unused; };
struct cdev { const struct file_operations *ops; void *owner; };
#define device_initialize(d)	((void)((d)->users.counter = 1))
#define get_device(d)		((void)atomic_inc(&(d)->users))
void put_device(struct device *dev);
#define dev_name(d)		"a channel"
#define dev_set_name(d, ...)	0
#define cdev_init(c, fops)	((void)((c)->ops = (fops)))
#define cdev_device_add(c, d)	0
#define cdev_device_del(c, d)	((void)0)
#define alloc_chrdev_region(first, a, n, name) (*(first) = 1000, 0)
#define unregister_chrdev_region(first, n) ((void)0)
#define class_register(c)	0
#define class_unregister(c)	((void)0)
#define DECLARE_BITMAP(name, n)	unsigned char name[n]
#define set_bit(n, map)		((void)((map)[n] = 1))
#define clear_bit(n, map)	((void)((map)[n] = 0))
static inline u32 find_first_zero_bit(const unsigned char *map, u32 n)
{
	u32 i;

	for (i = 0; i < n && map[i]; i++)
		;
	return i;
}

#include "driver/kernel_pci.h"

#endif
