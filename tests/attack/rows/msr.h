/* SPDX-License-Identifier: GPL-2.0-only */
/* Model-specific registers that reach beyond the cell: A2, A3 */
ATTACK("msr-efer-svme", msr_set_bits, 0xC0000080, 0x1000,
       "failed:msr@0xc0000080|fault:gp", "", "switches SVM on for itself (EFER.SVME)")
ATTACK("msr-efer-reserved", msr_set_bits, 0xC0000080, 0x100000000,
       "failed:msr@0xc0000080|fault:gp", "", "sets reserved bits of EFER")
ATTACK("msr-efer-lme", msr_flip_bits, 0xC0000080, 0x100,
       "failed:msr@0xc0000080|fault:gp", "", "leaves long mode while paging is on")
ATTACK("msr-microcode", msr_write, 0x79, 0x100000,
       "amd:failed:msr@0x79|intel:harmless", "", "loads microcode (Intel's register)")
ATTACK("msr-bios-sign", msr_write, 0x8B, 0,
       "amd:failed:msr@0x8b|intel:harmless", "", "changes the microcode's signature")
ATTACK("msr-apic-base-move", msr_flip_bits, 0x1B, 0x1000,
       "failed:msr@0x1b", "", "moves the APIC page over other memory")
ATTACK("msr-apic-base-off", msr_flip_bits, 0x1B, 0x800,
       "failed:msr@0x1b", "", "switches the APIC off")
ATTACK("msr-apic-base-mode", msr_flip_bits, 0x1B, 0x400,
       "failed:msr@0x1b", "", "changes the APIC's mode under the monitor")
ATTACK("msr-apic-base-bsp", msr_flip_bits, 0x1B, 0x100,
       "failed:msr@0x1b", "", "makes itself the boot CPU")
ATTACK("msr-feature-control", msr_write, 0x3A, 5,
       "failed:msr@0x3a", "", "locks virtualization (IA32_FEATURE_CONTROL)")
ATTACK("msr-misc-enable", msr_write, 0x1A0, 0,
       "amd:failed:msr@0x1a0|intel:harmless", "", "changes IA32_MISC_ENABLE")
ATTACK("msr-mtrr-base", msr_write, 0x200, 0x6,
       "harmless", "", "changes the memory types of the machine (variable MTRR)")
ATTACK("msr-mtrr-mask", msr_write, 0x201, 0x800,
       "harmless", "", "changes the memory types of the machine (MTRR mask)")
ATTACK("msr-mtrr-fixed", msr_write, 0x250, 0,
       "harmless", "", "makes low memory uncached (fixed MTRR)")
ATTACK("msr-mtrr-default", msr_write, 0x2FF, 0,
       "harmless", "", "switches the MTRRs off")
ATTACK("msr-pat-reserved", msr_write, 0x277, 0x0202020202020202,
       "fault:gp|failed:msr@0x277|failed:exit|harmless", "",
       "sets reserved memory types in its PAT")
ATTACK("msr-debugctl", msr_write, 0x1D9, 0x2,
       "failed:msr@0x1d9|harmless", "", "switches branch single-stepping on (DEBUGCTL)")
ATTACK("msr-tsc", msr_write, 0x10, 0,
       "failed:msr@0x10", "", "turns the time-stamp counter back")
ATTACK("msr-tsc-adjust", msr_write, 0x3B, 0x7FFFFFFF,
       "amd:failed:msr@0x3b|intel:harmless", "", "shifts the time-stamp counter (TSC_ADJUST)")
ATTACK("msr-mcg-status", msr_write, 0x17A, 4,
       "harmless", "", "feigns a machine check in progress")
ATTACK("msr-mcg-ctl", msr_write, 0x17B, 0,
       "amd:failed:msr@0x17b|amd:fault:gp|intel:harmless", "", "switches machine-check reports off")
ATTACK("msr-mc0-ctl", msr_write, 0x400, 0,
       "failed:msr@0x400|fault:gp", "", "switches a machine-check bank off")
ATTACK("msr-mc4-misc", msr_write, 0x413, 0xFFFFFFFFFFFF,
       "failed:msr@0x413|fault:gp", "", "sets a machine-check threshold")
