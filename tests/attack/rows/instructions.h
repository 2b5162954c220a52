/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions and control registers: A4, A5, A6, A12, A18 */
/* AMD only: Intel processors do not know these instructions and raise #UD without an exit */
ATTACK("ins-vmrun", ins_vmrun, 0x3000, 0,
       "fault:ud", "amd", "runs a guest of its own")
ATTACK("ins-vmload", ins_vmload, 0x3000, 0,
       "fault:ud", "amd", "loads the processor's hidden state")
ATTACK("ins-vmsave", ins_vmsave, 0x7F000000, 0,
       "fault:ud", "amd", "saves the processor's hidden state into Linux's RAM")
ATTACK("ins-stgi", ins_stgi, 0, 0,
       "fault:ud", "amd", "sets the global interrupt flag")
ATTACK("ins-clgi", ins_clgi, 0, 0,
       "fault:ud", "amd", "clears the global interrupt flag: no NMI would come through")
ATTACK("ins-skinit", ins_skinit, 0x100000, 0,
       "fault:ud|failed:instruction", "amd",
       "starts a secure loader, which would reset the machine's trust")
ATTACK("ins-invlpga", ins_invlpga, 0x100000, 1,
       "fault:ud", "amd", "drops translations of another address space")
ATTACK("ins-invlpgb", ins_invlpgb, 0, 0,
       "fault:ud|fault:gp|failed:instruction", "amd",
       "drops translations on all CPUs of the machine")
ATTACK("ins-tlbsync", ins_tlbsync, 0, 0,
       "fault:ud|fault:gp|failed:instruction", "amd", "waits for other CPUs")
/* VT-x only: AMD processors do not know these instructions (both try VMXON, VMCALL and VMMCALL) */
ATTACK("ins-vmclear", ins_vmclear, 0x3000, 0,
       "fault:ud", "intel", "puts a control structure into its memory")
ATTACK("ins-vmclear-foreign", ins_vmclear, 0x40000000, 0,
       "fault:ud", "intel", "puts a control structure into Linux's memory")
ATTACK("ins-vmptrld", ins_vmptrld, 0x3000, 0,
       "fault:ud", "intel", "makes a control structure its own")
ATTACK("ins-vmptrst", ins_vmptrst, 0, 0,
       "fault:ud", "intel", "asks where the monitor's control structure is")
ATTACK("ins-vmread", ins_vmread, 0x6C16, 0,
       "fault:ud", "intel", "reads the monitor's control structure: where exits go")
ATTACK("ins-vmwrite", ins_vmwrite, 0x6C16, 0,
       "fault:ud", "intel", "writes the monitor's control structure: where exits go")
ATTACK("ins-vmlaunch", ins_vmlaunch, 0, 0,
       "fault:ud", "intel", "starts a guest of its own")
ATTACK("ins-vmresume", ins_vmresume, 0, 0,
       "fault:ud", "intel", "resumes a guest of its own")
ATTACK("ins-vmxoff", ins_vmxoff, 0, 0,
       "fault:ud", "intel", "switches VT-x off under the monitor")
ATTACK("ins-invept", ins_invept, 2, 0,
       "fault:ud", "intel", "drops nested translations of all guests")
ATTACK("ins-invvpid", ins_invvpid, 2, 0,
       "fault:ud", "intel", "drops translations of all guests")
ATTACK("ins-vmfunc", ins_vmfunc, 0, 0,
       "fault:ud", "intel", "changes its nested tables for others (VMFUNC)")
ATTACK("ins-getsec", ins_getsec, 0, 0,
       "fault:ud|fault:gp", "intel", "asks for a measured launch (GETSEC)")
ATTACK("ins-encls", ins_encls, 0, 0,
       "fault:ud|fault:gp|fault:pf", "intel", "makes an enclave (ENCLS)")
ATTACK("ins-enclv", ins_enclv, 0, 0,
       "fault:ud|fault:gp", "intel", "gives enclaves away (ENCLV)")
ATTACK("ins-pconfig", ins_pconfig, 0, 0,
       "fault:ud|fault:gp", "intel", "programs memory encryption keys (PCONFIG)")
ATTACK("ins-seamcall", ins_seamcall, 0, 0,
       "fault:ud|fault:gp|failed:exit", "intel", "calls the TDX module (SEAMCALL)")
