// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edge detection after J. Canny, "A computational approach to edge detection" (IEEE PAMI 8, 1986):
 * smooths the frame, computes the gradient, reduces it to its ridges, and keeps strong points and
 * the weak points that touch them.
 *
 * canny [ROUNDS] [show] reads the frame in frame.pgm; prints the number of edge points, a checksum
 */
#include <math.h>
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME		"frame.pgm"
#define SIGMA		1.4
#define RADIUS		2
#define TAPS		(2 * RADIUS + 1)
#define STRONG		90.0
#define WEAK		35.0
#define SIDE_MAX	1024
#define HEADER		32
/*
 * number of columns used, of the screen's 80; a character in the last column would add an empty
 * line
 */
#define COLUMNS		79

enum { NOTHING, MAYBE, EDGE };

static int width, height;
static unsigned char *frame, *marks;
static float *smooth, *strength;
static unsigned char *direction;	/* 0: along x, 1: diagonal \, 2: along y, 3: diagonal / */
static int *stack;

static float at(const float *image, int x, int y)
{
	x = x < 0 ? 0 : x >= width ? width - 1 : x;
	y = y < 0 ? 0 : y >= height ? height - 1 : y;
	return image[y * width + x];
}

static void make_kernel(double kernel[TAPS])
{
	double sum = 0;
	int i;

	for (i = 0; i < TAPS; i++)
		sum += kernel[i] = exp(-(i - RADIUS) * (i - RADIUS) / (2 * SIGMA * SIGMA));
	for (i = 0; i < TAPS; i++)
		kernel[i] /= sum;
}

/*
 * Blurs along rows, with the result in `strength`, which is free until later. Then blurs along
 * columns, with the result in `smooth`.
 */
static void blur(void)
{
	double kernel[TAPS], sum;
	int x, y, i;

	make_kernel(kernel);
	for (i = 0; i < width * height; i++)
		smooth[i] = frame[i];
	for (y = 0; y < height; y++)
		for (x = 0; x < width; x++) {
			for (sum = 0, i = 0; i < TAPS; i++)
				sum += kernel[i] * (double)at(smooth, x + i - RADIUS, y);
			strength[y * width + x] = (float)sum;
		}
	for (y = 0; y < height; y++)
		for (x = 0; x < width; x++) {
			for (sum = 0, i = 0; i < TAPS; i++)
				sum += kernel[i] * (double)at(strength, x, y + i - RADIUS);
			smooth[y * width + x] = (float)sum;
		}
}

/* Returns the nearest of the four directions. 0.4142 is the tangent of 22.5 degrees. */
static unsigned char direction_of(double gx, double gy)
{
	double ax = fabs(gx), ay = fabs(gy);

	if (ay <= ax * 0.41421356)
		return 0;
	if (ax <= ay * 0.41421356)
		return 2;
	return (gx < 0) == (gy < 0) ? 1 : 3;
}

static void gradient(void)
{
	double gx, gy;
	int x, y;

	for (y = 0; y < height; y++)
		for (x = 0; x < width; x++) {
			gx = (double)(at(smooth, x + 1, y - 1) - at(smooth, x - 1, y - 1) +
				      at(smooth, x + 1, y + 1) - at(smooth, x - 1, y + 1)) +
			     2 * (double)(at(smooth, x + 1, y) - at(smooth, x - 1, y));
			gy = (double)(at(smooth, x - 1, y + 1) - at(smooth, x - 1, y - 1) +
				      at(smooth, x + 1, y + 1) - at(smooth, x + 1, y - 1)) +
			     2 * (double)(at(smooth, x, y + 1) - at(smooth, x, y - 1));
			strength[y * width + x] = (float)sqrt(gx * gx + gy * gy);
			direction[y * width + x] = direction_of(gx, gy);
		}
}

