// SPDX-License-Identifier: Apache-2.0
/*
 * path.c: merging of native and Python frames into one path. Paths are written outermost first:
 * capitals are native frames (L the evaluation loop, G greenlet's code, U unmapped), digits are
 * kernel frames, small letters are Python frames. A Python segment begins with '[' (its first frame
 * is marked) or '(' (a shim).
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "capture/path.h"
#include "suite.h"

#define MANY 4096

static struct path path;

struct sketch {
	uint64_t words[MANY];
	struct raw_stack raw;
};

static enum path_code code_of(const void *context, uint64_t address)
{
	(void)context;
	switch (address >> 8) {
	case 'U':
		return PATH_UNMAPPED;
	case 'L':
		return PATH_LOOP;
	default:
		return PATH_CODE;
	}
}

static bool switches(const void *context, uint64_t address)
{
	(void)context;
	return address >> 8 == 'G';
}

static const struct path_space space = {.code = code_of, .switches = switches};

static uint64_t tagged(uint64_t tag, uint64_t address)
{
	return tag << WIRE_TAG_SHIFT | address;
}

/* Write the frames of one part: return addresses are one higher than the path's addresses. */
static unsigned int add_native(uint64_t *words, const char *part)
{
	size_t count = strlen(part);

	for (size_t i = 0; i < count; i++)
		words[i] = (uint64_t)part[count - 1 - i] << 8 | (i ? 1 : 0);
	return (unsigned int)count;
}

static unsigned int add_python(uint64_t *words, const char *part)
{
	unsigned int count = 0;

	for (size_t i = strlen(part); i-- > 0;) {
		bool entry = i && part[i - 1] == '[' && part[i] != '(';

		if (part[i] == '[')
			continue;
		words[count++] = part[i] == '(' ? tagged(WIRE_TAG_PYTHON_SHIM, 0)
				 : entry	? tagged(WIRE_TAG_PYTHON_ENTRY, (uint64_t)part[i])
						: tagged(WIRE_TAG_PYTHON, (uint64_t)part[i]);
		words[count++] = part[i] == '(' ? 0 : PYTHON_PLACE(part[i], 7);
	}
	return count;
}

static void draw(struct sketch *s, const char *kernel, const char *user, const char *python)
{
	struct raw_stack *raw = &s->raw;

	memset(raw, 0, sizeof(*raw));
	raw->words = s->words;
	raw->kernel = add_native(s->words, kernel);
	raw->user = add_native(s->words + raw->kernel, user);
	raw->python = add_python(s->words + raw->kernel + raw->user, python);
	raw->end = raw->python_end = END_WALKED;
}

static char letter_of(const struct path_frame *f)
{
	if (f->kind == PATH_PYTHON) {
		ck_assert_uint_eq(f->place, PYTHON_PLACE(f->address, 7));
		return (char)f->address;
	}
	ck_assert_uint_eq(f->address & 0xff, 0); /* the address lies within the call */
	ck_assert_uint_eq(f->place, 0);
	ck_assert_int_eq(f->loop, f->address >> 8 == 'L');
	ck_assert_int_eq(f->kind == PATH_KERNEL, !!isdigit((int)(f->address >> 8)));
	return (char)(f->address >> 8);
}

static const char *drawn(const struct path *p)
{
	static char text[PATH_FRAMES + 1];

	for (unsigned int i = 0; i < p->count; i++)
		text[i] = letter_of(&p->frames[i]);
	text[p->count] = '\0';
	return text;
}

/* Check a stack whose walks both reached the outermost frame. */
static void whole(const char *user, const char *python, const char *expected)
{
	static struct sketch s;

	draw(&s, "", user, python);
	path_make(&path, &s.raw, &space);
	ck_assert_str_eq(drawn(&path), expected);
	ck_assert_int_eq(path.end, END_WALKED);
	ck_assert_int_eq(path.loops, strchr(user, 'L') != NULL);
}

static void refused(const char *user, const char *python)
{
	static struct sketch s;

	draw(&s, "", user, python);
	path_make(&path, &s.raw, &space);
	ck_assert_str_eq(drawn(&path), user);
	ck_assert_int_eq(path.end, END_PYTHON);
}

static void cut(const char *user, enum stack_end end, const char *python, enum stack_end python_end,
		const char *expected, enum stack_end expected_end)
{
	static struct sketch s;

	draw(&s, "", user, python);
	s.raw.end = end;
	s.raw.python_end = python_end;
	path_make(&path, &s.raw, &space);
	ck_assert_str_eq(drawn(&path), expected);
	ck_assert_int_eq(path.end, expected_end);
}

START_TEST(native_stacks_stay_what_they_were)
{
	static struct sketch s;

	whole("MAB", "", "MAB");
	whole("", "", "");
	draw(&s, "12", "MAB", "");
	path_make(&path, &s.raw, &space);
	ck_assert_str_eq(drawn(&path), "MAB12");
}
END_TEST

