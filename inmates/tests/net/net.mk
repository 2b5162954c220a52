# SPDX-License-Identifier: GPL-2.0-only
# The driver of the network function, the switch for sharers, lwIP and the sockets, as files for the
# world of this folder: inmates/tests/Makefile and tests/fuzz/Makefile compile them. TOP is set.
include $(TOP)/inmates/quest/lwip.mk
NET_WORLD := $(TOP)/inmates/tests/net
NETTED := $(addprefix $(TOP)/inmates/,lib/util/string.c \
	$(addprefix quest/drivers/net/,e1000e.c nicrings.c physical.c) \
	$(addprefix quest/net/,calls.c common.c datagram.c interface.c nicport.c options.c serve.c \
		share.c shared.c socket.c stream.c tcp.c timewait.c udp.c lwip/port.c))
NET_CHANNEL := $(wildcard $(TOP)/lib/channel/*.c)
NET_LWIP := $(addprefix $(LWIP)/src/,$(LWIP_SRC))
NET_FLAGS := -I$(TOP)/inmates/tests/moving -I$(TOP)/inmates/quest/net/lwip \
	-isystem $(LWIP)/src/include
NET_HEAP := -DMEM_LIBC_MALLOC=1 -Dmem_clib_malloc=world_malloc -Dmem_clib_calloc=world_calloc \
	-Dmem_clib_free=world_free -include $(NET_WORLD)/heap.h
