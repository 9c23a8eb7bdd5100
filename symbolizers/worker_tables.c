// SPDX-License-Identifier: Apache-2.0
/*
 * Send unwind tables to the client in the form that they have in memory. The worker keeps no table
 * after the reply.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "symbolizers/unwind/table.h"
#include "symbolizers/worker_tables.h"

static int send_no_table(int socket, const struct message *request, int status)
{
	struct message m = *request;

	m.type = MESSAGE_NO_TABLE;
	m.error = (uint32_t)-status;
	return message_send(socket, &m, NULL, 0);
}

static int send_table_parts(int socket, const struct message *request, const char *bytes,
			    size_t size)
{
	struct message m = *request;
	size_t at, part;
	int ret = 0;

	m.type = MESSAGE_TABLE_PART;
	m.table_size = (uint32_t)size;
	for (at = 0; !ret && at < size; at += part) {
		part = size - at < PAYLOAD_MAX ? size - at : PAYLOAD_MAX;
		ret = message_send(socket, &m, bytes + at, part);
	}
	return ret;
}

static int reply_with_key(int socket, const struct message *request,
			  const struct stamped_file *file)
{
	/* clear padding as well, since the struct is sent as it is */
	struct unwind_key key = {0};
	int ret = unwind_key_read(&key, file);

	return ret < 0 ? send_no_table(socket, request, ret)
		       : message_reply(socket, request, MESSAGE_KEY_REPLY, &key, sizeof(key));
}

static int make_bounded_table(void **out, size_t *out_size, struct unwind_key *out_key,
			      const struct stamped_file *file)
{
	int ret = unwind_table_make(out, out_size, out_key, file);

	if (ret || *out_size <= UNWIND_TABLE_MAX)
		return ret;
	free(*out);
	return -E2BIG;
}

static int reply_with_table(int socket, const struct message *request,
			    const struct stamped_file *file)
{
	struct unwind_key key = {0};
	void *bytes;
	size_t size;
	int ret = make_bounded_table(&bytes, &size, request->wants_key ? &key : NULL, file);

	if (ret < 0)
		return send_no_table(socket, request, ret);
	if (key.size)
		ret = message_reply(socket, request, MESSAGE_KEY_REPLY, &key, sizeof(key));
	if (!ret)
		ret = send_table_parts(socket, request, bytes, size);
	free(bytes);
	return ret;
}

int worker_reply_pages(int socket, const struct message *request,
		       const struct message_lookup *lookups, const struct stamped_file *file)
{
	uint64_t pages[LOOKUPS_MAX];
	const struct unwind_page_list q = {pages, request->count};
	void *bytes;
	size_t size;
	int ret = -EIO;

	if (request->count > LOOKUPS_MAX)
		return send_no_table(socket, request, -EINVAL);
	for (uint32_t i = 0; i < request->count; i++)
		pages[i] = lookups[i].address;
	if (file->fd >= 0)
		ret = unwind_pages_make(&bytes, &size, file, &q);
	if (ret < 0)
		return send_no_table(socket, request, ret);
	ret = send_table_parts(socket, request, bytes, size);
	free(bytes);
	return ret;
}

int worker_reply_table(int socket, const struct message *request, const struct stamped_file *file)
{
	if (file->fd < 0)
		return send_no_table(socket, request, -EIO);
	return request->type == MESSAGE_KEY ? reply_with_key(socket, request, file)
					    : reply_with_table(socket, request, file);
}

int worker_reply_made_table(int socket, const struct message *request, const void *bytes,
			    size_t size)
{
	if (!bytes || size > UNWIND_TABLE_MAX)
		return send_no_table(socket, request, bytes ? -E2BIG : -ENOENT);
	return send_table_parts(socket, request, bytes, size);
}
