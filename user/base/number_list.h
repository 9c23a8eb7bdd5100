/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of whole numbers that people type and the kernel prints, such as "0,2-3". */
#ifndef SKEIN_BASE_NUMBER_LIST_H
#define SKEIN_BASE_NUMBER_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vector.h"

typedef VECTOR(uint32_t) number_list; /* ascending */

/*
 * Add the numbers of a text to a list. For messages, what is the plural of the things that the
 * numbers stand for, such as "CPUs", and hint is appended if the text begins with a letter. Return
 * 0, or with the list unchanged -ENOMEM, or -EINVAL for a text that is no such list or has a range
 * of more than 65536 numbers.
 */
int number_list_parse(number_list *list, const char *text, const char *what, const char *hint,
		      struct error *err);
#define HINT_COMM "; --comm takes names"

bool number_list_has(const number_list *list, uint32_t number);

#endif
