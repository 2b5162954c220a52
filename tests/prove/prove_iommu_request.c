// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: a request in Linux's queue does what it names, and nothing else. The monitor's queue
 *	gets requests of the same kind only, without reserved bits, which flush all that Linux asks
 *	for, after the entries that Linux announces were followed. The request stores at most once,
 *	4 or 8 bytes where it says, in a page of RAM that Linux owns, and after all requests before
 *	it were carried out. No request that the unit may not have read is overwritten (case 1:
 *	VT-d, case 2: AMD-Vi). A new tail copies each request once, inside the queue, and at most as
 *	many as the queue holds (case 3)
 * Bound: one request with any bits, in any state of a unit, which answers or does not; case 3:
 *	queues of up to 8 requests
 * Assumed: front_owner() and front_reaches() are right (see prove_front.c). contexts_follow(),
 *	irt_copy() and amdvi_follow() copy the entries of their arguments, and check them (see
 *	prove_iommu_contexts.c and prove_irte.c)
 * Enough: a request leaves nothing for the next one but the state of the unit, which is any state;
 *	the length of the queue is only a mask
 * Code: hypervisor/iommu/unit.c hypervisor/iommu/vtd.c hypervisor/iommu/vtd_linux.c
 *	hypervisor/iommu/amdvi.c
 * Options: --unwind 11 --unwindset front_owns.0:2 --object-bits 12
 * Cases: 1 2 3
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_RAM_RANGES	64` ->
 *	`#define QV_MON_RAM_RANGES	1`: ranges of RAM
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_RUNS		1024` ->
 *	`#define QV_MON_RUNS		1`: not used by the proof
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_CPUS	64` ->
 *	`#define QV_MAX_CPUS	2`: not used by the proof
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_CELLS	15` ->
 *	`#define QV_MAX_CELLS	1`: not used by the proof
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_PORTS	16` ->
 *	`#define QV_MAX_PORTS	1`: not used by the proof
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_DEVICES	8` ->
 *	`#define QV_MAX_DEVICES	1`: not used by the proof
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_CHANNELS	16` ->
 *	`#define QV_MAX_CHANNELS	1`: not used by the proof
 * Changed: include/uapi/linux/qv_reply.h: `#define QV_MAX_WITH	8` ->
 *	`#define QV_MAX_WITH	1`: not used by the proof
 * Changed: include/qv/channel.h: `#define QV_CHAN_MAX_ENDS	9u` ->
 *	`#define QV_CHAN_MAX_ENDS	2u`: not used by the proof
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_CHANNELS		32` ->
 *	`#define QV_MON_CHANNELS		1`: not used by the proof
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_GUARDS		16` ->
 *	`#define QV_MON_GUARDS		1`: not used by the proof
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_FIRMWARE_PORTS	16` ->
 *	`#define QV_MON_FIRMWARE_PORTS	1`: not used by the proof
 * Changed: hypervisor/abi/limits.h: `#define QV_MON_IOAPICS		16` ->
 *	`#define QV_MON_IOAPICS		1`: not used by the proof
 * Changed: hypervisor/abi/iommu.h: `#define QV_MON_IOMMUS		8` ->
 *	`#define QV_MON_IOMMUS		1`: not used by the proof
 * Changed: hypervisor/abi/iommu.h: `#define QV_MON_IO_HOLES		64` ->
 *	`#define QV_MON_IO_HOLES		1`: not used by the proof
 * Changed: hypervisor/core/instance.h: `return (struct instance *)(QV_VA_BLOCK + QV_OFF_INSTANCE);`
 *	-> `extern struct instance the_instance; return &the_instance;`: the instance of the proof
 * Changed: hypervisor/iommu/unit.c:
 *	`return rdtsc() - start > (u64)me()->boot.tsc_khz * DEADLINE_MS;` ->
 *	`(void)start; return true;`: each look is the last one
 * Changed: hypervisor/iommu/unit.c:
 *	`u64 *at = pt_table(&me()->pt_pool, u->queue) + u->tail * UNIT_REQUEST(u) / 8;` ->
 *	`extern void a_put(u64 low, u64 high);`: the claims about a request are made there
 * Changed: hypervisor/iommu/unit.c: `at[0] = low;` -> `a_put(low, high);`: the same
 * Changed: hypervisor/iommu/unit.c: `at[1] = high;` -> ``: the same
 * Mutation: hypervisor/iommu/vtd_linux.c: `return !(low & VTD_WAIT_IRQ) &&` -> `return`: a wait
 *	with an interrupt is accepted (case 1)
 * Mutation: hypervisor/iommu/vtd_linux.c: `unit_put(u, VTD_INTERRUPTS, 0);` ->
 *	`unit_put(u, low, 0);`: reserved bits reach the unit (case 1)
 * Mutation: hypervisor/iommu/vtd_linux.c: `if (!irt_copy(cpu, u, first, num))` -> `if (0)`:
 *	entries are dropped before they were followed (case 1)
 * Mutation: hypervisor/iommu/vtd_linux.c: `VTD_FIRST(low) & ~(num - 1)` -> `VTD_FIRST(low)`: the
 *	entries before the first one are not followed (case 1)
 * Mutation: hypervisor/iommu/vtd_linux.c: `granularity > 1 ? VTD_BY_DOMAIN : VTD_GLOBAL` ->
 *	`VTD_BY_DOMAIN`: one domain is flushed where Linux asks for all (case 1)
 * Mutation: hypervisor/iommu/vtd_linux.c: `!u->followed++` -> `0`:
 *	contexts are dropped before they were followed (case 1)
 * Mutation: hypervisor/iommu/vtd_linux.c: `VTD_DOMAIN | (pasid` -> `(pasid`: another
 *	domain is flushed (case 1)
 * Mutation: hypervisor/iommu/vtd_linux.c: `(pasid ? VTD_PASID : VTD_DRAIN)` -> `VTD_DRAIN`: another
 *	PASID is flushed (case 1)
 * Mutation: hypervisor/iommu/vtd_linux.c: `if (pasid && me()->boot.iommus.nested &&` -> `if (0 &&`:
 *	the unit knows other PASIDs than Linux's (case 1)
 * Mutation: hypervisor/iommu/vtd_linux.c: `nested && u->step == me()->iommu.steps` -> `nested`:
 *	during the take it has Linux's entries, and flushes none by a PASID (case 1)
 * Mutation: hypervisor/iommu/vtd_linux.c: `| VTD_IOTLB | VTD_DRAIN;` -> `| VTD_IOTLB;`: requests
 *	under way are not awaited (case 1)
 * Mutation: hypervisor/iommu/vtd_linux.c: `granularity <= pasid` -> `!granularity`: a malformed
 *	request of scalable mode stops the unit (case 1)
 * Mutation: hypervisor/iommu/unit.c: `(u->pending && !unit_wait(cpu, u)) || !len` -> `!len`: Linux
 *	learns that requests are carried out before they are (case 1)
 * Mutation: hypervisor/iommu/unit.c: ` || !front_owns(&me()->nested, page, QV_PAGE)` -> ``: a store
 *	to memory of a cell (case 1)
 * Mutation: hypervisor/iommu/unit.c: `!ram_has(&me()->boot, page, QV_PAGE, true)` -> `0`: a store
 *	to a device (case 1)
 * Mutation: hypervisor/iommu/unit.c: `if (pa & (len - 1) || ` -> `if (`: a store over the end of
 *	a page (case 1)
 * Mutation: hypervisor/iommu/amdvi.c: `low & (PT_ADDR | 0xff8)` -> `low & ~7ull`: the kind of the
 *	request becomes a part of the address (case 2)
 * Mutation: hypervisor/iommu/amdvi.c:
 *	`if (!amdvi_follow(cpu, u, bdf, 0, QV_MON_DEVICE_IRTES))` -> `if (0)`: a device's entry is
 *	not followed (case 2)
 * Mutation: hypervisor/iommu/amdvi.c: `unit_put(u, AMDVI_REQUEST(AMDVI_INTERRUPTS) | bdf, 0);`
 *	-> ``: the unit keeps old entries of interrupts (case 2)
 * Mutation: hypervisor/iommu/amdvi.c: `high & AMDVI_PAGES_HIGH` -> `high`: reserved bits reach the
 *	unit (case 2)
 * Mutation: hypervisor/iommu/unit.c: `u->pending == QV_PAGE / UNIT_REQUEST(u) - 1` -> `0`: requests
 *	are overwritten that the unit has not read (case 1)
 * Mutation: hypervisor/iommu/unit.c: `			   !unit_room(cpu, u) ||` -> ``: requests of
 *	Linux fill the monitor's queue (case 3)
 * Mutation: hypervisor/iommu/unit.c: ` || tail >= u->ring_len` -> ``: a tail outside the queue
 *	(case 3)
 * Mutation: hypervisor/iommu/unit.c: `& (u->ring_len - 1);` -> `;`: a request outside the queue
 *	(case 3)
 */
