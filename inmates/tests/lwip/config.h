/* SPDX-License-Identifier: GPL-2.0-only */
/* lwIP's tests include a file of this name. It has nothing to say here. */
