/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What the walker of Java frames must know of a HotSpot JVM: the offsets of one libjvm, and the
 * code cache of one process. This header has only layouts, so that programs that make or check them
 * may include it. BPF programs include vmlinux.h before it.
 *
 * Names are HotSpot's own: the code cache is a few heaps (CodeHeap) of code blobs (CodeBlob). A
 * compiled Java method is a blob of the kind nmethod; the interpreter is one blob of codelets; the
 * rest are stubs. A Method is a Java method, its ConstMethod has the bytecodes.
 */
#ifndef SKEIN_BPF_UNWIND_HOTSPOT_LAYOUT_H
#define SKEIN_BPF_UNWIND_HOTSPOT_LAYOUT_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* Value of an offset if this libjvm has no such member. */
#define HOTSPOT_ABSENT 0xffff

/* Most bytes of a blob's header that the walker reads, with struct HeapBlock before it. */
#define HOTSPOT_HEADER_BYTES 384
/* Words of the walker's buffer for it: a power of two. */
#define HOTSPOT_BUFFER_WORDS 64
/* Most bytes of a ConstMethod's head that the walker reads. */
#define HOTSPOT_METHOD_BYTES 64
/* Bytes of code that the walker reads around pc: this many before it, and all of them. */
#define HOTSPOT_CODE_BEFORE 16
#define HOTSPOT_CODE_WORDS 8

/* How a blob's header stores a place in its code. */
enum hotspot_place {
	HOTSPOT_PLACE_POINTER, /* 8 bytes: an address */
	HOTSPOT_PLACE_OFFSET, /* s32: bytes from the blob's address */
};

/*
 * Offsets in bytes, read from the tables gHotSpotVM* of a process that maps the file. Zeroed: not
 * known.
 */
struct hotspot_layout {
	/* struct HeapBlock, directly before each blob: its size, and the offset of the u8 _used */
	__u16 block_bytes, block_used;
	__u16 header_bytes; /* of a blob, up to the end of the members below */
	/* offsets in CodeBlob; name: pointer to a text; frame_size: int, in words, -1 unknown */
	__u16 blob_name, blob_size, blob_frame_size;
	__u16 blob_frame_complete; /* bytes from the code's begin to the end of the prologue */
	__u16 blob_code, blob_data; /* begin and end of the code */
	/* offsets in nmethod */
	__u16 nmethod_method, nmethod_compile_id;
	__u16 nmethod_original_pc; /* int: where a deoptimized frame has its pc, bytes from sp */
	__u16 nmethod_deopt, nmethod_deopt_mh; /* addresses that replace a return address */
	/* offsets in Method and ConstMethod; the bytecodes follow ConstMethod's bytes */
	__u16 method_const;
	__u16 const_bytes, const_constants; /* size; ConstantPool* */
	__u16 const_code_size, const_name, const_signature, const_number; /* u16 each */
	/* ConstantPool, whose slots (8 bytes) follow its bytes; holder: InstanceKlass* */
	__u16 pool_bytes, pool_holder;
	__u16 class_name; /* in InstanceKlass: Symbol* */
	__u16 symbol_references; /* in Symbol: u32 */
	__u8 place; /* enum hotspot_place of code, data and the deoptimization handlers */
	__u8 frame_complete_bytes; /* size of frame_complete: 2 or 4 */
	__u8 unused[6];
};

#define HOTSPOT_LAYOUTS_MAX 64

/* How the objects of a JVM have their class, by the offset of what follows it. */
enum hotspot_head {
	HOTSPOT_HEAD_UNKNOWN = 0,
	/*
	 * -XX:+UseCompactObjectHeaders: in the upper bits of the mark word, which all objects begin
	 * with
	 */
	HOTSPOT_HEAD_COMPACT = 8,
	HOTSPOT_HEAD_NARROW = 12, /* 4 bytes after the mark word, which are to be shifted */
	HOTSPOT_HEAD_WIDE = 16, /* its address, after the mark word */
};

/*
 * How a thread that waits to enter a monitor leads to the class of the monitor's object: the
 * ObjectMonitor has the address of a reference to the object, and the object its class.
 */
struct hotspot_monitor_layout {
	__u64 class_base; /* address of the class whose 4 bytes are 0 */
	/*
	 * ObjectMonitor*, in JavaThread: that it enters; that it waits for by Object.wait, and then
	 * enters again. 0, both of them: not known
	 */
	__u16 pending, waiting;
	__u16 object; /* in ObjectMonitor */
	__u16 class_name; /* in Klass: Symbol* */
	__u16 symbol_references; /* in Symbol: u32, whose upper half is a random number */
	__u8 class_shift;
	__u8 head; /* HOTSPOT_HEAD_NARROW or _WIDE; else classes are not known */
	__u8 colored; /* references are those of ZGC with generations: 1 or 0 */
	__u8 unused[3];
};

