#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/format.sh [--check]: formats every C++ file of the tree; with --check, only says which ones differ.
# Version 14 for everybody: other versions break lines differently.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "$0")/setup.sh"
need clang-format-14 git

mode=(-i)
[[ ${1-} != --check ]] || mode=(--dry-run -Werror)
git ls-files -z --cached --others --exclude-standard -- '*.hpp' '*.cpp' '*.cu' '*.cuh' |
  while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
  xargs -0 -r -n 8 -P "$(nproc)" clang-format-14 "${mode[@]}" ||
  die "formatting differs: run scripts/format.sh"
