// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: a malicious root. `ioctls SEED SECONDS IMAGE CPU`: several threads make every call of
 * /dev/qv on the same few cells, with fields from valid to absurd. Another thread changes a request
 * while the driver reads it. Cells named fuzz0 and fuzz1 are created and destroyed on CPU. Calls
 * that only read also use a cell called quest, which must run on undisturbed.
 *
 * Each call must fail with a reason code and a sentence, or succeed with neither. Prints how often
 * each code came. Exit status 1: a call broke this rule.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <linux/qv.h>

#define THREADS	4
#define CODES	64

static atomic_ulong seen[CODES], calls, amiss;
static atomic_bool stop;
static void *image;
static size_t image_len;
static unsigned int cpu;
static union any {
	struct qv_reply reply;
	struct qv_enable enable;
	struct qv_cell_create create;
	struct qv_cell_info info;
	struct qv_cell_list list;
	unsigned char bytes[16384];
} *shared;				/* a request that another thread changes meanwhile */

static uint32_t rnd(uint64_t *s)
{
	*s = *s * 6364136223846793005ull + 1442695040888963407ull;
	return *s >> 33;
}

static uint64_t odd_number(uint64_t *s)
{
	static const uint64_t odd[] = {
		0, 1, 2, 63, 64, 65, 255, 4095, 4096, 0x7fffffff, 0x80000000, 0xffffffff,
		0x100000000, 0x7fffffffffffffff, 0x8000000000000000, -1ull, -4096ull,
		2 << 20, 4 << 20, 0xffffffff80000000,
	};

	return odd[rnd(s) % (sizeof(odd) / sizeof(odd[0]))];
}

static const char *a_name(uint64_t *s, bool harmless)
{
	static const char *const names[] = {
		"fuzz0", "fuzz1", "nobody", "", "linux",
		"../x", "UPPER", "a b", "-", "fuzz0/console",
		"01234567890123456789012345678901",	/* a name with no NUL within its 32 bytes */
	};

	if (harmless && rnd(s) % 3 == 0)
		return "quest";
	return names[rnd(s) % (sizeof(names) / sizeof(names[0]))];
}

static void put_name(char *to, const char *name)
{
	strncpy(to, name, QV_NAME_LEN);
}

static void fill_create(struct qv_cell_create *q, uint64_t *s)
{
	put_name(q->name, rnd(s) % 4 ? (rnd(s) & 1 ? "fuzz0" : "fuzz1") : a_name(s, false));
	q->num_cpus = 1;
	q->cpus[0] = cpu;
	q->boot = QV_BOOT_MULTIBOOT2;
	q->memory = 16 << 20;
	q->image = (uintptr_t)image;
	q->image_len = image_len;
	q->num_modules = rnd(s) % 3;
	q->modules[0].data = q->modules[1].data = (uintptr_t)image;
	q->modules[0].len = q->modules[1].len = image_len;
	q->console = rnd(s) & 1;
	q->watchdog_ms = rnd(s) & 1 ? 3000 : 0;
}

/* Sets up to three words of a request to odd values. The caller excludes the field `memory`. */
static void spoil(void *at, size_t from, size_t len, uint64_t *s)
{
	uint32_t n = rnd(s) % 4;

	while (n--) {
		uint64_t value = odd_number(s);
		size_t off = from + rnd(s) % (len - from);

		memcpy((char *)at + (off & ~3ul), &value, 4);
	}
}

static void judge(unsigned int cmd, int rc, int error, const struct qv_reply *r)
{
	bool worded = memchr(r->text, 0, sizeof(r->text)) && r->text[0];

	atomic_fetch_add(&calls, 1);
	if (rc < 0 && (error == EFAULT || error == ENOTTY || error == EINTR || error == ENOMEM))
		return;
	atomic_fetch_add(&seen[r->code < CODES ? r->code : CODES - 1], 1);
	if ((rc < 0) == (r->code != 0) && (r->code != 0) == worded && r->code < CODES - 1)
		return;
	if (atomic_fetch_add(&amiss, 1) < 10)
		printf("amiss: call %#x gave %d, errno %d, code %u, text '%.60s'\n", cmd, rc, error,
		       r->code, r->text);
}