ATTACK("msr-qos-mask", msr_write, 0xC90, 1,
       "failed:msr@0xc90", "", "takes the cache away from others (L3 QoS mask)")
ATTACK("msr-qos-assoc", msr_write, 0xC8F, 0x100000000,
       "failed:msr@0xc8f", "", "joins another's class of service (PQR_ASSOC)")
ATTACK("msr-power-limit", msr_write, 0x610, 0,
       "failed:msr@0x610", "", "sets the package's power limit")
ATTACK("msr-clock-modulation", msr_write, 0x19A, 0x12,
       "failed:msr@0x19a", "", "throttles the clock")
ATTACK("msr-perf-ctl", msr_write, 0x199, 0,
       "failed:msr@0x199", "", "asks for the lowest frequency")
ATTACK("msr-xss", msr_write, 0xDA0, 0xFFFFFFFF,
       "fault:gp|harmless", "", "switches on supervisor states (XSS)")
ATTACK("msr-hypervisor", msr_write, 0x40000000, 1,
       "failed:msr@0x40000000|fault:gp", "", "writes a register of another hypervisor")
ATTACK("msr-none", msr_read, 0xDEADBEEF, 0,
       "failed:msr@0xdeadbeef|fault:gp", "", "reads a register that no processor has")
ATTACK("msr-just-above-map", msr_read, 0x2000, 0,
       "failed:msr@0x2000|fault:gp", "", "reads the first register outside the permission map")
ATTACK("msr-just-below-map", msr_write, 0xBFFFFFFF, 0,
       "failed:msr@0xbfffffff|fault:gp", "",
       "writes the last register before the permission map's second part")
ATTACK("msr-x2apic-in-xapic", msr_write, 0x80B, 0,
       "fault:gp|failed:msr@0x80b|harmless", "xapic", "uses x2APIC registers in xAPIC mode")
ATTACK("msr-icr-in-xapic", msr_write, 0x830, 0x4500,
       "fault:gp|failed:msr@0x830|failed:ipi", "xapic",
       "sends an INIT through x2APIC's register in xAPIC mode")
ATTACK("msr-sweep-own", msr_sweep, 0x800, 0x82F,
       "harmless", "", "reads every x2APIC register that it may")
ATTACK("msr-left-number", msr_zero, 0xC0000103, 0,
       "harmless", "fresh", "looks which number Linux gave its CPU (TSC_AUX)")
ATTACK("msr-own-values", msr_own, 0, 0,
       "harmless", "", "fills the registers of its own with all ones: Linux's stay")
/*
 * AMD only: on Intel processors the last row of the MSR table covers these MSRs, as msr-none shows
 */
ATTACK("msr-hsave-write", msr_write, 0xC0010117, 0x1000,
       "failed:msr@0xc0010117", "amd",
       "moves the place where the processor keeps the monitor's state (VM_HSAVE_PA)")
ATTACK("msr-hsave-read", msr_read, 0xC0010117, 0,
       "failed:msr@0xc0010117", "amd", "asks where the processor keeps the monitor's state")
ATTACK("msr-vm-cr", msr_write, 0xC0010114, 0x1A,
       "failed:msr@0xc0010114", "amd", "locks SVM, redirects INIT (VM_CR)")
ATTACK("msr-syscfg", msr_write, 0xC0010010, 0x1C0000,
       "failed:msr@0xc0010010", "amd", "makes fixed MTRRs modifiable, encrypts memory (SYSCFG)")
ATTACK("msr-hwcr", msr_write, 0xC0010015, 0x1,
       "harmless", "amd", "locks SMM (HWCR)")
ATTACK("msr-iorr-base", msr_write, 0xC0010016, 0x18,
       "failed:msr@0xc0010016", "amd", "turns memory into I/O (IORR)")
ATTACK("msr-iorr-mask", msr_write, 0xC0010017, 0x800,
       "failed:msr@0xc0010017", "amd", "turns memory into I/O (IORR mask)")
ATTACK("msr-tom", msr_write, 0xC001001A, 0x100000,
       "failed:msr@0xc001001a", "amd", "says that RAM ends at 1 MiB (TOM)")
ATTACK("msr-tom2", msr_write, 0xC001001D, 0x100000000,
       "failed:msr@0xc001001d", "amd", "says that RAM ends at 4 GiB (TOM2)")
