# SPDX-License-Identifier: GPL-2.0-only
"""Names of objects become names in C, so some cannot be used."""

from __future__ import annotations

import re

LONGEST = 63
C_WORDS = frozenset(
    """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while asm typeof _Bool _Static_assert _Alignas _Alignof
    alignas alignof constexpr nullptr static_assert thread_local typeof_unqual
    linux unix bool true false int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
    intptr_t uintptr_t size_t ptrdiff_t main NULL errno memcpy memset memmove memcmp strlen strcmp
""".split()
)
# The limits, constants and other types of <stdint.h> and <stddef.h>, which os.h includes, and the
# names that C keeps for itself
C_NAMES = re.compile(
    r"""
    (U?INT (\d+ | MAX | PTR | _FAST\d+ | _LEAST\d+) | PTRDIFF | SIZE | SIG_ATOMIC | WCHAR | WINT)
    _ (MAX | MIN | WIDTH | C)
  | u?int (max | ptr | _fast\d+ | _least\d+) _t | wchar_t | max_align_t | offsetof
  | _[A-Z_].*
""",
    re.VERBOSE,
)
# Names of the kernel's headers; a test compares them
KERNEL_WORDS = frozenset(
    """
    ALARMCALLBACK AUTO ActivateTask AlarmBaseRefType AlarmBaseType AlarmType AppModeType
    ApplicationDataRef CalloutReturnType CancelAlarm ChainTask ClearEvent CounterTick CounterType
    DisableAllInterrupts E_NOT_OK E_OK EE_INT8 EE_INT16 EE_INT32 EE_INT64 EE_UINT8 EE_UINT16
    EE_UINT32 EE_UINT64 EnableAllInterrupts ErrorHook EventMaskRefType EventMaskType
    FALSE FlagValue GetActiveApplicationMode GetAlarm GetAlarmBase GetCOMApplicationMode
    GlobalTimeTickType PhysicalTimeType
    GetCounterValue GetElapsedCounterValue GetElapsedValue GetEvent GetISRID
    GetMessageStatus GetResource GetScheduleTableStatus GetTaskID GetTaskState ISR
    ISRType IncrementCounter InitMessage LengthRef MessageIdentifier NO_DEFAULT
    NextScheduleTable OSDEFAULTAPPMODE OSErrorGetServiceId OSMAXALLOWEDVALUE OSMINCYCLE
    OSServiceIdType OSTICKDURATION OSTICKSPERBASE PostTaskHook PreTaskHook READY
    RES_SCHEDULER RUNNING ReceiveMessage ReleaseResource ResourceType ResumeAllInterrupts
    ResumeOSInterrupts STATUSTYPEDEFINED SUSPENDED Schedule ScheduleTableStatusRefType
    ScheduleTableStatusType ScheduleTableType SendMessage SendZeroMessage SetAbsAlarm
    SetEvent SetRelAlarm SetScheduleTableAsync SetScheduletableAsync ShutdownHook ShutdownOS
    StartCOM StartCOMExtension StartOS StartScheduleTableAbs StartScheduleTableRel
    StartScheduleTableSynchron StartupHook StatusType Std_ReturnType StopCOM
    StopScheduleTable SuspendAllInterrupts SuspendOSInterrupts SyncScheduleTable TASK TRUE
    TaskRefType TaskStateRefType TaskStateType TaskType TerminateTask TickRefType TickType
    TriggerISR WAITING WaitEvent boolean float32 float64 print sint16 sint32 sint64 sint8 uint16
    uint32 uint64 uint8
""".split()
)
KERNEL_PREFIXES = (
    "os_",
    "OS_",
    "E_OS_",
    "E_COM_",
    "OSServiceId_",
    "OSError_",
    "COMServiceId_",
    "COMError",
    "COMAppl",
    "COMCall",
    "COMCALL",
    "COMLength",
    "COMService",
    "COMShut",
    "COM_",
    "Declare",
    "SCHEDULETABLE_",
    "INVALID_",
    "ERIKA_",
    "OSMAXALLOWEDVALUE_",
    "OSTICKSPERBASE_",
    "OSMINCYCLE_",
    "ReadFlag_",
    "ResetFlag_",
    "INMATE_",
    "QV_",
    "console_",
    "qv_",
)
# Names of the standard, which a file need not declare
DEFAULT_MODE = "OSDEFAULTAPPMODE"
STANDARD = (("RESOURCE", "RES_SCHEDULER"), ("APPMODE", DEFAULT_MODE))


def why_not_name(name: str, kind: str = "") -> str:
    """Returns why this cannot be the name of an object of this kind, or an empty string."""
    if len(name) > LONGEST:
        return f"it is longer than {LONGEST} characters"
    if name in C_WORDS or C_NAMES.fullmatch(name):
        return "C uses this word"
    if (kind, name) not in STANDARD and (name in KERNEL_WORDS or name.startswith(KERNEL_PREFIXES)):
        return "the kernel uses this word"
    return ""