static void call(int fd, unsigned int cmd, union any *a)
{
	int rc;

	a->reply.abi = QV_ABI_VERSION;
	errno = 0;
	rc = ioctl(fd, cmd, a);
	judge(cmd, rc, errno, &a->reply);
}

static void on_name(int fd, unsigned int cmd, union any *a, bool harmless, uint64_t *s)
{
	struct qv_cell_name *n = (void *)a;

	put_name(n->name, a_name(s, harmless));
	n->timeout_ms = rnd(s) % 40;
	call(fd, cmd, a);
}

static void look(int fd, union any *a, uint64_t *s)
{
	struct qv_stats *stats = (void *)a;
	struct qv_log *log = (void *)a;
	char buffer[512];
	size_t i;

	switch (rnd(s) % 5) {
	case 0:
		put_name(a->info.name, a_name(s, true));
		call(fd, QV_IOC_CELL_INFO, a);
		break;
	case 1:
		call(fd, QV_IOC_CELL_LIST, a);
		break;
	case 2:
		put_name(stats->name, rnd(s) & 1 ? QV_FRONT_END : a_name(s, true));
		stats->num_cpus = odd_number(s);
		stats->reset_held = rnd(s) & 1;
		stats->cpus = odd_number(s);
		call(fd, QV_IOC_STATS, a);
		break;
	case 3:
		log->until = odd_number(s);
		for (i = 0; i < sizeof(log->place) / sizeof(log->place[0]) && rnd(s) & 1; i++)
			log->place[i] = odd_number(s);
		log->buf = rnd(s) & 1 ? (uintptr_t)buffer : odd_number(s);
		log->len = rnd(s) & 1 ? sizeof(buffer) : odd_number(s) & 511;
		log->which = rnd(s) % 3;
		call(fd, QV_IOC_LOG, a);
		break;
	case 4:
		call(fd, QV_IOC_STATUS, a);
		break;
	}
}

static void console(uint64_t *s)
{
	static const char *const paths[] = {
		"/dev/qv-cell/fuzz0/console", "/dev/qv-cell/fuzz1/console"
	};
	int fd = open(paths[rnd(s) & 1], (rnd(s) & 1 ? O_RDWR : O_RDONLY) | O_NONBLOCK);
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	char keys[700];
	size_t len = odd_number(s) & 0x1ffff;
	void *at;

	if (fd < 0)
		return;
	memset(keys, rnd(s), sizeof(keys));
	if (write(fd, keys, rnd(s) % sizeof(keys)) < 0 && write(fd, (void *)odd_number(s), 10) < 0)
		errno = 0;			/* any error from the driver is correct here */
	poll(&p, 1, 0);
	at = mmap(NULL, len ? len : 4096, rnd(s) % 8, rnd(s) & 1 ? MAP_SHARED : MAP_PRIVATE, fd,
		  (off_t)(odd_number(s) & 0xffff000));
	if (at != MAP_FAILED && len == 0)
		munmap(at, 4096);
	else if (at != MAP_FAILED)
		munmap(at, len);
	close(fd);
}

