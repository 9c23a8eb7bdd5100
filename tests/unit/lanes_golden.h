/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal output that tests/unit/test_lanes.c expects. */
#ifndef SKEIN_TESTS_LANES_GOLDEN_H
#define SKEIN_TESTS_LANES_GOLDEN_H

/* clang-format off */
static const char golden_ascii[] =
	"Timeline   web-1, 80 ms; a character is 1.67 ms\n"
	"\n"
	"                      |0 ms       |20 ms      |40 ms      |60 ms\n"
	"CPU 0             75% AAAAAAAAAAAAAAAAAAAAAAAAa..........bBBBBBBBBBBBB\n"
	"CPU 1             14% ...........aAAAAAAa...........??????C...........\n"
	"                      a web  b cat  c a?[2J????b\n"
	"\n"
	"a web 100  2 threads\n"
	"  web 100         50% *######################*Llllllllllllllllllllllll\n"
	"  helper 101      13% iiiiiiiiiiiI*####*:-----------??????............\n"
	"b cat 200         25%                   rrrrrrrrrrrrrrrrrR*##########*\n"
	"c a?[2J????b 300   1%                                    :+ooooooooooo\n"
	"                      # running  r runnable  l lock  i I/O\n"
	"                      o other wait  - sleep  . poll  ? unknown\n"
	"                        (capital: ran, too)\n"
	"Lost       1,234 switches lost: the buffer of switches and wake-ups\n"
	"           was full: raise --switch-buffer\n";

static const char golden_letters[] =
	"Timeline   web-1, 80 ms; a character is 1.6 ms\n"
	"\n"
	"                    ▏0 ms       ▏20 ms       ▏40 ms      ▏60 ms\n"
	"CPU 0           75% AAAAAAAAAAAAAAAAAAAAAAAAAa┈┈┈┈┈┈┈┈┈┈┈BBBBBBBBBBBBB\n"
	"CPU 1           14% ┈┈┈┈┈┈┈┈┈┈┈┈AAAAAAA┈┈┈┈┈┈┈┈┈┈┈┈???????c┈┈┈┈┈┈┈┈┈┈┈\n"
	"                    a web  b cat  c a?[2J?�b\n"
	"\n"
	"a web 100  2 threads\n"
	"  web 100       50% ▓███████████████████████▓Lllllllllllllllllllllllll\n"
	"  helper 101    13% iiiiiiiiiiii▒█████▓────────────???????┈┈┈┈┈┈┈┈┈┈┈┈\n"
	"b cat 200       25%                   rrrrrrrrrrrrrrrrrrr▒███████████▓\n"
	"c a?[2J?�b 300   1%                                      ▒Oooooooooooo\n"
	"                    █ running  r runnable  l lock  i I/O  o other wait\n"
	"                    ─ sleep  ┈ poll  ? unknown    (capital: ran, too)\n"
	"Lost       1,234 switches lost: the buffer of switches and wake-ups\n"
	"           was full: raise --switch-buffer\n";

static const char golden_colours[] =
	"\033[1mTimeline\033[0m   web-1, 80 ms; a character is 1.63 ms\n"
	"\n"
	"                     \033[2m▏\033[0m0 ms       \033[2m▏\033[0m20 ms      \033[2m▏"
		"\033[0m40 ms      \033[2m▏\033[0m60 ms\n"
	"CPU 0            75% \033[38;5;74m▇███████████████████████▄\033[38;5;245m┈┈┈┈┈┈┈┈┈┈┈"
		"\033[38;5;173m▂███████████▇\033[39m\n"
	"CPU 1            14% \033[38;5;245m┈┈┈┈┈┈┈┈┈┈┈┈\033[38;5;74m▆█████▃"
		"\033[38;5;245m┈┈┈┈┈┈┈┈┈┈┈\033[38;5;203m░░░░░░░\033[38;5;140m▃"
		"\033[38;5;245m┈┈┈┈┈┈┈┈┈┈┈\033[39m\n"
	"                     \033[38;5;74m▆▆\033[39m web  \033[38;5;173m▆▆\033[39m cat  "
		"\033[38;5;140m▆▆\033[39m a?[2J?�b\n"
	"\n"
	"\033[38;5;74m▆▆\033[39m \033[1mweb 100\033[0m\033[2m  2 threads\n"
	"\033[0m   web 100       50% \033[38;5;77m▇███████████████████████\033[48;5;131m▄"
		"\033[38;5;131;49m████████████████████████\033[39m\n"
	"   helper 101    13% \033[38;5;67m████████████\033[38;5;77;48;5;67m▆\033[49m█████▃"
		"\033[38;5;245m───────────\033[38;5;203m░░░░░░░\033[38;5;245m┈┈┈┈┈┈┈┈┈┈┈┈\033[39m\n"
	"\033[38;5;173m▆▆\033[39m \033[1mcat 200\033[0m       25%                   "
		"\033[38;5;220m▐█████████████████\033[38;5;77;48;5;220m▂\033[49m███████████▇"
		"\033[39m\n"
	"\033[38;5;140m▆▆\033[39m \033[1ma?[2J?�b 300"
		"\033[0m   1%                                     \033[38;5;77m▂\033[48;5;243m▃"
		"\033[38;5;243;49m███████████\033[39m\n"
	"                     \033[38;5;77m▆▆\033[39m running  \033[38;5;220m▆▆\033[39m runnable  "
		"\033[38;5;131m▆▆\033[39m lock  \033[38;5;67m▆▆\033[39m I/O\n"
	"                     \033[38;5;243m▆▆\033[39m other wait  \033[38;5;245m──\033[39m sleep  "
		"\033[38;5;245m┈┈\033[39m poll  \033[38;5;203m░░\033[39m unknown\n"
	"\033[1mLost\033[0m       \033[33m1,234 switches lost: the buffer of switches and wake-ups"
		"\033[0m\n"
	"           \033[33mwas full: raise --switch-buffer\033[0m\n";

