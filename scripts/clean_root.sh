#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/clean_root.sh [RELEASE]: the two commands of the README on a machine that has nothing. Makes a minimal
# root with debootstrap, of this machine's own release or of the one named ("trixie"), in build/clean-root; the
# base is kept, the rest is made anew. Copies the tree in, runs scripts/test.sh and scripts/demo.sh twice, and
# checks that the second time nothing is compiled and the demo takes less than 20 s. Needs root, for chroot and
# mounts.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "$0")/setup.sh"

demo_limit=20 # seconds, the second time

if [[ ${1-} != --mounted ]]; then
  need debootstrap git
  as_root true 2>/dev/null || die "root is needed, for chroot and mounts: sudo scripts/clean_root.sh"
  # Mounts in a namespace of our own: whatever happens, none is left behind.
  as_root unshare --mount --propagation private "$PWD/scripts/clean_root.sh" --mounted "$@"
  exit
fi

# Security and update pockets are not releases that a root can be made of.
read -r uri suite component < <(origin_of base-files)
suite=${2:-${suite%%[-/]*}}
work=$PWD/build/clean-root/$suite
root=$work/root
mkdir -p "$work/archives"

make_base() {
  # Ubuntu keeps most of what is needed in a component of its own.
  [[ $(. /etc/os-release && echo "$ID") != ubuntu ]] || component=main,universe
  rm -rf "$work/base.part"
  debootstrap --variant=minbase --components="$component" --include=ca-certificates \
    "$suite" "$work/base.part" "$uri" &&
    mv "$work/base.part" "$work/base"
}

[[ -d $work/base ]] || { echo "making the base of a clean $suite" && quietly clean-root-base make_base; }
rm -rf --one-file-system "$root"
cp -a "$work/base" "$root"

# How this machine reaches its mirror.
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
apt-config dump | grep -E '^Acquire::(http|https|Check|Retries)' >"$root/etc/apt/apt.conf.d/00host" || true

mkdir -p "$root/heddle"
git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard |
  while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
  tar -c --null -T - | tar -x --no-same-owner -C "$root/heddle"

mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount --bind "$work/archives" "$root/var/cache/apt/archives"

inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$1" TERM=dumb "${@:2}" </dev/null; }

# timed COMMAND…: runs it in the root; its seconds are left in $took.
timed() {
  local start=$SECONDS
  inside /root "$@" || die "in the clean root, $* failed (its logs: $root/heddle/build)"
  took=$((SECONDS - start))
  echo "--- $*: $took s"
}

compiled_nothing() {
  grep -q '^ninja: no work to do' "$root/heddle/build/build-$1.log" ||
    die "the second run of $2 built something: $root/heddle/build/build-$1.log"
}

# Somebody who may not install packages is told which ones to ask for.
message=$(inside / setpriv --reuid=65534 --regid=65534 --clear-groups /heddle/scripts/test.sh 2>&1) &&
  die "test.sh succeeded without packages and without root"
[[ $message == *"sudo apt-get install"*libtbb-dev* ]] ||
  die "without root, test.sh does not say how to get the packages, but: $message"

timed /heddle/scripts/test.sh
timed /heddle/scripts/demo.sh
timed /heddle/scripts/test.sh
compiled_nothing dev test.sh
timed /heddle/scripts/demo.sh
compiled_nothing release demo.sh
((took < demo_limit)) || die "the second demo took $took s, which is not under $demo_limit s"
echo "clean $suite: both commands work, the second time without compiling"
