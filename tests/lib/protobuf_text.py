# SPDX-License-Identifier: Apache-2.0
"""
Print a Perfetto trace as text: one line per packet or event, with the names of the fields that
skein writes. Run this file on a trace to see its contents.
"""
import sys
import zlib

EVENT = {1: "timestamp", 2: "pid", 5: "common_flags",
         4: ("sched_switch", {1: "prev_comm", 2: "prev_pid", 3: "prev_prio", 4: "prev_state",
                              5: "next_comm", 6: "next_pid", 7: "next_prio"}),
         20: ("sched_waking", {1: "comm", 2: "pid", 3: "prio", 5: "target_cpu"}),
         240: ("sched_process_free", {1: "comm", 2: "pid", 3: "prio"})}
INTERNED = {1: "iid", 2: "str"}
PACKET = {
    1: ("ftrace_events", {1: "cpu", 2: ("event", EVENT), 3: "lost_events"}),
    2: ("process_tree", {1: ("processes", {1: "pid", 2: "ppid", 3: "cmdline"}),
                         2: ("threads", {1: "tid", 2: "name", 3: "tgid"})}),
    6: ("clock_snapshot", {1: ("clocks", {1: "clock_id", 2: "timestamp"}),
                           2: "primary_trace_clock"}),
    8: "timestamp", 10: "trusted_packet_sequence_id",
    11: ("track_event", {4: ("debug_annotations", {3: "uint_value", 10: "name"}),
                         9: "type", 10: "name_iid", 11: "track_uuid", 23: "name",
                         30: "counter_value", 44: "double_counter_value"}),
    12: ("interned_data", {2: ("event_names", {1: "iid", 2: "name"}),
                           5: ("function_names", INTERNED),
                           6: ("frames", {1: "iid", 2: "function_name_id", 3: "mapping_id",
                                          4: "rel_pc", 5: "source_path_iid",
                                          6: "line_number"}),
                           7: ("callstacks", {1: "iid", 2: "frame_ids"}),
                           16: ("build_ids", INTERNED), 17: ("mapping_paths", INTERNED),
                           18: ("source_paths", INTERNED),
                           19: ("mappings", {1: "iid", 2: "build_id", 5: "end",
                                             7: "path_string_ids"})}),
    13: "sequence_flags",
    45: ("system_info", {1: ("utsname", {1: "sysname", 3: "release", 4: "machine"})}),
    59: ("trace_packet_defaults", {12: ("perf_sample_defaults", {1: ("timebase", {
        1: "period", 2: "frequency", 4: "counter", 10: "name"})})}),
    60: ("track_descriptor", {1: "uuid", 2: "name", 4: ("thread", {1: "pid", 2: "tid"}),
                              5: "parent_uuid", 8: ("counter", {})}),
    66: ("perf_sample", {1: "cpu", 2: "pid", 3: "tid", 4: "callstack_iid", 5: "cpu_mode",
                         6: "timebase_count"}),
    117: ("generic_kernel_task_state_event", {1: "cpu", 2: "comm", 3: "tid", 4: "state",
                                              5: "prio"}),
}
COMPRESSED = 50


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = (8, at) if key & 7 == 1 else varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def packets(data):
    """Return the packets of a trace, including those that are compressed in a packet."""
    for _, packet in fields(data):
        inner = dict(fields(packet)).get(COMPRESSED)
        if inner is None:
            yield packet
        else:
            yield from packets(zlib.decompress(inner))


def words(data, schema):
    for number, value in fields(data):
        known = schema[number] # an unknown field is an error
        if not isinstance(known, tuple):
            yield f"{known}: {value!r}"
        elif known[0] == "event": # one of many in a packet
            yield "\n  " + " ".join(words(value, known[1]))
        else:
            yield " ".join([known[0], "{", *words(value, known[1]), "}"])


def as_text(trace):
    text = "".join(" ".join(words(packet, PACKET)) + "\n" for packet in packets(trace))
    return text.replace(" \n", "\n")


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        sys.stdout.write(as_text(file.read()))
