// SPDX-License-Identifier: GPL-2.0-only
#include "cells.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "quesh.h"

#define SESSION		"qv"
#define WINDOW_WORDS	10	/* of the command line of tmux for each cell, at most */

static int is_cell(const struct dirent *entry)
{
	return console_name_is_valid(entry->d_name);
}

/* Returns the number of names, 0 or -1 after a message. The caller frees them. */
static int scan(const char *folder, struct dirent ***names)
{
	int count = scandir(folder, names, is_cell, alphasort);

	if (count < 0 && errno == ENOENT)
		count = 0;
	if (!count)
		fprintf(stderr, "quesh: there is no cell with a console\n"
			"  remedy: qvctl cell list\n");
	if (count < 0)
		fprintf(stderr, "quesh: %s cannot be read (%s)\n  remedy: run it as root\n", folder,
			strerror(errno));
	return count;
}

static const char *state_of(const char *folder, const char *name)
{
	struct console console;
	enum cell_life life;
	int error = console_open(&console, folder, name, false);

	if (error)
		return error == EACCES || error == EPERM ? "you may not open it" : "gone";
	life = console_life(&console);
	console_close(&console);
	return life == CELL_RUNNING ? "running" : life == CELL_STOPPED ? "stopped" : "gone";
}

int cells_list(const char *folder)
{
	struct dirent **names = NULL;
	int count = scan(folder, &names), i;

	for (i = 0; i < count; i++) {
		printf("%-*s  %s\n", 16, names[i]->d_name, state_of(folder, names[i]->d_name));
		free(names[i]);
	}
	free(names);
	return count < 0 || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

static bool session_exists(void)
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(EXIT_FAILURE);
		execlp("tmux", "tmux", "has-session", "-t", "=" SESSION, (char *)NULL);
		_exit(EXIT_FAILURE);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return child > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
}

static int run_tmux(const char **words)
{
	execvp("tmux", (char *const *)(uintptr_t)words);
	fprintf(stderr, "quesh: tmux cannot be started (%s)\n  remedy: apt install tmux\n",
		strerror(errno));
	return EXIT_FAILURE;
}

/* tmux refuses a session within a session: its client goes to the other session instead */
static bool is_inside_tmux(void)
{
	const char *socket = getenv("TMUX");

	return socket && *socket;
}

/* Starts a session with a quesh in a window for each cell. tmux takes several commands, with ";" */
static int new_session(const char *folder, const char *self, struct dirent **names, int count)
{
	const char *inside[] = { ";", "switch-client", "-t", "=" SESSION };
	const char **words = calloc((size_t)count * WINDOW_WORDS + 2 +
				    sizeof(inside) / sizeof(*inside), sizeof(*words));
	int n = 0, i;

	if (!words)
		return EXIT_FAILURE;
	words[n++] = "tmux";
	for (i = 0; i < count; i++) {
		const char *name = names[i]->d_name;
		const char *first[] = { "new-session", is_inside_tmux() ? "-ds" : "-s", SESSION,
					"-n", name };
		const char *more[] = { ";", "new-window", "-d", "-n", name };
		const char *quesh[] = { self, "--stay", "--folder", folder, name };

		memcpy(words + n, i ? more : first, sizeof(first));
		memcpy(words + n + 5, quesh, sizeof(quesh));
		n += WINDOW_WORDS;
	}
	if (is_inside_tmux())
		memcpy(words + n, inside, sizeof(inside));
	return run_tmux(words);
}

int cells_tmux(const char *folder)
{
	const char *verb = is_inside_tmux() ? "switch-client" : "attach-session";
	const char *attach[] = { "tmux", verb, "-t", "=" SESSION, NULL };
	struct dirent **names = NULL;
	char self[4096];
	ssize_t len;
	int count;

	if (session_exists())
		return run_tmux(attach);
	count = scan(folder, &names);
	if (count <= 0)
		return EXIT_FAILURE;
	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len < 0) {
		perror("quesh: /proc/self/exe");
		return EXIT_FAILURE;
	}
	self[len] = '\0';
	return new_session(folder, self, names, count);
}
