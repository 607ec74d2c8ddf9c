#!/bin/bash
# mkroot.sh MAJOR DIR
#	A Debian tree with PostgreSQL MAJOR in DIR, in which extensions can be built and tested.  As root; needs mmdebstrap.
#
# The packages are unpacked without running their scripts (about 20 s), and the few things that the tests need from those
# are done by hand; where that fails the tree is made the ordinary way.  postgresql-server-dev-MAJOR is unpacked without
# the clang and llvm that it depends on, so extensions are built with with_llvm=no.
#
# DEBIAN_MIRROR=... instead of the mirror that this machine's apt is set up with.

set -eu
M=$1 D=$2

die() { echo "mkroot: $*" >&2; exit 2; }

mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' | grep -m1 -E '/debian/?$')} ||
	die 'this machine has no Debian mirror set up: set DEBIAN_MIRROR'
mirror=${mirror%/}
pin=''
case $M in
	15) suite=bookworm ;;
	17) suite=trixie ;;
	18) suite=forky ;;
	19) suite=sid pin='Package: src:postgresql-19
Pin: release a=experimental
Pin-Priority: 990' ;;
	*) die "no Debian suite has PostgreSQL $M" ;;
esac
sources="deb $mirror $suite main"
case $suite in
	# the mirror of security updates lies beside the main one
	bookworm | trixie) sources+=$'\n'"deb $mirror-security $suite-security main" ;;
	sid) sources+=$'\n'"deb $mirror experimental main" ;;
esac

packages=postgresql-$M,make,gcc,libc6-dev,perl,libipc-run-perl,libpq-dev,util-linux
# what Debian takes for granted, and an unpacked tree must be told
essential=mawk,dash,base-files,base-passwd,hostname,bash,coreutils,tar,sed,grep,diffutils,findutils,libc-bin
options=(--quiet --mode=root
	--aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' --aptopt='Acquire::Retries "3"'
	# the Release files of suites in the making, or of a snapshot, may count as expired
	--aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Check-Date "false"'
	--setup-hook='[ -z "$pin" ] || { mkdir -p "$1/etc/apt/preferences.d"; printf "%s\n" "$pin" >"$1/etc/apt/preferences.d/postgresql"; }')
export pin

unpacked()
{
	rm -rf "$D.tmp"
	mmdebstrap "${options[@]}" --variant=extract --include="$packages,$essential" \
		--extract-hook="cd \"\$1/tmp\" && APT_CONFIG=\$MMDEBSTRAP_APT_CONFIG apt-get -qq download postgresql-server-dev-$M &&
			dpkg -x postgresql-server-dev-${M}_*.deb .. && rm -f *.deb" \
		"$suite" "$D.tmp" - <<<"$sources" >&2 || return
	[ -e "$D.tmp/usr/bin/awk" ] || ln -s mawk "$D.tmp/usr/bin/awk"
	[ -e "$D.tmp/bin/sh" ] || ln -s dash "$D.tmp/bin/sh"
	cp "$D.tmp/usr/share/base-passwd/passwd.master" "$D.tmp/etc/passwd" &&
		cp "$D.tmp/usr/share/base-passwd/group.master" "$D.tmp/etc/group" || return
	echo 'postgres:x:200:200:PostgreSQL:/tmp:/bin/sh' >>"$D.tmp/etc/passwd"
	echo 'postgres:x:200:' >>"$D.tmp/etc/group"
	chroot "$D.tmp" /sbin/ldconfig && usable
}

installed()
{
	rm -rf "$D.tmp"
	mmdebstrap "${options[@]}" --variant=apt --include="$packages" \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--customize-hook="chroot \"\$1\" sh -c 'cd /tmp && apt-get -qq download postgresql-server-dev-$M &&
			dpkg -x postgresql-server-dev-${M}_*.deb / && rm -f *.deb'" \
		"$suite" "$D.tmp" - <<<"$sources" >&2 && usable
}

usable() # does what was made run at all?
{
	chroot "$D.tmp" sh -c "/usr/lib/postgresql/$M/bin/postgres --version && gcc --version && perl -MIPC::Run -e1" >/dev/null
}

unpacked || { echo 'mkroot: installing the packages instead' >&2; installed; } || { rm -rf "$D.tmp"; die "no tree for PostgreSQL $M"; }
rm -rf "$D"
mv "$D.tmp" "$D"
touch "$D"