#include "core/gmem.h"
#include "core/pci.h"
#include "iommu/amdvi.h"
#include "iommu/iommu.h"
#include "iommu/vtd.h"
#include "tables/nested.h"
#include "prove.h"

#define MOST		100u		/* unit.c */
#define REGISTERS	0xfed90000ull
#define REQUESTS	(QV_PAGE / UNIT_REQUEST(u))

struct instance the_instance;
static struct iommu_unit *u = &the_instance.iommu.units[0];
static struct pcpu cpu;
static u64 linux_low, linux_high;	/* Linux's request */
static u32 num, first_tail, unread;
static bool flushing;			/* the monitor itself drops all */
/* of .num requests that were put, those that are not the monitor's own waits */
static u32 made;

/* Linux's request: the entries that were followed for it, and its store */
static struct {
	bool all;			/* the entries could be followed */
	bool contexts;
	u32 first, num, bdf, times;
} followed;
static struct {
	u64 at, value, page;
	u32 times;
	bool reaches, owns;
} store;

u32 device_read(struct pcpu *c, u64 pa)
{
	(void)c, (void)pa;
	return any_u32();
}

void device_write(struct pcpu *c, u64 pa, u32 value)
{
	(void)c;
	PROVE(pa == REGISTERS + the_instance.iommu.ops->tail && value == u->tail * UNIT_REQUEST(u),
	      "only the tail of the monitor's queue changes");
	if (any_bool())			/* the unit carries out all requests */
		u->status = u->waits, unread = 0;
}

