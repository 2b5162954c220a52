// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "internal.h"

static _Thread_local char detail[512];
/* A failure whose text qv_detail() makes: a program that polls fails often, and seldom asks why */
static _Thread_local char later_name[QV_CHAN_NAME_LEN];
static _Thread_local int later;

int lib_fail(int result, const char *format, ...)
{
	va_list args;

	later = 0;
	va_start(args, format);
	vsnprintf(detail, sizeof(detail), format, args);
	va_end(args);
	return result;
}

int lib_fail_call(int result, const char *name)
{
	memcpy(later_name, name, sizeof(later_name));
	later = result;
	return result;
}

int lib_fail_system(const char *call, const char *path)
{
	int error = errno;
	int result = error == ENOENT ? QV_LIB_NOT_FOUND :
		     error == EBUSY || error == EWOULDBLOCK ? QV_LIB_BUSY :
		     error == EACCES || error == EPERM ? QV_LIB_PERMISSION : QV_LIB_SYSTEM;

	return lib_fail(result, "%s: %s: %s", path, call, strerror(error));
}

static const char *const sentences[] = {
	"the time-out passed; the peer may be slow, or may not run",
	"a signal ended the wait; call again",
	"Linux refused a call",
	"there is no such channel; qvctl channel list names those that exist",
	"another program uses this end of the channel; end it first",
	"this user may not open the channel; root may give its device another owner or mode",
	"the channel is not the expected one; compare its file with the program",
};

const char *qv_strerror(int result)
{
	unsigned int index = (unsigned int)(QV_LIB_TIMEOUT - result);

	if (result > QV_LIB_TIMEOUT)
		return qv_chan_sentence(result);
	return index < sizeof(sentences) / sizeof(*sentences) ? sentences[index] : "unknown result";
}

const char *qv_detail(void)
{
	if (later)
		lib_fail(later, "%.*s: %s", (int)sizeof(later_name), later_name,
			 qv_chan_sentence(later));
	return detail;
}
