// SPDX-License-Identifier: Apache-2.0
/* JVMs for which a recording waits before it begins. */
#include <string.h>

#include "capture/live.h"
#include "suite.h"

static struct live live;

/* A memory that cannot be opened will never have a reply. */
START_TEST(memory_that_cannot_be_opened)
{
	struct object o = {.kind = MAPPING_JAVA, .state = OBJECT_OPENING};

	o.java.awaited = true;
	live.walkers.jvms_awaited = 1;
	live_java_updated(&live, &o);
	ck_assert(live_java_pending(&live));
	o.state = OBJECT_UNREADABLE;
	live_java_updated(&live, &o);
	ck_assert(!live_java_pending(&live));
	ck_assert_ptr_nonnull(strstr(o.java.described, "cannot be opened"));
	live_java_updated(&live, &o);
	ck_assert_uint_eq(live.walkers.jvms_awaited, 0);
	free(o.java.described);
}
END_TEST

SUITE("live_java", memory_that_cannot_be_opened)
