// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* End: OSEK OS 2.2.3 chapter 11.3 and 13.7. */
#include "kernel.h"

void ShutdownOS(StatusType error)
{
	uint8_t where;

	os_lock();
	os_trace(OS_TRACE_STOP, 0, error);
	where = os.now.where;
	os.now.where = OS_IN_SHUTDOWN;
	if (os_hooks.shutdown && where != OS_IN_SHUTDOWN)	/* it may have called this */
		os_hooks.shutdown(error);
	os_port_stop(error);
}
