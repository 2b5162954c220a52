// SPDX-License-Identifier: GPL-2.0-only
/* The steps that a case may have: each service under its name, and the simulated hardware. */
#include "suite.h"

/* Services without and with results. The word NULL (NO_POINTER) passes a null pointer. */
#define NO_POINTER		(UINT64_MAX - 1)
#define OP(name, ...)	\
	static StatusType op_##name(const uint64_t *a, uint64_t *out) \
	{ \
		(void)a; \
		(void)out; \
		return name(__VA_ARGS__); \
	}
#define OP_VOID(name, ...)	\
	static StatusType op_##name(const uint64_t *a, uint64_t *out) \
	{ \
		(void)a; \
		(void)out; \
		name(__VA_ARGS__); \
		return E_OK; \
	}
#define OP_OUT0(name, type) \
	static StatusType op_##name(const uint64_t *a, uint64_t *out) \
	{ \
		type value = 0; \
		StatusType error = name(a[0] == NO_POINTER ? NULL : &value); \
		*out = value; \
		return error; \
	}
#define OP_OUT1(name, type) \
	static StatusType op_##name(const uint64_t *a, uint64_t *out) \
	{ \
		type value = 0; \
		StatusType error = name(a[0], a[1] == NO_POINTER ? NULL : &value); \
		*out = value; \
		return error; \
	}

OP(ActivateTask, a[0])
OP(TerminateTask)
OP(ChainTask, a[0])
OP(Schedule)
OP_OUT0(GetTaskID, TaskType)
OP_OUT1(GetTaskState, TaskStateType)
OP_VOID(DisableAllInterrupts)
OP_VOID(EnableAllInterrupts)
OP_VOID(SuspendAllInterrupts)
OP_VOID(ResumeAllInterrupts)
OP_VOID(SuspendOSInterrupts)
OP_VOID(ResumeOSInterrupts)
OP(GetResource, a[0])
OP(ReleaseResource, a[0])
OP(SetEvent, a[0], a[1])
OP(ClearEvent, a[0])
OP_OUT1(GetEvent, EventMaskType)
OP(WaitEvent, a[0])
OP(IncrementCounter, a[0])
OP_OUT1(GetCounterValue, TickType)
OP_OUT1(GetAlarm, TickType)
OP(SetRelAlarm, a[0], a[1], a[2])
OP(SetAbsAlarm, a[0], a[1], a[2])
OP(CancelAlarm, a[0])
OP(StartScheduleTableRel, a[0], a[1])
OP(StartScheduleTableAbs, a[0], a[1])
OP(StopScheduleTable, a[0])
OP(NextScheduleTable, a[0], a[1])
OP(StartScheduleTableSynchron, a[0])
OP(SyncScheduleTable, a[0], a[1])
OP(SetScheduleTableAsync, a[0])
OP_OUT1(GetScheduleTableStatus, ScheduleTableStatusType)
OP_VOID(ShutdownOS, a[0])
OP_VOID(StartOS, a[0])
OP(TriggerISR, a[0])
OP(StartCOM, a[0])
OP(StopCOM, a[0])
OP(SendZeroMessage, a[0])
OP(GetMessageStatus, a[0])
OP_VOID(os_com_reset_flag, a[0])

static StatusType op_GetISRID(const uint64_t *a, uint64_t *out)
{
	(void)a;
	*out = GetISRID();
	return E_OK;
}

static StatusType op_GetActiveApplicationMode(const uint64_t *a, uint64_t *out)
{
	(void)a;
	*out = GetActiveApplicationMode();
	return E_OK;
}

static StatusType op_GetCOMApplicationMode(const uint64_t *a, uint64_t *out)
{
	(void)a;
	*out = GetCOMApplicationMode();
	return E_OK;
}

static StatusType op_ReadFlag(const uint64_t *a, uint64_t *out)
{
	*out = os_com_flag(a[0]);
	return E_OK;
}

/* GetElapsedValue COUNTER VALUE -> elapsed */
static StatusType op_GetElapsedValue(const uint64_t *a, uint64_t *out)
{
	TickType value = a[1], elapsed = 0;
	StatusType error = GetElapsedValue(a[0], a[1] == NO_POINTER ? NULL : &value, &elapsed);

	*out = elapsed;
	return error;
}

/* GetAlarmBase ALARM FIELD -> value; FIELD: 0 maxallowedvalue, 1 ticksperbase, 2 mincycle */
static StatusType op_GetAlarmBase(const uint64_t *a, uint64_t *out)
{
	AlarmBaseType base = { 0, 0, 0 };
	StatusType error = GetAlarmBase(a[0], a[1] == NO_POINTER ? NULL : &base);

	*out = a[1] == 0 ? base.maxallowedvalue : a[1] == 1 ? base.ticksperbase : base.mincycle;
	return error;
}

static StatusType op_SendMessage(const uint64_t *a, uint64_t *out)
{
	uint64_t data = a[1];

	(void)out;
	return SendMessage(a[0], &data);
}

static StatusType op_InitMessage(const uint64_t *a, uint64_t *out)
{
	uint64_t data = a[1];

	(void)out;
	return InitMessage(a[0], &data);
}

static StatusType op_ReceiveMessage(const uint64_t *a, uint64_t *out)
{
	*out = 0;
	return ReceiveMessage(a[0], out);
}

/* count COUNTER N: IncrementCounter() N times */
static StatusType op_count(const uint64_t *a, uint64_t *out)
{
	uint64_t i;

	(void)out;
	for (i = 0; i < a[1]; i++)
		if (IncrementCounter(a[0]) != E_OK)
			return E_OS_ID;
	return E_OK;
}

