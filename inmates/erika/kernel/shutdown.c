// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* End: OSEK OS 2.2.3 chapter 11.3 and 13.7. */
#include "kernel.h"

void ShutdownOS(StatusType error)
{
	os_lock();
	os_trace(OS_TRACE_STOP, 0, error);
	os.now.where = OS_IN_SHUTDOWN;
	if (os_hooks.shutdown)
		os_hooks.shutdown(error);
	os_port_stop(error);
}