bool irt_copy(struct pcpu *c, const struct iommu_unit *unit, u32 first, u32 num)
{
	(void)c, (void)unit;
	followed.first = first;
	followed.num = num;
	followed.times++;
	followed.all = any_bool();
	return followed.all;
}

void contexts_follow(struct pcpu *c, struct iommu_unit *unit)
{
	(void)c, (void)unit;
	followed.contexts = true;
}

bool amdvi_follow(struct pcpu *c, const struct iommu_unit *unit, u32 bdf, u32 first, u32 entries)
{
	(void)c, (void)unit;
	PROVE(!first && entries == QV_MON_DEVICE_IRTES, "all interrupts of the device");
	followed.bdf = bdf;
	followed.times++;
	followed.all = any_bool();
	return followed.all;
}

void irt_sweep(struct pcpu *c, const struct iommu_unit *unit)
{
	(void)c, (void)unit;
}

void amdvi_irt_sweep(struct pcpu *c, const struct iommu_unit *unit)
{
	(void)c, (void)unit;
}

enum front_owner front_owner(const struct paging *p, u64 pa, u32 level)
{
	enum front_owner owner = any_u32() % 3;

	(void)p;
	PROVE(level == 1, "one page is asked for");
	store.page = pa;
	store.owns = owner == FRONT_OWNS;
	return owner;
}

bool front_reaches(const struct paging *p, u64 pa)
{
	(void)p, (void)pa;
	store.reaches = any_bool();
	return store.reaches;
}

/* A store beyond 8 bytes leaves the object */
void *gmem_map(const struct pcpu *c, u64 pa, u64 flags)
{
	(void)c;
	PROVE(flags == PT_W, "a page that is written");
	PROVE(!u->pending, "after all requests before it");
	store.at = pa;
	store.times++;
	store.value = 0x0123456789abcdef;
	return &store.value;
}

/* Case 3: requests that are copied */
static u64 copied;			/* a bit for each place of the queue */
static u32 next;			/* offset of the next request */

bool guest_copy_phys(struct pcpu *c, void *to, u64 gpa, u32 len)
{
	(void)c, (void)to;
	PROVE(len == 16 && gpa - u->ring == next && next < u->ring_len, "in order");
	PROVE(!(copied >> next / 16 & 1), "each request is copied once");
	copied |= 1ull << next / 16;
	next = (next + UNIT_REQUEST(u)) % u->ring_len;
	return any_bool();
}

/* ---- the store ---- */

static void claim_store(bool may, bool must, u32 len, u64 at, u64 value)
{
	u64 page = at & ~(QV_PAGE - 1ull);
	bool ram = the_instance.boot.num_ram && page >= the_instance.boot.ram[0].start &&
		   page + QV_PAGE - 1 < the_instance.boot.ram[0].end;

	PROVE(store.times <= may, "at most one store, by a wait request");
	PROVE(store.times || !must, "a request that is accepted is carried out");
	if (!store.times)
		return;
	PROVE(store.at == at && at % len == 0, "where Linux says, inside a page");
	PROVE(ram && store.reaches && store.owns && store.page == page, "Linux owns the page");
	PROVE(store.value == (len == 8 ? value : (0x0123456700000000 | (u32)value)),
	      "what Linux says, and no other byte");
}

