// SPDX-License-Identifier: Apache-2.0
/* A library of wide.c, with so many functions that its index (.eh_frame_hdr) is worth using. */
#include <stdint.h>

volatile uint64_t wide_sink;

#define FUNCTION(n) \
	__attribute__((noinline)) uint64_t wide_turn_##n(uint64_t x) \
	{ \
		for (int i = 0; i < 2000; i++) \
			x = x * 6364136223846793005ull + n; \
		wide_sink = x; \
		return x; \
	}
#define TEN(n) \
	FUNCTION(n##0) FUNCTION(n##1) FUNCTION(n##2) FUNCTION(n##3) FUNCTION(n##4) \
	FUNCTION(n##5) FUNCTION(n##6) FUNCTION(n##7) FUNCTION(n##8) FUNCTION(n##9)

TEN(1)
TEN(2)
TEN(3)
TEN(4)
TEN(5)
TEN(6)
TEN(7)
TEN(8)

uint64_t wide_enter(uint64_t x)
{
	return wide_turn_10(x) + wide_turn_55(x + 1) + wide_turn_89(x + 2);
}