/*
 * ZGC with generations: the lowest 16 bits of a reference are its color; one of the bits 12 to 15
 * is set, and the address begins above it. Source: OpenJDK, zAddress.hpp.
 */
#define HOTSPOT_REMAPPED_SHIFT 12
#define HOTSPOT_REMAPPED_BITS 4

/* Return the address in such a reference; 0: it is none. */
static inline __u64 hotspot_without_color(__u64 reference)
{
	for (int i = 0; i < HOTSPOT_REMAPPED_BITS; i++)
		if (reference & 1 << (HOTSPOT_REMAPPED_SHIFT + i))
			return reference >> (HOTSPOT_REMAPPED_SHIFT + 1 + i);
	return 0;
}

/* The mark word of an object whose monitor is an ObjectMonitor. Source: OpenJDK, markWord.hpp. */
#define HOTSPOT_MARK_OF_MONITOR(monitor) ((monitor) | 2)

/* A heap of the code cache. A segment is 1 << shift bytes. */
struct hotspot_range {
	__u64 low, high; /* the reserved addresses: code may appear anywhere in it */
	/*
	 * address of the segment map: one byte per segment; 0: a block begins, 255: free, else the
	 * block begins as many segments before, or farther
	 */
	__u64 segments;
	__u32 shift; /* at most 16 */
	__u32 unused;
};

#define HOTSPOT_RANGES_MAX 8

/*
 * Where the caller of code that is made once (codelets of the interpreter, above all) is found. The
 * caller's sp is sender's value.
 */
enum hotspot_state {
	/* the frame is whole: fp points to the saved fp, all slots are valid */
	HOTSPOT_FRAME,
	HOTSPOT_RETURN_AT_SP, /* the return address is at sp, fp is the caller's */
	HOTSPOT_RETURN_IN_REGISTER, /* in a register, fp is the caller's */
	HOTSPOT_RETURN_ABOVE_FP, /* at sp + 8, the caller's fp is at sp */
	HOTSPOT_RETURN_AT_FP, /* at fp + 8, the caller's fp is at fp */
	HOTSPOT_UNKNOWN, /* not decidable: the walk ends here */
	HOTSPOT_STATES
};

#define HOTSPOT_NO_REGISTER 0xff

/*
 * How to leave code that lies between this row's offset and the next row's, if the thread was
 * interrupted there. Registers have DWARF numbers; HOTSPOT_NO_REGISTER: see below.
 */
struct hotspot_row {
	__u32 offset; /* from the start of the blob's code */
	__u8 state; /* enum hotspot_state */
	__u8 return_register; /* HOTSPOT_RETURN_IN_REGISTER only */
	/*
	 * has the caller's sp; none: at fp - 8 if fp is this frame's, else directly above the
	 * return address (in a register: sp itself)
	 */
	__u8 sender_register;
	/* has the Method*; none: at fp - 24 if fp is this frame's, else the method is not known */
	__u8 method_register;
};

#define HOTSPOT_ROWS_MAX 1024

#define HOTSPOT_DEPTH_UNKNOWN (-32768)

/*
 * How to leave the code of a method or an adapter that lies between this row's offset and the next
 * row's, if the thread was interrupted there. User space makes rows from the code of methods in
 * which a walk has ended before its time. A word n of the stack lies 8 * n bytes below the caller's
 * sp. Registers have DWARF numbers, or are HOTSPOT_NO_REGISTER.
 */
struct hotspot_code_row {
	__u32 offset; /* from the begin of the code */
	__s16 depth; /* words from sp to the caller's sp; or HOTSPOT_DEPTH_UNKNOWN */
	__s16 saved_fp; /* word with the caller's fp; 0: fp is the caller's */
	__s16 return_word; /* word with the return address; 0: it is in return_register */
	/*
	 * Without a depth, code has kept an earlier sp, which lies sender_words below the caller's:
	 * held - 1 words above sp or, if held is 0, in sender_register.
	 */
	__s16 sender_words, held;
	__u8 return_register; /* return_word is 0, and none: it is not known how to leave */
	__u8 sender_register;
};

/* A power of two. */
#define HOTSPOT_CODE_ROWS_MAX 32

