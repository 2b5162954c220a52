/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef ERIKA_KERNEL_COM_H
#define ERIKA_KERNEL_COM_H

#include "kernel.h"
#include <erika/com.h>

/* The item as a number, sign extended if the message's type is signed; 0 if it is no number. */
uint64_t os_filter_value(const struct os_message_conf *conf, const void *data);

/* Returns whether the filter of a receiver lets the item pass. */
bool os_filter_passes(MessageIdentifier id, const void *data);

#endif
