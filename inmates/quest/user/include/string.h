/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_STRING_H
#define QUEST_STRING_H

#include <inmate/string.h>

/* As everywhere. */
char *strcpy(char *to, const char *from);
char *strcat(char *to, const char *from);
char *strchr(const char *text, int c);
char *strrchr(const char *text, int c);
int strncmp(const char *a, const char *b, size_t n);

#endif