/* interrupt ISR: the hardware requests it */
static StatusType op_interrupt(const uint64_t *a, uint64_t *out)
{
	(void)out;
	os_port_trigger(os_isr_conf[a[0]].vector);
	return E_OK;
}

/* time N: N ms pass */
static StatusType op_time(const uint64_t *a, uint64_t *out)
{
	(void)out;
	clock_pass(a[0] * CLOCK_KHZ);
	return E_OK;
}

/* nothing: shows that this context runs now */
static StatusType op_here(const uint64_t *a, uint64_t *out)
{
	(void)a;
	(void)out;
	return E_OK;
}

#define ROW(name)	{ #name, op_##name }
const struct op ops[] = {
	{ "here", op_here }, { "return", op_here }, { "end", op_TerminateTask },
	{ "count", op_count }, { "interrupt", op_interrupt }, { "time", op_time },
	ROW(ActivateTask), ROW(TerminateTask), ROW(ChainTask), ROW(Schedule), ROW(GetTaskID),
	ROW(GetTaskState), ROW(DisableAllInterrupts), ROW(EnableAllInterrupts),
	ROW(SuspendAllInterrupts), ROW(ResumeAllInterrupts), ROW(SuspendOSInterrupts),
	ROW(ResumeOSInterrupts), ROW(GetISRID), ROW(GetResource), ROW(ReleaseResource),
	ROW(SetEvent), ROW(ClearEvent), ROW(GetEvent), ROW(WaitEvent), ROW(IncrementCounter),
	ROW(GetCounterValue), ROW(GetElapsedValue), ROW(GetAlarmBase), ROW(GetAlarm),
	ROW(SetRelAlarm), ROW(SetAbsAlarm), ROW(CancelAlarm), ROW(StartScheduleTableRel),
	ROW(StartScheduleTableAbs), ROW(StopScheduleTable), ROW(NextScheduleTable),
	ROW(StartScheduleTableSynchron), ROW(SyncScheduleTable), ROW(SetScheduleTableAsync),
	ROW(GetScheduleTableStatus), ROW(GetActiveApplicationMode), ROW(ShutdownOS), ROW(StartOS),
	ROW(TriggerISR), ROW(StartCOM), ROW(StopCOM), ROW(GetCOMApplicationMode), ROW(InitMessage),
	ROW(SendMessage), ROW(ReceiveMessage), ROW(SendZeroMessage), ROW(GetMessageStatus),
	ROW(ReadFlag), { "ResetFlag", op_os_com_reset_flag }, { NULL, NULL },
};

/* The macros for error hooks, under their names. */
#define READ(name) \
	static StatusType read_##name(const uint64_t *a, uint64_t *out) \
	{ \
		(void)a; \
		*out = (uint64_t)(uintptr_t)name(); \
		return E_OK; \
	}
#define ALL_MACROS(X) \
	X(OSErrorGetServiceId) X(OSError_ActivateTask_TaskID) X(OSError_ChainTask_TaskID) \
	X(OSError_GetTaskState_TaskID) X(OSError_GetResource_ResID) \
	X(OSError_ReleaseResource_ResID) X(OSError_SetEvent_TaskID) X(OSError_SetEvent_Mask) \
	X(OSError_ClearEvent_Mask) X(OSError_GetEvent_TaskID) X(OSError_WaitEvent_Mask) \
	X(OSError_IncrementCounter_CounterID) X(OSError_GetCounterValue_CounterID) \
	X(OSError_GetElapsedValue_CounterID) X(OSError_GetAlarmBase_AlarmID) \
	X(OSError_GetAlarm_AlarmID) X(OSError_SetRelAlarm_AlarmID) \
	X(OSError_SetRelAlarm_increment) X(OSError_SetRelAlarm_cycle) \
	X(OSError_SetAbsAlarm_AlarmID) X(OSError_SetAbsAlarm_start) X(OSError_SetAbsAlarm_cycle) \
	X(OSError_CancelAlarm_AlarmID) X(OSError_StartScheduleTableRel_ScheduleTableID) \
	X(OSError_StartScheduleTableRel_Offset) X(OSError_StartScheduleTableAbs_ScheduleTableID) \
	X(OSError_StartScheduleTableAbs_Start) X(OSError_StopScheduleTable_ScheduleTableID) \
	X(OSError_NextScheduleTable_ScheduleTableID_From) \
	X(OSError_NextScheduleTable_ScheduleTableID_To) \
	X(OSError_StartScheduleTableSynchron_ScheduleTableID) \
	X(OSError_SyncScheduleTable_ScheduleTableID) X(OSError_SyncScheduleTable_Value) \
	X(OSError_SetScheduleTableAsync_ScheduleTableID) \
	X(OSError_GetScheduleTableStatus_ScheduleTableID) X(OSError_GetTaskID_TaskID) \
	X(OSError_GetTaskState_State) X(OSError_GetEvent_Event) X(OSError_GetCounterValue_Value) \
	X(OSError_GetAlarmBase_Info) X(OSError_GetAlarm_Tick) \
	X(OSError_GetScheduleTableStatus_ScheduleStatus) \
	X(COMErrorGetServiceId) X(COMError_StartCOM_Mode) X(COMError_StopCOM_Mode) \
	X(COMError_InitMessage_Message) X(COMError_SendMessage_Message) \
	X(COMError_ReceiveMessage_Message) X(COMError_SendZeroMessage_Message) \
	X(COMError_GetMessageStatus_Message)
ALL_MACROS(READ)
#define READ_ROW(name)	{ #name, read_##name },
const struct op op_macros[] = { ALL_MACROS(READ_ROW) { NULL, NULL } };