ATTACK("msr-patch-loader", msr_write, 0xC0010020, 0x100000,
       "harmless", "amd", "loads microcode (AMD)")
ATTACK("msr-smi-on-io", msr_write, 0xC0010050, 0x800000B2,
       "failed:msr@0xc0010050", "amd", "has an SMI for an I/O port")
ATTACK("msr-pstate", msr_write, 0xC0010062, 1,
       "failed:msr@0xc0010062", "amd", "slows the package down (P-state)")
ATTACK("msr-pstate-define", msr_write, 0xC0010064, 0x8000000000000000,
       "failed:msr@0xc0010064", "amd", "redefines a P-state's voltage")
ATTACK("msr-cstate", msr_write, 0xC0010073, 0x414,
       "failed:msr@0xc0010073", "amd", "moves the C-state ports")
ATTACK("msr-smm-base", msr_write, 0xC0010111, 0x100000,
       "failed:msr@0xc0010111", "amd", "moves the SMM's save area (SMBASE)")
ATTACK("msr-smm-addr", msr_write, 0xC0010112, 0,
       "failed:msr@0xc0010112", "amd", "moves the SMM's protected memory")
ATTACK("msr-smm-mask", msr_write, 0xC0010113, 0,
       "failed:msr@0xc0010113", "amd", "opens the SMM's memory")
ATTACK("msr-ignne", msr_write, 0xC0010115, 1,
       "failed:msr@0xc0010115", "amd", "ignores numeric errors (IGNNE)")
ATTACK("msr-vm-key", msr_write, 0xC0010118, 0x1234,
       "failed:msr@0xc0010118", "amd", "tries a key to unlock SVM")
ATTACK("msr-tsc-ratio", msr_write, 0xC0000104, 0x200000000,
       "failed:msr@0xc0000104", "amd", "scales the time-stamp counter")
ATTACK("msr-smca", msr_write, 0xC0002000, 0,
       "failed:msr@0xc0002000|fault:gp", "amd",
       "switches an SMCA bank off, outside the permission map")
ATTACK("msr-smca-last", msr_write, 0xC0002FFF, 0,
       "failed:msr@0xc0002fff|fault:gp", "amd", "writes the last SMCA register")
ATTACK("msr-mca-intr", msr_write, 0xC0000410, 0x20,
       "failed:msr@0xc0000410", "amd", "sets where machine-check interrupts go (MCA_INTR_CFG)")
ATTACK("msr-qos-bandwidth", msr_write, 0xC0000200, 0,
       "failed:msr@0xc0000200", "amd", "takes memory bandwidth away from others")
ATTACK("msr-perf-select", msr_write, 0xC0010200, 0x5300C0,
       "failed:msr@0xc0010200|fault:gp", "amd", "counts events, with an interrupt")
ATTACK("msr-perf-legacy", msr_write, 0xC0010000, 0x5300C0,
       "failed:msr@0xc0010000|fault:gp", "amd", "counts events through the old registers")
ATTACK("msr-ibs", msr_write, 0xC0011033, 0x20000,
       "failed:msr@0xc0011033", "amd", "samples instructions (IBS)")
ATTACK("msr-ghcb", msr_write, 0xC0010130, 0x1000,
       "failed:msr@0xc0010130", "amd", "names a page to a hypervisor (GHCB)")
/* Intel only, since on AMD processors the last row of the MSR table covers these MSRs */
ATTACK("msr-vmx-basic", msr_read, 0x480, 0,
       "failed:msr@0x480", "intel", "asks what VT-x can do")
ATTACK("msr-vmx-last", msr_read, 0x491, 0,
       "failed:msr@0x491", "intel", "asks which VM functions there are")
ATTACK("msr-smm-monitor", msr_write, 0x9B, 0x100001,
       "failed:msr@0x9b", "intel", "names a monitor above the monitor (SMM_MONITOR_CTL)")
ATTACK("msr-smm-feature", msr_write, 0x4E0, 0,
       "failed:msr@0x4e0", "intel", "lets SMM run code from anywhere (SMM_FEATURE_CONTROL)")
ATTACK("msr-smrr-base", msr_write, 0x1F2, 0x6,
       "failed:msr@0x1f2", "intel", "moves the SMM's protected memory (SMRR)")
