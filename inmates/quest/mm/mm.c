// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/apic.h>
#include <inmate/pc.h>
#include <qv/cell.h>
#include "mm.h"
#include "pages.h"
#include "paging.h"

#define PTE_DATA	(PTE_WRITE | PTE_NO_EXECUTE)
#define PTE_DEVICE	(PTE_DATA | PTE_UNCACHED)

/* end of memory that is not used, since it contains firmware data and the text window */
#define LOW_MEMORY	0x100000ull

/* Sections of the image, from the linker script. */
extern char image_start[], image_rodata[], image_data[], image_end[];
/* From boot/start.S: the guard is the page below the stack. */
extern char boot_guard[], boot_stack[];

static uint64_t top_of(const struct boot_info *boot)
{
	uint64_t top = 0;
	unsigned int i;

	for (i = 0; i < boot->num_ram; i++)
		if (boot->ram[i].end > top)
			top = boot->ram[i].end;
	return top;
}

/* Returns the lowest address above the image and the modules with room for `size` bytes. */
static uint64_t behind_everything(const struct boot_info *boot)
{
	uint64_t at = (uintptr_t)image_end;
	unsigned int i;

	for (i = 0; i < boot->num_modules; i++)
		if (boot->modules[i].end > at)
			at = boot->modules[i].end;
	return (at + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
}

static bool in_ram(const struct boot_info *boot, uint64_t start, uint64_t end)
{
	unsigned int i;

	for (i = 0; i < boot->num_ram; i++)
		if (boot->ram[i].start <= start && end <= boot->ram[i].end)
			return true;
	return false;
}

static bool init_pool(const struct boot_info *boot)
{
	uint64_t top = top_of(boot), bitmap = behind_everything(boot);
	uint64_t bitmap_end = bitmap + pages_bitmap_size(top);
	unsigned int i;

	if (!in_ram(boot, bitmap, bitmap_end))
		return false;
	pages_init((uint64_t *)bitmap, top);
	for (i = 0; i < boot->num_ram; i++)
		pages_release(boot->ram[i].start, boot->ram[i].end);
	pages_reserve(0, LOW_MEMORY);
	pages_reserve((uintptr_t)image_start, (uintptr_t)image_end);
	pages_reserve(bitmap, bitmap_end);
	for (i = 0; i < boot->num_modules; i++)
		pages_reserve(boot->modules[i].start, boot->modules[i].end);
	return true;
}

/*
 * Maps all memory with two exceptions. The first page stays unmapped, so that a null pointer
 * faults. The image is mapped separately, with its own rights.
 */
static bool map_ram(const struct boot_info *boot)
{
	uint64_t low = (uintptr_t)image_start, high = (uintptr_t)image_end, start, end;
	unsigned int i;

	for (i = 0; i < boot->num_ram; i++) {
		start = boot->ram[i].start ? boot->ram[i].start : PAGE_SIZE;
		end = boot->ram[i].end & ~(PAGE_SIZE - 1);
		if (start < low && !map_identity(start, end < low ? end : low, PTE_DATA))
			return false;
		if (end > high && !map_identity(start > high ? start : high, end, PTE_DATA))
			return false;
	}
	return true;
}

static bool map_image(void)
{
	uint64_t text = (uintptr_t)image_start, rodata = (uintptr_t)image_rodata;
	uint64_t data = (uintptr_t)image_data, guard = (uintptr_t)boot_guard;

	return map_identity(text, rodata, 0) && map_identity(rodata, data, PTE_NO_EXECUTE) &&
	       map_identity(data, guard, PTE_DATA) &&
	       map_identity((uintptr_t)boot_stack, (uintptr_t)image_end, PTE_DATA);
}

static bool map_devices(const struct mm_options *options)
{
	if (!map_identity(QV_SCREEN_GPA, QV_STREAM_GPA + QV_STREAM_LEN, PTE_DATA))
		return false;
	if (!options->x2apic && !map_identity(APIC_PAGE, APIC_PAGE + PAGE_SIZE, PTE_DEVICE))
		return false;
	return !options->alone || map_identity(IOAPIC_PAGE, IOAPIC_PAGE + PAGE_SIZE, PTE_DEVICE);
}

bool mm_init(const struct boot_info *boot, const struct mm_options *options)
{
	if (!init_pool(boot) || !paging_init(options->no_execute) || !map_ram(boot) ||
	    !map_image() || !map_devices(options))
		return false;
	paging_activate(options->global);
	return true;
}
