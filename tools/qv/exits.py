# SPDX-License-Identifier: GPL-2.0-only
"""Names of a vendor's exit codes, for a failure record.

AMD-V: AMD64 Architecture Programmer's Manual, volume 2, appendix C.
VT-x: Intel Software Developer's Manual, volume 3, appendix C; bit 31: the entry failed."""

from __future__ import annotations

_EXCEPTIONS = (
    "#DE",
    "#DB",
    "NMI",
    "#BP",
    "#OF",
    "#BR",
    "#UD",
    "#NM",
    "#DF",
    "9",
    "#TS",
    "#NP",
    "#SS",
    "#GP",
    "#PF",
    "15",
    "#MF",
    "#AC",
    "#MC",
    "#XF",
)

_SVM = {
    0x60: "INTR",
    0x61: "NMI",
    0x62: "SMI",
    0x63: "INIT",
    0x64: "VINTR",
    0x65: "CR0 selective write",
    0x66: "IDTR read",
    0x67: "GDTR read",
    0x68: "LDTR read",
    0x69: "TR read",
    0x6A: "IDTR write",
    0x6B: "GDTR write",
    0x6C: "LDTR write",
    0x6D: "TR write",
    0x6E: "RDTSC",
    0x6F: "RDPMC",
    0x70: "PUSHF",
    0x71: "POPF",
    0x72: "CPUID",
    0x73: "RSM",
    0x74: "IRET",
    0x75: "software interrupt",
    0x76: "INVD",
    0x77: "PAUSE",
    0x78: "HLT",
    0x79: "INVLPG",
    0x7A: "INVLPGA",
    0x7B: "port",
    0x7C: "MSR",
    0x7D: "task switch",
    0x7E: "FERR freeze",
    0x7F: "shutdown",
    0x80: "VMRUN",
    0x81: "VMMCALL",
    0x82: "VMLOAD",
    0x83: "VMSAVE",
    0x84: "STGI",
    0x85: "CLGI",
    0x86: "SKINIT",
    0x87: "RDTSCP",
    0x88: "ICEBP",
    0x89: "WBINVD",
    0x8A: "MONITOR",
    0x8B: "MWAIT",
    0x8C: "MWAIT, armed",
    0x8D: "XSETBV",
    0x8E: "RDPRU",
    0x8F: "EFER write, after it",
    0xA0: "INVLPGB",
    0xA1: "INVLPGB, illegal",
    0xA2: "INVPCID",
    0xA3: "MCOMMIT",
    0xA4: "TLBSYNC",
    0x400: "nested page fault",
    0x401: "AVIC, incomplete IPI",
    0x402: "AVIC, no acceleration",
    0x403: "VMGEXIT",
    0xFFFFFFFFFFFFFFFF: "invalid guest state",
}


_VMX = {
    0: "exception or NMI",
    1: "external interrupt",
    2: "triple fault",
    3: "INIT",
    4: "SIPI",
    5: "I/O SMI",
    6: "other SMI",
    7: "interrupt window",
    8: "NMI window",
    9: "task switch",
    10: "CPUID",
    11: "GETSEC",
    12: "HLT",
    13: "INVD",
    14: "INVLPG",
    15: "RDPMC",
    16: "RDTSC",
    17: "RSM",
    18: "VMCALL",
    19: "VMCLEAR",
    20: "VMLAUNCH",
    21: "VMPTRLD",
    22: "VMPTRST",
    23: "VMREAD",
    24: "VMRESUME",
    25: "VMWRITE",
    26: "VMXOFF",
    27: "VMXON",
    28: "control register",
    29: "debug register",
    30: "port",
    31: "RDMSR",
    32: "WRMSR",
    33: "invalid guest state",
    34: "MSR loading",
    36: "MWAIT",
    37: "monitor trap flag",
    39: "MONITOR",
    40: "PAUSE",
    41: "machine check at entry",
    43: "TPR below threshold",
    44: "APIC access",
    45: "virtualized EOI",
    46: "GDTR or IDTR",
    47: "LDTR or TR",
    48: "EPT violation",
    49: "EPT misconfiguration",
    50: "INVEPT",
    51: "RDTSCP",
    52: "preemption timer",
    53: "INVVPID",
    54: "WBINVD",
    55: "XSETBV",
    56: "APIC write",
    57: "RDRAND",
    58: "INVPCID",
    59: "VMFUNC",
    60: "ENCLS",
    61: "RDSEED",
    62: "page-modification log full",
    63: "XSAVES",
    64: "XRSTORS",
    65: "PCONFIG",
    66: "SPP",
    67: "UMWAIT",
    68: "TPAUSE",
    69: "LOADIWKEY",
    72: "ENQCMD",
    73: "ENQCMDS",
    74: "bus lock",
    75: "notify window",
    76: "SEAMCALL",
    77: "TDCALL",
    78: "RDMSRLIST",
    79: "WRMSRLIST",
    84: "RDMSR, immediate",
    85: "WRMSRNS, immediate",
}


def exit_name(code: int, vendor: int) -> str:
    """Returns the name in the manual of `vendor` (a name as in the status), or "unknown"."""
    return _vmx_name(code) if vendor == 2 else _svm_name(code)


def _vmx_name(code: int) -> str:
    name = _VMX.get(code & 0xFFFF, "unknown")
    return f"{name}, the entry failed" if code & 1 << 31 else name


def _svm_name(code: int) -> str:
    if code in _SVM:
        return _SVM[code]
    if code < 0x10:
        return f"CR{code} read"
    if code < 0x20:
        return f"CR{code - 0x10} write"
    if code < 0x30:
        return f"DR{code - 0x20} read"
    if code < 0x40:
        return f"DR{code - 0x30} write"
    if code < 0x60:
        vector = code - 0x40
        return f"exception {_EXCEPTIONS[vector] if vector < len(_EXCEPTIONS) else vector}"
    return "unknown"