ATTACK("msr-prmrr-mask", msr_write, 0x1F5, 0x400,
       "failed:msr@0x1f5", "intel", "moves the enclaves' memory (PRMRR)")
ATTACK("msr-seamrr", msr_write, 0x1401, 0x400,
       "failed:msr@0x1401", "intel", "moves the TDX module's memory (SEAMRR)")
ATTACK("msr-feature-activation", msr_write, 0x7A, 1,
       "harmless", "intel", "activates what new microcode brought")
ATTACK("msr-ppin", msr_write, 0x4E, 2,
       "harmless", "intel", "has the processor's serial number shown (PPIN_CTL)")
ATTACK("msr-test-ctrl", msr_write, 0x33, 0x80000000,
       "harmless", "intel", "does without the lock of split accesses (TEST_CTRL)")
ATTACK("msr-overclocking", msr_write, 0x150, 0x8000001100000000,
       "failed:msr@0x150", "intel", "lowers the package's voltage (OC mailbox)")
ATTACK("msr-feature-config", msr_write, 0x13C, 0x3,
       "failed:msr@0x13c", "intel", "switches AES off permanently (FEATURE_CONFIG)")
ATTACK("msr-tsx-ctrl", msr_write, 0x122, 0x3,
       "harmless", "intel", "switches transactions off (TSX_CTRL)")
ATTACK("msr-mcu-opt", msr_write, 0x123, 0x9,
       "harmless", "intel", "switches mitigations off (MCU_OPT_CTRL)")
ATTACK("msr-arch-capabilities", msr_write, 0x10A, 0,
       "failed:msr@0x10a", "intel", "says that the processor leaks nothing (ARCH_CAPABILITIES)")
ATTACK("msr-cpuid-fault", msr_write, 0x140, 1,
       "harmless", "intel", "has CPUID fault in user mode (MISC_FEATURES_ENABLES)")
ATTACK("msr-platform-info", msr_write, 0xCE, 0,
       "failed:msr@0xce", "intel", "changes what clocks the platform has (PLATFORM_INFO)")
ATTACK("msr-package-sleep", msr_write, 0xE2, 0x8,
       "harmless", "intel", "lets the package sleep deeper (PKG_CST_CONFIG_CONTROL)")
ATTACK("msr-io-capture", msr_write, 0xE4, 0x20414,
       "failed:msr@0xe4", "intel", "moves the ports that put a CPU to sleep (PMG_IO_CAPTURE_BASE)")
ATTACK("msr-umwait", msr_write, 0xE1, 0x1,
       "harmless", "intel", "forbids the deeper doze (UMWAIT_CONTROL)")
ATTACK("msr-power-ctl", msr_write, 0x1FC, 0,
       "harmless", "intel", "changes C1E and PROCHOT for the package (POWER_CTL)")
ATTACK("msr-turbo-limit", msr_write, 0x1AD, 0x0808080808080808,
       "failed:msr@0x1ad", "intel", "lowers the turbo of all cores")
ATTACK("msr-temperature-target", msr_write, 0x1A2, 0x3F000000,
       "failed:msr@0x1a2", "intel", "has the package throttled when it is cool")
ATTACK("msr-hwp-enable", msr_write, 0x770, 1,
       "failed:msr@0x770", "intel", "switches hardware P-states on, until reset")
ATTACK("msr-hwp-request-package", msr_write, 0x772, 0x80000101,
       "failed:msr@0x772", "intel", "asks for the lowest performance of all cores")
ATTACK("msr-uncore-ratio", msr_write, 0x620, 0x0808,
       "failed:msr@0x620", "intel", "slows the cache that all share")
ATTACK("msr-thermal-interrupt", msr_write, 0x19B, 0x13,
       "failed:msr@0x19b", "intel", "has thermal interrupts")
ATTACK("msr-energy-bias", msr_write, 0x1B0, 15,
       "failed:msr@0x1b0", "intel", "asks to save energy")
ATTACK("msr-prefetchers", msr_write, 0x1A4, 0xF,
       "failed:msr@0x1a4", "intel", "switches prefetchers off, a sibling's too")
