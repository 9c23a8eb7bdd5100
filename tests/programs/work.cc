// SPDX-License-Identifier: Apache-2.0
// Something for g++ to chew on: templates of the standard library.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

template <unsigned N> struct Sum {
	static unsigned of(const std::vector<unsigned> &v)
	{
		return std::accumulate(v.begin(), v.end(), N) + Sum<N - 1>::of(v);
	}
};

template <> struct Sum<0> {
	static unsigned of(const std::vector<unsigned> &) { return 0; }
};

int main(int argc, char **argv)
{
	std::map<std::string, std::unique_ptr<std::vector<unsigned>>> table;
	std::unordered_map<std::string, std::function<unsigned(unsigned)>> calls;
	std::regex word("([a-z]+)-([0-9]+)");

	for (int i = 0; i < argc; i++) {
		std::smatch found;
		std::string text = argv[i];
		if (std::regex_search(text, found, word))
			calls[found[1]] = [found](unsigned x) { return x + found.length(2); };
		auto &list = table[text];
		list = std::make_unique<std::vector<unsigned>>(100, i);
		std::sort(list->begin(), list->end(), std::greater<>());
		std::stringstream out;
		out << Sum<60>::of(*list) << ' ' << calls.size();
		std::cout << out.str() << '\n';
	}
	return 0;
}
