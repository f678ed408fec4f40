#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/tsan.sh [ctest arguments…]: the tests under the thread sanitizer. The distribution's oneTBB is not
# instrumented and would give dozens of false reports, so the same version is built with the sanitizer first,
# from the distribution's source package, once, in build/tsan-tbb.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "$0")/setup.sh"

tbb=$PWD/build/tsan-tbb

# The source package of the libtbb-dev that is installed, from the mirror that it came from. The machine's own
# list of sources is left alone.
fetch_tbb_source() {
  need dpkg-dev
  local origin
  origin=$(origin_of libtbb-dev) || return 1
  mkdir -p "$tbb/apt/lists/partial" "$tbb/source"
  echo "deb-src $origin" >"$tbb/apt/sources.list"
  local options=(-o "Dir::Etc::SourceList=$tbb/apt/sources.list" -o Dir::Etc::SourceParts=-
    -o "Dir::State::Lists=$tbb/apt/lists" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update &&
    (cd "$tbb/source" && apt-get "${options[@]}" source onetbb)
}

# Called by quietly, where set -e does not hold.
build_tbb() {
  local folders=("$tbb"/source/onetbb-*/)
  cmake -G Ninja -S "${folders[0]}" -B "$tbb/build" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_INSTALL_PREFIX="$tbb" -DCMAKE_INSTALL_LIBDIR=lib \
    -DTBB_SANITIZE=thread -DTBB_STRICT=OFF -DTBB_TEST=OFF -DTBBMALLOC_BUILD=OFF &&
    cmake --build "$tbb/build" --target tbb &&
    cmake --install "$tbb/build"
}

need "${build_packages[@]}"
if [[ ! -e $tbb/lib/cmake/TBB/TBBConfig.cmake ]]; then
  echo "building oneTBB with the thread sanitizer, once"
  rm -rf "$tbb"
  quietly tsan-tbb-source fetch_tbb_source
  quietly tsan-tbb-build build_tbb
fi

# Debian's kernels may place programs where this compiler's sanitizer does not expect them; -R keeps them put.
exec setarch -R scripts/test.sh tsan "$@"
