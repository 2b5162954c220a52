/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The services of the operating system: OSEK/VDX OS 2.2.3 chapter 13; schedule tables, software
 * counters and GetISRID: AUTOSAR OS 4.x chapter 8. Each service returns the errors that the
 * standard lists for it, in the same order of checks: E_OS_DISABLEDINT, E_OS_CALLEVEL, E_OS_ID,
 * then the others. The reference manual names the callers of each.
 */
#ifndef ERIKA_API_H
#define ERIKA_API_H

#include <erika/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions of the application. */
#define TASK(name)		void os_task_entry_##name(void); void os_task_entry_##name(void)
#define ISR(name)		void os_isr_entry_##name(void); void os_isr_entry_##name(void)
#define ISR1(name)		ISR(name)
#define ISR2(name)		ISR(name)
#define ALARMCALLBACK(name)	void os_alarm_entry_##name(void); void os_alarm_entry_##name(void)

/* Declarations of objects. os_config.h declares all, so these only check that the name exists. */
#ifdef __cplusplus
#define OS_DECLARE(name)	static_assert(sizeof(name) > 0, "declared in the OIL file")
#else
#define OS_DECLARE(name)	\
	__extension__ _Static_assert(sizeof(name) > 0, "declared in the OIL file")
#endif
#define DeclareTask(name)	OS_DECLARE(name)
#define DeclareISR(name)	OS_DECLARE(name)
#define DeclareResource(name)	OS_DECLARE(name)
#define DeclareEvent(name)	OS_DECLARE(name)
#define DeclareCounter(name)	OS_DECLARE(name)
#define DeclareAlarm(name)	OS_DECLARE(name)
#define DeclareScheduleTable(name)	OS_DECLARE(name)
#define DeclareApplicationMode(name)	OS_DECLARE(name)

StatusType ActivateTask(TaskType task);
/* Returns only with an error. */
StatusType TerminateTask(void);
StatusType ChainTask(TaskType task);
StatusType Schedule(void);
StatusType GetTaskID(TaskRefType task);
StatusType GetTaskState(TaskType task, TaskStateRefType state);

void DisableAllInterrupts(void);
void EnableAllInterrupts(void);
void SuspendAllInterrupts(void);
void ResumeAllInterrupts(void);
void SuspendOSInterrupts(void);
void ResumeOSInterrupts(void);
ISRType GetISRID(void);

StatusType GetResource(ResourceType resource);
StatusType ReleaseResource(ResourceType resource);

StatusType SetEvent(TaskType task, EventMaskType mask);
StatusType ClearEvent(EventMaskType mask);
StatusType GetEvent(TaskType task, EventMaskRefType event);
StatusType WaitEvent(EventMaskType mask);

StatusType IncrementCounter(CounterType counter);
StatusType GetCounterValue(CounterType counter, TickRefType value);
/* `*value` is the value of an earlier reading; it becomes the current one. */
StatusType GetElapsedValue(CounterType counter, TickRefType value, TickRefType elapsed);
#define GetElapsedCounterValue(counter, value, elapsed)	GetElapsedValue(counter, value, elapsed)

StatusType GetAlarmBase(AlarmType alarm, AlarmBaseRefType info);
StatusType GetAlarm(AlarmType alarm, TickRefType tick);
StatusType SetRelAlarm(AlarmType alarm, TickType increment, TickType cycle);
StatusType SetAbsAlarm(AlarmType alarm, TickType start, TickType cycle);
StatusType CancelAlarm(AlarmType alarm);

StatusType StartScheduleTableRel(ScheduleTableType table, TickType offset);
StatusType StartScheduleTableAbs(ScheduleTableType table, TickType start);
StatusType StopScheduleTable(ScheduleTableType table);
StatusType NextScheduleTable(ScheduleTableType from, ScheduleTableType to);
StatusType StartScheduleTableSynchron(ScheduleTableType table);
StatusType SyncScheduleTable(ScheduleTableType table, TickType value);
StatusType SetScheduleTableAsync(ScheduleTableType table);
#define SetScheduletableAsync(table)	SetScheduleTableAsync(table)
StatusType GetScheduleTableStatus(ScheduleTableType table, ScheduleTableStatusRefType status);

AppModeType GetActiveApplicationMode(void);
/* Returns only if `mode` is not an application mode. */
void StartOS(AppModeType mode);
/* Does not return if the operating system runs and the caller may call it. */
void ShutdownOS(StatusType error);

/*
 * Requests the interrupt of an ISR of either category by software. Not part of a standard. May be
 * called where ActivateTask() may; errors: E_OS_ID and those of every service.
 */
StatusType TriggerISR(ISRType isr);

