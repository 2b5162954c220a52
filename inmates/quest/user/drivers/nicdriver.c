// SPDX-License-Identifier: GPL-2.0-only
/*
 * nicdriver: drives the network function of a cell with `net=...,apart` (Documentation/how-to/
 * network.md). Quest starts it, and starts it again when it fails.
 */
#include <stdio.h>
#include "serve.h"

int main(void)
{
	printf("nicdriver: %s\n", serve(NULL));
	return 1;
}
