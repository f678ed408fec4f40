# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by scripts/gpu_check.sh: unpacks the packages of $deps into $root with whatever the machine has, and has
# the compilers and CMake find them.

# shellcheck disable=SC2317  # called by name
by_dpkg() { command -v dpkg-deb >/dev/null && dpkg-deb -x "$1" "$root"; }

# shellcheck disable=SC2317
by_ar() {
  command -v ar >/dev/null || return 1
  command -v tar >/dev/null || return 1
  local data
  data=$(ar t "$1" | grep '^data\.tar') || return 1
  case $data in
    *.xz) ar p "$1" "$data" | tar -x --xz -C "$root" ;;
    *.zst) ar p "$1" "$data" | tar -x --zstd -C "$root" ;;
    *.gz) ar p "$1" "$data" | tar -x --gzip -C "$root" ;;
    *) ar p "$1" "$data" | tar -x -C "$root" ;;
  esac
}

# shellcheck disable=SC2317
by_python() {
  command -v python3 >/dev/null && python3 - "$1" "$root" <<'PYTHON'
import io, sys, tarfile
with open(sys.argv[1], "rb") as f:
    assert f.read(8) == b"!<arch>\n"
    while header := f.read(60):
        size = int(header[48:58])
        body = f.read(size + size % 2)[:size]
        if header.startswith(b"data.tar"):
            with tarfile.open(fileobj=io.BytesIO(body)) as archive:
                archive.extractall(sys.argv[2])
            sys.exit(0)
sys.exit("no data in " + sys.argv[1])
PYTHON
}

unpack() {
  local package way
  rm -rf "$root" && mkdir -p "$root"
  for package in "$deps"/*.deb; do
    for way in by_dpkg by_ar by_python none; do
      [[ $way != none ]] || return 1
      ! "$way" "$package" || break
    done
  done
  # Links that start at / mean this root.
  local link target
  while IFS= read -r -d '' link; do
    target=$(readlink "$link")
    [[ ! -e $root$target ]] || ln -sfn "$root$target" "$link"
  done < <(find "$root" -type l -lname '/*' -print0)
  echo "by ${way#by_}: $(find "$root" -type f | wc -l) files"
}

settings=() # for CMake
use_root() {
  local libraries=$root/usr/lib/x86_64-linux-gnu name file
  export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$libraries:$root/lib/x86_64-linux-gnu
  # As system headers, and for nvcc's host compiler too.
  local headers=$root/usr/include:$root/usr/include/x86_64-linux-gnu
  export CPLUS_INCLUDE_PATH=$headers${CPLUS_INCLUDE_PATH:+:$CPLUS_INCLUDE_PATH}
  export C_INCLUDE_PATH=$headers${C_INCLUDE_PATH:+:$C_INCLUDE_PATH}
  PATH=$PATH:$root/usr/bin
  settings+=("-DCMAKE_PREFIX_PATH=$root/usr" "-DCMAKE_LIBRARY_PATH=$libraries;$root/lib/x86_64-linux-gnu"
    "-DCMAKE_INCLUDE_PATH=$root/usr/include;$root/usr/include/x86_64-linux-gnu")
  for name in TBB GTest benchmark CLI11; do
    file=$(find "$root" -name "${name}Config.cmake" -path '*cmake*' 2>/dev/null | head -n 1)
    [[ -z $file ]] || settings+=("-D${name}_DIR=$(dirname "$file")")
  done
}