START_TEST(a_walk_that_left_code_is_cut_there)
{
	cut("MUAB", END_WALKED, "", END_WALKED, "AB", END_UNMAPPED);
	cut("MUAB", END_BAD_ROW, "", END_WALKED, "AB", END_UNMAPPED);
	whole("MAU", "", "MAU"); /* the first frame is kept, mapped or not */
	cut("MULAL", END_WALKED, "[a[b[c", END_WALKED, "aLbALc", END_UNMAPPED);
}
END_TEST

START_TEST(every_loop_runs_its_segment)
{
	whole("MLALBL", "[a[b[c", "MLaALbBLc"); /* 3.8 to 3.10 */
	whole("MLALB", "[ab[cde", "MLabALcdeB"); /* 3.11 */
	whole("MLALB", "(ab(cde", "MLabALcdeB"); /* from 3.12 */
	whole("MLL", "[a[b", "MLaLb");
}
END_TEST

START_TEST(kernel_frames_come_last)
{
	static struct sketch s;

	draw(&s, "12", "MLA", "[ab");
	path_make(&path, &s.raw, &space);
	ck_assert_str_eq(drawn(&path), "MLabA12");
	draw(&s, "12", "", "[ab");
	s.raw.end = END_UNREADABLE;
	path_make(&path, &s.raw, &space);
	ck_assert_str_eq(drawn(&path), "ab12");
}
END_TEST

/* The innermost loop has not linked its frame yet, or has unlinked it. */
START_TEST(a_loop_without_a_frame_is_the_innermost)
{
	whole("MLAL", "[a", "MLaAL");
	whole("MLALR", "[a", "MLaALR"); /* the loop checks the result of its frame */
	whole("ML", "", "ML");
	whole("MLALBL", "[ab[c", "MLabALcBL");
}
END_TEST

/* A frame is unlinked, and its references are released, before its loop ends. */
START_TEST(segments_may_be_empty)
{
	whole("MLALD", "(ab(", "MLabALD");
	whole("MLD", "(", "MLD");
	whole("MLALDL", "(ab((c", "MLabALDLc");
	whole("MLALAL", "(ab((", "MLabALAL");
}
END_TEST

START_TEST(generators_are_resumed_by_c_or_by_their_loop)
{
	whole("MLNSL", "[a[g", "MLaNSLg"); /* by next(), or up to 3.11 by FOR_ITER */
	whole("MLNSLSL", "[a[g[h", "MLaNSLgSLh"); /* by yield from */
	whole("ML", "(agh", "MLagh"); /* from 3.12: by the loop itself */
	whole("MLNSL", "[a", "MLaNSL"); /* about to be resumed */
}
END_TEST

START_TEST(c_calls_back_into_python)
{
	whole("MLSCLSCL", "(abc(k(kl", "MLabcSCLkSCLkl");
	whole("MLSCLSCZ", "(abc(k", "MLabcSCLkSCZ");
}
END_TEST

/*
 * A thread may run one interpreter inside another. If the frames are of only one of them, or of
 * more than the thread runs, they may be another thread's and are left out.
 */
START_TEST(frames_of_another_thread_are_left_out)
{
	whole("MLALXLBL", "[a[b[c[d", "MLaALbXLcBLd");
	whole("MLALXL", "(ab(c(d", "MLabALcXLd");
	refused("MLALXLBL", "[c[d");
	refused("MLALXLBL", "(c");
	refused("MLAL", "[a[b[x");
	refused("MLAL", "(a(b(x(y");
	whole("MA", "[a[b", "MA"); /* a stack without loops has no Python frames */
}
END_TEST

START_TEST(greenlets_stand_on_the_stack_that_began_them)
{
	whole("MLGGL", "[a", "MLGGLa");
	whole("MLALGGLBL", "[a[b", "MLALGGLaBLb");
	whole("MLGLBL", "[a", "MLGLaBL"); /* the loop has no frame yet */
	whole("MLGLCGLB", "[ab", "MLGLCGLabB"); /* the segment was begun by another greenlet */
	whole("MLGL", "(", "MLGL");
	whole("MLG", "[a", "MLaG"); /* about to switch */
	/* the stack on which the greenlet began is another one by now */
	cut("XGLBL", END_UNMAPPED, "[a", END_WALKED, "XGLaBL", END_UNMAPPED);
	cut("LXGLBL", END_UNMAPPED, "[a[b", END_WALKED, "LXGLaBLb", END_UNMAPPED);
	/* greenlet calls its watchers on the stack that it finds */
	whole("MLGL", "[a[b", "MLaGLb");
	cut("LGL", END_DEPTH, "[z[a[b", END_WALKED, "zLaGLb", END_DEPTH);
}
END_TEST

