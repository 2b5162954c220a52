// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bells of channels in Linux: each channel with bells has an interrupt, directly below
 * x86_vector_domain. No device raises it. The monitor has its vector and CPU, and sends it when a
 * cell rings.
 */
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/mm.h>
#include <linux/version.h>
#include <asm/hw_irq.h>
#include <asm/irqdomain.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "qv.h"
#include "parts/channels.h"

static struct fwnode_handle *node;
static struct irq_domain *domain;

/* The address by which the monitor knows the channel */
static u64 channel_pa(const struct qv_channel_dev *c)
{
	return page_to_phys(qv_channel_page(c, 0));
}

/*
 * Tells the monitor where the bell goes. .bell_lock is held, and perhaps raw locks of Linux. The
 * monitor sends one bell, so none is lost between two targets.
 */
static void bell_tell(struct qv_channel_dev *c)
{
	if (c->bell_open)
		qv_hypercall(QV_HC_BELL, channel_pa(c) | c->bell);
}

static void bell_target(struct qv_channel_dev *c, u64 bell)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&c->bell_lock, flags);
	c->bell = bell;
	bell_tell(c);
	raw_spin_unlock_irqrestore(&c->bell_lock, flags);
}

/* Linux has chosen vector and CPU: the target in the form of QV_HC_BELL, or 0 */
static u64 bell_chosen(struct irq_data *data)
{
	int index = qv_cpu_index(cpumask_first(irq_data_get_effective_affinity_mask(data)));

	return index < 0 ? 0 : (u64)index << 56 | irqd_cfg(data)->vector;
}

/* Called with the interrupt's raw lock held, also while its CPU goes offline */
static int bell_set_affinity(struct irq_data *data, const struct cpumask *mask, bool force)
{
	int result = data->parent_data->chip->irq_set_affinity(data->parent_data, mask, force);

	if (result >= 0)
		bell_target(irq_data_get_irq_chip_data(data), bell_chosen(data));
	return result;
}

static struct irq_chip bell_chip = {
	.name = "QV-bell",
	.irq_ack = irq_chip_ack_parent,
	.irq_set_affinity = bell_set_affinity,
	.irq_retrigger = irq_chip_retrigger_hierarchy,
	.flags = IRQCHIP_SKIP_SET_WAKE,
};

static int bell_alloc(struct irq_domain *d, unsigned int irq, unsigned int num, void *arg)
{
	struct qv_channel_dev *c = arg;
	struct irq_alloc_info info = { 0 };
	int error = irq_domain_alloc_irqs_parent(d, irq, num, &info);

	if (error)
		return error;
	irq_domain_set_info(d, irq, MINOR(c->dev.devt), &bell_chip, c, handle_edge_irq, NULL,
			    "edge");
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
	/* a later affinity need not wait for the next bell; newer kernels assume that */
	irq_set_status_flags(irq, IRQ_MOVE_PCNTXT);
#endif
	return 0;
}

static int bell_activate(struct irq_domain *d, struct irq_data *data, bool reserve)
{
	bell_target(irq_data_get_irq_chip_data(data), bell_chosen(data));
	return 0;
}

static void bell_deactivate(struct irq_domain *d, struct irq_data *data)
{
	bell_target(irq_data_get_irq_chip_data(data), 0);
}

static const struct irq_domain_ops bell_ops = {
	.alloc = bell_alloc,
	.free = irq_domain_free_irqs_common,
	.activate = bell_activate,
	.deactivate = bell_deactivate,
};

static irqreturn_t bell_rings(int irq, void *data)
{
	struct qv_channel_dev *c = data;

	atomic_inc(&c->bells);
	wake_up_interruptible(&c->wait);
	return IRQ_HANDLED;
}

static int bell_domain(void)
{
	if (domain)
		return 0;
	node = irq_domain_alloc_named_fwnode("QV-bell");
	if (!node)
		return -ENOMEM;
	domain = irq_domain_create_hierarchy(x86_vector_domain, 0, 0, node, &bell_ops, NULL);
	if (domain)
		return 0;
	irq_domain_free_fwnode(node);
	return -ENOMEM;
}

int qv_channel_bell_make(struct qv_channel_dev *c)
{
	int error = bell_domain(), irq;

	if (error)
		return error;
	irq = irq_domain_alloc_irqs(domain, 1, NUMA_NO_NODE, c);
	if (irq < 0)
		return irq;
	error = request_irq(irq, bell_rings, 0, c->page.name, c);
	if (error)
		irq_dispose_mapping(irq);
	else
		c->irq = irq;
	return error;
}

void qv_channel_bell_open(struct qv_channel_dev *c)
{
	unsigned long flags;

	if (!c->irq)
		return;
	raw_spin_lock_irqsave(&c->bell_lock, flags);
	c->bell_open = true;
	bell_tell(c);
	raw_spin_unlock_irqrestore(&c->bell_lock, flags);
}

void qv_channel_bell_free(struct qv_channel_dev *c)
{
	if (!c->irq)
		return;
	free_irq(c->irq, c);		/* shuts the bell in the monitor first */
	irq_dispose_mapping(c->irq);
	c->irq = 0;
}

/* One try. The address of a channel that is gone may be that of another one now */
static u64 bell_try(void *with)
{
	struct qv_channel_dev *c = with;
	u64 result = 0;

	mutex_lock(&c->lock);
	if (c->made && !c->gone)
		result = qv_hypercall(QV_HC_RING, channel_pa(c));
	mutex_unlock(&c->lock);
	return result;
}

static void bell_rang(const struct qv_channel_dev *c, u64 result)
{
	if (result == QV_ME_RATE)
		qv_log_often("driver", "the bell of channel %s was not rung: its rate was exceeded "
			     "for %u ms", c->page.name, QV_DEADLINE_MS);
}

/* Waits while the monitor limits the rate of the receiving cell */
void qv_channel_ring(struct qv_channel_dev *c)
{
	if (c->page.flags & QV_CHAN_BELL)
		bell_rang(c, qv_manage_by(bell_try, c));
}

void qv_channel_ring_last(struct qv_channel_dev *c)
{
	if (c->page.flags & QV_CHAN_BELL && c->made)
		bell_rang(c, qv_manage(QV_HC_RING, channel_pa(c)));
}

void qv_channel_bell_unload(void)
{
	if (!domain)
		return;
	irq_domain_remove(domain);
	irq_domain_free_fwnode(node);
	domain = NULL;
}
