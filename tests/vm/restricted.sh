# SPDX-License-Identifier: Apache-2.0
# Records under what administrators restrict. Comes after everything else, the strictest last,
# since a lockdown is never lifted. A case leaves NAME.status and NAME.err in /out, and NAME.skein
# if it recorded.

folder=/tmp/restricted
mkdir -m 777 $folder

keep() { # NAME COMMAND...
	name=$1
	shift
	"$@" 2>/out/$name.err
	echo $? >/out/$name.status
	[ ! -e $folder/$name.skein ] || mv $folder/$name.skein /out
}

sample() { # NAME
	keep $1 skein record -F 499 -o $folder/$1.skein -- shares 0.5
}

switches() { # NAME
	keep $1 skein record -e sched -d 0.1s -o $folder/$1.skein
}

sample_unprivileged() { # NAME
	keep $1 su -s /bin/sh nobody -c "skein record -F 499 -o $folder/$1.skein -- shares 0.5"
}

for level in 0 1 2 3 4; do
	echo $level >/proc/sys/kernel/perf_event_paranoid
	sample paranoid-$level
	sample_unprivileged paranoid-$level-nobody
done
for level in 0 1 2; do
	echo $level >/proc/sys/kernel/kptr_restrict
	sample kptr-$level
done
echo 0 >/proc/sys/kernel/kptr_restrict

mount -t tmpfs none /sys/kernel/btf # as on a kernel that was built without
sample no-btf
switches no-btf-sched
umount /sys/kernel/btf

mount -t securityfs none /sys/kernel/security
for level in integrity confidentiality; do
	echo $level >/sys/kernel/security/lockdown
	sample lockdown-$level
	switches lockdown-$level-sched
done
