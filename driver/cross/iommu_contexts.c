// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether the monitor can replace the tables of contexts that Linux has for a VT-d unit. Pure: the
 * host tests run this code.
 */
#include "abi/limits.h"
#include "cross/iommu_contexts.h"

#define CONTEXT_TYPE(low)	((low) >> 2 & 3)
#define CONTEXT_DOMAIN(high)	((high) >> 8 & 0xffff)
enum { CONTEXT_TABLE, CONTEXT_CACHED, CONTEXT_IDENTITY };	/* types */
/* Scalable mode */
#define CONTEXT_ATS		(1ull << 2)
#define CONTEXT_PRI		(1ull << 4)
#define CONTEXT_DIRECTORY(low)	(128u << ((low) >> 9 & 7))	/* tables of PASIDs */
#define CONTEXT_PASID(high)	((high) & 0xfffff)		/* of accesses without one */
#define PASID_TYPE(low)		((low) >> 6 & 7)
#define PASID_DOMAIN(high)	((high) & 0xffff)
enum { PASID_SECOND = 2, PASID_IDENTITY = 4 };
#define PASIDS	"a device uses tables of processes or virtual machines (end these)"

/* Registers: Intel VT-d specification 3.3, 11.4 */
#define CAP_RWBF		(1ull << 4)
#define CAP_CM			(1ull << 7)
#define CAP_LEVELS4		(1ull << 10)
#define CAP_BITS(cap)		(((cap) >> 16 & 0x3f) + 1)
#define CAP_PAGE2M		(1ull << 34)
#define ECAP_QUEUE		(1ull << 1)
#define ECAP_NEST		(1ull << 26)
#define ECAP_PASID_BITS(ecap)	(((ecap) >> 35 & 0x1f) + 1)
#define ECAP_RID_PASID		(1ull << 49)	/* accesses without a PASID may use any */
#define NESTED_BITS		17		/* of PASIDs, in the directory of the monitor */
#define TABLE_BITS		47		/* of addresses in all tables of the monitor */

const char *iommu_check_capabilities(u64 cap, u64 ecap, u64 top)
{
	u32 bits = CAP_BITS(cap) < TABLE_BITS ? CAP_BITS(cap) : TABLE_BITS;

	if (!(ecap & ECAP_QUEUE) || !(cap & CAP_LEVELS4) || !(cap & CAP_PAGE2M) ||
	    CAP_DOMAINS(cap) < 4 * QV_INSTANCES || cap & CAP_RWBF || (top - 1) >> bits)
		return "a unit of the IOMMU lacks a queue, four levels of tables, pages of 2 MiB, "
		       "domains, or address bits";
	if (cap & CAP_CM)
		return "a unit of the IOMMU is emulated by a hypervisor that caches "
		       "missing entries (caching mode)";
	return NULL;
}

const char *iommu_check_nested(u64 ecap, u32 stage, const struct iommu_contexts *found)
{
	if (stage != 2 || !(ecap & ECAP_NEST) || !(ecap & ECAP_RID_PASID) ||
	    ECAP_PASID_BITS(ecap) < NESTED_BITS)
		return IOMMU_TRANSLATES;
	if (found->second)
		return "Linux translates addresses of a device by tables of the second stage, "
		       "which a unit cannot nest in the monitor's table (try iommu=pt)";
	return NULL;
}

/* Returns why the entry cannot be replaced, or NULL */
static const char *check_context(const u64 *context, u32 domain, struct iommu_contexts *found)
{
	if (CONTEXT_TYPE(context[0]) == CONTEXT_IDENTITY)
		return NULL;
	found->translated = true;
	if (CONTEXT_TYPE(context[0]) != CONTEXT_TABLE)
		return "a device translates addresses itself (try pci=noats)";
	if (CONTEXT_DOMAIN(context[1]) >= domain)
		return "Linux uses too many tables for devices (try iommu=pt)";
	return NULL;
}

/* The same in scalable mode, where a table has the entries of 64 PASIDs. 0 means: without PASID */
static const char *check_pasids(iommu_table *table, const u64 *context, u32 domain,
				struct iommu_contexts *found)
{
	const u64 *directory = table(context[0]), *entry;
	u32 i, pasid;

	if (context[0] & (CONTEXT_ATS | CONTEXT_PRI))
		return "a device translates addresses itself (try pci=noats)";
	if (CONTEXT_PASID(context[1]))
		return PASIDS;
	for (i = 0; i < CONTEXT_DIRECTORY(context[0]); i++) {
		if (!(directory[i] & 1))
			continue;
		entry = table(directory[i]);
		for (pasid = 0; pasid < 64; pasid++, entry += 8) {
			if (!(entry[0] & 1) ||
			    (!i && !pasid && PASID_TYPE(entry[0]) == PASID_IDENTITY))
				continue;
			found->translated = true;
			found->second |= PASID_TYPE(entry[0]) == PASID_SECOND;
			if (i || pasid || PASID_TYPE(entry[0]) > PASID_SECOND)
				return PASIDS;
			if (PASID_DOMAIN(entry[1]) >= domain)
				return "Linux uses too many tables for devices (try iommu=pt)";
		}
	}
	return NULL;
}

const char *iommu_check_contexts(iommu_table *table, u64 rtaddr, u32 domain,
				 struct iommu_contexts *found)
{
	const u64 *root = table(rtaddr), *context;
	u32 len = rtaddr & RTADDR_SCALABLE ? 4 : 2, i, j;
	const char *why = NULL;

	for (i = 0; i < 512; i += 4 / len) {
		if (!(root[i] & 1))
			continue;
		context = table(root[i]);
		found->tables++;
		for (j = 0; !why && j < 512; j += len)
			if (context[j] & 1)
				why = len == 4 ?
				      check_pasids(table, context + j, domain, found) :
				      check_context(context + j, domain, found);
	}
	return why;
}
