/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_PARTS_PORTS_H
#define QV_PARTS_PORTS_H

#include "cells.h"

/* Refuses if a cell other than @self (NULL: any cell) has one of these ports. 0: none has */
int qv_ports_refuse_taken(struct qv_reply *r, const struct qv_cell *self, u32 first, u32 last);

#endif
