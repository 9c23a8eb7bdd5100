// SPDX-License-Identifier: Apache-2.0
/* Short names of functions, with names as libiberty demangles them. */
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "base/text.h"
#include "suite.h"

#define DOTS "\xe2\x80\xa6"

struct name_pair {
	const char *name, *wanted;
};

START_TEST(what_the_source_leaves_out_is_left_out)
{
	static const struct name_pair pairs[] = {
		{"void std::__introsort_loop<int*, long>(int*, int*, long)",
		 "std::__introsort_loop<int*, long>(int*, int*, long)"},
		{"std::vector<int, std::allocator<int> >::push_back(int const&)",
		 "std::vector<int>::push_back(int const&)"},
		{"std::_Rb_tree<std::__cxx11::basic_string<char, std::char_traits<char>, "
		 "std::allocator<char> >, std::pair<std::__cxx11::basic_string<char, "
		 "std::char_traits<char>, std::allocator<char> > const, int>, "
		 "std::_Select1st<int>, std::less<std::__cxx11::basic_string<char, "
		 "std::char_traits<char>, std::allocator<char> > >, "
		 "std::allocator<std::pair<std::__cxx11::basic_string<char, "
		 "std::char_traits<char>, std::allocator<char> > const, int> > >::find()",
		 "std::_Rb_tree<std::string, std::pair<std::string const, int>, "
		 "std::_Select1st<int>>::find()"},
		{"std::map<int, std::less<int>, std::greater<int>, "
		 "std::allocator<std::pair<int const, int> > >::find(int)",
		 "std::map<int, std::less<int>, std::greater<int>>::find(int)"},
		{"std::set<int, std::less<long>, std::allocator<int> >::f()",
		 "std::set<int, std::less<long>>::f()"},
		{"std::__1::basic_string<char, std::__1::char_traits<char>, "
		 "std::__1::allocator<char> >::append(char const*)",
		 "std::string::append(char const*)"},
		{"std::basic_ostream<char, std::char_traits<char> >& std::operator<< "
		 "<std::char_traits<char> >(std::basic_ostream<char, std::char_traits<char> >&, "
		 "char const*)",
		 "std::operator<< <std::char_traits<char>>(std::ostream&, char const*)"},
		{"decltype (f({parm#1})) call<int (*)(int)>(int (*)(int))",
		 "call<int (*)(int)>(int (*)(int))"},
		{"(anonymous namespace)::twice<int>(int)",
		 "(anonymous namespace)::twice<int>(int)"},
		{"int (anonymous namespace)::twice<int>(int)",
		 "(anonymous namespace)::twice<int>(int)"},
		{"std::enable_if<(1 > 0), void>::type run<std::function<void (int)> >(int)",
		 "run<std::function<void (int)>>(int)"},
		{"void A::operator()<int>(int) const", "A::operator()<int>(int) const"},
		{"main::{lambda(int)#1}::operator()(int) const",
		 "main::{lambda(int)#1}::operator()(int) const"},
		{"alloc::vec::Vec<u8, alloc::alloc::Global>::push", "alloc::vec::Vec<u8>::push"},
		{"<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop",
		 "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop"},
		{"hashbrown::map::HashMap<fn(u8) -> u8, u8, std::hash::random::RandomState>::get",
		 "hashbrown::map::HashMap<fn(u8) -> u8, u8>::get"},
	};
	char buf[512];

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		ck_assert_str_eq(name_short(pairs[i].name, buf, sizeof(buf)), pairs[i].wanted);
}
END_TEST