/* A point is on a ridge if neither neighbour across the edge is steeper. */
static void thin(void)
{
	static const int dx[] = { 1, 1, 0, -1 }, dy[] = { 0, 1, 1, 1 };
	int x, y, d;
	float s;

	for (y = 0; y < height; y++)
		for (x = 0; x < width; x++) {
			s = strength[y * width + x];
			d = direction[y * width + x];
			marks[y * width + x] = NOTHING;
			if (s < (float)WEAK || s < at(strength, x + dx[d], y + dy[d]) ||
			    s <= at(strength, x - dx[d], y - dy[d]))
				continue;
			marks[y * width + x] = s >= (float)STRONG ? EDGE : MAYBE;
		}
}

/* A weak point that touches an edge is part of it. */
static void follow(void)
{
	int n = 0, i, x, y, dx, dy;

	for (i = 0; i < width * height; i++)
		if (marks[i] == EDGE)
			stack[n++] = i;
	while (n) {
		i = stack[--n];
		for (dy = -1; dy <= 1; dy++)
			for (dx = -1; dx <= 1; dx++) {
				x = i % width + dx;
				y = i / width + dy;
				if (x < 0 || y < 0 || x >= width || y >= height ||
				    marks[y * width + x] != MAYBE)
					continue;
				marks[y * width + x] = EDGE;
				stack[n++] = y * width + x;
			}
	}
}

static int number(const char **text)
{
	int n;

	while (**text == ' ' || **text == '\n')
		(*text)++;
	n = (int)atol(*text);
	while (**text >= '0' && **text <= '9')
		(*text)++;
	return n;
}

/* Reads Netpbm's pgm(5), without comments. */
static int load(void)
{
	int fd = open(FRAME, O_RDONLY);
	char header[HEADER + 1] = { 0 };
	const char *text = header + 2;
	long n;

	if (fd < 0) {
		perror(FRAME);
		return 0;
	}
	(void)read(fd, header, HEADER);
	width = number(&text);
	height = number(&text);
	if (memcmp(header, "P5", 2) || width < 1 || width > SIDE_MAX ||
	    height < 1 || height > SIDE_MAX || number(&text) != 255) {
		printf("%s: it is no 8-bit PGM of at most %d by %d points\n", FRAME, SIDE_MAX,
		       SIDE_MAX);
		return 0;
	}
	n = (long)width * height;
	frame = malloc((size_t)n);
	marks = malloc((size_t)n);
	direction = malloc((size_t)n);
	smooth = malloc((size_t)n * sizeof(float));
	strength = malloc((size_t)n * sizeof(float));
	stack = malloc((size_t)n * sizeof(int));
	if (!frame || !marks || !direction || !smooth || !strength || !stack) {
		perror("canny");
		return 0;
	}
	(void)lseek(fd, text + 1 - header, SEEK_SET);
	if (read(fd, frame, (size_t)n) != n) {
		printf("%s: it ends early\n", FRAME);
		return 0;
	}
	return 1;
}

static void show(void)
{
	int x, y;

	for (y = 0; y + 4 < height; y += 5) {
		for (x = 0; x + 1 < width && x < 2 * COLUMNS; x += 2) {
			int i, edge = 0;

			for (i = 0; i < 10; i++)
				edge |= marks[(y + i / 2) * width + x + i % 2] == EDGE;
			putchar(edge ? '#' : '.');
		}
		putchar('\n');
	}
}

/* FNV-1a, 32 bits */
static unsigned int checksum(void)
{
	unsigned int sum = 2166136261u;
	int i;

	for (i = 0; i < width * height; i++)
		sum = (sum ^ marks[i]) * 16777619u;
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 && atol(argv[1]) > 0 ? (int)atol(argv[1]) : 1, edges = 0, i;

	if (!load())
		return 1;
	for (i = 0; i < rounds; i++) {
		blur();
		gradient();
		thin();
		follow();
	}
	for (i = 0; i < width * height; i++)
		edges += marks[i] == EDGE;
	if (!strcmp(argv[argc - 1], "show"))
		show();
	printf("canny: %d x %d, %d rounds, %d edge points, checksum %08x\n", width, height, rounds,
	       edges, checksum());
	return 0;
}
