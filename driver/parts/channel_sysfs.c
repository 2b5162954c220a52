// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/qv-channel/NAME: the facts of a channel with an end of Linux, for every user, and the
 * uevents of its ends.
 */
#include <linux/device.h>
#include <linux/mm.h>
#include <linux/sysfs.h>
#include "qv.h"
#include "parts/channels.h"

static const char *const sysfs_states[] = { "absent", "running", "stopped", "failed" };

/* Defines the file @name, whose text is the result of @text for the channel `c` */
#define FILE(name, text)							\
static ssize_t name##_show(struct device *dev, struct device_attribute *a, char *to) \
{										\
	struct qv_channel_dev *c = container_of(dev, struct qv_channel_dev, dev);	\
										\
	return text;								\
}										\
static DEVICE_ATTR_RO(name)

/* The same for a number that counts items. ENODEV: no cell of the channel was started yet */
#define COUNT(name)								\
static ssize_t name##_show(struct device *dev, struct device_attribute *a, char *to) \
{										\
	struct qv_end_status now;						\
										\
	if (!qv_channel_status(container_of(dev, struct qv_channel_dev, dev), &now)) \
		return -ENODEV;							\
	return sysfs_emit(to, "%llu\n", (u64)now.name);				\
}										\
static DEVICE_ATTR_RO(name)

u64 qv_channel_life(struct qv_channel_dev *c, u32 end)
{
	const struct qv_chan_page *page;
	u64 life = 0;

	mutex_lock(&c->lock);
	page = c->window;
	if (c->made && !c->gone)
		life = READ_ONCE(page->end[end].life);
	mutex_unlock(&c->lock);
	return life;
}

static const char *sysfs_state(struct qv_channel_dev *c, u32 end)
{
	return sysfs_states[QV_CHAN_STATE(qv_channel_life(c, end)) % ARRAY_SIZE(sysfs_states)];
}

/* The names of the ends that write */
static ssize_t sysfs_writers(struct qv_channel_dev *c, char *to)
{
	ssize_t n = 0;
	u32 i;

	for (i = 0; i < c->page.ends; i++)
		if (!i || c->page.end[i].flags & QV_CHAN_END_WRITES)
			n += sysfs_emit_at(to, n, "%s%s", i ? " " : "", c->page.end[i].name);
	return n + sysfs_emit_at(to, n, "\n");
}

static ssize_t sysfs_error(struct qv_channel_dev *c, char *to)
{
	const char *error;
	u64 ns;

	error = qv_channel_error(c, &ns);
	return error ? sysfs_emit(to, "%s %llu\n", error, ns) : sysfs_emit(to, "none\n");
}

enum sysfs_word { SYSFS_NAME, SYSFS_STATE, SYSFS_GENERATION };

/* One word for each end, the writer's first */
static ssize_t sysfs_ends(struct qv_channel_dev *c, char *to, enum sysfs_word word)
{
	ssize_t n = 0;
	u32 i;

	for (i = 0; i < c->page.ends; i++) {
		const char *after = i + 1 < c->page.ends ? " " : "\n";

		if (word == SYSFS_NAME)
			n += sysfs_emit_at(to, n, "%s%s", c->page.end[i].name, after);
		else if (word == SYSFS_STATE)
			n += sysfs_emit_at(to, n, "%s%s", sysfs_state(c, i), after);
		else
			n += sysfs_emit_at(to, n, "%llu%s",
					   (u64)QV_CHAN_GENERATION(qv_channel_life(c, i)), after);
	}
	return n;
}

FILE(type, sysfs_emit(to, "%s\n", qv_channel_type(&c->page)));
FILE(item, sysfs_emit(to, "%llu\n", (u64)c->page.item));
FILE(slots, sysfs_emit(to, "%llu\n", (u64)c->page.slots));
FILE(full, sysfs_emit(to, "%s\n", qv_channel_full(&c->page)));
FILE(schema, sysfs_emit(to, "%s\n", c->page.schema));
FILE(reconnect, sysfs_emit(to, "%s\n", qv_channel_reconnect(&c->page)));
FILE(bell, sysfs_emit(to, "%s\n", qv_channel_bell(&c->page)));
FILE(writers, sysfs_writers(c, to));
FILE(ends, sysfs_ends(c, to, SYSFS_NAME));
FILE(state, sysfs_ends(c, to, SYSFS_STATE));
FILE(generation, sysfs_ends(c, to, SYSFS_GENERATION));
FILE(last_error, sysfs_error(c, to));
COUNT(waiting);
COUNT(high);
COUNT(items);
COUNT(lost);
COUNT(refused);

static struct attribute *sysfs_attrs[] = {
	&dev_attr_type.attr, &dev_attr_item.attr, &dev_attr_slots.attr, &dev_attr_full.attr,
	&dev_attr_schema.attr, &dev_attr_reconnect.attr, &dev_attr_bell.attr,
	&dev_attr_writers.attr, &dev_attr_ends.attr,
	&dev_attr_state.attr, &dev_attr_generation.attr, &dev_attr_waiting.attr,
	&dev_attr_high.attr, &dev_attr_items.attr, &dev_attr_lost.attr, &dev_attr_refused.attr,
	&dev_attr_last_error.attr, NULL
};

static const struct attribute_group sysfs_group = { .attrs = sysfs_attrs };
const struct attribute_group *qv_channel_groups[] = { &sysfs_group, NULL };

void qv_channel_announce(struct qv_channel_dev *c, const char *end, bool starts)
{
	char name[QV_NAME_LEN + sizeof("QV_END=")], state[32];
	char *words[] = { starts ? "QV_EVENT=connect" : "QV_EVENT=disconnect", name, state, NULL };
	u32 i;

	for (i = 0; i < c->page.ends; i++) {
		if (strncmp(c->page.end[i].name, end, QV_NAME_LEN))
			continue;
		snprintf(name, sizeof(name), "QV_END=%s", c->page.end[i].name);
		snprintf(state, sizeof(state), "QV_STATE=%s", sysfs_state(c, i));
		kobject_uevent_env(&c->dev.kobj, KOBJ_CHANGE, words);
	}
	sysfs_notify(&c->dev.kobj, NULL, "state");
}