/* Rows of one method or adapter, sorted; those around a place where they were needed. */
struct hotspot_code_rows {
	__u32 count; /* 0: nothing is known */
	__u32 end; /* offset of the end of the last row */
	struct hotspot_code_row rows[HOTSPOT_CODE_ROWS_MAX];
};

/* What code the rows are of; it is a key of a hash table, so all bytes are set. */
struct hotspot_code_key {
	__u64 address; /* of the blob */
	__u32 id; /* compile id of an nmethod, else 0 */
	__u32 number; /* HOTSPOT_NUMBER() of the JVM */
};

/* Most methods and adapters of all JVMs with rows. */
#define HOTSPOT_CODES_MAX 4096

/* The code cache of one process. Zeroed: it has none, or the JVM is not known. */
struct hotspot_process {
	__u32 layout; /* number + 1 of a struct hotspot_layout; 0: none */
	__u32 range_count;
	/*
	 * HOTSPOT_NUMBER(): distinguishes this entry from those of other processes that had the
	 * same index before
	 */
	__u32 number;
	__u32 unused;
	struct hotspot_range ranges[HOTSPOT_RANGES_MAX];
	/*
	 * slot of the unwind table of other code that is made once; its file offset 0 stands for
	 * the address base. UNWIND_SLOT_NONE: there is none.
	 */
	__u32 table;
	__u32 unused3;
	__u64 base;
	/*
	 * address of the number (u64) of classes that the JVM has unloaded; 0: not known, and
	 * methods are not cached
	 */
	__u64 unloads;
	/* the interpreter's code; 0: not known */
	__u64 interpreter_low, interpreter_high;
	/* rows of the interpreter's code, sorted by offset; 0: all code of it has whole frames */
	__u32 row_count;
	__u32 unused2;
	struct hotspot_row rows[HOTSPOT_ROWS_MAX];
};

/* A power of two. */
#define HOTSPOT_PROCESSES_BITS 7
#define HOTSPOT_PROCESSES_MAX (1 << HOTSPOT_PROCESSES_BITS)
/* The number by which a process refers to its entry; generation is at least 1. */
#define HOTSPOT_NUMBER(index, generation) ((generation) << HOTSPOT_PROCESSES_BITS | (index))
#define HOTSPOT_NUMBER_INDEX(number) ((number) & (HOTSPOT_PROCESSES_MAX - 1))

/* What a blob is, by the begin of its name; a blob's kind never changes. */
enum hotspot_kind {
	HOTSPOT_OTHER, /* left by its frame size, if it has one */
	HOTSPOT_NMETHOD,
	HOTSPOT_NATIVE, /* the wrapper of a native method, or a method handle's linker */
	HOTSPOT_INTERPRETER,
	HOTSPOT_STUBS, /* StubRoutines */
	HOTSPOT_CONTINUATION, /* the part of them that freezes and thaws virtual threads */
	HOTSPOT_BARE, /* stubs without a frame: the return address is at sp */
	HOTSPOT_ADAPTER, /* between the interpreter's and compiled code's conventions */
	HOTSPOT_LINKERS, /* entries of the interpreter for method handles: they jump to others */
	HOTSPOT_KINDS
};

/* The first eight characters of names (17 to 25), as little-endian words. */
#define HOTSPOT_NAME_NMETHOD 0x00646f6874656d6eULL /* "nmethod" and its NUL */
#define HOTSPOT_NAME_NATIVE 0x6e2065766974616eULL /* "native nmethod" */
#define HOTSPOT_NAME_INTERPRETER 0x6572707265746e49ULL /* "Interpreter" */
#define HOTSPOT_NAME_STUBS 0x74756f5262757453ULL /* "StubRoutines (1)" and so on */
/* the next words of "StubRoutines (continuation stubs)" */
#define HOTSPOT_NAME_CONTINUATION_1 0x6f63282073656e69ULL
#define HOTSPOT_NAME_CONTINUATION_2 0x697461756e69746eULL
#define HOTSPOT_NAME_WORDS 3
#define HOTSPOT_NAME_ADAPTER 0x204932432f433249ULL /* "I2C/C2I adapters" */
#define HOTSPOT_NAME_VTABLE 0x6320656c62617476ULL /* "vtable chunks" */
#define HOTSPOT_NAME_CACHE 0x6143656e696c6e49ULL /* "InlineCacheBuffer" */
#define HOTSPOT_NAME_SIGNATURES 0x732065766974616eULL /* "native signature handlers" */
#define HOTSPOT_NAME_LINKERS 0x6148646f6874654dULL /* "MethodHandles adapters" */

