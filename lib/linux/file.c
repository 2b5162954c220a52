// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Channels in files, for tests of programs without QV. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "internal.h"
#include "manage.h"

static void bell_path(char *to, size_t size, const char *path, uint32_t end)
{
	snprintf(to, size, "%s.bell%u", path, end);
}

/* Removes the FIFOs of a channel, and no file of another kind. */
static void bells_remove(const char *path)
{
	struct stat about;
	char bell[4200];
	uint32_t i;

	for (i = 0; i < QV_CHAN_MAX_ENDS; i++) {
		bell_path(bell, sizeof(bell), path, i);
		if (!lstat(bell, &about) && S_ISFIFO(about.st_mode))
			unlink(bell);
	}
}

static void bell_send(int bell)
{
	ssize_t sent = write(bell, "", 1);

	(void)sent;	/* a FIFO that is full already says that the bell was rung */
}

static void file_ring(struct qv_channel *c)
{
	uint32_t i;

	for (i = 0; i < c->end.page.ends; i++)
		if (i != c->end.self)
			bell_send(c->bells[i]);
}

static void file_arm(struct qv_channel *c)
{
	char bytes[4096];
	int tries;

	for (tries = 0; tries < 16 && read(c->waits, bytes, sizeof(bytes)) > 0; tries++)
		;
}

static void file_close(struct qv_channel *c)
{
	uint32_t i;

	for (i = 0; i < QV_CHAN_MAX_ENDS; i++)
		if (c->bells[i] >= 0)
			close(c->bells[i]);
	if (c->file >= 0)
		close(c->file);
}

static const struct source file = { file_ring, file_arm, file_close };

