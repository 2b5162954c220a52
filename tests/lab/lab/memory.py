# SPDX-License-Identifier: GPL-2.0-only
"""How much memory the Linux of a machine has."""

# Prints the sum of free memory and of memory that Linux accounts for: programs, files, slabs,
# stacks, page tables. This sum becomes stable over many rounds. Other allocations of whole pages
# are not included. MemAvailable and free(1) are not used, since they leave out the free pages in
# the lists of the CPUs, which are 20 to 50 MiB and vary.
PAGES_KIB = """awk '
    /^(MemFree|Active|Inactive|Unevictable|Slab|KernelStack|PageTables|Percpu):/ { kib += $2 }
    $1 == "count:" { kib += 4 * $2 }
    END { printf "%d", kib }' /proc/meminfo /proc/zoneinfo"""
