// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Messages inside this image: OSEK/VDX COM 3.0.3, conformance classes CCCA and CCCB. An item is
 * copied with interrupts off.
 */
#include "com.h"

struct os_com_error_info os_com_error_info;
static COMApplicationModeType com_mode;
static bool com_started;

/*
 * The contexts in which each service is allowed, besides StartupHook(). A message may activate a
 * task, so nothing may be sent where ActivateTask() is not allowed either. The function of a
 * message may send. StartCOMExtension() has the context of its caller.
 */
#define STARTERS	OS_IN_TASK
#define SENDERS		(OS_TASK_ISR2 | OS_IN_CALLBACK)
#define RECEIVERS	(OS_READERS | OS_IN_CALLBACK)

/* The begin of each service: os_lock(), and with COMEXTENDED the errors of its caller. */
static StatusType enter(unsigned int allowed)
{
	os_lock();
	if (!os_com_extended)
		return E_OK;
	if (os.disabled || os.suspended_all || os.suspended_os)
		return E_OS_DISABLEDINT;
	return os.now.where & allowed || os.now.where == OS_IN_STARTUP ? E_OK : E_OS_CALLEVEL;
}

static StatusType leave(enum os_com_service service, StatusType error, uint64_t p0, uint64_t p1)
{
	static bool reporting;

	if (error != E_OK && os_com_error_hook && !reporting) {
		struct os_context context = os.now;

		reporting = true;
		os_com_error_info.service = service;
		os_com_error_info.parameter[0] = p0;
		os_com_error_info.parameter[1] = p1;
		os.now.where = OS_IN_COM_ERROR;
		os_com_error_hook(error);
		os.now = context;
		reporting = false;
	}
	os_unlock();
	return error;
}

static bool is_kind(MessageIdentifier id, unsigned int kinds)
{
	return id < os_num_messages && kinds >> os_message_conf[id].kind & 1;
}

#define SENT		(1u << OS_MESSAGE_SEND)
#define UNQUEUED	(1u << OS_MESSAGE_UNQUEUED)
#define QUEUED		(1u << OS_MESSAGE_QUEUED)

static void copy(void *to, const void *from, uint32_t size)
{
	uint8_t *out = to;
	const uint8_t *in = from;

	while (size--)
		*out++ = *in++;
}

static void initialise(MessageIdentifier id, const void *value)
{
	const struct os_message_conf *conf = &os_message_conf[id];
	struct os_message *message = &os_messages[id];
	uint8_t *buffer = conf->buffer;
	uint32_t i;

	*message = (struct os_message){ 0 };
	if (conf->kind == OS_MESSAGE_SEND)
		return;
	if (conf->kind == OS_MESSAGE_UNQUEUED)
		for (i = 0; i < conf->size; i++)
			buffer[i] = value ? ((const uint8_t *)value)[i] : 0;
	if (value)
		message->old = os_filter_value(conf, value);
}

static void initialise_all(void)
{
	MessageIdentifier id;

	for (id = 0; id < os_num_messages; id++)
		initialise(id, os_message_conf[id].initial);
}

/* Unless StartupHook() has called StartCOM(). */
void os_start_messages(AppModeType mode)
{
	(void)mode;
	if (!com_started)
		initialise_all();
}

/* It may call services of COM. */
static StatusType extension(void)
{
	struct os_context context = os.now;
	StatusType error = os_com_extension ? os_com_extension() : E_OK;

	os.now = context;
	return error;
}

StatusType StartCOM(COMApplicationModeType mode)
{
	StatusType error = enter(STARTERS);

	if (os_com_extended && error == E_OK && mode >= os_num_com_modes)
		error = E_COM_ID;
	if (error == E_OK) {
		com_mode = mode;
		com_started = true;
		initialise_all();
		error = extension();
	}
	return leave(COMServiceId_StartCOM, error, mode, 0);
}

StatusType StopCOM(COMShutdownModeType mode)
{
	StatusType error = enter(STARTERS);

	if (os_com_extended && error == E_OK && mode != COM_SHUTDOWN_IMMEDIATE)
		error = E_COM_ID;
	return leave(COMServiceId_StopCOM, error, mode, 0);
}

COMApplicationModeType GetCOMApplicationMode(void)
{
	return com_mode;
}

