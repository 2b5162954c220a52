/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_STRING_H
#define QUEST_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *at, int byte, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t most);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t n);
char *strcat(char *to, const char *from);
char *strncat(char *to, const char *from, size_t n);
char *strchr(const char *text, int c);
char *strrchr(const char *text, int c);
char *strstr(const char *text, const char *part);
size_t strspn(const char *text, const char *bytes);
size_t strcspn(const char *text, const char *bytes);
char *strtok(char *text, const char *bytes);
char *strtok_r(char *text, const char *bytes, char **rest);
char *strdup(const char *text);		/* returns a copy made by malloc(); NULL: no memory */
/* returns the sentence and the remedy; the sign of the number does not matter */
char *strerror(int error);

#endif
