// SPDX-License-Identifier: Apache-2.0
/* A shared object for dlopener: burns in burn_in_first(). */
#include "../burn.h"

static void burn_in_first(uint64_t ns)
{
	BURN_HERE(ns);
}

void plugin_run(uint64_t ns);
void plugin_run(uint64_t ns)
{
	burn_in_first(ns);
}