StatusType InitMessage(MessageIdentifier message, ApplicationDataRef data)
{
	StatusType error = enter(SENDERS);

	if (os_com_extended && error == E_OK &&
	    (!is_kind(message, UNQUEUED | QUEUED) || !os_message_conf[message].size))
		error = E_COM_ID;
	if (error == E_OK)
		initialise(message, data);
	return leave(COMServiceId_InitMessage, error, message, (uintptr_t)data);
}

/* Adds an item to a queue. A full queue loses the new item. */
static void append(MessageIdentifier id, const void *data)
{
	const struct os_message_conf *conf = &os_message_conf[id];
	struct os_message *message = &os_messages[id];
	uint32_t at;

	if (message->used == conf->length) {
		message->lost = true;
		return;
	}
	at = message->first + message->used++;
	if (at >= conf->length)
		at -= conf->length;
	copy((uint8_t *)conf->buffer + at * conf->size, data, conf->size);
}

static void deliver(MessageIdentifier id, const void *data)
{
	const struct os_message_conf *conf = &os_message_conf[id];

	if (!os_filter_passes(id, data))
		return;
	if (conf->kind == OS_MESSAGE_QUEUED)
		append(id, data);
	else
		copy(conf->buffer, data, conf->size);
	if (conf->notify.act)
		conf->notify.act(&conf->notify);
}

static void send(MessageIdentifier id, const void *data)
{
	const struct os_message_conf *conf = &os_message_conf[id];
	uint32_t i;

	for (i = 0; i < conf->num_receivers; i++)
		deliver(conf->receivers[i], data);
	os_preempt_in_task();
}

StatusType SendMessage(MessageIdentifier message, ApplicationDataRef data)
{
	StatusType error = enter(SENDERS);

	if (os_com_extended && error == E_OK &&
	    (!is_kind(message, SENT) || !os_message_conf[message].size))
		error = E_COM_ID;
	if (error == E_OK)
		send(message, data);
	return leave(COMServiceId_SendMessage, error, message, (uintptr_t)data);
}

StatusType SendZeroMessage(MessageIdentifier message)
{
	StatusType error = enter(SENDERS);

	if (os_com_extended && error == E_OK &&
	    (!is_kind(message, SENT) || os_message_conf[message].size))
		error = E_COM_ID;
	if (error == E_OK)
		send(message, NULL);
	return leave(COMServiceId_SendZeroMessage, error, message, 0);
}

/* Takes the oldest item. E_COM_LIMIT also delivers one, and says that newer ones were lost. */
static StatusType take(MessageIdentifier id, void *data)
{
	const struct os_message_conf *conf = &os_message_conf[id];
	struct os_message *message = &os_messages[id];
	StatusType error = message->lost ? E_COM_LIMIT : E_OK;

	message->lost = false;
	if (!message->used)
		return E_COM_NOMSG;
	copy(data, (uint8_t *)conf->buffer + message->first * conf->size, conf->size);
	message->used--;
	if (++message->first == conf->length)
		message->first = 0;
	return error;
}

StatusType ReceiveMessage(MessageIdentifier message, ApplicationDataRef data)
{
	StatusType error = enter(RECEIVERS);

	if (os_com_extended && error == E_OK &&
	    (!is_kind(message, UNQUEUED | QUEUED) || !os_message_conf[message].size))
		error = E_COM_ID;
	if (error == E_OK) {
		const struct os_message_conf *conf = &os_message_conf[message];

		os_messages[message].flag = COM_FALSE;
		if (conf->kind == OS_MESSAGE_QUEUED)
			error = take(message, data);
		else
			copy(data, conf->buffer, conf->size);
	}
	return leave(COMServiceId_ReceiveMessage, error, message, (uintptr_t)data);
}

StatusType GetMessageStatus(MessageIdentifier message)
{
	StatusType error = enter(RECEIVERS);

	if (os_com_extended && error == E_OK && !is_kind(message, QUEUED))
		error = E_COM_ID;
	if (error == E_OK && os_messages[message].lost)
		error = E_COM_LIMIT;
	else if (error == E_OK && !os_messages[message].used)
		error = E_COM_NOMSG;
	return leave(COMServiceId_GetMessageStatus, error, message, 0);
}

FlagValue os_com_flag(MessageIdentifier message)
{
	return os_messages[message].flag;
}

void os_com_reset_flag(MessageIdentifier message)
{
	os_messages[message].flag = COM_FALSE;
}

void os_act_com_callback(const struct os_action *action)
{
	os_call_hook(action->callback, OS_IN_CALLBACK);
}

void os_act_flag(const struct os_action *action)
{
	os_messages[action->id].flag = COM_TRUE;
}
