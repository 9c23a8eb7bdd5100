/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The colours of the classes of wait in all exports that have colours: the page and its legend, and
 * the Firefox Profiler.
 */
#ifndef SKEIN_EXPORT_WAIT_COLOURS_H
#define SKEIN_EXPORT_WAIT_COLOURS_H

/*
 * X(NAME of enum wait_class, hue in degrees, saturation in percent, colour of the Firefox Profiler,
 * "what the thread waits for")
 */
#define WAIT_COLOURS(X) \
	X(LOCK, 356, 82, "red", "a lock, a queue or a condition: a futex") \
	X(IO, 268, 70, "purple", "a disk") \
	X(SLEEP, 232, 58, "lightblue", "a time that it has chosen itself") \
	X(POLL, 196, 72, "blue", "one of several files or sockets, or a time") \
	X(FAULT, 328, 70, "magenta", "memory that is read from a disk or being moved") \
	X(PIPE, 172, 58, "green", "data in a pipe or a socket, or room in it") \
	X(CHILD, 78, 58, "yellow", "another process to end") \
	X(THROTTLED, 18, 74, "orange", "the next period of its control group's quota") \
	X(OTHER, 40, 8, "darkgrey", "something else in the kernel") \
	X(MONITOR, 342, 88, "red", "the monitor of a Java object, to enter a synchronized block") \
	X(OBJECT_WAIT, 216, 44, "lightblue", "Object.notify of another Java thread, or a time") \
	X(PARK, 288, 44, "purple", "a lock or queue of java.util.concurrent, or a time") \
	X(SAFEPOINT, 312, 84, "magenta", "the JVM, which has stopped all of its threads") \
	X(GIL, 32, 82, "orange", "the lock of a Python interpreter")

#endif