static void one(int fd, union any *a, uint64_t *s)
{
	struct qv_cell_create *q = (void *)a;

	memset(a, 0, sizeof(*a));
	switch (rnd(s) % 16) {
	case 0: case 1:
		fill_create(q, s);
		call(fd, QV_IOC_CELL_CREATE, a);
		break;
	case 2:
		fill_create(q, s);
		spoil(a, sizeof(struct qv_reply), offsetof(struct qv_cell_create, memory), s);
		spoil(a, offsetof(struct qv_cell_create, image), sizeof(*q), s);
		/* no lock is requested: a cell here would not agree to unlock */
		q->lock = 0;
		q->num_devices = 0;	/* no devices are requested: Linux needs its disk */
		call(fd, QV_IOC_CELL_CREATE, a);
		break;
	case 3:			/* another thread changes this request while the driver reads it */
		fill_create(&shared->create, s);
		shared->reply.abi = QV_ABI_VERSION;
		/* judge() is not called: another thread may have overwritten the reply */
		ioctl(fd, QV_IOC_CELL_CREATE, shared);
		atomic_fetch_add(&calls, 1);
		break;
	case 4: case 5:
		on_name(fd, QV_IOC_CELL_START, a, false, s);
		break;
	case 6:
		on_name(fd, QV_IOC_CELL_SHUTDOWN, a, false, s);
		break;
	case 7:
		on_name(fd, QV_IOC_CELL_DESTROY, a, false, s);
		break;
	case 8:
		on_name(fd, QV_IOC_CELL_UNLOCK, a, true, s);
		break;
	case 9:
		a->enable.flags = rnd(s) & 1 ? odd_number(s) : 0;
		call(fd, rnd(s) & 1 ? QV_IOC_ENABLE : QV_IOC_DISABLE, a);
		break;
	case 10:
		console(s);
		break;
	case 11:
		ioctl(fd, odd_number(s), a);
		ioctl(fd, QV_IOC_CELL_INFO, odd_number(s));
		break;
	case 12:
		a->reply.abi = odd_number(s);
		if (a->reply.abi != QV_ABI_VERSION)
			judge(QV_IOC_STATUS, ioctl(fd, QV_IOC_STATUS, a), errno, &a->reply);
		break;
	default:
		look(fd, a, s);
	}
}

static void *thread(void *arg)
{
	uint64_t seed = (uintptr_t)arg;
	union any *a = malloc(sizeof(*a));
	int fd = open("/dev/qv", O_RDWR | O_NONBLOCK);

	while (!atomic_load(&stop) && fd >= 0 && a)
		one(fd, a, &seed);
	close(fd);
	free(a);
	return NULL;
}

/* Changes the shared request, so that a driver that reads a field twice gets two values */
static void *changer(void *arg)
{
	volatile struct qv_cell_create *q = &shared->create;
	uint64_t seed = (uintptr_t)arg;

	while (!atomic_load(&stop)) {
		q->num_cpus = odd_number(&seed);
		q->num_ports = odd_number(&seed);
		q->image_len = odd_number(&seed);
		q->image = odd_number(&seed);
		q->num_modules = odd_number(&seed);
		q->modules[rnd(&seed) % QV_MAX_MODULES].len = odd_number(&seed);
		q->cpus[rnd(&seed) % QV_MAX_CPUS] = odd_number(&seed);
		q->name[rnd(&seed) % QV_NAME_LEN] = 'a' + rnd(&seed) % 26;
		q->cmdline[rnd(&seed) % QV_CMDLINE_LEN] = 'x';
	}
	return NULL;
}

static bool load(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st))
		return false;
	image_len = st.st_size;
	image = mmap(NULL, image_len, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return image != MAP_FAILED;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS + 1];
	unsigned long seed;
	int i;

	if (argc != 5 || !load(argv[3]))
		return 2;
	seed = strtoul(argv[1], NULL, 0);
	cpu = strtoul(argv[4], NULL, 0);
	shared = calloc(1, sizeof(*shared));
	for (i = 0; i <= THREADS; i++)
		if (pthread_create(&t[i], NULL, i < THREADS ? thread : changer,
				   (void *)(seed * 131 + i)))
			return 2;
	sleep(atoi(argv[2]));
	atomic_store(&stop, true);
	for (i = 0; i <= THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%lu calls\n", atomic_load(&calls));
	for (i = 0; i < CODES; i++)
		if (atomic_load(&seen[i]))
			printf("code %d: %lu\n", i, atomic_load(&seen[i]));
	printf("%lu amiss\n", atomic_load(&amiss));
	return atomic_load(&amiss) != 0;
}
