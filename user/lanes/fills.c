// SPDX-License-Identifier: Apache-2.0
/* The table of fills (fills.h). */
#include "lanes/fills.h"

static const struct fill_look fill_looks[FILL_COUNT] = {
#define FILL_LOOK(NAME, shape, letter, rich, basic, word) \
	[FILL_##NAME] = {SHAPE_##shape, letter, rich, basic, word},
	FILLS(FILL_LOOK)
#undef FILL_LOOK
};

const struct fill_look *fill_look(enum fill fill)
{
	return &fill_looks[fill];
}

bool fill_is_solid(enum fill fill)
{
	return fill_looks[fill].shape == SHAPE_SOLID;
}

/* The colours 16 to 231 of xterm are a cube with six steps a side, 232 to 255 are greys. */
uint32_t fill_rgb(enum fill fill)
{
	static const uint8_t steps[] = {0, 95, 135, 175, 215, 255};
	unsigned int number = fill_looks[fill].rich, at = number - 16;

	if (number < 16)
		return 0;
	if (number >= 232)
		return (8 + 10 * (number - 232)) * 0x010101;
	return (uint32_t)steps[at / 36] << 16 | steps[at / 6 % 6] << 8 | steps[at % 6];
}
