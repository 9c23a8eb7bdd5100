# SPDX-License-Identifier: Apache-2.0
# Packages of a Debian suite, fetched and unpacked without installing anything. To be sourced:
#
#   debian_begin ARCH SUITE DIR   from here on; DIR is made, $state is a folder in it for this suite
#   debian_update                 fetches the lists of that suite
#   debian_apt TOOL ARG...        apt-get or apt-cache for that suite
#   debian_unpack PACKAGE...      into $state/root
#
# apt runs on a configuration of its own, so the machine's stays as it is.

debian_begin() {
	arch=$1 suite=$2
	mkdir -p "$3"
	state=$(cd "$3" && pwd)/apt-$arch-$suite
	mirror=${DEBIAN_MIRROR:-http://deb.debian.org}
	case $suite in
	*-security) archive=$mirror/debian-security ;;
	*) archive=$mirror/debian ;;
	esac
}

debian_apt() {
	tool=$1
	shift
	"$tool" -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
		-o Dir::State="$state" -o Dir::State::lists="$state/lists" \
		-o Dir::State::status=/dev/null -o Dir::Cache="$state/cache" \
		-o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Acquire::Languages=none -o APT::Sandbox::User="$(id -un)" "$@" </dev/null
}

debian_update() {
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main" \
		>"$state/sources.list"
	debian_apt apt-get update >&2
}

debian_unpack() {
	rm -rf "$state/root"
	for package in "$@"; do
		(cd "$state" && debian_apt apt-get download "$package" >&2)
		dpkg-deb -x "$state/$package"_*.deb "$state/root"
		rm "$state/$package"_*.deb
	done
	touch "$state/unpacked"
}