/* Returns whether this file holds a channel, maybe one of another version. */
static bool file_is_channel(int fd)
{
	struct stat about;
	uint64_t magic;

	return !fstat(fd, &about) && S_ISREG(about.st_mode) &&
	       about.st_size >= (off_t)QV_CHAN_PAGE &&
	       pread(fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       magic == QV_CHAN_MAGIC;
}

/* As lib_fail_system(), with the remedy for a file that is missing. */
static int file_fail(const char *call, const char *path)
{
	if (errno == ENOENT)
		return lib_fail(QV_LIB_NOT_FOUND,
				"%s: there is no such file; qv_file_create() makes one", path);
	return lib_fail_system(call, path);
}

/* Fails if there is anything but a channel, or an empty file: its contents would be lost. */
static int file_may_go(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;
	bool may;

	if (fd < 0)
		return errno == ENOENT ? 0 : lib_fail_system("open", path);
	may = file_is_channel(fd) ||
	      (!fstat(fd, &about) && S_ISREG(about.st_mode) && !about.st_size);
	close(fd);
	return may ? 0 : lib_fail(QV_LIB_MISMATCH,
				  "%s: this is no channel, so it stays; choose another name", path);
}

static int file_attach(struct qv_channel *c, const char *path, uint32_t end)
{
	char bell[4200];
	struct stat about;
	uint32_t i;
	int result;

	c->file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (c->file < 0)
		return file_fail("open", path);
	if (fstat(c->file, &about))
		return lib_fail_system("stat", path);
	if (end >= QV_CHAN_MAX_ENDS || !file_is_channel(c->file))
		return lib_fail(QV_CHAN_LAYOUT,
				"%s: this is no channel, or it has no end %u; see qv_file_create()",
				path, end);
	for (i = 0; i < QV_CHAN_MAX_ENDS; i++) {
		bell_path(bell, sizeof(bell), path, i);
		c->bells[i] = open(bell, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (c->bells[i] < 0 && errno != ENOENT)
			return lib_fail_system("open", bell);
	}
	c->waits = c->bells[end];
	if (c->waits < 0)
		return lib_fail(QV_CHAN_USAGE,
				"%s: the channel has no end %u; its ends are 0, 1, ...", path, end);
	/* the lock of the FIFO: one program per end */
	if (flock(c->waits, LOCK_EX | LOCK_NB))
		return lib_fail_system("lock", path);
	result = lib_attach(c, path, (uint64_t)about.st_size, end);
	if (result)
		return result;
	bell_send(c->waits);		/* items may wait already */
	if (c->end.page.type == QV_CHAN_MAILBOX && end)
		file_ring(c);		/* the first end may wait for this one */
	return 0;
}

int qv_file_open(struct qv_channel **channel, const char *path, uint32_t end)
{
	struct qv_channel *c = calloc(1, sizeof(*c));
	int result;

	*channel = NULL;
	if (!c)
		return lib_fail_system("calloc", path);
	c->source = &file;
	c->file = c->waits = -1;
	memset(c->bells, 0xff, sizeof(c->bells));
	result = file_attach(c, path, end);
	if (result) {
		qv_close(c);
		return result;
	}
	*channel = c;
	return 0;
}

/* Fills a new file. */
static int file_fill(int fd, const char *path, const struct qv_chan_page *page)
{
	struct timespec now;
	uint64_t session;
	void *window;
	uint32_t i;

	if (ftruncate(fd, (off_t)page->length))
		return lib_fail_system("truncate", path);
	window = mmap(NULL, page->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (window == MAP_FAILED)
		return lib_fail_system("mmap", path);
	clock_gettime(CLOCK_REALTIME, &now);
	session = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	manage_make(window, page, session);
	for (i = 0; i < page->ends; i++)
		manage_start(window, i);
	munmap(window, page->length);
	return 0;
}

static int bells_make(const char *path, uint32_t ends)
{
	char bell[4200];
	uint32_t i;

	for (i = 0; i < ends; i++) {
		bell_path(bell, sizeof(bell), path, i);
		if (mkfifo(bell, 0600))
			return lib_fail_system("mkfifo", bell);
	}
	return 0;
}

int qv_file_create(const char *path, const struct qv_chan_page *plan)
{
	struct qv_chan_page page = *plan;
	const char *wrong = qv_chan_lay_out(&page);
	int fd, result;

	if (wrong)
		return lib_fail(QV_CHAN_LAYOUT, "%s: %s; correct the plan", path, wrong);
	result = file_may_go(path);
	if (result)
		return result;
	qv_file_remove(path);
	/* first the file: without it there are no FIFOs */
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno != ENOENT ? lib_fail_system("create", path) :
		       lib_fail(QV_LIB_NOT_FOUND,
				"%s: there is no such folder; make it first", path);
	result = bells_make(path, page.ends);
	if (!result)
		result = file_fill(fd, path, &page);
	close(fd);
	if (result) {
		bells_remove(path);
		unlink(path);
	}
	return result;
}

/* Rings the bells of all ends. */
static void file_ring_all(const char *path)
{
	char name[4200];
	uint32_t i;
	int bell;

	for (i = 0; i < QV_CHAN_MAX_ENDS; i++) {
		bell_path(name, sizeof(name), path, i);
		bell = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (bell >= 0) {
			bell_send(bell);
			close(bell);
		}
	}
}

/* Clears the session, as the manager does at the end of a channel: programs that wait learn it. */
static void file_end(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	struct qv_chan_page *page = MAP_FAILED;
	struct stat about;

	if (fd < 0)
		return;
	if (!fstat(fd, &about) && S_ISREG(about.st_mode) && about.st_size >= (off_t)sizeof(*page))
		page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		return;
	if (page->magic == QV_CHAN_MAGIC) {
		__atomic_store_n(&page->session, 0, __ATOMIC_SEQ_CST);
		file_ring_all(path);
	}
	munmap(page, sizeof(*page));
}

int qv_file_remove(const char *path)
{
	int result = file_may_go(path);

	if (result)
		return result;
	file_end(path);
	bells_remove(path);
	return unlink(path) ? file_fail("unlink", path) : 0;
}

/* Acts as the manager: a new generation if `start`, else a new state. Rings all bells. */
static int file_manage(const char *path, uint32_t end, bool start, enum qv_chan_state state)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat about;
	void *window;
	bool known;

	if (fd < 0 || fstat(fd, &about)) {
		if (fd >= 0)
			close(fd);
		return lib_fail_system("open", path);
	}
	window = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (window == MAP_FAILED)
		return lib_fail_system("mmap", path);
	known = !qv_chan_check(window, (uint64_t)about.st_size) &&
		end < ((struct qv_chan_page *)window)->ends;
	if (known && start)
		manage_start(window, end);
	else if (known)
		manage_state(window, end, state);
	munmap(window, (size_t)about.st_size);
	if (!known)
		return lib_fail(QV_CHAN_USAGE,
				"%s: this is no channel, or it has no end %u; see qv_file_create()",
				path, end);
	file_ring_all(path);
	return 0;
}

int qv_file_start(const char *path, uint32_t end)
{
	return file_manage(path, end, true, QV_CHAN_IS_RUNNING);
}

int qv_file_state(const char *path, uint32_t end, enum qv_chan_state state)
{
	return file_manage(path, end, false, state);
}
