// SPDX-License-Identifier: GPL-2.0-only
#include <lwip/err.h>
#include <lwip/netif.h>
#include "end.h"
/* After lwIP's headers, which have errors of their own */
#include "../user/include/quest/errors.h"

long end_error(int error)
{
	switch (error) {
	case ERR_OK: return 0;
	case ERR_MEM: case ERR_BUF: return -ENOMEM;
	case ERR_USE: return -EADDRINUSE;
	case ERR_RTE: return -EHOSTUNREACH;
	case ERR_ISCONN: return -EISCONN;
	default: return -EINVAL;
	}
}

bool end_has(uint32_t ip)
{
	return !ip || ip == netif_ip4_addr(netif_default)->addr;
}
