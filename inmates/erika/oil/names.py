# SPDX-License-Identifier: GPL-2.0-only
"""Names of objects become names in C, so some cannot be used."""

from __future__ import annotations

LONGEST = 63
C_WORDS = frozenset("""
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while asm typeof _Bool _Static_assert _Alignas _Alignof
    main NULL errno memcpy memset memmove memcmp strlen strcmp
""".split())
# Names that the headers of the kernel define
KERNEL_WORDS = frozenset("""
    TASK ISR ALARMCALLBACK DeclareTask DeclareResource DeclareEvent DeclareAlarm DeclareCounter
    ActivateTask TerminateTask ChainTask Schedule GetTaskID GetTaskState GetResource ReleaseResource
    SetEvent ClearEvent GetEvent WaitEvent GetAlarmBase GetAlarm SetRelAlarm SetAbsAlarm CancelAlarm
    GetActiveApplicationMode StartOS ShutdownOS EnableAllInterrupts DisableAllInterrupts
    SuspendAllInterrupts ResumeAllInterrupts SuspendOSInterrupts ResumeOSInterrupts
    TaskType TaskRefType TaskStateType TaskStateRefType EventMaskType EventMaskRefType ResourceType
    AlarmType AlarmBaseType AlarmBaseRefType TickType TickRefType AppModeType StatusType CounterType
    ScheduleTableType ISRType INVALID_TASK RUNNING READY WAITING SUSPENDED E_OK
    StartupHook ShutdownHook ErrorHook PreTaskHook PostTaskHook RES_SCHEDULER
    TRUE FALSE AUTO NO_DEFAULT
""".split())


def why_not_name(name: str) -> str:
    """Returns why this cannot be the name of an object, or an empty string."""
    if len(name) > LONGEST:
        return f"it is longer than {LONGEST} characters"
    if name in C_WORDS:
        return "C uses this word"
    if name in KERNEL_WORDS or name.startswith(("os_", "OS_", "E_OS_", "OSServiceId_", "OSError_")):
        return "the kernel uses this word"
    return ""
