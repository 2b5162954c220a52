// SPDX-License-Identifier: GPL-2.0-only
/*
 * pipeline [NAME]: sends its text through a pipe into program NAME (wc), and reads NAME's output
 * through another pipe. It uses no function of Quest's own, so it compiles on any system with
 * fork() and execlp().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES		200
#define NOT_FOUND	127

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* In the child: reads from `in`, writes to `out`. */
static void become(const char *name, int in, int out)
{
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		die("dup2");
	execlp(name, name, (char *)NULL);
	fprintf(stderr, "pipeline: %s: %s\n", name,
		errno == ENOENT ? "no such program" : strerror(errno));
	_exit(NOT_FOUND);
}

static void write_all(int fd, const char *text, size_t n)
{
	ssize_t written;

	for (; n; n -= (size_t)written, text += written) {
		written = write(fd, text, n);
		if (written < 0)
			die("write");
	}
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "wc";
	int to[2], from[2], status, i;
	char line[64], answer[128];
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	if (pipe(to) || pipe(from))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		close(to[1]);
		close(from[0]);
		become(name, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	for (i = 0; i < LINES; i++) {
		snprintf(line, sizeof(line), "line %d of %d\n", i + 1, LINES);
		write_all(to[1], line, strlen(line));
	}
	close(to[1]);
	while (n < sizeof(answer) - 1 &&
	       (got = read(from[0], answer + n, sizeof(answer) - 1 - n)) > 0)
		n += (size_t)got;
	answer[n] = '\0';
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (waitpid(pid, &status, 0) != -1 || errno != ECHILD)
		die("waitpid again");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "pipeline: %s ended with %d\n", name,
			WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
		return EXIT_FAILURE;
	}
	printf("%s says: %s", name, answer);
	return EXIT_SUCCESS;
}