/* ---- VT-d: Intel VT-d specification 3.3, 6.5.2 ---- */

static bool entries_name(u64 low, u32 i)
{
	u64 mask = (1ull << (low >> 27 & 31)) - 1;

	return !(low >> 4 & 1) || (i & ~mask) == ((low >> 32 & 0xffff) & ~mask);
}

static void claim_vtd(u64 low, u64 high, u64 e0, u64 e1)
{
	u32 asked = low >> 4 & 3, done = e0 >> 4 & 3;
	u32 i = any_u32() % QV_MON_IRTES;
	bool pasid = (low & 15) == 6, stage = the_instance.boot.iommus.stage;
	bool nested = the_instance.boot.iommus.nested && u->step == the_instance.iommu.steps;

	switch (e0 & 15) {
	case 1:
	case 7:
		PROVE((low & 15) == 1 || (low & 15) == 7, "the kind of request that Linux put");
		PROVE(!e1 && e0 == ((e0 & 15) == 1 ? 0x11 : 0x37), "all of them");
		PROVE((e0 & 15) == 1 || stage, "only in scalable mode");
		PROVE(followed.contexts, "after they were followed");
		return;
	case 2:
	case 6:
		/* where units nest, all PASIDs of a domain: Linux does not know them */
		PROVE(pasid ? stage && asked > 1 && done > 1 && (e0 & 15) == (nested ? 2 : 6) :
			      (e0 & 15) == 2, "the kind of request that Linux put, by the mode");
		pasid = (e0 & 15) == 6;
		PROVE(done && !(e0 & ~(pasid ? 0xfffffffff003full : 0xffff00ffull)) && !e1,
		      "no reserved bit");
		PROVE(done < 3 && done <= asked && (done == 1 || !((e0 ^ low) >> 16 & 0xffff)),
		      "all of the domain");
		PROVE(!pasid || !((e0 ^ low) >> 32 & 0xfffff), "and of the PASID");
		PROVE(pasid || (e0 & 0xc0) == ((low & 15) == 6 ? 0xc0 : low & 0xc0),
		      "requests under way are awaited as Linux asks");
		return;
	case 4:
		PROVE((low & 15) == 4, "the kind of request that Linux put");
		PROVE(e0 == 4 && !e1, "all entries, no reserved bit");
		PROVE(followed.contexts, "a device that Linux attaches is followed");
		PROVE(followed.times == 1 && followed.all, "they were followed");
		PROVE(!entries_name(low, i) || i - followed.first < followed.num, "all of them");
		return;
	default:
		PROVE(0, "no other request");
	}
}

/* ---- AMD-Vi: AMD I/O Virtualization Technology 3.06, 2.4 ---- */

static void claim_amdvi(u64 low, u64 high, u64 e0, u64 e1)
{
	u32 kind = low >> 60;

	switch (e0 >> 60) {
	case 2:
	case 5:
		PROVE((kind == 2 || kind == 5) && e0 << 4 >> 4 == (low & 0xffff) && !e1 &&
		      e0 >> 60 == (made ? 5 : 2), "the device of Linux, and its interrupts");
		PROVE(followed.times == 1 && followed.all && followed.bdf == (low & 0xffff),
		      "it was followed");
		return;
	case 3:
		PROVE(kind == 3 && !made, "the kind of request that Linux put");
		PROVE(!(high & 4), "no tables of virtual machines");
		PROVE(e0 << 4 >> 4 == (low & 0xffff00000000) && e1 == (high & ~0xffcull),
		      "the pages of the domain that Linux names");
		return;
	case 8:
		PROVE(kind == 8 && e0 << 4 == 0 && !e1 && !made, "all");
		return;
	default:
		PROVE(0, "no other request");
	}
}

/* ---- one request ---- */

static bool is_own_wait(u64 e0, u64 e1)
{
	u64 status = the_instance.pt_pool.pa + ((u64)(size_t)&u->status - the_instance.pt_pool.va);

	return CASE == 2 ? e0 == (1ull << 60 | 1 | status) : (u32)e0 == 0x65 && e1 == status;
}