/*
 * Slots of an interpreter's frame, in bytes from fp; no table of libjvm has them, so the walker
 * checks what it reads there.
 */
#define HOTSPOT_SLOT_RETURN 8
#define HOTSPOT_SLOT_SENDER (-8)
#define HOTSPOT_SLOT_METHOD (-24)
#define HOTSPOT_SLOT_BCP (-64)

/*
 * Bytes of a ContinuationEntry (21 to 25), to which sp points where the mounted frames of a virtual
 * thread end.
 */
#define HOTSPOT_CONTINUATION_BYTES 64

#define HOTSPOT_BCI_UNKNOWN 0xffff

/*
 * Return the hash id extended by a word. The walker and the reader of names must compute the same
 * ids.
 */
static inline __u64 hotspot_hash_word(__u64 id, __u64 word)
{
	id = (id ^ word) * 0x9e3779b97f4a7c15ULL;
	return id ^ id >> 32;
}

/* The members of a ConstMethod that are a part of its method's id. */
struct hotspot_method_numbers {
	__u16 code_size, name, signature, number;
};

/*
 * The names that are a part of a method's id: classes of one shape are made in each other's memory,
 * but the name of a new class is a new Symbol, which has a random number.
 */
struct hotspot_method_symbols {
	__u64 class_name, name; /* addresses of the Symbols */
	__u32 references; /* Symbol::_hash_and_refcount of the class's name */
};

/* Set in an id of which the symbols are a part. */
#define HOTSPOT_ID_HAS_SYMBOLS 1u

/*
 * Return the id of a method, which distinguishes it from another one that takes its address later.
 * const_method, constants: addresses of its ConstMethod and ConstantPool. symbols: NULL where the
 * kernel could not read them, as long as the JVM has not touched that part of its archive of shared
 * classes, which are never unloaded.
 */
static inline __u32 hotspot_method_id(__u64 const_method, __u64 constants,
				      const struct hotspot_method_numbers *n,
				      const struct hotspot_method_symbols *symbols)
{
	__u64 id = hotspot_hash_word(0, const_method);

	id = hotspot_hash_word(id, constants);
	id = hotspot_hash_word(id, (__u64)n->code_size | (__u64)n->name << 16 |
					   (__u64)n->signature << 32 | (__u64)n->number << 48);
	if (!symbols)
		return (__u32)id & ~HOTSPOT_ID_HAS_SYMBOLS;
	id = hotspot_hash_word(id, symbols->class_name);
	id = hotspot_hash_word(id, symbols->name);
	/* the lower half counts references */
	return (__u32)hotspot_hash_word(id, symbols->references >> 16) | HOTSPOT_ID_HAS_SYMBOLS;
}

/*
 * A Java frame is two words among the native ones of a stack (bpf/event.h), in the order of the
 * calls: an address under one of these tags, then which code that is.
 */
#define WIRE_TAG_SHIFT 56
#define WIRE_TAG_MASK (0xffULL << WIRE_TAG_SHIFT)
#define WIRE_TAG_JAVA_COMPILED 0x05 /* address of the nmethod; HOTSPOT_COMPILED_PLACE() */
#define WIRE_TAG_JAVA_INTERPRETED 0x06 /* address of the Method; HOTSPOT_INTERPRETED_PLACE() */
#define WIRE_TAG_JAVA_BLOB 0x07 /* address of other generated code; HOTSPOT_BLOB_PLACE() */
/* no frame, and not in stacks: the address of a Symbol that names a class; its random number */
#define WIRE_TAG_JAVA_CLASS 0x08

/*
 * The second word of a Java frame. compile_id, id: identify the nmethod or the method; offset: of
 * pc, from the begin of the code; a return address unless the frame is the thread's innermost; bci:
 * index of the bytecode, or HOTSPOT_BCI_UNKNOWN.
 */
#define HOTSPOT_COMPILED_PLACE(compile_id, offset) ((__u64)(compile_id) << 32 | (__u32)(offset))
#define HOTSPOT_INTERPRETED_PLACE(id, bci) ((__u64)(id) << 32 | (__u32)(bci))
#define HOTSPOT_BLOB_PLACE(offset, kind) ((__u64)(offset) << 8 | (__u8)(kind))
#define HOTSPOT_PLACE_ID(place) ((__u32)((place) >> 32))
#define HOTSPOT_PLACE_OFFSET_OF(place) ((__u32)(place))

#endif