ATTACK("ins-tdcall", ins_tdcall, 0, 0,
       "fault:ud|failed:exit", "intel", "calls as a TDX guest (TDCALL)")
/* Hypercalls, by the instruction of the processor's vendor */
ATTACK("ins-call-0", ins_call, 0, 0,
       "fault:ud|harmless", "", "calls the monitor as Linux's driver does: no operation")
ATTACK("ins-call-create", ins_call, 0x12, 0x100000,
       "fault:ud|harmless", "", "calls the monitor with a number that only Linux's side might have")
ATTACK("ins-call-stop", ins_call, 4, 1,
       "fault:ud|harmless", "", "calls the monitor as Linux's driver does: stop the witness")
ATTACK("ins-call-reclaim", ins_call, 5, 1,
       "fault:ud|harmless", "", "calls the monitor as Linux's driver does: destroy the witness")
ATTACK("ins-call-lock", ins_call_lock, 0, 0,
       "fault:ud", "", "locks management without leave to do so, so that it could never be stopped")
ATTACK("ins-call-sweep", ins_call_sweep, 0, 0,
       "harmless", "", "calls the monitor with every number up to 4,096, and odd ones")
ATTACK("ins-vmmcall", ins_vmmcall, 0, 0,
       "fault:ud|harmless", "", "calls an AMD hypervisor")
ATTACK("ins-vmcall", ins_vmcall, 0, 0,
       "fault:ud|harmless", "", "calls an Intel hypervisor")
ATTACK("ins-vmxon", ins_vmxon, 0x3000, 0,
       "fault:ud", "", "switches VT-x on")
/*
 * At CPL 3 each of these instructions is an exception in the program, and never a service. (QEMU
 * exits for INVD before it checks the level. Then nothing happens, and the program continues to its
 * division.)
 */
ATTACK("ins-user-vmmcall", ins_user, 0xD9010F, 3,
       "fault:ud|fault:gp", "", "calls the monitor from level 3 (AMD's instruction)")
ATTACK("ins-user-vmcall", ins_user, 0xC1010F, 3,
       "fault:ud|fault:gp", "", "calls the monitor from level 3 (Intel's instruction)")
ATTACK("ins-user-vmxon", ins_user, 0x30C70FF3, 4,
       "fault:ud|fault:gp", "", "switches VT-x on from level 3")
ATTACK("ins-user-vmread", ins_user, 0xC0780F, 3,
       "fault:ud|fault:gp", "", "reads the monitor's control structure from level 3")
ATTACK("ins-user-vmlaunch", ins_user, 0xC2010F, 3,
       "fault:ud|fault:gp", "", "starts a guest from level 3")
ATTACK("ins-user-vmrun", ins_user, 0xD8010F, 3,
       "fault:ud|fault:gp", "", "runs a guest from level 3")
ATTACK("ins-user-invd", ins_user, 0x080F, 2,
       "fault:gp|amd:fault:de", "", "throws away caches from level 3")
ATTACK("ins-user-xsetbv", ins_user, 0xD1010F, 3,
       "fault:ud|fault:gp", "", "sets extended states from level 3")
ATTACK("ins-user-rdmsr", ins_user, 0x320F, 2,
       "fault:ud|fault:gp", "", "reads a register of the model's from level 3")
ATTACK("ins-user-port", ins_user, 0x60E4, 2,
       "fault:ud|fault:gp", "", "reads a port from level 3")
ATTACK("ins-user-hlt", ins_user, 0xF4, 1,
       "fault:ud|fault:gp", "", "halts from level 3")
ATTACK("ins-invd", ins_invd, 0, 0,
       "harmless|fault:gp|failed:instruction", "",
       "throws away what caches hold and memory does not")
ATTACK("ins-wbinvd", ins_wbinvd_loop, 1000, 0,
       "harmless|fault:gp|failed:instruction", "", "flushes all caches repeatedly")
ATTACK("ins-xsetbv-0", ins_xsetbv, 0, 0,
       "fault:gp", "", "switches the x87 state off")
ATTACK("ins-xsetbv-avx", ins_xsetbv, 5, 0,
       "fault:gp", "", "AVX without SSE")
ATTACK("ins-xsetbv-ones", ins_xsetbv, 0xFFFFFFFFFFFFFFFF, 0,
       "fault:gp", "", "every extended state")