void a_put(u64 e0, u64 e1)
{
	PROVE(u->tail == (first_tail + num) % REQUESTS && num <= 9, "one behind the other");
	PROVE(unread < REQUESTS - 1, "no request is overwritten that the unit may not have read");
	num++;
	unread++;
	if (flushing || is_own_wait(e0, e1))
		return;
	if (CASE == 1)
		claim_vtd(linux_low, linux_high, e0, e1);
	else
		claim_amdvi(linux_low, linux_high, e0, e1);
	made++;
}

static void any_unit(void)
{
	the_instance.iommu.ops = CASE == 1 ? &vtd_ops : &amdvi_ops;
	the_instance.boot.num_ram = any_bool();
	the_instance.boot.ram[0].start = any_u64();
	the_instance.boot.ram[0].end = any_u64();
	the_instance.pt_pool.va = (u64)(size_t)&the_instance;
	the_instance.pt_pool.pa = 1ull << 30;
	u->pa = REGISTERS;
	u->queue = any_u64();
	u->wide = CASE == 2 ? 0 : any_bool();
	the_instance.boot.iommus.stage = any_u32() % 3;
	u->tail = first_tail = any_u32() % REQUESTS;
	u->pending = unread = any_u32() % REQUESTS;
	u->waits = any_u32() >> 1;
	u->status = any_u32() >> 1;		/* of an earlier wait */
	ASSUME(u->status <= u->waits);
	u->remaps = any_bool();
	u->step = 1 + any_u32() % 4;
	the_instance.iommu.steps = 1 + any_u32() % 4;
	followed.contexts = u->followed = any_bool();	/* for an earlier one of these requests */
	the_instance.boot.iommus.nested = the_instance.boot.iommus.stage == 2 && any_bool();
	u->linux_irta = any_u64();
}

static void a_request(u64 low, u64 high)
{
	bool done, is_wait, stores;

	ASSUME(u->pending < MOST);			/* unit_room() comes first: case 3 */
	linux_low = low;
	linux_high = high;
	done = the_instance.iommu.ops->request(&cpu, u, low, high);
	PROVE(u->tail == (first_tail + num) % REQUESTS && u->pending == unread, "all are counted");
	PROVE(made <= 2, "one request, or two");
	if (CASE == 1) {
		is_wait = (low & 15) == 5 && !(low >> 4 & 1);
		stores = low >> 5 & 1;
		PROVE(!done || made || is_wait || (low & 15) == 3 || (low & 15) == 8,
		      "a request that is accepted is carried out");
		claim_store(is_wait && stores, done && is_wait && stores, 4, high, low >> 32);
	} else {
		is_wait = low >> 60 == 1 && !(low >> 1 & 1);
		stores = low & 1;
		PROVE(!done || is_wait || (made == 2 && (low >> 60 == 2 || low >> 60 == 5)) ||
		      (made == 1 && (low >> 60 == 3 || low >> 60 == 8)),
		      "a request that is accepted is carried out");
		claim_store(is_wait && stores, done && is_wait && stores, 8, low & 0xffffffffffff8,
			    high);
	}
}

/* ---- the queue of Linux ---- */

static bool any_request(struct pcpu *c, struct iommu_unit *unit, u64 low, u64 high)
{
	(void)c, (void)unit, (void)low, (void)high;
	PROVE(u->pending < MOST, "there is room for the requests that it needs");
	u->pending += any_bool();
	unread = u->pending;
	return any_bool();
}

static void a_tail(u32 tail)
{
	static const struct iommu_ops ops = { .tail = 0, .request = any_request };
	struct iommu_ops own = vtd_ops;
	u32 old, refused;

	own.request = ops.request;
	the_instance.iommu.ops = &own;
	u->ring = any_u64() & PT_ADDR;
	u->ring_len = UNIT_REQUEST(u) << any_u32() % 4;
	u->linux_tail = any_u32() % u->ring_len & ~(UNIT_REQUEST(u) - 1);
	old = next = u->linux_tail;
	refused = unit_queue(&cpu, u, tail);
	if (tail % UNIT_REQUEST(u) || tail >= u->ring_len) {
		PROVE(refused && !copied && u->linux_tail == old, "nothing happens");
		return;
	}
	PROVE(u->linux_tail == tail && next == tail, "all requests up to the tail");
	PROVE(refused <= 8, "each is refused once at most, and the last wait");
}

int main(void)
{
	any_unit();
	flushing = CASE != 3 && any_bool();
	if (CASE == 3)
		a_tail(any_u32());
	else if (flushing)
		the_instance.iommu.ops->flush(&cpu, u);
	else
		a_request(any_u64(), any_u64());
	return 0;
}
