// SPDX-License-Identifier: GPL-2.0-only
/* net=ADDRESS/PREFIX on the command line: valid words are parsed, and wrong words are reported. */
#include <string.h>
#include "../quest/net/word.h"
#include "unit.h"

static struct net_wish w;

static const char *read_word(const char *word)
{
	memset(&w, 0xff, sizeof(w));
	return netword_read(word, strlen(word), &w);
}

static bool says(const char *word, const char *part)
{
	const char *wrong = read_word(word);

	return wrong && strstr(wrong, part);
}

TEST(netword_right_ones)
{
	CHECK(!read_word("net=192.168.7.2/24"));
	CHECK(!memcmp(w.address, "\xc0\xa8\7\2", 4) && w.prefix == 24);
	CHECK(!memcmp(w.gateway, "\0\0\0\0", 4) && !w.polled);
	CHECK(!read_word("net=10.255.0.1/8,via=10.0.0.1,polled"));
	CHECK(!memcmp(w.gateway, "\n\0\0\1", 4) && w.polled);
	CHECK(!read_word("net=10.0.0.1/30,polled,via=10.0.0.2"));
	CHECK(!w.dhcp);
	CHECK(!read_word("net=dhcp") && w.dhcp && !w.polled && !w.prefix);
	CHECK(!read_word("net=dhcp,polled") && w.dhcp && w.polled);
	CHECK(!read_word("net=10.0.0.1/8,share") && w.shares && !*w.share);
	CHECK(!read_word("net=share:lan,10.0.0.1/8,via=10.0.0.2") && !strcmp(w.share, "lan"));
	CHECK(!w.shares && w.gateway[3] == 2 && w.address[3] == 1);
	CHECK(!read_word("net=share:lan,dhcp") && w.dhcp && !strcmp(w.share, "lan"));
	CHECK(!read_word("net=10.0.0.1/8,apart,polled") && !strcmp(w.driver, "nicdriver"));
	CHECK(!read_word("net=dhcp,share,apart=other") && !strcmp(w.driver, "other") && w.shares);
	CHECK(!read_word("net=10.0.0.1/8,apart=other,via=10.0.0.2") && !strcmp(w.driver, "other"));
	CHECK(w.gateway[3] == 2 && !read_word("net=dhcp") && !*w.driver);
	/* the next word of the command line does not count */
	CHECK(!netword_read("net=10.0.0.1/8 x", 14, &w));
}

TEST(netword_wrong_ones)
{
	static const char *const unreadable[] = {
		"net=", "net=1", "net=1.2.3/8", "net=1.2.3.256/8", "net=1.2.3.4", "net=1.2.3.4/",
		"net=1.2.3.4/0", "net=1.2.3.4/31", "net=1.2.3.4/x", "net=01.2.3.4/8",
		"net=1.2.3.-4/8", "net=1.2.3.1000/8", "net=dhc", "net=1.2..4/8",
	};
	unsigned int i;

	for (i = 0; i < sizeof(unreadable) / sizeof(unreadable[0]); i++) {
		unit_case("%s", unreadable[i]);
		CHECK(says(unreadable[i], "use net=ADDRESS/PREFIX"));
	}
	unit_case("the rest");
	CHECK(says("net=share:,10.0.0.1/8", "use net=share:NAME"));
	CHECK(says("net=share:lan", "use net=share:NAME"));
	CHECK(says("net=share:abcdefghijabcdefghijabcdefghi,dhcp", "use net=share:NAME"));
	CHECK(says("net=share:lan,10.0.0.1/8,share", "behind the address"));
	CHECK(says("net=192.168.7.0/24", "no interface can have"));
	CHECK(says("net=192.168.7.255/24", "no interface can have"));
	CHECK(says("net=127.0.0.1/8", "no interface can have"));
	CHECK(says("net=224.0.0.1/8", "no interface can have"));
	CHECK(says("net=0.0.0.1/8", "no interface can have"));
	CHECK(says("net=10.0.0.1/24,via=10.0.1.1", "not in the network"));
	CHECK(says("net=10.0.0.1/24,via=10.0.0.1", "not in the network"));
	CHECK(says("net=10.0.0.1/24,via=10.0.0", "via= needs an address"));
	CHECK(says("net=10.0.0.1/24,poll", "behind the address"));
	CHECK(says("net=10.0.0.1/24,polled,polled", "behind the address"));
	CHECK(says("net=10.0.0.1/24x", "behind the address"));
	CHECK(says("net=10.0.0.1/24,apart=", "name of a program"));
	CHECK(says("net=dhcp,apart=abcdefghijabcdefghijabcdefghijab", "name of a program"));
	CHECK(says("net=10.0.0.1/24,apart,apart", "behind the address"));
	CHECK(says("net=10.0.0.1/24,apart:x", "behind the address"));
	CHECK(says("net=share:lan,dhcp,apart", "behind dhcp"));
	CHECK(says("net=dhcp/24", "behind dhcp"));
	CHECK(says("net=dhcp,via=10.0.0.1", "behind dhcp"));
}