/*
 * Returns the memory of BAR `bar` of the PCI function whose interrupts the ISR serves (its SOURCE
 * is PIN or MSI), mapped uncached; NULL: no such memory below 4 GiB. May be
 * called from StartupHook() on. Not part of a standard.
 */
volatile void *os_isr_device(ISRType isr, unsigned int bar);

/* The lowest number of bytes of the task's stack that were ever free. Not part of a standard. */
uint32_t os_stack_unused(TaskType task);
/* The same for the stack of interrupts. */
uint32_t os_isr_stack_unused(void);

/* Hooks that the application writes if its OIL file switches them on. */
void StartupHook(void);
void ShutdownHook(StatusType error);
void ErrorHook(StatusType error);
void PreTaskHook(void);
void PostTaskHook(void);

/* The services, for ErrorHook(). Those of the last four lines never fail. */
enum os_service {
	OSServiceId_ActivateTask = 1, OSServiceId_TerminateTask, OSServiceId_ChainTask,
	OSServiceId_Schedule, OSServiceId_GetTaskID, OSServiceId_GetTaskState,
	OSServiceId_GetResource, OSServiceId_ReleaseResource, OSServiceId_SetEvent,
	OSServiceId_ClearEvent, OSServiceId_GetEvent, OSServiceId_WaitEvent,
	OSServiceId_IncrementCounter, OSServiceId_GetCounterValue, OSServiceId_GetElapsedValue,
	OSServiceId_GetAlarmBase, OSServiceId_GetAlarm, OSServiceId_SetRelAlarm,
	OSServiceId_SetAbsAlarm, OSServiceId_CancelAlarm, OSServiceId_StartScheduleTableRel,
	OSServiceId_StartScheduleTableAbs, OSServiceId_StopScheduleTable,
	OSServiceId_NextScheduleTable, OSServiceId_StartScheduleTableSynchron,
	OSServiceId_SyncScheduleTable, OSServiceId_SetScheduleTableAsync,
	OSServiceId_GetScheduleTableStatus, OSServiceId_StartOS, OSServiceId_ShutdownOS,
	OSServiceId_TriggerISR, OSServiceId_TaskEnd, OSServiceId_ISREnd,
	OSServiceId_DisableAllInterrupts, OSServiceId_EnableAllInterrupts,
	OSServiceId_SuspendAllInterrupts, OSServiceId_ResumeAllInterrupts,
	OSServiceId_SuspendOSInterrupts, OSServiceId_ResumeOSInterrupts,
	OSServiceId_GetISRID, OSServiceId_GetActiveApplicationMode,
};
#define OSServiceId_GetElapsedCounterValue	OSServiceId_GetElapsedValue
#define OSServiceId_SetScheduletableAsync	OSServiceId_SetScheduleTableAsync

struct os_error_info {
	OSServiceIdType service;
	StatusType last;	/* the last error, for debuggers; also without ErrorHook() */
	uint64_t parameter[3];
};
extern struct os_error_info os_error_info;

#define OSErrorGetServiceId()	(os_error_info.service)

#define OS_ERROR_VALUE(n, type)	((type)os_error_info.parameter[n])
#define OS_ERROR_POINTER(n, type)	((type)(uintptr_t)os_error_info.parameter[n])

