// SPDX-License-Identifier: Apache-2.0
/* Finds the control group of the recorder's pod by its name. */
#include "capture/pod.h"

#include <errno.h>

#include "capture/self.h"

int pod_find(const struct cgroups *c, struct cgroup_place *out, struct error *err)
{
	struct self_cgroups own;
	int ret = self_find_cgroups(&own, cgroups_subsystem(c), err);

	if (ret)
		return ret;
	for (uint32_t level = own.count; level-- > 0;) {
		if (!pod_is_name(own.levels[level].name))
			continue;
		*out = (struct cgroup_place){.subsystem = cgroups_subsystem(c),
					     .id = own.levels[level].id,
					     .level = level};
		return 0;
	}
	error_set(err, -ENOENT,
		  "skein is not in a pod: no control group above it has a pod's name");
	error_hint(err, "to record one control group: --cgroup PATH");
	return -ENOENT;
}
