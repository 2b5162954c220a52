// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/string.h>
#include "../drivers/net/nic.h"
#include "../kernel/machine.h"
#include "../kernel/process/process.h"
#include "../kernel/program.h"
#include "../kernel/thread.h"
#include "../kernel/userdriver.h"
#include "../kernel/vcpu/iovcpu.h"
#include "../kernel/vcpu/vcpu.h"
#include "../mm/pages.h"
#include "../recovery/driver.h"
#include "../user/include/quest/classes.h"
#include "end.h"
#include "interface.h"
#include "lwip/lwipopts.h"
#include "net.h"
#include "table.h"
#include "serve.h"
#include "shared.h"
#include "socket.h"
#include "word.h"

/* The I/O VCPU, unless the cell's file has one of class `net`: 10 %, as in the papers. */
#define NET_C_US	1000
#define NET_T_US	10000
#define TICK_US		250000		/* lwIP's shortest period: that of TCP */
#define POLL_US		1000
#define BURST		32		/* frames between two looks at what is due by time */

static struct net_wish wish;
static const struct port *port = &nic_port;
static enum { ABSENT, FOUND, UP } state;
static bool started;
static bool waits;		/* for the function, which another cell has */
static const char *why = "the command line has no word net=";	/* there is no network */

static void print_address(const uint8_t a[4])
{
	print("%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
}

static void give_up(const char *reason)
{
	state = ABSENT;
	why = reason;
	sockets_begin(false);
	print("net: %s\n", reason);
}

static const char *start_port(void)
{
	const char *wrong;

	if (*wish.share) {
		port = &sharer_port;
		return sharer_start(wish.share);
	}
	wrong = *wish.driver ? NULL : nic_start(wish.polled);
	if (wrong || !wish.shares)
		return wrong;
	port = &owner_port;
	return owner_start();
}

/*
 * The first work of the thread, since the function's reset takes milliseconds. A sharer begins when
 * the owner has said its address.
 */
static void begin(void)
{
	const char *wrong = started ? NULL : start_port();

	started = true;
	if (wrong) {
		give_up(wrong);
		return;
	}
	if (!port->address())
		return;
	wish.name = machine.alone ? "quest" : cell_info()->name;
	if (!interface_start(port, &wish)) {
		give_up("no memory for DHCP");
		return;
	}
	sockets_begin(true);
	state = UP;
}

static void serve(void)
{
	if (!*wish.share && !*wish.driver)
		nic_acknowledge();
	do {
		interface_tick();
		serve_sockets();
	} while (interface_take(BURST));
}

/* Runs in the thread `net`. A program that drives the function says its address first. */
static void work(void)
{
	bool ready = !*wish.driver || userdriver_begin();

	if (waits && !nic_waits()) {
		waits = false;
		print("net: this cell has inherited its network function\n");
	}
	if (state == FOUND && ready && !waits)
		begin();
	if (state == UP)
		serve();
	if (*wish.driver)
		userdriver_end();
}

/* Returns whether frames may come without an interrupt: bells of channels may be refused. */
static bool looks(void)
{
	return (state == UP && (nic_polled() || wish.shares)) || (started && *wish.share);
}

static void tick(void *arg)
{
	(void)arg;
	for (;;) {
		nic_poke();
		thread_sleep_us(looks() ? POLL_US : TICK_US);
	}
}

/* Returns the I/O VCPU of class `net`, which is created if it does not exist. */
static int vcpu(void)
{
	int id = iovcpu_select(IOVCPU_CLASS_NET);

	if (iovcpu_get(id) & IOVCPU_CLASS_NET)
		return id;
	id = vcpu_create("net", IO_VCPU, NET_C_US, NET_T_US, KERNEL_PID);
	if (id < 0) {
		print("net: no I/O VCPU of its own: %s\n", sched_error_text(id));
		return INPUT_VCPU;
	}
	iovcpu_set(id, IOVCPU_CLASS_NET, false);
	return id;
}

/* Looks for the first word net=. Returns NULL if it can be read, or why not; "": no such word. */
static const char *read_word(const struct boot_info *boot)
{
	const char *at;
	size_t length;

	for (at = boot_word(boot->cmdline, &length); length; at = boot_word(at + length, &length))
		if (length >= strlen(NETWORD_KEY) && !memcmp(at, NETWORD_KEY, strlen(NETWORD_KEY)))
			return netword_read(at, length, &wish);
	return "";
}

static const char *find(void)
{
	const char *wrong = *wish.share ? NULL : nic_find(*wish.driver);

	if (wrong)
		return wrong;
	if (*wish.driver && nic_waits())
		return "a program cannot drive a function that is to be inherited: leave out apart";
	if (*wish.driver && archive_find(&archive, wish.driver) < 0)
		return "there is no program of the name behind apart=";
	net_heap = (unsigned char *)(uintptr_t)pages_alloc(NET_HEAP / PAGE_SIZE);
	return net_heap && sockets_init() ? NULL : "no memory for lwIP";
}

bool net_start(const struct boot_info *boot)
{
	const char *wrong = read_word(boot);
	int id;

	if (wrong && !*wrong)
		return true;
	if (!wrong)
		wrong = find();
	if (wrong) {
		give_up(wrong);
		return true;
	}
	state = FOUND;
	waits = !*wish.share && nic_waits();
	why = *wish.share ? "the cell that has the function has not started its network yet" :
	      waits ? "another cell has its network function" : "it has not started yet";
	id = vcpu();
	if (*wish.driver) {
		userdriver_set_polled(wish.polled);
		driver_declare(wish.driver, id);
	}
	return nic_serve(work, id, socket_waiters()) &&
	       thread_create("net clock", SYSTEM_VCPU, tick, NULL) >= 0;
}

void net_look(void)
{
	if (waits)
		nic_poke();
}

static void print_addresses(void)
{
	const struct interface_now now = interface_now();

	if (wish.dhcp && !now.address[0]) {
		print("no address yet: DHCP asks for one as `%s`", wish.name);
		return;
	}
	print_address(now.address);
	print("/%u", now.prefix);
	if (now.gateway[0]) {
		print(" via ");
		print_address(now.gateway);
	}
	if (wish.dhcp) {
		print(", by DHCP from ");
		print_address(now.server);
		print(" as `%s` for %u s", wish.name, now.lease_s);
	}
}

static void print_function(const struct nic *n)
{
	if (nic_polled())
		print("polled\n");
	else
		print("%lu interrupts by %s\n", nic_interrupts(), n->msix ? "MSI-X" : "MSI");
	print("received %lu frames, %lu bytes; bad %lu, lost for lack of memory %lu\n",
	      n->counts.rx, n->counts.rx_bytes, n->counts.rx_bad, interface_lost());
	print("sent %lu frames, %lu bytes; not sent, ring full %lu\n", n->counts.tx,
	      n->counts.tx_bytes, n->counts.tx_full);
}

void net_print(void)
{
	const uint8_t *m;

	if (state != UP) {
		print("no network: %s\n", why);
		return;
	}
	m = port->address();
	print_addresses();
	print(", %02x:%02x:%02x:%02x:%02x:%02x, link %s, ", m[0], m[1], m[2], m[3], m[4], m[5],
	      port->link() ? "up" : "down");
	if (*wish.share)
		print("lost for lack of memory %lu\n", interface_lost());
	else
		print_function(nic_device());
	port->print();
	print("sockets %u; connections without one: closing %u, TIME_WAIT %u\n", sockets_used(),
	      tcp_closing(), tcp_waiting());
}
