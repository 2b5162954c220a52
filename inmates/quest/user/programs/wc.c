// SPDX-License-Identifier: GPL-2.0-only
/* wc: counts lines, words and bytes of its input (descriptor 0). */
#include <quest.h>
#include <stdio.h>

int main(void)
{
	unsigned long lines = 0, words = 0, total = 0;
	char text[256];
	int inside = 0;
	long n, i;

	while ((n = read(0, text, sizeof(text))) > 0) {
		for (i = 0; i < n; i++) {
			lines += text[i] == '\n';
			words += text[i] > ' ' && !inside;
			inside = text[i] > ' ';
		}
		total += (unsigned long)n;
	}
	printf("%lu %lu %lu\n", lines, words, total);
	return 0;
}