ATTACK("ins-xsetbv-pkru", ins_xsetbv, 0x207, 0,
       "fault:gp|harmless", "", "protection keys, where the processor has them")
ATTACK("ins-xsetbv-register", ins_xsetbv, 1, 7,
       "fault:gp", "", "an extended control register that does not exist")
ATTACK("ins-cr0-cd", ins_cr0, 0x40000000, 0,
       "harmless|fault:gp|failed:instruction", "",
       "switches caches off, which would slow a neighbour")
ATTACK("ins-cr0-nw", ins_cr0, 0x20000000, 0,
       "fault:gp|failed:instruction|harmless", "", "not write-through without caches off: illegal")
ATTACK("ins-cr0-ne", ins_cr0_toggle, 0x20, 0,
       "harmless", "",
       "old errors of the FPU, by a pin of the chipset; it reads back the value that it wrote")
ATTACK("ins-cr0-caches", ins_cr0_toggle, 0x60000000, 0,
       "harmless", "",
       "caches off as kernels do it when they set MTRRs; it reads back the value that it wrote")
ATTACK("ins-cr0-pe", ins_cr0_clear, 1, 0,
       "fault:gp|failed:triple-fault|failed:exit|harmless", "",
       "paging without protection: illegal")
ATTACK("ins-cr0-high", ins_cr0, 0x100000000, 0,
       "fault:gp|failed:exit|failed:instruction|harmless", "", "sets the upper half of CR0")
ATTACK("ins-cr0-registers", ins_cr0_registers, 0, 0,
       "harmless", "", "writes CR0 from every general register, LMSW and CLTS too")
ATTACK("ins-cr4-reserved", ins_cr4, 0x8000000000000000, 0,
       "fault:gp|failed:exit|failed:instruction", "", "sets reserved bits of CR4")
ATTACK("ins-cr4-vmxe", ins_cr4, 0x2000, 0,
       "fault:gp|failed:exit|failed:instruction", "", "enables VT-x in CR4")
ATTACK("ins-cr4-smxe", ins_cr4, 0x4000, 0,
       "fault:gp|harmless|amd:failed:exit", "", "enables measured launches in CR4")
ATTACK("ins-cr4-uintr", ins_cr4, 0x2000000, 0,
       "fault:gp|failed:exit|failed:instruction", "", "enables interrupts that user programs send")
ATTACK("ins-cr4-la57", ins_cr4, 0x1000, 0,
       "fault:gp|failed:exit|failed:instruction", "",
       "five levels of page tables while four are in use")
ATTACK("ins-cr4-pae", ins_cr4_clear, 0x20, 0,
       "fault:gp|failed:triple-fault", "", "leaves the paging that long mode needs")
ATTACK("ins-cr4-mce", ins_cr4_clear, 0x40, 0,
       "harmless", "", "machine checks off: the next one would shut the CPU down")
ATTACK("ins-cr4-sweep", ins_cr4_sweep, 0, 0,
       "harmless|failed:exit|failed:instruction", "", "tries each bit of CR4")
ATTACK("ins-cr8", ins_cr8, 15, 0,
       "harmless", "", "closes itself to all interrupts by priority (CR8)")
ATTACK("ins-dr7", ins_dr7, 0xFFFFFFFF, 0,
       "harmless|fault:gp", "", "sets every breakpoint on the whole memory, GD too")
ATTACK("ins-dr7-high", ins_dr7, 0xFFFFFFFFFFFFFFFF, 0,
       "fault:gp", "", "sets the upper half of DR7")
ATTACK("ins-rdpmc", ins_rdpmc, 0x40000000, 0,
       "fault:gp|fault:ud|failed:instruction|failed:exit|harmless", "",
       "reads performance counters")
ATTACK("ins-monitor", ins_monitor, 0, 0,
       "harmless|fault:gp|fault:ud", "", "MONITOR and MWAIT: sleeps until a write, or an interrupt")
ATTACK("ins-mwait-deep", ins_monitor, 0xF0, 1,
       "harmless|fault:gp|fault:ud", "", "MWAIT for the deepest sleep, with interrupts breaking it")
ATTACK("ins-hlt-off", ins_hlt_off, 0, 0,
       "stopped", "", "halts with interrupts off")
