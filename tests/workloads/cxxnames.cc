// SPDX-License-Identifier: Apache-2.0
/* Functions with C++ names: a namespace, a class template, a member function, a lambda. */
#include <cstdint>
#include <cstdlib>

#include "burn.h"

namespace demo
{

template <typename T> class Burner {
    public:
	__attribute__((noinline)) void burn_in_template(T ns)
	{
		BURN_HERE(ns);
	}
};

} // namespace demo

int main(int argc, char **argv)
{
	demo::Burner<unsigned long> burner;

	burner.burn_in_template(argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 500 * MS);
	return 0;
}
