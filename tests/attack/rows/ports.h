/* SPDX-License-Identifier: GPL-2.0-only */
/* I/O ports: A11. The cell has none of its own. */
ATTACK("port-reset-keyboard", port_out, 0x64, 0xFE,
       "failed:port@0x64", "", "pulses the reset line through the keyboard controller")
ATTACK("port-reset-cf9", port_out, 0xCF9, 0x06,
       "failed:port@0xcf9", "", "resets the machine through the chipset")
ATTACK("port-reset-92", port_out, 0x92, 0x01,
       "failed:port@0x92", "", "fast reset through system control port A")
ATTACK("port-nmi-61", port_out, 0x61, 0x0C,
       "failed:port@0x61", "", "switches the board's NMI sources")
ATTACK("port-nmi-cmos", port_out, 0x70, 0x8F,
       "failed:port@0x70", "", "masks NMIs through the CMOS index")
ATTACK("port-cmos", port_out, 0x71, 0,
       "failed:port@0x71", "", "writes the CMOS")
ATTACK("port-smi", port_out, 0xB2, 0x01,
       "failed:port@0xb2", "", "an SMI through the APM port: runs firmware above the monitor")
ATTACK("port-smi-status", port_out, 0xB3, 0,
       "failed:port@0xb3", "", "the SMI's scratch register")
ATTACK("port-pm1-control", port_out16, 0x604, 0x3400,
       "failed:port@0x604", "", "switches the machine off (PM1 control)")
ATTACK("port-pm1-status", port_out16, 0x600, 0xFFFF,
       "failed:port@0x600", "", "clears ACPI's events")
ATTACK("port-gpe", port_out, 0x620, 0xFF,
       "failed:port@0x620", "", "clears ACPI's general-purpose events")
ATTACK("port-smi-enable", port_out32, 0x630, 0,
       "failed:port@0x630", "", "switches the chipset's SMIs off and on")
ATTACK("port-pm-timer", port_in32, 0x608, 0,
       "failed:port@0x608", "", "reads the PM timer")
ATTACK("port-pic", port_out, 0x20, 0x11,
       "failed:port@0x20", "", "sets the PIC up again")
ATTACK("port-pic-slave", port_out, 0xA1, 0,
       "failed:port@0xa1", "", "opens all lines of the second PIC")
ATTACK("port-elcr", port_out, 0x4D0, 0xFF,
       "failed:port@0x4d0", "", "makes interrupts level-triggered")
ATTACK("port-pit", port_out, 0x43, 0x34,
       "failed:port@0x43", "", "sets the PIT up again")
ATTACK("port-dma", port_out, 0x08, 0x04,
       "failed:port@0x8", "", "commands the DMA controller")
ATTACK("port-dma-page", port_out, 0x87, 0,
       "failed:port@0x87", "", "aims the DMA controller")
ATTACK("port-post", port_out, 0x80, 0xAA,
       "failed:port@0x80", "", "writes the POST code")
ATTACK("port-serial", port_out, 0x3F8, 0x41,
       "failed:port@0x3f8", "", "writes to Linux's console")
ATTACK("port-keyboard", port_in, 0x60, 0,
       "failed:port@0x60", "", "reads Linux's keyboard")
ATTACK("port-vga", port_out, 0x3C4, 0,
       "failed:port@0x3c4", "", "programs the graphics adapter")
ATTACK("port-firmware", port_out16, 0x510, 0,
       "failed:port@0x510", "", "asks the emulator's firmware configuration")
ATTACK("port-high", port_out, 0xFFFF, 0,
       "failed:port@0xffff", "", "the last port")
ATTACK("port-wrap", port_out32, 0xFFFF, 0,
       "failed:port@0xffff", "", "four bytes from the last port on")
ATTACK("port-straddle", port_out32, 0xCF6, 0x06060606,
       "failed:port@0xcf6", "", "four bytes that cover the reset register")
ATTACK("port-string-out", port_rep_out, 0x3F8, 64,
       "failed:port@0x3f8", "", "a string of bytes to a port")
ATTACK("port-string-in", port_rep_in, 0x60, 64,
       "failed:port@0x60", "", "a string of bytes from a port, into the info page")
ATTACK("port-pci-address", port_out32, 0xCF8, 0x80000004,
       "failed:port@0xcf8|harmless", "", "names a PCI register")
ATTACK("port-pci-data", port_pci_write, 0x80000004, 0xFFFFFFFF,
       "failed:port@0xcf8|failed:port@0xcfc|harmless", "",
       "enables everything in the host bridge (A10)")
ATTACK("port-pci-bar", port_pci_write, 0x8000FA20, 0x00B00000,
       "failed:port@0xcf8|failed:port@0xcfc|harmless", "",
       "moves a BAR of Linux's disk controller (A10)")
ATTACK("port-pci-half", port_out, 0xCFA, 0xFA,
       "failed:port@0xcfa|harmless", "", "half of a PCI address (A10)")
ATTACK("port-pci-scan", port_pci_scan, 0, 0,
       "failed:port@0xcf8|harmless", "", "looks for devices: there are none (A10)")
ATTACK("port-user", port_user, 0xCF9, 0x06,
       "failed:port@0xcf9", "", "resets the machine with I/O privilege level 3")