#define OSError_ActivateTask_TaskID()		OS_ERROR_VALUE(0, TaskType)
#define OSError_ChainTask_TaskID()		OS_ERROR_VALUE(0, TaskType)
#define OSError_GetTaskID_TaskID()		OS_ERROR_POINTER(0, TaskRefType)
#define OSError_GetTaskState_TaskID()		OS_ERROR_VALUE(0, TaskType)
#define OSError_GetTaskState_State()		OS_ERROR_POINTER(1, TaskStateRefType)
#define OSError_GetResource_ResID()		OS_ERROR_VALUE(0, ResourceType)
#define OSError_ReleaseResource_ResID()		OS_ERROR_VALUE(0, ResourceType)
#define OSError_SetEvent_TaskID()		OS_ERROR_VALUE(0, TaskType)
#define OSError_SetEvent_Mask()			OS_ERROR_VALUE(1, EventMaskType)
#define OSError_ClearEvent_Mask()		OS_ERROR_VALUE(0, EventMaskType)
#define OSError_GetEvent_TaskID()		OS_ERROR_VALUE(0, TaskType)
#define OSError_GetEvent_Event()		OS_ERROR_POINTER(1, EventMaskRefType)
#define OSError_GetEvent_Mask()			OSError_GetEvent_Event()
#define OSError_WaitEvent_Mask()		OS_ERROR_VALUE(0, EventMaskType)
#define OSError_IncrementCounter_CounterID()	OS_ERROR_VALUE(0, CounterType)
#define OSError_GetCounterValue_CounterID()	OS_ERROR_VALUE(0, CounterType)
#define OSError_GetCounterValue_Value()		OS_ERROR_POINTER(1, TickRefType)
#define OSError_GetElapsedValue_CounterID()	OS_ERROR_VALUE(0, CounterType)
#define OSError_GetElapsedValue_Value()		OS_ERROR_POINTER(1, TickRefType)
#define OSError_GetElapsedValue_ElapsedValue()	OS_ERROR_POINTER(2, TickRefType)
#define OSError_GetElapsedCounterValue_CounterID()	OSError_GetElapsedValue_CounterID()
#define OSError_GetElapsedCounterValue_Value()		OSError_GetElapsedValue_Value()
#define OSError_GetElapsedCounterValue_PreviousValue()	OSError_GetElapsedValue_Value()
#define OSError_GetElapsedCounterValue_ElapsedValue()	OSError_GetElapsedValue_ElapsedValue()
#define OSError_GetAlarmBase_AlarmID()		OS_ERROR_VALUE(0, AlarmType)
#define OSError_GetAlarmBase_Info()		OS_ERROR_POINTER(1, AlarmBaseRefType)
#define OSError_GetAlarm_AlarmID()		OS_ERROR_VALUE(0, AlarmType)
#define OSError_GetAlarm_Tick()			OS_ERROR_POINTER(1, TickRefType)
#define OSError_SetRelAlarm_AlarmID()		OS_ERROR_VALUE(0, AlarmType)
#define OSError_SetRelAlarm_increment()		OS_ERROR_VALUE(1, TickType)
#define OSError_SetRelAlarm_cycle()		OS_ERROR_VALUE(2, TickType)
#define OSError_SetAbsAlarm_AlarmID()		OS_ERROR_VALUE(0, AlarmType)
#define OSError_SetAbsAlarm_start()		OS_ERROR_VALUE(1, TickType)
#define OSError_SetAbsAlarm_cycle()		OS_ERROR_VALUE(2, TickType)
#define OSError_CancelAlarm_AlarmID()		OS_ERROR_VALUE(0, AlarmType)
#define OSError_StartScheduleTableRel_ScheduleTableID()	OS_ERROR_VALUE(0, ScheduleTableType)
#define OSError_StartScheduleTableRel_Offset()		OS_ERROR_VALUE(1, TickType)
#define OSError_StartScheduleTableAbs_ScheduleTableID()	OS_ERROR_VALUE(0, ScheduleTableType)
#define OSError_StartScheduleTableAbs_Start()		OS_ERROR_VALUE(1, TickType)
#define OSError_StartScheduleTableAbs_TickValue()	OS_ERROR_VALUE(1, TickType)
#define OSError_StopScheduleTable_ScheduleTableID()	OS_ERROR_VALUE(0, ScheduleTableType)
#define OSError_NextScheduleTable_ScheduleTableID_From()	OS_ERROR_VALUE(0, ScheduleTableType)
#define OSError_NextScheduleTable_ScheduleTableID_To()	OS_ERROR_VALUE(1, ScheduleTableType)
#define OSError_NextScheduleTable_ScheduleTableID_current()	OS_ERROR_VALUE(0, ScheduleTableType)
#define OSError_NextScheduleTable_ScheduleTableID_next()	OS_ERROR_VALUE(1, ScheduleTableType)
#define OSError_StartScheduleTableSynchron_ScheduleTableID()	OS_ERROR_VALUE(0, ScheduleTableType)
#define OSError_SyncScheduleTable_ScheduleTableID()	OS_ERROR_VALUE(0, ScheduleTableType)
#define OSError_SyncScheduleTable_Value()		OS_ERROR_VALUE(1, TickType)
#define OSError_SyncScheduleTable_GlobalTime()		OS_ERROR_VALUE(1, TickType)
#define OSError_SetScheduleTableAsync_ScheduleTableID()	OS_ERROR_VALUE(0, ScheduleTableType)
#define OSError_SetScheduletableAsync_ScheduleID()	OS_ERROR_VALUE(0, ScheduleTableType)
#define OSError_SetScheduletableAsync_ScheduleTableID()	OS_ERROR_VALUE(0, ScheduleTableType)
#define OSError_GetScheduleTableStatus_ScheduleTableID()	OS_ERROR_VALUE(0, ScheduleTableType)
#define OSError_GetScheduleTableStatus_ScheduleStatus()	\
	OS_ERROR_POINTER(1, ScheduleTableStatusRefType)
#define OSError_StartOS_Mode()			OS_ERROR_VALUE(0, AppModeType)
#define OSError_ShutdownOS_Error()		OS_ERROR_VALUE(0, StatusType)

#ifdef __cplusplus
}
#endif

#endif
