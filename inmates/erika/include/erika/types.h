/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types and constants of the services: OSEK/VDX OS 2.2.3 chapter 13, OSEK binding 1.4.2, OSEK/VDX
 * COM 3.0.3 chapter 3, AUTOSAR OS 4.x chapter 8. Where the standards leave a width open, the width
 * stated here is the one of this implementation.
 */
#ifndef ERIKA_TYPES_H
#define ERIKA_TYPES_H

#include <stdint.h>

#ifndef STATUSTYPEDEFINED
#define STATUSTYPEDEFINED
typedef unsigned char StatusType;
#define E_OK	0
#endif
typedef StatusType Std_ReturnType;
#ifndef E_NOT_OK
#define E_NOT_OK	1
#endif

typedef uint32_t TaskType;
typedef TaskType *TaskRefType;
typedef uint8_t TaskStateType;
typedef TaskStateType *TaskStateRefType;
typedef uint32_t ISRType;
typedef uint32_t ResourceType;
typedef uint64_t EventMaskType;		/* one bit for each event of a task */
typedef EventMaskType *EventMaskRefType;
typedef uint32_t CounterType;
typedef uint32_t TickType;
typedef TickType *TickRefType;
typedef TickType GlobalTimeTickType;	/* AUTOSAR OS 3.x: of SyncScheduleTable() */
typedef uint64_t PhysicalTimeType;	/* of OS_TICKS2MS_<counter>() and similar */
typedef uint32_t AlarmType;
typedef uint32_t AppModeType;
typedef uint32_t ScheduleTableType;
typedef uint8_t ScheduleTableStatusType;
typedef ScheduleTableStatusType *ScheduleTableStatusRefType;
typedef uint8_t OSServiceIdType;

typedef struct {
	TickType maxallowedvalue;	/* ticks; the counter's value wraps to 0 after it */
	TickType ticksperbase;		/* as written in the OIL file; information only */
	TickType mincycle;		/* ticks; the shortest cycle of an alarm */
} AlarmBaseType;
typedef AlarmBaseType *AlarmBaseRefType;

#define INVALID_TASK		((TaskType)-1)
#define INVALID_ISR		((ISRType)-1)
#define INVALID_RESOURCE	((ResourceType)-1)
#define INVALID_COUNTER		((CounterType)-1)
#define INVALID_ALARM		((AlarmType)-1)
#define INVALID_SCHEDULETABLE	((ScheduleTableType)-1)

/* The resource that every task may take and whose ceiling is the highest task's level. */
#define RES_SCHEDULER		((ResourceType)0)

#define OSDEFAULTAPPMODE	((AppModeType)0)

/* States of a task. */
#define SUSPENDED		((TaskStateType)0)
#define READY			((TaskStateType)1)
#define WAITING			((TaskStateType)2)
#define RUNNING			((TaskStateType)3)

/* States of a schedule table. */
#define SCHEDULETABLE_STOPPED			((ScheduleTableStatusType)0)
#define SCHEDULETABLE_NEXT			((ScheduleTableStatusType)1)
#define SCHEDULETABLE_WAITING			((ScheduleTableStatusType)2)
#define SCHEDULETABLE_RUNNING			((ScheduleTableStatusType)3)
#define SCHEDULETABLE_RUNNING_AND_SYNCHRONOUS	((ScheduleTableStatusType)4)

/* Errors of the operating system. OSEK defines 1 to 8, this kernel the other numbers. */
#define E_OS_ACCESS		1
#define E_OS_CALLEVEL		2
#define E_OS_ID			3
#define E_OS_LIMIT		4
#define E_OS_NOFUNC		5
#define E_OS_RESOURCE		6
#define E_OS_STATE		7
#define E_OS_VALUE		8
#define E_OS_SERVICEID		9
#define E_OS_ILLEGAL_ADDRESS	10
#define E_OS_MISSINGEND		11
#define E_OS_DISABLEDINT	12
#define E_OS_STACKFAULT		13
#define E_OS_PARAM_POINTER	14

/* Communication: OSEK/VDX COM 3.0.3. This kernel chooses the numbers, distinct from E_OS_*. */
#define E_COM_ID		33
#define E_COM_LENGTH		34
#define E_COM_LIMIT		35
#define E_COM_NOMSG		36

typedef uint32_t MessageIdentifier;
typedef void *ApplicationDataRef;
typedef uint32_t COMLengthType;
typedef COMLengthType *LengthRef;
typedef uint8_t FlagValue;
typedef uint32_t COMApplicationModeType;
typedef uint8_t COMShutdownModeType;
typedef uint8_t COMServiceIdType;
typedef uint8_t CalloutReturnType;

#define COM_FALSE		((FlagValue)0)
#define COM_TRUE		((FlagValue)1)
#define COM_SHUTDOWN_IMMEDIATE	((COMShutdownModeType)0)

#endif
