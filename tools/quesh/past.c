// SPDX-License-Identifier: GPL-2.0-only
#include "past.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history.h"

#define OVERLAP_MAX	1024u	/* bytes of the past that are looked for in the present */
#define OVERLAP_MIN	64u	/* fewer could be there by chance */

bool past_path(char *path, size_t room, const char *name)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int len;

	if (state && *state == '/')
		len = snprintf(path, room, "%s/quesh/%s", state, name);
	else if (home && *home == '/')
		len = snprintf(path, room, "%s/.local/state/quesh/%s", home, name);
	else
		return false;
	return len > 0 && (size_t)len < room;
}

void past_load(struct buf *text, const char *name)
{
	char path[PATH_MAX], bytes[4096];
	struct stat file;
	ssize_t len;
	int fd;

	if (!past_path(path, sizeof(path), name))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return;
	if (!fstat(fd, &file) && S_ISREG(file.st_mode) && file.st_size <= PAST_MAX)
		while ((len = read(fd, bytes, sizeof(bytes))) > 0 && text->len <= PAST_MAX)
			buf_put(text, bytes, (size_t)len);
	close(fd);
}

void past_join(struct buf *text, size_t past)
{
	size_t overlap = past < OVERLAP_MAX ? past : OVERLAP_MAX;
	size_t held = text->len - past, within = held;
	const char *now = text->data + past, *found;

	if (!past || !held)
		return;
	if (overlap < OVERLAP_MIN && overlap < held)
		within = overlap;	/* so short a past must be the beginning */
	found = memmem(now, within, now - overlap, overlap);
	if (!found)
		return;
	found += overlap;
	text->len -= (size_t)(found - now);
	memmove(text->data + past, found, text->len - past + 1);
}

/* Makes the folders of a path that do not exist, for this user only. */
static void make_folders(char *path)
{
	char *slash;

	for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0700);	/* open() fails if this did */
		*slash = '/';
	}
}

/* Returns where the last PAST_MAX bytes begin, at a whole line if there is one. */
static const char *end_of(const struct buf *text)
{
	const char *from = text->data + (text->len - PAST_MAX), *line;

	if (text->len <= PAST_MAX)
		return text->data;
	line = memchr(from, '\n', PAST_MAX);
	return line ? line + 1 : from;
}

bool past_save(const struct buf *text, const char *name)
{
	char path[PATH_MAX - 16], new[PATH_MAX];
	const char *from;
	bool done;
	int fd;

	if (!text->len || !past_path(path, sizeof(path), name))
		return true;
	make_folders(path);
	/* another session may keep the same cell's history at this time */
	snprintf(new, sizeof(new), "%s.%d", path, (int)getpid());
	unlink(new);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	from = end_of(text);
	done = history_write(fd, from, (size_t)(text->data + text->len - from));
	done = !close(fd) && done && !rename(new, path);
	if (!done) {
		int error = errno;

		unlink(new);
		errno = error;
	}
	return done;
}
