// SPDX-License-Identifier: GPL-2.0-only
#include "fuzz.h"
#include "request_model.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static struct machine m;
	struct choices c = { data, len };

	if (!m.inst)
		machine_open(&m, 3);
	request_good(&m.inst->req);
	while (choices_left(&c))
		request_spoil(&m.inst->req, &c);
	request_model_check(&m);
	return 0;
}
