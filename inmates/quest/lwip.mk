# SPDX-License-Identifier: GPL-2.0-only
# lwIP, the TCP/IP stack, is compiled from Debian's source package, which `make deps` and the lab
# unpack in the cache. Without it Quest is built without a network. LWIP= names another folder.
LWIP_CACHE := $(or $(QV_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/qv)
LWIP ?= $(wildcard $(LWIP_CACHE)/sources/lwip_1)
ifeq ($(LWIP),)
NET := none.c
else
NET := common.c interface.c net.c nicport.c serve.c share.c shared.c tcp.c \
	timewait.c udp.c lwip/port.c
LWIP_SRC := $(addprefix core/,def.c inet_chksum.c init.c ip.c mem.c memp.c netif.c pbuf.c stats.c \
		sys.c tcp.c tcp_in.c tcp_out.c timeouts.c udp.c) \
	$(addprefix core/ipv4/,acd.c dhcp.c etharp.c icmp.c ip4.c ip4_addr.c ip4_frag.c) \
	netif/ethernet.c
LWIP_OBJ := $(patsubst %,$(O)/inmates/quest/lwip/%.o,$(LWIP_SRC))

# lwIP is compiled as it is, so the warnings of this tree do not count for its code and headers.
LWIP_CFLAGS = $(filter-out -W%,$(INMATE_CFLAGS)) -Wall -ffile-prefix-map=$(LWIP)=lwip \
	-I$(TOP)/inmates/quest/net/lwip -isystem $(LWIP)/src/include
$(O)/inmates/quest/lwip/%.c.o: $(LWIP)/src/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(LWIP_CFLAGS) -MMD -MP -c -o $@ $<
$(addprefix $(O)/inmates/quest/net/,$(addsuffix .o,$(NET))): INMATE_CFLAGS += \
	-ffile-prefix-map=$(LWIP)=lwip -I$(TOP)/inmates/quest/net/lwip \
	-isystem $(LWIP)/src/include
# lwIP's headers include them, so the compiler does not name them in the files of dependencies.
$(LWIP_OBJ) $(addprefix $(O)/inmates/quest/net/,$(addsuffix .o,$(NET))): \
	$(addprefix $(TOP)/inmates/quest/net/lwip/,hooks.h lwipopts.h)
endif
