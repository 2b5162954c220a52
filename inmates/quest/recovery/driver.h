/* SPDX-License-Identifier: GPL-2.0-only */
/* The component `nic`: the program that drives the network function (kernel/userdriver.h). */
#ifndef QUEST_RECOVERY_DRIVER_H
#define QUEST_RECOVERY_DRIVER_H

/*
 * Declares it, as the first component, before recovery_boot(). It runs `program` of the archive on
 * VCPU `vcpu`, that of the network.
 */
void driver_declare(const char *program, int vcpu);

#endif
