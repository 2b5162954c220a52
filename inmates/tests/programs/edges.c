// SPDX-License-Identifier: GPL-2.0-only
/*
 * edges SECONDS AT [relax|strict|stay] [KIB]: finds the edges of the same frame again and again, as
 * J. Canny describes ("A computational approach to edge detection", IEEE PAMI 8, 1986), with
 * integers only, and moves to another cell (moving.h). The result is the number of edge points.
 */
#include "moving.h"

#define WIDTH		96
#define HEIGHT		72
#define WEIGHTS		(17 * 17)	/* sum of those of the blur */
#define STRONG		100
#define WEAK		40
#define MARGIN		3	/* points at the border are no edges */

enum { NOTHING, MAYBE, EDGE };

static unsigned char frame[HEIGHT][WIDTH], marks[HEIGHT][WIDTH], direction[HEIGHT][WIDTH];
static int rows[HEIGHT][WIDTH], smooth[HEIGHT][WIDTH], strength[HEIGHT][WIDTH];
static int stack[HEIGHT * WIDTH];

/* A road between dark fields, with lane marks, and noise. */
static void make_frame(void)
{
	uint64_t seed = 1;
	int x, y;

	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++) {
			int half = 8 + y / 2, off = x - WIDTH / 2;
			int grey = off < -half || off > half ? 60 : 140;

			if (off > -2 && off < 2 && y / 8 % 2)
				grey = 230;
			frame[y][x] = (unsigned char)(grey + (int)random_below(&seed, 9) - 4);
		}
}

/* A Gaussian of sigma 1.4, with the weights 2, 4, 5, 4, 2, along rows, then along columns. */
static void blur(void)
{
	int x, y;

	for (y = 0; y < HEIGHT; y++)
		for (x = 2; x < WIDTH - 2; x++)
			rows[y][x] = 2 * (frame[y][x - 2] + frame[y][x + 2]) +
				     4 * (frame[y][x - 1] + frame[y][x + 1]) + 5 * frame[y][x];
	for (y = 2; y < HEIGHT - 2; y++)
		for (x = 2; x < WIDTH - 2; x++)
			smooth[y][x] = (2 * (rows[y - 2][x] + rows[y + 2][x]) +
					4 * (rows[y - 1][x] + rows[y + 1][x]) +
					5 * rows[y][x]) / WEIGHTS;
}

/* The nearest of four directions: 5/12 is about the tangent of 22.5 degrees. */
static unsigned char direction_of(int gx, int gy)
{
	int ax = abs(gx), ay = abs(gy);

	if (12 * ay <= 5 * ax)
		return 0;
	if (12 * ax <= 5 * ay)
		return 2;
	return (gx < 0) == (gy < 0) ? 1 : 3;
}

/* Sobel's operator */
static void gradient(void)
{
	int x, y, gx, gy;

	for (y = MARGIN; y < HEIGHT - MARGIN; y++)
		for (x = MARGIN; x < WIDTH - MARGIN; x++) {
			gx = smooth[y - 1][x + 1] - smooth[y - 1][x - 1] + smooth[y + 1][x + 1] -
			     smooth[y + 1][x - 1] + 2 * (smooth[y][x + 1] - smooth[y][x - 1]);
			gy = smooth[y + 1][x - 1] - smooth[y - 1][x - 1] + smooth[y + 1][x + 1] -
			     smooth[y - 1][x + 1] + 2 * (smooth[y + 1][x] - smooth[y - 1][x]);
			strength[y][x] = abs(gx) + abs(gy);
			direction[y][x] = direction_of(gx, gy);
		}
}

/* A point is on a ridge if neither neighbour across the edge is steeper. */
static void thin(void)
{
	static const int dx[] = { 1, 1, 0, -1 }, dy[] = { 0, 1, 1, 1 };
	int x, y, d, s;

	for (y = MARGIN; y < HEIGHT - MARGIN; y++)
		for (x = MARGIN; x < WIDTH - MARGIN; x++) {
			s = strength[y][x];
			d = direction[y][x];
			marks[y][x] = s < WEAK || s < strength[y + dy[d]][x + dx[d]] ||
				      s <= strength[y - dy[d]][x - dx[d]] ? NOTHING :
				      s >= STRONG ? EDGE : MAYBE;
		}
}

/* A weak point that touches an edge is part of it. Returns the number of edge points. */
static int follow(void)
{
	int n = 0, i, x, y, edges = 0;

	for (i = 0; i < HEIGHT * WIDTH; i++)
		if (marks[i / WIDTH][i % WIDTH] == EDGE)
			stack[n++] = i;
	for (; n; edges++) {
		i = stack[--n];
		for (y = i / WIDTH - 1; y <= i / WIDTH + 1; y++)
			for (x = i % WIDTH - 1; x <= i % WIDTH + 1; x++)
				if (marks[y][x] == MAYBE) {
					marks[y][x] = EDGE;
					stack[n++] = y * WIDTH + x;
				}
	}
	return edges;
}

static int find_edges(void)
{
	blur();
	gradient();
	thin();
	return follow();
}

int main(int argc, char **argv)
{
	make_frame();
	return move_while("edges", find_edges, argc, argv);
}