static const char golden_closer[] =
	"Timeline   web-1, 59 ms to 61.5 ms of 80 ms; a character is 52.1 us\n"
	"\n"
	"                      |59 ms             |60 ms             |61 ms\n"
	"CPU 0             60% ...................AAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
	"CPU 1             40% ???????????????????BBBBBBBBBBBBBBBBBBBb.........\n"
	"                      a cat  b a?[2J????b\n"
	"\n"
	"a cat 200         60% rrrrrrrrrrrrrrrrrrr*############################\n"
	"b a?[2J????b 300  40%                    *##################Oooooooooo\n"
	"                      # running  r runnable  o other wait  ? unknown\n"
	"                        (capital: ran, too)\n"
	"Lost       1,234 switches lost: the buffer of switches and wake-ups\n"
	"           was full: raise --switch-buffer\n";

static const char golden_process[] =
	"Timeline   web-1, 80 ms; a character is 1.54 ms\n"
	"\n"
	"                  |0 ms        |20 ms       |40 ms       |60 ms\n"
	"CPU 0         75% AAAAAAAAAAAAAAAAAAAAAAAAAAa...........zZZZZZZZZZZZZZ\n"
	"CPU 1         14% ............aAAAAAAA............???????Z............\n"
	"                  a web  z others\n"
	"\n"
	"a web 100  3 threads\n"
	"  web 100     50% *########################*Llllllllllllllllllllllllll\n"
	"  helper 101  13% iiiiiiiiiiiiI*#####+------------???????.............\n"
	"  spare 102    0% pppppppppppppppppppppppppppppppppppppppppppppppppppp\n"
	"                  # running  l lock  i I/O  p pipe or socket  - sleep\n"
	"                  . poll  ? unknown    (capital: ran, too)\n"
	"Lost       1,234 switches lost: the buffer of switches and wake-ups\n"
	"           was full: raise --switch-buffer\n";

static const char golden_few[] =
	"Timeline   web-1, 80 ms; a character is 1.45 ms\n"
	"\n"
	"               |0 ms        |20 ms        |40 ms        |60 ms\n"
	"CPU 0      75% AAAAAAAAAAAAAAAAAAAAAAAAAAAA.............BBBBBBBBBBBBBB\n"
	"... and 1 more CPU (-n 0 shows all)\n"
	"               a web  b cat\n"
	"\n"
	"a web 100  1 of 2 threads\n"
	"  web 100  50% *##########################+lllllllllllllllllllllllllll\n"
	"b cat 200  25%                     rrrrrrrrrrrrrrrrrrrrr*############*\n"
	"... and 2 more threads (-n 0 shows all)\n"
	"               # running  r runnable  l lock    (capital: ran, too)\n"
	"Lost       1,234 switches lost: the buffer of switches and wake-ups\n"
	"           was full: raise --switch-buffer\n";

static const char golden_nobody[] =
	"Timeline   web-1, 62 ms to 63 ms of 80 ms; a character is 17.9 us\n"
	"\n"
	"              |62.0 ms   |62.2 ms   |62.4 ms   |62.6 ms   |62.8 ms\n"
	"CPU 0    100% ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ\n"
	"CPU 1      0% ........................................................\n"
	"              z others\n"
	"\n"
	"no thread wanted a CPU\n";
/* clang-format on */

#endif
