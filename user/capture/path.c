// SPDX-License-Identifier: Apache-2.0
/* Makes paths: puts native frames and Python frames into one order. */
#include "capture/path.h"

/*
 * Return the address in a word of the user part; clear *caller if the word is not a return address.
 */
static uint64_t word_address(uint64_t word, bool *caller)
{
	*caller &= word >> WIRE_TAG_SHIFT != WIRE_TAG_EXACT;
	return word & ((1ULL << WIRE_TAG_SHIFT) - 1);
}

static unsigned int lower_count(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static bool is_java_word(uint64_t word)
{
	uint64_t tag = word >> WIRE_TAG_SHIFT;

	return tag >= WIRE_TAG_JAVA_COMPILED && tag <= WIRE_TAG_JAVA_BLOB;
}

/*
 * Take the user frames up to the first one that is not in code: a chain of frame pointers through
 * code that was built without them yields numbers that are no code addresses. The innermost frame
 * is kept in any case, since it is where the thread stood. A caller's word is a return address,
 * which may lie after the end of its function, so 1 is subtracted to get an address within the
 * call.
 */
static void take_user_frames(struct path *p, const struct raw_stack *raw,
			     const struct path_space *space)
{
	const uint64_t *words = raw->words + raw->kernel;
	unsigned int count = lower_count(raw->user, WIRE_MAX_USER);
	bool whole = true;

	p->end = raw->end;
	p->user_count = 0;
	for (unsigned int i = 0; i < count; i++) {
		bool caller = i;
		uint64_t address = word_address(words[i], &caller) - caller;
		enum path_code code;

		if (is_java_word(words[i])) {
			if (++i < count)
				p->user[p->user_count++] = (struct path_frame){
					.address = words[i - 1],
					.place = words[i],
					.kind = PATH_JAVA,
				};
			continue;
		}
		code = space->code(space->context, address);
		if (code == PATH_UNMAPPED && i) {
			p->end = END_UNMAPPED;
			whole = false;
			break;
		}
		p->user[p->user_count++] = (struct path_frame){
			.address = address,
			.kind = PATH_USER,
			.loop = code == PATH_LOOP,
		};
		p->loop_count += code == PATH_LOOP;
	}
	p->native_whole = p->end == END_WALKED && whole && count == raw->user;
}

static void end_segment(struct path *p)
{
	p->segments[++p->segment_count] = (uint16_t)p->python_count;
}

static void take_python_pair(struct path *p, uint64_t word, uint64_t place)
{
	uint64_t tag = word >> WIRE_TAG_SHIFT;

	if (tag == WIRE_TAG_PYTHON || tag == WIRE_TAG_PYTHON_ENTRY)
		p->python[p->python_count++] = (struct path_frame){
			.address = word & ((1ULL << WIRE_TAG_SHIFT) - 1),
			.place = place,
			.kind = PATH_PYTHON,
		};
	else if (tag != WIRE_TAG_PYTHON_SHIM)
		p->python_whole = false;
	if (tag == WIRE_TAG_PYTHON_ENTRY || tag == WIRE_TAG_PYTHON_SHIM)
		end_segment(p);
}

static void take_python_frames(struct path *p, const struct raw_stack *raw)
{
	const uint64_t *words = raw->words + raw->kernel + raw->user;
	unsigned int pairs = lower_count(raw->python / 2, WIRE_MAX_PYTHON);

	p->python_whole = raw->python_end == END_WALKED && pairs * 2 == raw->python;
	for (unsigned int i = 0; i < pairs; i++)
		take_python_pair(p, words[2 * i], words[2 * i + 1]);
	if (p->python_count > p->segments[p->segment_count])
		/* The walk stopped within the last segment, which then lacks its outer end. */
		end_segment(p);
}

/*
 * If the walk passed through greenlet's switch of stacks, return how many loops belong to the
 * running greenlet, else 0. A walk continues from the first frame of a greenlet into the stack on
 * which the greenlet was started, whose frames may no longer exist. The Python frames are those of
 * the greenlet only.
 */
static unsigned int own_loops(const struct path *p, const struct path_space *space)
{
	unsigned int loops = 0;

	for (unsigned int i = 0; i < p->user_count; i++) {
		loops += p->user[i].loop;
		if (loops && space->switches(space->context, p->user[i].address))
			return loops;
	}
	return 0;
}

/*
 * Return the number of loops to match with the segments: all loops, or only those of the running
 * greenlet if these are enough for the segments. If either list lacks its outer end, this is the
 * number of segments.
 */
static unsigned int loops_to_match(const struct path *p, const struct path_space *space)
{
	unsigned int loops = p->loop_count, segments = p->segment_count, own;

	if (!segments || !p->python_whole)
		return segments;
	if (loops <= segments && p->native_whole)
		return loops;
	own = own_loops(p, space);
	if (own >= segments)
		return own;
	return p->native_whole ? loops : segments;
}

/*
 * Maximum number of functions called by a loop that has not linked its frame yet, or has just
 * unlinked it.
 */
#define CALLED_BY_IDLE 2

/* Return whether the innermost loop may have just been called, or be about to return. */
static bool may_be_idle(const struct path *p)
{
	for (unsigned int i = 0; i < p->user_count && i <= CALLED_BY_IDLE; i++)
		if (p->user[i].loop)
			return true;
	return false;
}

/*
 * Return how many of the innermost loops run no segment, 0 or 1. With any other difference between
 * loops and segments, except in a greenlet, the Python frames are incomplete or not those of this
 * thread, and are removed.
 */
static int idle_loops(struct path *p, const struct path_space *space)
{
	unsigned int loops = loops_to_match(p, space), segments = p->segment_count;
	bool greenlet = loops != p->loop_count && loops > segments;

	if (loops == segments)
		return 0;
	/*
	 * A child made by posix_spawn() has the memory of its parent and a stack of its own: the
	 * Python frames are those of the parent.
	 */
	if (!p->loop_count && p->native_whole) {
		p->python_count = p->segment_count = 0;
		return 0;
	}
	if (loops == segments + 1 && may_be_idle(p))
		return 1;
	if (greenlet) /* the outer loops of a greenlet no longer have Python frames */
		return 0;
	p->python_count = p->segment_count = 0;
	p->python_whole = false;
	return 0;
}

static void put_path_frame(struct path *p, const struct path_frame *f)
{
	p->frames[p->count++] = *f;
}

/*
 * Put the Python frames of segments [from, to) into the path, the outermost first; segment 0 is the
 * innermost. Numbers out of range are ignored.
 */
static void put_segments(struct path *p, int from, int to)
{
	int first = from < 0 ? 0 : from;

	for (int s = to < (int)p->segment_count ? to : (int)p->segment_count; s > first; s--)
		for (unsigned int i = p->segments[s]; i > p->segments[s - 1]; i--)
			put_path_frame(p, &p->python[i - 1]);
}

static void put_user_frames(struct path *p, const struct path_space *space)
{
	int idle = idle_loops(p, space), loop = (int)p->loop_count;

	put_segments(p, loop - idle, (int)p->segment_count);
	for (unsigned int i = p->user_count; i-- > 0;) {
		put_path_frame(p, &p->user[i]);
		if (!p->user[i].loop)
			continue;
		loop--;
		put_segments(p, loop - idle, loop - idle + 1);
	}
}

static void put_kernel_frames(struct path *p, const struct raw_stack *raw)
{
	for (unsigned int i = lower_count(raw->kernel, WIRE_MAX_KERNEL); i-- > 0;) {
		struct path_frame f = {.address = raw->words[i] - !!i, .kind = PATH_KERNEL};

		put_path_frame(p, &f);
	}
}

void path_make(struct path *out, const struct raw_stack *raw, const struct path_space *space)
{
	out->count = out->loop_count = out->python_count = out->segment_count = 0;
	out->segments[0] = 0;
	take_user_frames(out, raw, space);
	take_python_frames(out, raw);
	out->loops = out->loop_count;
	put_user_frames(out, space);
	put_kernel_frames(out, raw);
	/* Python frames are missing only if there are loops or words of Python frames. */
	if (!out->python_whole && out->end == END_WALKED && (out->loops || raw->python))
		out->end = END_PYTHON;
}