START_TEST(other_names_stay)
{
	static const char *const names[] = {
		"",
		"main",
		"do_syscall_64",
		"operator new(unsigned long)",
		"A::operator unsigned int() const",
		"operator<(A const&, A const&)",
		"A::operator->() const",
		"non-virtual thunk to A::f(int)",
		"Handler.get (main.py:10)",
		"_find_and_load (<frozen importlib._bootstrap>:1165)",
		"<lambda> (<string>)",
		"<module> (a b.py:1)",
		"main.(*T[go.shape.int]).Method",
		"java.util.HashMap.<init>",
		"LazyCompile:~run /a b/c.js:10",
		"[cc1+0x4a1f20]",
		"void (*f(int))(char)",
		"f(((((((", /* brackets that do not close */
		"f<<<<<int, std::allocator<int>",
		"g)>]}(",
	};
	char buf[512];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_str_eq(name_short(names[i], buf, sizeof(buf)), names[i]);
}
END_TEST

START_TEST(parameters_go_first_then_arguments_then_the_middle)
{
	static const char name[] =
		"skein::Table<skein::Row, skein::Key>::insert_or_assign(skein::Row const&, int)";
	static const char *const wanted[] = {
		"skein::Table<skein::Row, skein::Key>::insert_or_assign(" DOTS ")",
		"skein::Table<" DOTS ">::insert_or_assign(" DOTS ")",
		"skein::Table<" DOTS ">::ins" DOTS "r_assign(" DOTS ")",
	};
	static const unsigned int columns[] = {60, 40, 32};
	char buf[512];

	ck_assert_str_eq(name_fit(name, 200, buf, sizeof(buf)), name);
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(name_fit(name, columns[i], buf, sizeof(buf)), wanted[i]);
	for (int form = NAME_WHOLE; form < NAME_FORMS; form++) {
		static const char *const forms[] = {
			name,
			"skein::Table<skein::Row, skein::Key>::insert_or_assign(" DOTS ")",
			"skein::Table<" DOTS ">::insert_or_assign(" DOTS ")",
		};

		ck_assert_str_eq(name_form(name, form, buf, sizeof(buf)), forms[form]);
	}
	/* the file of a function of Python is the end that matters */
	ck_assert_str_eq(name_fit("a_function_with_a_name (some/file.py:10)", 30, buf, sizeof(buf)),
			 "a_function_with_a_n" DOTS "ile.py:10)");
	ck_assert_str_eq(name_fit("operator()(int, int, int)", 16, buf, sizeof(buf)),
			 "operator()(" DOTS ")");
	ck_assert_str_eq(name_fit("<Vec<alloc::String> as core::Drop>::drop", 36, buf, sizeof(buf)),
			 "<Vec<" DOTS "> as core::Drop>::drop");
}
END_TEST

/* Names made to harm: random brackets and words, at every length, stay in their bounds. */
START_TEST(any_text_stays_in_its_bounds)
{
	static const char *const pieces[] = {"<",  ">",
					     "(",  "operator",
					     "::", "std::__1::",
					     ", ", "std::allocator<",
					     ")",  "int",
					     "{",  "}",
					     " ",  "std::basic_string<char>",
					     "->", "\xc3\xa9"};
	static char name[9000], buf[9000];

	srand(1);
	for (int n = 0; n < 3000; n++) {
		size_t used = 0, length = (size_t)rand() % (n % 50 ? 300 : 8900);
		unsigned int columns = (unsigned int)rand() % 120, size = 1 + rand() % 4200;

		name[0] = '\0';
		while (used < length) {
			const char *piece = pieces[rand() % (n % 3 ? 16 : 5)];

			used += (size_t)sprintf(name + used, "%s", piece);
		}
		name_short(name, buf, sizeof(buf));
		ck_assert_uint_le(strlen(buf), strlen(name));
		memset(buf, 'x', sizeof(buf));
		name_fit(name, columns, buf, size);
		ck_assert_uint_lt(strlen(buf), size);
		ck_assert_uint_le(text_width(buf), columns);
	}
}
END_TEST

SUITE("name", any_text_stays_in_its_bounds, other_names_stay,
      parameters_go_first_then_arguments_then_the_middle, what_the_source_leaves_out_is_left_out)