START_TEST(a_cut_native_stack_is_matched_from_the_leaf)
{
	cut("ALBL", END_DEPTH, "[a[b[c", END_WALKED, "aALbBLc", END_DEPTH);
	cut("ALBL", END_UNREADABLE, "(xa(yb(zc", END_WALKED, "xaALybBLzc", END_UNREADABLE);
	cut("B", END_UNREADABLE, "[a[b", END_WALKED, "abB", END_UNREADABLE);
	cut("", END_UNREADABLE, "[a[b", END_WALKED, "ab", END_UNREADABLE);
	cut("ALBLCL", END_NO_TABLE, "[b[c", END_WALKED, "ALBLbCLc", END_NO_TABLE);
}
END_TEST

START_TEST(cut_python_frames_are_matched_from_the_leaf)
{
	cut("MLALBL", END_WALKED, "[b[c", END_DEPTH, "MLALbBLc", END_PYTHON);
	cut("MLALBL", END_WALKED, "xb[c", END_DEPTH, "MLALxbBLc", END_PYTHON);
	cut("MLAL", END_WALKED, "", END_UNREADABLE, "MLAL", END_PYTHON);
	cut("MLALBL", END_DEPTH, "[b[c", END_DEPTH, "MLALbBLc", END_DEPTH);
	/* a thread that runs no Python lacks no frames */
	cut("MAB", END_WALKED, "", END_UNREADABLE, "MAB", END_WALKED);
}
END_TEST

/* Return PATH_LOOP for the loop's code; an address within the call must be used for the lookup. */
static enum path_code from_1000_to_2000(const void *context, uint64_t address)
{
	(void)context;
	return address >= 1000 && address < 2000 ? PATH_LOOP : PATH_CODE;
}

static unsigned int loops_at(uint64_t innermost, uint64_t caller)
{
	const struct path_space loop = {.code = from_1000_to_2000, .switches = switches};
	const uint64_t words[] = {innermost, caller};
	const struct raw_stack raw = {.words = words, .user = 2, .end = END_WALKED};

	path_make(&path, &raw, &loop);
	ck_assert_uint_eq(path.count, 2);
	return 2U * path.frames[0].loop + path.frames[1].loop;
}

START_TEST(java_frames_keep_their_place_among_native_ones)
{
	const uint64_t compiled = (uint64_t)WIRE_TAG_JAVA_COMPILED << WIRE_TAG_SHIFT | 0x7000;
	const uint64_t interpreted = (uint64_t)WIRE_TAG_JAVA_INTERPRETED << WIRE_TAG_SHIFT | 0x8000;
	/* second words may look like anything, also like another tag */
	const uint64_t words[] = {11, compiled, ~0ULL, 13, interpreted, compiled, 15};
	const struct path_space all = {.code = from_1000_to_2000, .switches = switches};
	struct raw_stack raw = {.words = words, .user = 7, .end = END_WALKED, .java = true};
	const uint64_t addresses[] = {14, interpreted, 12, compiled, 11};

	path_make(&path, &raw, &all);
	ck_assert_uint_eq(path.count, 5);
	for (unsigned int i = 0; i < 5; i++)
		ck_assert_uint_eq(path.frames[i].address, addresses[i]);
	ck_assert_uint_eq(path.frames[1].kind, PATH_JAVA);
	ck_assert_uint_eq(path.frames[1].place, compiled);
	ck_assert_uint_eq(path.frames[3].place, ~0ULL);
	/* a frame without its second word is left out */
	raw.user = 2;
	path_make(&path, &raw, &all);
	ck_assert_uint_eq(path.count, 1);
}
END_TEST

START_TEST(a_call_at_the_end_of_the_loop_is_in_it)
{
	const uint64_t exact = (uint64_t)WIRE_TAG_EXACT << WIRE_TAG_SHIFT;

	ck_assert_uint_eq(loops_at(1, 2000), 2); /* the loop's last instruction is a call */
	/* the last instruction of the function before the loop is a call */
	ck_assert_uint_eq(loops_at(1, 1000), 0);
	ck_assert_uint_eq(loops_at(1000, 1), 1);
	ck_assert_uint_eq(loops_at(2000, 1), 0);
	/* the address was interrupted by a signal */
	ck_assert_uint_eq(loops_at(1, exact | 1000), 2);
	ck_assert_uint_eq(loops_at(1, exact | 2000), 0);
}
END_TEST

