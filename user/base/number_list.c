// SPDX-License-Identifier: Apache-2.0
/* Parse lists of numbers, and search them. */
#include "base/number_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#define RANGE_MAX 65536 /* most numbers in one range; more than any kernel supports CPUs */

/* Parse the number at *at, and advance *at past it. */
static int take_list_number(const char **at, uint32_t least, uint32_t *out)
{
	unsigned long long number;
	char *end;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	number = strtoull(*at, &end, 10);
	if (number < least || number > UINT32_MAX)
		return -EINVAL;
	*at = end;
	*out = (uint32_t)number;
	return 0;
}

/* Parse "3" or "3-5" at *at, and advance *at past it. */
static int take_list_range(number_list *list, const char **at)
{
	uint32_t first = 0, last;
	int ret = take_list_number(at, 0, &first);

	last = first;
	if (!ret && **at == '-') {
		(*at)++;
		ret = take_list_number(at, first, &last);
	}
	if (!ret)
		ret = last - first < RANGE_MAX ? vector_reserve(list, last - first + 1) : -EINVAL;
	for (uint64_t number = first; !ret && number <= last; number++)
		list->items[list->count++] = (uint32_t)number;
	return ret;
}

static int compare_list_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int number_list_parse(number_list *list, const char *text, const char *what, const char *hint,
		      struct error *err)
{
	size_t count = list->count;
	const char *at = text;
	int ret;

	while (!(ret = take_list_range(list, &at)) && *at == ',')
		at++;
	if (!ret && *at)
		ret = -EINVAL;
	if (ret < 0)
		list->count = count;
	if (ret == -ENOMEM)
		return error_errno(err, ret, "list of %s", what);
	if (ret < 0)
		return error_set(err, ret, "'%s' is no list of %s such as 12,14-16%s", text, what,
				 isalpha((unsigned char)*text) ? hint : "");
	qsort(list->items, list->count, sizeof(*list->items), compare_list_numbers);
	return 0;
}

bool number_list_has(const number_list *list, uint32_t number)
{
	return list->count &&
	       bsearch(&number, list->items, list->count, sizeof(number), compare_list_numbers);
}
