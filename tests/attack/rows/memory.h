/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory outside the cell: A1, A17, A19 */
ATTACK("mem-read-past-end", mem_read_past_end, 0, 0,
       "failed:memory@0x400000", "", "reads the first byte after its RAM")
ATTACK("mem-write-past-end", mem_write_past_end, 0, 0x5A,
       "failed:memory@0x400000", "", "writes the first byte after its RAM")
ATTACK("mem-straddle-end", mem_straddle_end, 4, 0x5A,
       "failed:memory@0x400000", "", "writes eight bytes, of which four are its own")
ATTACK("mem-read-16m", mem_read, 0x1000000, 0,
       "failed:memory@0x1000000", "", "reads where Linux has its kernel")
ATTACK("mem-write-1g", mem_write, 0x40000000, 0,
       "failed:memory@0x40000000", "",
       "writes at 1 GiB: Linux's RAM, another cell's, the monitor's")
ATTACK("mem-read-pci-hole", mem_read, 0xC0000000, 0,
       "failed:memory@0xc0000000", "", "reads the hole for PCI devices")
ATTACK("mem-read-ecam", mem_read, 0xB0000000, 0,
       "failed:memory@0xb0000000", "", "reads PCI configuration space as memory")
ATTACK("mem-read-ioapic", mem_read, 0xFEC00000, 0,
       "failed:memory@0xfec00000", "", "reads the IOAPIC")
ATTACK("mem-write-ioapic", mem_write, 0xFEC00000, 0x10,
       "failed:memory@0xfec00000", "", "writes the IOAPIC's index register")
ATTACK("mem-write-hpet", mem_write, 0xFED00010, 0,
       "failed:memory@0xfed00010", "", "stops the HPET, Linux's clock")
ATTACK("mem-write-msi", mem_write, 0xFEE01000, 0x4500,
       "failed:memory@0xfee01000", "",
       "writes a message-signalled interrupt for CPU 1 as a device would")
ATTACK("mem-read-apic-x2", mem_read, 0xFEE00020, 0,
       "failed:memory@0xfee00020", "x2apic", "reads the xAPIC page of a machine in x2APIC mode")
ATTACK("mem-write-rom", mem_write, 0xFFFFFFF0, 0,
       "failed:memory@0xfffffff0", "", "writes the firmware's reset vector")
ATTACK("mem-read-4g", mem_read, 0x100000000, 0,
       "failed:memory@0x100000000", "", "reads at 4 GiB")
ATTACK("mem-read-1t", mem_read, 0xFFFFFFF000, 0,
       "failed:memory@0xfffffff000", "", "reads the last page that the processor can name")
ATTACK("mem-read-beyond-phys", mem_entry, 0x8000000000000, 3,
       "fault:pf", "", "names a physical address that no wire carries")
ATTACK("mem-reserved-bits", mem_entry, 0xFF000000000000, 3,
       "fault:pf", "", "sets reserved bits in a page table entry")
ATTACK("mem-idt-foreign", mem_idt, 0xFEC00000, 0,
       "failed:memory", "", "puts its interrupt table into the IOAPIC and traps")
ATTACK("mem-cr3-foreign", mem_cr3, 0x7F000000, 0,
       "failed:memory|failed:triple-fault", "", "takes Linux's RAM for its page tables")
/* On AMD only: Bochs ends when a processor walks tables there (reads of 64 bits) */
ATTACK("mem-cr3-apic", mem_cr3, 0xFEE00000, 0,
       "failed:memory|failed:triple-fault|failed:ipi", "amd", "takes the APIC for its page tables")
ATTACK("mem-pdpt-foreign", mem_table, 0x7F000000, 0,
       "failed:memory", "", "has a table of the third level in Linux's RAM")
ATTACK("mem-pd-foreign", mem_table, 0x40000000, 1,
       "failed:memory", "", "has a table of the second level in Linux's RAM")
ATTACK("mem-stack-foreign", mem_stack, 0x20000000, 0,
       "failed:memory", "", "pushes onto a stack in Linux's RAM")
ATTACK("mem-execute-foreign", mem_execute, 0x1000000, 0,
       "failed:memory@0x1000000", "", "calls Linux's code")
ATTACK("mem-execute-screen", mem_execute_shared, 0xB8FF0, 0,
       "failed:memory@0xb8ff0", "", "executes from the screen, which Linux shares")
ATTACK("mem-execute-comm", mem_execute_shared, 0xBAF00, 0,
       "failed:memory@0xbaf00", "", "executes from the comm page, which Linux shares")
ATTACK("mem-execute-stream", mem_execute_shared, 0xBFFF0, 0,
       "failed:memory@0xbfff0", "", "executes from the stream, which Linux shares")
ATTACK("mem-execute-info", mem_execute, 0xB9000, 0,
       "failed:memory@0xb9000", "", "executes the info page")
ATTACK("mem-write-info", mem_write, 0xB9000, 0,
       "failed:memory@0xb9000", "", "writes the info page")
ATTACK("mem-atomic-foreign", mem_atomic, 0x30000000, 0,
       "failed:memory@0x30000000", "", "a locked increment of Linux's RAM")
ATTACK("mem-string-foreign", mem_string, 0x3FFFF0, 64,
       "failed:memory@0x400000", "", "a string instruction that runs out of its RAM")
ATTACK("mem-types", mem_types, 0, 0,
       "harmless", "", "maps its RAM with every memory type")
ATTACK("mem-pattern", mem_leave_pattern, 0, 0,
       "harmless", "fresh", "fills its RAM and is destroyed: the next one looks for it")
ATTACK("mem-zeros", mem_zeros, 0, 0,
       "harmless", "fresh", "looks for data that another cell left in its RAM (A19)")
ATTACK("mem-pattern-fails", mem_leave_pattern, 1, 0,
       "failed:memory", "fresh", "fills its RAM and fails: the next one looks for it")
ATTACK("mem-zeros-again", mem_zeros, 0, 0,
       "harmless", "fresh", "looks for data that a failed cell left in its RAM")
