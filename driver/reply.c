// SPDX-License-Identifier: GPL-2.0-only
/* Refusals: each has a code, a sentence and a remedy (law 5). */
#include <linux/errno.h>
#include "abi/errors.h"
#include "qv.h"

static int reply_errno(u32 code)
{
	switch (code) {
	case QV_OK:		return 0;
	case QV_E_NO_MEMORY:	return -ENOMEM;
	case QV_E_NO_CELL:	return -ENOENT;
	case QV_E_NAME_TAKEN:	return -EEXIST;
	case QV_E_BUSY:
	case QV_E_CELLS_EXIST:
	case QV_E_VIRT_IN_USE:	return -EBUSY;
	case QV_E_NO_VIRT:
	case QV_E_NO_NESTED:
	case QV_E_VIRT_DISABLED:
	case QV_E_UNSUPPORTED:	return -EOPNOTSUPP;
	case QV_E_RENDEZVOUS:
	case QV_E_CPU_STUCK:	return -ETIMEDOUT;
	case QV_E_IMAGE:	return -ENOEXEC;
	case QV_E_LOCKDOWN:	return -EPERM;
	case QV_E_INTERRUPTED:	return -EINTR;
	default:		return -EINVAL;
	}
}

static void reply_write(struct qv_reply *r, const char *remedy, const char *fmt, va_list args)
{
	vscnprintf(r->text, sizeof(r->text), fmt, args);
	scnprintf(r->remedy, sizeof(r->remedy), "%s", remedy);
}

int qv_refuse(struct qv_reply *r, u32 code, const char *remedy, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	reply_write(r, remedy, fmt, args);
	va_end(args);
	r->code = code;
	return reply_errno(code);
}

void qv_reply_note(struct qv_reply *r, const char *remedy, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	reply_write(r, remedy, fmt, args);
	va_end(args);
}

int qv_refuse_monitor(struct qv_reply *r, u64 error, const char *what)
{
	static const char * const text[] = {
#define X(name, sentence) sentence,
		QV_MON_ERRORS(X)
#undef X
	};
	const char *why = "it gave no reason we know";
	u64 i = error - QV_ME_BASE - 1;

	if (i < ARRAY_SIZE(text))
		why = text[i];
	return qv_refuse(r, error == QV_ME_CPU_STUCK ? QV_E_CPU_STUCK : QV_E_MONITOR,
			 "see 'qvctl log' for the events before it",
			 "the monitor refused to %s: %s", what, why);
}
