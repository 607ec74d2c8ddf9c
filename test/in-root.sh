#!/bin/bash
# in-root.sh DIR COMMAND...
#	COMMAND in the Debian tree DIR (see mkroot.sh), where this source tree can be read as /tmp/rtbench-src.
#
# As root.  /proc, /dev and an empty /tmp are mounted in mount and pid namespaces of their own: when COMMAND ends,
# or this script is killed, every process and every mount is gone, and DIR is as it was.

set -eu
if [ -z "${RTBENCH_IN_NAMESPACE-}" ]; then
	RTBENCH_IN_NAMESPACE=1 exec unshare --mount --pid --fork --kill-child --mount-proc "$0" "$@"
fi
root=$(cd "$1" && pwd) src=$(cd "$(dirname "$0")/.." && pwd)
shift
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mkdir "$root/tmp/rtbench-src"
mount --bind -o ro "$src" "$root/tmp/rtbench-src"
exec chroot "$root" env -i HOME=/tmp PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