ATTACK("ins-loop-off", ins_loop_off, 0, 0,
       "stopped", "", "loops with interrupts off")
ATTACK("ins-triple-fault", ins_triple, 0, 0,
       "failed:triple-fault", "", "a triple fault, which resets a PC")
ATTACK("ins-db-storm", ins_db_storm, 0, 0,
       "stopped|failed:triple-fault|failed:exit|failed:instruction|failed:memory", "",
       "#DB whose delivery traps again: CVE-2015-8104")
ATTACK("ins-ac-storm", ins_ac_storm, 0, 0,
       "stopped|failed:triple-fault|failed:exit|failed:instruction|failed:memory", "",
       "#AC whose delivery faults again: CVE-2015-5307")
ATTACK("ins-pf-storm", ins_pf_storm, 0, 0,
       "stopped", "", "a page fault whose handler faults, without end")
ATTACK("ins-ud-storm", ins_ud_storm, 0, 0,
       "stopped", "", "#UD whose handler is #UD again, on one stack")
ATTACK("ins-int2-loop", ins_int2_loop, 0, 0,
       "stopped|harmless", "", "feigns NMIs by INT 2 in a loop and never returns from one by IRET")
ATTACK("ins-nmi-blocked", ins_nmi_blocked, 0, 0,
       "stopped", "", "takes an NMI of its own and stays in it; the CPU must still be stoppable")
ATTACK("ins-sti-shadow", ins_sti_shadow, 0, 0,
       "stopped", "", "lives in the interrupt shadow of STI and MOV SS")
ATTACK("ins-iret-loop", ins_iret_loop, 0, 0,
       "stopped", "", "returns to itself without end, trap flag set")
ATTACK("ins-task-switch", ins_task_gate, 0, 0,
       "fault:gp|fault:ud|fault:ts|fault:np|failed:exit|failed:triple-fault", "",
       "an exception through a task gate, in long mode")
ATTACK("ins-rdtscp-rdrand", ins_harmless, 0, 0,
       "harmless", "", "PAUSE, RDTSC, RDTSCP, RDRAND, CLFLUSH, PREFETCH: all its own")
ATTACK("ins-cpuid-sweep", ins_cpuid_sweep, 0, 0,
       "harmless", "", "asks CPUID everything: SVM, VMX and keys are not there")
ATTACK("ins-long-mode-exit", mode_legacy_memory, 0xFEC00000, 0,
       "failed:memory@0xfec00000", "", "turns paging off and reads the IOAPIC (A17)")
ATTACK("ins-pae-memory", mode_pae_memory, 0x7F000000, 0,
       "failed:memory@0x7f000000", "",
       "32-bit mode with PAE tables that point into Linux's RAM (A17)")
ATTACK("ins-pae-pdpte", mode_pae_cr3, 0x7F000000, 0,
       "failed:memory|failed:exit|failed:triple-fault", "",
       "32-bit mode with a table register that points into Linux's RAM (A17)")
ATTACK("ins-plain-32", mode_plain_memory, 0x7F000000, 0,
       "failed:memory|failed:triple-fault", "", "32-bit mode with two-level tables (A17)")
/* VT-x exits for each task switch. AMD-V carries it out, and the new task is checked as usual. */
ATTACK("ins-legacy-task-jump", mode_task, 0, 0,
       "amd:failed:memory@0xfec00000|intel:failed:exit", "",
       "a hardware task switch by a far jump; the new task reads the IOAPIC (A17)")
ATTACK("ins-legacy-task-gate", mode_task, 1, 0,
       "amd:failed:memory@0xfec00000|intel:failed:exit", "",
       "the same by a task gate of its interrupt table (A17)")
ATTACK("ins-legacy-port", mode_legacy_port, 0xCF9, 0,
       "failed:port@0xcf9", "", "resets the machine from 32-bit mode (A17)")
ATTACK("ins-legacy-msr", mode_legacy_msr, 0xC0010117, 0,
       "failed:msr@0xc0010117", "", "VM_HSAVE_PA from 32-bit mode (A17)")
ATTACK("ins-legacy-icr", mode_legacy_icr, 0x4500, 0,
       "failed:ipi", "xapic",
       "an INIT to CPU 0, written to the xAPIC page from 32-bit mode without paging (A17)")
