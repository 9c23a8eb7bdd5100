# SPDX-License-Identifier: Apache-2.0
# What a recording takes by the number of CPUs. Leaves in /out, of each kind of recording:
# cost-KIND.skein, .err, .begun and .open (uptime), .cpu (ns), of /proc/PID .fd, .fdinfo, .maps and
# .status, and .helpers: the status of the recorder's other processes.

look() { # KIND: at the recorder, which has opened all events when it lets its command run
	cut -d ' ' -f 1 /proc/uptime >/out/cost-$1.open
	cat /proc/$PPID/task/*/schedstat >/out/cost-$1.cpu
	ls -l /proc/$PPID/fd >/out/cost-$1.fd
	cat /proc/$PPID/fdinfo/* >/out/cost-$1.fdinfo 2>/dev/null # some are closed meanwhile
	cat /proc/$PPID/maps >/out/cost-$1.maps
	cat /proc/$PPID/status >/out/cost-$1.status
	for process in /proc/[0-9]*; do
		[ $process = /proc/$$ ] || [ "$(cut -d ' ' -f 4 $process/stat)" != $PPID ] ||
			cat $process/status
	done >/out/cost-$1.helpers 2>/dev/null
}

cost() { # KIND
	cut -d ' ' -f 1 /proc/uptime >/out/cost-$1.begun
	skein record -a -F 99 -e $1 -o /out/cost-$1.skein -- sh /costs.sh look $1 \
		2>/out/cost-$1.err || status=$?
}

if [ "${1-}" = look ]; then
	look $2
else
	cost cpu
	cost all
fi
