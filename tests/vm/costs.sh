# SPDX-License-Identifier: Apache-2.0
# What a recording takes by the number of CPUs. Leaves in /out, of each kind of recording:
# cost-KIND.skein, .err, .begun (uptime), .fd, .fdinfo and .maps (of /proc/PID).

events=$((2 * $(nproc)))

cost() { # KIND
	cut -d ' ' -f 1 /proc/uptime >/out/cost-$1.begun
	# without a duration: an emulated machine may take longer to look than any
	skein record -a -F 99 -e $1 -o /out/cost-$1.skein 2>/out/cost-$1.err &
	pid=$!
	# until all events are open; a recorder that has ended has no descriptors
	while ls -l /proc/$pid/fd >/out/cost-$1.fd 2>/dev/null && [ -s /out/cost-$1.fd ] &&
		[ $(grep -c perf_event /out/cost-$1.fd) -lt $events ]; do
		sleep 0.1
	done
	kill -STOP $pid
	ls -l /proc/$pid/fd >/out/cost-$1.fd
	cat /proc/$pid/fdinfo/* >/out/cost-$1.fdinfo
	cat /proc/$pid/maps >/out/cost-$1.maps
	kill -CONT $pid
	kill -TERM $pid
	wait $pid || status=$?
}

cost cpu
cost all
