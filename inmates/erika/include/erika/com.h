/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The services for messages: OSEK/VDX COM 3.0.3 chapter 3, internal communication (CCCA, CCCB). */
#ifndef ERIKA_COM_H
#define ERIKA_COM_H

#include <erika/api.h>
#include <erika/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COMCallback(name)	void os_com_entry_##name(void); void os_com_entry_##name(void)
#define COMCALLBACK(name)	COMCallback(name)
#define DeclareMessage(name)	OS_DECLARE(name)

StatusType StartCOM(COMApplicationModeType mode);
StatusType StopCOM(COMShutdownModeType mode);
COMApplicationModeType GetCOMApplicationMode(void);
StatusType InitMessage(MessageIdentifier message, ApplicationDataRef data);
StatusType SendMessage(MessageIdentifier message, ApplicationDataRef data);
StatusType ReceiveMessage(MessageIdentifier message, ApplicationDataRef data);
StatusType SendZeroMessage(MessageIdentifier message);
StatusType GetMessageStatus(MessageIdentifier message);

/* ReadFlag_<flag>() and ResetFlag_<flag>() of os_config.h. */
FlagValue os_com_flag(MessageIdentifier message);
void os_com_reset_flag(MessageIdentifier message);

/* Functions that the application writes if its OIL file names them. */
void COMErrorHook(StatusType error);
StatusType StartCOMExtension(void);

enum os_com_service {
	COMServiceId_StartCOM = 1, COMServiceId_StopCOM, COMServiceId_InitMessage,
	COMServiceId_SendMessage, COMServiceId_ReceiveMessage, COMServiceId_SendZeroMessage,
	COMServiceId_GetMessageStatus, COMServiceId_GetCOMApplicationMode,
};

struct os_com_error_info {
	COMServiceIdType service;
	uint64_t parameter[2];
};
extern struct os_com_error_info os_com_error_info;

#define COMErrorGetServiceId()	(os_com_error_info.service)

#define OS_COM_VALUE(n, type)	((type)os_com_error_info.parameter[n])
#define OS_COM_POINTER(n, type)	((type)(uintptr_t)os_com_error_info.parameter[n])

/* The data are bytes here, so that an application may look at them. */
#define COMError_StartCOM_Mode()		OS_COM_VALUE(0, COMApplicationModeType)
#define COMError_StopCOM_Mode()			OS_COM_VALUE(0, COMShutdownModeType)
#define COMError_InitMessage_Message()		OS_COM_VALUE(0, MessageIdentifier)
#define COMError_InitMessage_DataRef()		OS_COM_POINTER(1, uint8_t *)
#define COMError_SendMessage_Message()		OS_COM_VALUE(0, MessageIdentifier)
#define COMError_SendMessage_DataRef()		OS_COM_POINTER(1, uint8_t *)
#define COMError_ReceiveMessage_Message()	OS_COM_VALUE(0, MessageIdentifier)
#define COMError_ReceiveMessage_DataRef()	OS_COM_POINTER(1, uint8_t *)
#define COMError_SendZeroMessage_Message()	OS_COM_VALUE(0, MessageIdentifier)
#define COMError_GetMessageStatus_Message()	OS_COM_VALUE(0, MessageIdentifier)

#ifdef __cplusplus
}
#endif

#endif
