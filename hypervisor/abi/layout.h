/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layout of a block. Each *instance* of the monitor has one physically contiguous block of RAM
 * for its code, stacks, control blocks and page tables. Every instance sees itself at the same
 * virtual addresses. So a CPU moves from one instance to another when it loads CR3 inside the
 * monitor's code.
 */
#ifndef QV_ABI_LAYOUT_H
#define QV_ABI_LAYOUT_H

#define QV_PAGE			4096u
#define QV_HUGE			(2u << 20)

/* Virtual addresses of an instance, all inside one GiB (one page directory) */
#define QV_VA_IMAGE		0x40000000ull	/* code and constants, copied per instance */
#define QV_VA_APIC		0x40100000ull	/* address of the xAPIC page */
#define QV_VA_GMEM		0x40180000ull	/* one page per CPU, to look at guest memory */
#define QV_VA_LIFE		0x401C0000ull	/* cells: the life page of each channel, to write */
#define QV_VA_BLOCK		0x40200000ull	/* address of the instance's own block */
#define QV_VA_MANAGE		0x40800000ull	/* manager only: another instance's block */
#define QV_VA_SCRUB		0x40A00000ull	/* manager only: memory being cleared */

/* Offsets in a block */
#define QV_OFF_STATUS		0x00000u	/* struct qv_mon_status; Linux may read it */
#define QV_OFF_LOG		0x04000u	/* struct qv_mon_log; Linux may read it */
#define QV_OFF_MARK		0x0f000u	/* struct qv_mon_mark; Linux may read it */
#define QV_OPEN_LEN		0x10000u	/* all above: read-only for the front end */
#define QV_OFF_IMAGE		0x10000u
#define QV_IMAGE_MAX		0x10000u
/* struct instance; starts with struct qv_mon_boot */
#define QV_OFF_INSTANCE		0x20000u
#define QV_INSTANCE_LEN		0x20000u
#define QV_OFF_CPUS		0x40000u	/* QV_CPU_LEN each; then pages for page tables */
#define QV_CPU_LEN		0x8000u

#define QV_BLOCK_FRONT_END	(4u << 20)
#define QV_BLOCK_CELL		QV_HUGE

/*
 * Named areas at the end of the front end's block. The block's pages for page tables end where the
 * first area begins. To add an area (for an IOMMU's device tables, say), define its offset here,
 * below the present first one, and make QV_BLOCK_FRONT_END longer by its length. The block has room
 * for 6 MiB below QV_VA_MANAGE. For more, move the manager's mappings up within the same GiB.
 */
#define QV_OFF_AREAS		QV_OFF_REQUESTS
/* A copy of each cell's request, first cell first */
#define QV_REQUEST_LEN		0x9000u
#define QV_OFF_REQUESTS		(QV_BLOCK_FRONT_END - QV_MAX_CELLS * QV_REQUEST_LEN)

#endif
