#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/demo.sh [FOLDER] [image_batch options…]: processes the PNG and JPEG files of FOLDER on all devices.
# Without FOLDER: the photographs of the Debian package mate-backgrounds, or pictures drawn here where that
# package cannot be had. Results go to build/demo/out, which is emptied first. Exit code: image_batch's.
set -euo pipefail
source_folder=""
if [[ $# -gt 0 && $1 != -* ]]; then
  source_folder=$(realpath -e -- "$1") || { echo "demo.sh: there is no folder \"$1\"" >&2; exit 2; }
  shift
fi
# shellcheck source=scripts/setup.sh
source "$(dirname "$0")/setup.sh"

need "${build_packages[@]}"
build release image_batch
image_batch=$PWD/build/release/examples/image_batch
demo=$PWD/build/demo

# Photographs or, failing that, drawn pictures, once; each folder appears whole or not at all.
fetch_photographs() (
  rm -rf "$demo/fetch" && mkdir -p "$demo/fetch/photos" && cd "$demo/fetch" || return 1
  timeout 120 apt-get download mate-backgrounds ||
    { as_root timeout 120 apt-get update && timeout 120 apt-get download mate-backgrounds; } || return 1
  dpkg -x ./mate-backgrounds_*.deb tree || return 1
  find tree/usr/share/backgrounds -type f \( -iname '*.jpg' -o -iname '*.jpeg' -o -iname '*.png' \) \
    -exec cp -t photos {} + || return 1
  [[ -n $(ls -A photos) ]] && mv photos "$demo/photos" && rm -rf "$demo/fetch"
)

draw_pictures() {
  rm -rf "$demo/drawing"
  quietly demo-draw "$image_batch" --draw 24 "$demo/drawing"
  mv "$demo/drawing" "$demo/drawn"
}

mkdir -p "$demo"
if [[ -z $source_folder ]]; then
  if [[ ! -d $demo/photos && ! -d $demo/drawn ]]; then
    fetch_photographs >build/demo-fetch.log 2>&1 </dev/null || {
      echo "no photographs (build/demo-fetch.log says why): drawing pictures instead"
      draw_pictures
    }
  fi
  source_folder=$demo/photos
  [[ -d $source_folder ]] || source_folder=$demo/drawn
fi
[[ $source_folder/ != "$demo/out/"* ]] || die "$source_folder is where results go: move the pictures elsewhere"

rm -rf "$demo/out"
status=0
"$image_batch" "$source_folder" --out "$demo/out" "$@" || status=$?
((status > 1)) || echo "results: $demo/out  (contact-sheet.png shows which device made which picture)"
exit "$status"