START_TEST(malformed_words_are_left_out)
{
	static struct sketch s;

	draw(&s, "", "MLLA", "[ab");
	s.raw.python--; /* the last frame has one word only */
	path_make(&path, &s.raw, &space);
	ck_assert_str_eq(drawn(&path), "MLLbA");
	ck_assert_int_eq(path.end, END_PYTHON);

	for (uint64_t tag = 0; tag < 256; tag++) {
		bool known = tag == WIRE_TAG_PYTHON || tag == WIRE_TAG_PYTHON_ENTRY ||
			     tag == WIRE_TAG_PYTHON_SHIM;

		draw(&s, "", "MLLA", "[ab");
		s.words[4] = tagged(tag, 'b');
		path_make(&path, &s.raw, &space);
		ck_assert_int_eq(path.end, known ? END_WALKED : END_PYTHON);
		if (!known)
			ck_assert_str_eq(drawn(&path), "MLLaA");
	}
}
END_TEST

/* Check that no frame is lost, doubled or out of order, for any input. */
static void check_all_there(const struct raw_stack *raw, const struct path *p)
{
	unsigned int user = p->user_count, python = p->python_count, kernel = 0;

	for (unsigned int i = 0; i < p->count; i++) {
		const struct path_frame *f = &p->frames[i];

		if (f->kind == PATH_USER)
			ck_assert_uint_eq(f->address, p->user[--user].address);
		else if (f->kind == PATH_PYTHON)
			ck_assert_uint_eq(f->address, p->python[--python].address);
		else
			kernel++;
		ck_assert(!kernel || f->kind == PATH_KERNEL);
	}
	ck_assert_uint_eq(user, 0);
	ck_assert_uint_eq(python, 0);
	ck_assert_uint_eq(kernel, raw->kernel);
}

START_TEST(any_words_are_put_in_some_order)
{
	static const char letters[] = "LLLMABCGU";
	static uint64_t words[WIRE_MAX_KERNEL + WIRE_MAX_USER + 2 * WIRE_MAX_PYTHON];

	srand(6);
	for (int round = 0; round < 20000; round++) {
		bool large = round % 100 == 0;
		struct raw_stack raw = {
			.words = words,
			.kernel = (unsigned int)rand() % (large ? WIRE_MAX_KERNEL + 1 : 4),
			.user = (unsigned int)rand() % (large ? WIRE_MAX_USER + 1 : 12),
			.python = (unsigned int)rand() % (large ? 2 * WIRE_MAX_PYTHON + 1 : 12),
			.end = (enum stack_end)(rand() % 3),
			.python_end = (enum stack_end)(rand() % 3),
		};

		for (unsigned int i = 0; i < raw.kernel + raw.user; i++)
			words[i] =
				(uint64_t)letters[(size_t)rand() % (sizeof(letters) - 1)] << 8 | 1;
		for (unsigned int i = 0; i < raw.python; i++)
			words[raw.kernel + raw.user + i] =
				tagged((uint64_t)rand() % 6, (uint64_t)rand() % 99);
		path_make(&path, &raw, &space);
		check_all_there(&raw, &path);
	}
}
END_TEST

START_TEST(the_largest_stacks_have_room)
{
	static uint64_t words[2 * MANY + 2 * WIRE_MAX_PYTHON];
	struct raw_stack raw = {
		.words = words,
		.kernel = WIRE_MAX_KERNEL,
		.user = WIRE_MAX_USER,
		.python = 2 * WIRE_MAX_PYTHON,
	};

	for (unsigned int i = 0; i < raw.kernel + raw.user; i++)
		words[i] = 'L' << 8 | 1;
	for (unsigned int i = 0; i < raw.python; i++)
		words[raw.kernel + raw.user + i] = tagged(WIRE_TAG_PYTHON_ENTRY, i);
	path_make(&path, &raw, &space);
	ck_assert_uint_eq(path.count, PATH_FRAMES);
	check_all_there(&raw, &path);
	/* frames above the limits are dropped, not written out of bounds */
	memset(words, 0, sizeof(words));
	raw.kernel = raw.user = MANY;
	raw.end = END_WALKED;
	path_make(&path, &raw, &space);
	ck_assert_uint_eq(path.count, WIRE_MAX_KERNEL + WIRE_MAX_USER);
	ck_assert_uint_eq(path.end, END_PYTHON);
}
END_TEST

SUITE("path", native_stacks_stay_what_they_were, a_walk_that_left_code_is_cut_there,
      every_loop_runs_its_segment, kernel_frames_come_last, a_loop_without_a_frame_is_the_innermost,
      segments_may_be_empty, generators_are_resumed_by_c_or_by_their_loop, c_calls_back_into_python,
      frames_of_another_thread_are_left_out, greenlets_stand_on_the_stack_that_began_them,
      a_cut_native_stack_is_matched_from_the_leaf, cut_python_frames_are_matched_from_the_leaf,
      a_call_at_the_end_of_the_loop_is_in_it, java_frames_keep_their_place_among_native_ones,
      malformed_words_are_left_out, any_words_are_put_in_some_order, the_largest_stacks_have_room)
