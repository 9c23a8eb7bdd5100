/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decode the worker's replies. The worker reads hostile files, so these functions check everything
 * that could do harm: sizes, counts, flags, layouts, and texts that become parts of paths.
 * Addresses and line numbers may still be wrong. Unless stated otherwise, these functions return 0,
 * or -EBADMSG with *out unspecified.
 */
#ifndef SKEIN_SYMBOLIZERS_CLIENT_REPLIES_H
#define SKEIN_SYMBOLIZERS_CLIENT_REPLIES_H

#include "base/vector.h"
#include "symbolizers/client.h"
#include "symbolizers/protocol.h"
#include "symbolizers/python_file.h"
#include "symbolizers/unwind/table.h"

/* The part of a message's payload that has not been decoded yet. */
struct reply_reader {
	const char *at;
	size_t left;
};

/* A reply about one address. The texts of symbol are in the other members. */
struct symbol_reply {
	struct symbol symbol;
	char name[REPLY_NAME_MAX + 1];
	char other[REPLY_NAME_MAX + 1]; /* the system name, or Python's source file */
};

/*
 * Decode the next record of MESSAGE_REPLIES (reply_read_symbol()) or MESSAGE_CODE_REPLIES
 * (reply_read_code()), which must reply to q.
 */
int reply_read_symbol(struct symbol_reply *out, struct reply_reader *from,
		      const struct message_lookup *q);
int reply_read_code(struct symbol_reply *out, struct reply_reader *from,
		    const struct message_lookup *q);

/* The records of places of one address that have arrived. Zeroed memory has none. */
struct place_records {
	VECTOR(char) bytes;
	unsigned int count;
};

/*
 * Add the next record of MESSAGE_PLACES, which must reply to a lookup of address. *flags becomes
 * the record's enum place_flag. Return 0, -EBADMSG or -ENOMEM.
 */
int reply_read_place(struct place_records *to, struct reply_reader *from, uint64_t address,
		     uint32_t *flags);
/*
 * Decode the records into the first records->count elements of out. Their texts are in *texts,
 * which the caller frees. Return 0 or -ENOMEM.
 */
int place_records_decode(const struct place_records *records,
			 struct source_place out[SOURCE_PLACES_MAX], char **texts);

/* Decode a payload that is exactly one struct. */
int reply_read_facts(struct object_facts *out, const struct reply_reader *from);
int reply_read_source_facts(struct source_facts *out, const struct reply_reader *from);
int reply_read_inspected(struct inspected_file *out, const struct reply_reader *from);
int reply_read_jvm(struct message_jvm *out, const struct reply_reader *from);
int reply_read_counters(struct message_jvm_counters *out, const struct reply_reader *from);
/* count: of threads, which are at out + 1 in the payload. */
int reply_read_threads(struct message_thread_list *out, const struct reply_reader *from,
		       uint32_t count);
/* lookup: the request. */
int reply_read_java_rows(struct message_java_rows *out, const struct reply_reader *from,
			 const struct message_lookup *lookup);
/* size: bytes of the file; patterns: number of the user's probes. */
int reply_read_probes(struct message_probes *out, const struct reply_reader *from, uint64_t size,
		      unsigned int patterns);
int reply_read_key(struct unwind_key *out, const struct reply_reader *from);

#endif
