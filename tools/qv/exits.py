# SPDX-License-Identifier: GPL-2.0-only
"""Names of a vendor's exit codes, for a failure record.

AMD-V: AMD64 Architecture Programmer's Manual, volume 2, appendix C."""

from __future__ import annotations

_EXCEPTIONS = ("#DE", "#DB", "NMI", "#BP", "#OF", "#BR", "#UD", "#NM", "#DF", "9", "#TS", "#NP", "#SS", "#GP", "#PF",
               "15", "#MF", "#AC", "#MC", "#XF")

_NAMES = {
    0x60: "INTR", 0x61: "NMI", 0x62: "SMI", 0x63: "INIT", 0x64: "VINTR", 0x65: "CR0 selective write",
    0x66: "IDTR read", 0x67: "GDTR read", 0x68: "LDTR read", 0x69: "TR read", 0x6a: "IDTR write", 0x6b: "GDTR write",
    0x6c: "LDTR write", 0x6d: "TR write", 0x6e: "RDTSC", 0x6f: "RDPMC", 0x70: "PUSHF", 0x71: "POPF", 0x72: "CPUID",
    0x73: "RSM", 0x74: "IRET", 0x75: "software interrupt", 0x76: "INVD", 0x77: "PAUSE", 0x78: "HLT", 0x79: "INVLPG",
    0x7a: "INVLPGA", 0x7b: "port", 0x7c: "MSR", 0x7d: "task switch", 0x7e: "FERR freeze", 0x7f: "shutdown",
    0x80: "VMRUN", 0x81: "VMMCALL", 0x82: "VMLOAD", 0x83: "VMSAVE", 0x84: "STGI", 0x85: "CLGI", 0x86: "SKINIT",
    0x87: "RDTSCP", 0x88: "ICEBP", 0x89: "WBINVD", 0x8a: "MONITOR", 0x8b: "MWAIT", 0x8c: "MWAIT, armed",
    0x8d: "XSETBV", 0x8e: "RDPRU", 0x8f: "EFER write, after it", 0xa0: "INVLPGB", 0xa1: "INVLPGB, illegal",
    0xa2: "INVPCID", 0xa3: "MCOMMIT", 0xa4: "TLBSYNC", 0x400: "nested page fault", 0x401: "AVIC, incomplete IPI",
    0x402: "AVIC, no acceleration", 0x403: "VMGEXIT", 0xffffffffffffffff: "invalid guest state",
}


def exit_name(code: int) -> str:
    """What the processor calls it; "unknown" for none of its."""
    if code in _NAMES:
        return _NAMES[code]
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