ATTACK("msr-mc-ctl2", msr_write, 0x280, 0x40000001,
       "failed:msr@0x280", "intel", "has corrected errors reported to it (MC0_CTL2)")
ATTACK("msr-perf-select-intel", msr_write, 0x186, 0x7300C0,
       "failed:msr@0x186", "intel", "counts a sibling's events, with an interrupt")
ATTACK("msr-perf-global", msr_write, 0x38F, 0x70000000F,
       "failed:msr@0x38f", "intel", "starts all counters (PERF_GLOBAL_CTRL)")
ATTACK("msr-perf-fixed", msr_write, 0x38D, 0xBBB,
       "failed:msr@0x38d", "intel", "starts the fixed counters")
ATTACK("msr-offcore", msr_write, 0x1A6, 0xFFFF,
       "failed:msr@0x1a6", "intel", "counts other cores' memory traffic")
ATTACK("msr-pebs-enable", msr_write, 0x3F1, 0xF,
       "failed:msr@0x3f1", "intel", "has samples written to memory (PEBS_ENABLE)")
ATTACK("msr-pebs-base", msr_write, 0x3F4, 0x40000000,
       "failed:msr@0x3f4", "intel", "has samples written to a physical address (PEBS_BASE)")
ATTACK("msr-ds-area", msr_write, 0x600, 0x40000000,
       "failed:msr@0x600", "intel", "has samples and branches written to an address (DS_AREA)")
ATTACK("msr-lbr-select", msr_write, 0x1C8, 0,
       "failed:msr@0x1c8", "intel", "records branches (LBR_SELECT)")
ATTACK("msr-lbr-from", msr_read, 0x680, 0,
       "failed:msr@0x680", "intel", "reads a recorded branch")
ATTACK("msr-lbr-ctl", msr_write, 0x14CE, 1,
       "failed:msr@0x14ce", "intel", "records branches (ARCH_LBR_CTL)")
ATTACK("msr-rtit-output", msr_write, 0x560, 0x40000000,
       "failed:msr@0x560", "intel", "has its trace written to Linux's memory (RTIT_OUTPUT_BASE)")
ATTACK("msr-rtit-ctl", msr_write, 0x570, 0x2005,
       "failed:msr@0x570", "intel", "starts a trace (RTIT_CTL)")
ATTACK("msr-hfi-pointer", msr_write, 0x17D0, 0x40000001,
       "failed:msr@0x17d0", "intel",
       "has the package write a table to Linux's memory (HW_FEEDBACK_PTR)")
ATTACK("msr-uintr-table", msr_write, 0x98A, 0x40000001,
       "failed:msr@0x98a", "intel",
       "names a table of interrupts that user programs send (UINTR_TT)")
ATTACK("msr-l2-mask", msr_write, 0xD10, 1,
       "failed:msr@0xd10", "intel", "takes the second-level cache away from others")
ATTACK("msr-mba", msr_write, 0xD50, 90,
       "failed:msr@0xd50", "intel", "takes memory bandwidth away from others")
ATTACK("msr-qos-cfg", msr_write, 0xC81, 1,
       "failed:msr@0xc81", "intel", "divides the cache into code and data (L3_QOS_CFG)")
ATTACK("msr-debug-interface", msr_write, 0xC80, 1,
       "failed:msr@0xc80", "intel", "lets a debugger in below everything")
ATTACK("msr-tme", msr_write, 0x982, 0x1,
       "failed:msr@0x982", "intel", "switches memory encryption on (TME_ACTIVATE)")
ATTACK("msr-key-locker-copy", msr_write, 0xD91, 1,
       "failed:msr@0xd91", "intel", "copies its wrapping key to the platform")
ATTACK("msr-sgx-hash", msr_write, 0x8C, 0,
       "failed:msr@0x8c", "intel", "says whose enclaves may be launched")
ATTACK("msr-scan", msr_write, 0x2C6, 0x100,
       "failed:msr@0x2c6", "intel", "takes the core away for a test (in-field scan)")
ATTACK("msr-shadow-stack", msr_write, 0x6A2, 1,
       "failed:msr@0x6a2", "intel", "switches supervisor shadow stacks on (S_CET)")
ATTACK("msr-core-count", msr_read, 0x35, 0,
       "failed:msr@0x35", "intel", "asks how many threads the package has")
