#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/gpu_check.sh [--dry-run] [--seconds N] OUTDIR [DEPSFOLDER]: what only a GPU can tell, on a bare x86-64
# machine that has one, with nvcc and CMake, but needs neither a network nor a package manager: the packages that
# scripts/gpu_check_deps.sh downloaded come along in DEPSFOLDER (build/gpu-deps), and are unpacked in
# build/gpu-check. Builds what it needs, and runs the contract suite, the tests of the kernels, the examples,
# compute-sanitizer, the benchmarks, and tests/gpu's questions to the GPU.
#   OUTDIR        gets summary.md, machine.txt, facts.txt, and the logs: eight files at most
#   --dry-run     for a machine without a GPU: the same steps, with the double of the CUDA runtime in its place
#   --seconds N   how long all of it may take (480)
# HEDDLE_GPU_CHECK_BUILD names a build folder whose programs are run as they are; nothing is built then.
# What cannot be run is listed with the reason. Exit code: 0 nothing that ran failed, 1 something did, 2 the
# arguments are bad.
set -uo pipefail

usage() {
  echo "usage: scripts/gpu_check.sh [--dry-run] [--seconds N] OUTDIR [DEPSFOLDER]" >&2
  exit 2
}
dry=0 total=480
while [[ ${1-} == -* ]]; do
  case $1 in
    --dry-run) dry=1 ;;
    --seconds)
      [[ ${2-} =~ ^[1-9][0-9]*$ ]] || usage
      total=$2
      shift
      ;;
    *) usage ;;
  esac
  shift
done
[[ $# == [12] && -n $1 ]] || usage
out=$(realpath -m -- "$1")
deps=${2:+$(realpath -m -- "$2")}
given=${HEDDLE_GPU_CHECK_BUILD:+$(realpath -m -- "$HEDDLE_GPU_CHECK_BUILD")}
unset HEDDLE_GPU_CHECK_BUILD # heddle refuses variables that it does not know
# shellcheck source=scripts/setup.sh
source "$(dirname "$0")/setup.sh"
# shellcheck source=tests/gpu/steps.sh
source tests/gpu/steps.sh
# shellcheck source=tests/gpu/packages.sh
source tests/gpu/packages.sh

deps=${deps:-$PWD/build/gpu-deps}
work=$PWD/build/gpu-check
root=$work/root
folder=${given:-$work/build}
mkdir -p "$out" "$work" || die "cannot write to $out or $work"
rm -f -- "$out"/{summary.md,machine.txt,contract.log,kernels.log,examples.log,sanitizer.log,bench.log,facts.txt}

# program NAME: the path of a program of the build; fails where there is none.
program() {
  find "$folder" -name CMakeFiles -prune -o -type f -name "$1" -perm -u+x -print 2>/dev/null | head -n 1 | grep .
}

missing() { # why there is no program of this name
  if [[ -n $given ]]; then echo "$1 is not in $(basename "$given")"; else echo "$1 was not built"; fi
}

# ---- the machine ---------------------------------------------------------------------------------------------------

for place in /usr/local/cuda/bin /usr/local/cuda-*/bin; do
  command -v nvcc >/dev/null || [[ ! -x $place/nvcc ]] || PATH=$PATH:$place
done

gpus=0 capability=""
if command -v nvidia-smi >/dev/null; then
  gpus=$(timeout 30 nvidia-smi -L 2>/dev/null | grep -c '^GPU ') || true
  capability=$(timeout 30 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d ' .')
  [[ $capability =~ ^[0-9]+$ ]] || capability=""
fi
nodes=(/dev/nvidia[0-9]*)
if ((!dry && gpus == 0)); then
  [[ -e ${nodes[0]} ]] ||
    die "nvidia-smi lists no GPU and there is no /dev/nvidia0: on a machine without a GPU, use --dry-run"
  gpus=${#nodes[@]}
fi

describe() {
  if ((dry)); then echo "GPU: none wanted, this is a dry run"; else echo "GPUs: $gpus"; fi
  if command -v nvidia-smi >/dev/null; then
    timeout 30 nvidia-smi -L 2>&1 | sed -E 's/ \(UUID:.*//'
    timeout 30 nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total,mig.mode.current --format=csv 2>&1
    timeout 30 nvidia-smi 2>/dev/null | grep -oE 'CUDA Version: [0-9.]+'
  else
    echo "nvidia-smi was not found"
  fi
  nvcc --version 2>/dev/null | grep -E 'release|Build' || echo "nvcc was not found"
  cmake --version 2>/dev/null | head -n 1 || echo "cmake was not found"
  c++ --version 2>/dev/null | head -n 1 || echo "c++ was not found"
  echo "processor: $(grep -m 1 '^model name' /proc/cpuinfo | cut -d: -f2-), $(nproc) usable"
  echo "memory: $(awk '/^MemTotal/ {printf "%d MiB", $2 / 1024}' /proc/meminfo)"
  echo "kernel: $(uname -srm)"
  [[ ! -e /etc/os-release ]] || echo "system: $(. /etc/os-release && echo "$PRETTY_NAME")"
  local commit
  commit=$(git -c safe.directory="$PWD" rev-parse HEAD 2>/dev/null) ||
    commit="unknown, the tree came without its history"
  [[ -z $(git -c safe.directory="$PWD" status --porcelain 2>/dev/null) ]] || commit+=", with changes"
  echo "commit: $commit"
  echo "sources: $(find CMakeLists.txt cmake include src kernels tests examples bench tools -type f -print0 |
    sort -z | xargs -0 cat | sha256sum | cut -c1-16) (of all files that are built from)"
  [[ ! -e $deps/versions.txt ]] || { echo "packages that came along:" && sed 's/^/  /' "$deps/versions.txt"; }
  echo "date: $(date -u +%FT%TZ)"
}
describe >"$out/machine.txt" 2>&1

# ---- packages, configuration, build -------------------------------------------------------------------------------

configure() {
  local architecture code=1
  local version
  version=$(cmake --version 2>/dev/null | sed -nE '1s/.* ([0-9]+\.[0-9]+).*/\1/p')
  if [[ -z $version || $(printf '%s\n' 3.25 "$version" | sort -V | head -n 1) != 3.25 ]]; then
    finish FAILED "CMake 3.25 or newer is needed, and ${version:-none} is here"
    return 1
  fi
  local generator=(-G "Unix Makefiles")
  ! command -v ninja >/dev/null || generator=(-G Ninja)
  local architectures=(native ${capability:+"$capability"})
  ((!dry)) || architectures=(90)
  for architecture in "${architectures[@]}"; do
    rm -rf "$folder/CMakeCache.txt" "$folder/CMakeFiles/CMakeScratch"
    limited 90 "$work/configure.log" cmake "${generator[@]}" -S . -B "$folder" -DCMAKE_BUILD_TYPE=Release \
      -DHEDDLE_CUDA=ON -DHEDDLE_WERROR=OFF "-DCMAKE_CUDA_ARCHITECTURES=$architecture" "${settings[@]}" &&
      code=0 && break
  done
  if ((code)); then
    tail_of_build=$(tail -n 40 "$work/configure.log")
    finish FAILED "cmake failed; its last lines are below"
    return 1
  fi
  finish ok "architecture $architecture, ${generator[1]}; $(sed -n 's/^-- heddle: //p' "$work/configure.log" |
    sort -u | paste -sd ';' | sed 's/;/; /g')"
}

loop_examples=(mandelbrot heat monte_carlo_pi cg)
wanted=(gpu_facts heddle_command gpu_pool compute_server image_batch "${loop_examples[@]}")
if ((dry)); then
  contract=heddle_contract_double_tests kernels=heddle_kernels_double_tests
else
  contract=heddle_contract_gpu_tests kernels=heddle_kernels_gpu_tests
fi
wanted+=("$contract" "$kernels")

build_all() {
  local there target targets=() absent=() keep_going=(-k)
  there=$(cmake --build "$folder" --target help 2>/dev/null | sed -E 's/^\.\.\. //; s/[: ].*//')
  for target in "${wanted[@]}"; do
    if grep -qxF -- "$target" <<<"$there"; then targets+=("$target"); else absent+=("$target"); fi
  done
  mapfile -t -O "${#targets[@]}" targets < <(grep -xE 'bench_[A-Za-z0-9_]+' <<<"$there")
  ! grep -q '^CMAKE_GENERATOR:INTERNAL=Ninja' "$folder/CMakeCache.txt" || keep_going=(-k 0)
  local code=0
  # One target that does not build costs no other.
  silence=200 limited 240 "$work/build.log" \
    cmake --build "$folder" -j "$(nproc)" --target "${targets[@]}" -- "${keep_going[@]}" || code=$?
  local detail="${#targets[@]} targets${absent:+; there is no target ${absent[*]}}"
  case $code in
    0) finish ok "$detail" ;;
    *)
      tail_of_build=$(grep -vE '^\[ *[0-9]+[/%]' "$work/build.log" | tail -n 60)
      finish FAILED "$(how_it_ended "$code"); $detail"
      ;;
  esac
}

: >"$work/configure.log" && : >"$work/build.log"
if [[ -n $given ]]; then
  [[ -d $given ]] || die "HEDDLE_GPU_CHECK_BUILD: there is no folder $given"
  not_run "build" "the programs of $(basename "$given") are used as they are"
else
  packages=("$deps"/*.deb)
  begin "unpack packages"
  if [[ ! -e ${packages[0]} ]]; then
    finish "not run" "no packages came along (scripts/gpu_check_deps.sh fetches them): the machine's own are used"
  elif detail=$(unpack 2>"$work/unpack.log"); then
    finish ok "${#packages[@]} packages, $detail"
    use_root
  else
    finish FAILED "neither dpkg-deb, nor ar with tar and xz, nor python3 could: $(tail -n 1 "$work/unpack.log")"
  fi
  begin configure
  if configure; then
    begin build
    build_all
  fi
fi

((dry)) || export HEDDLE_REQUIRE_GPU=1

# ---- contract ------------------------------------------------------------------------------------------------------

if tests=$(program "$contract"); then
  silence=45 test_program "contract" 200 "$out/contract.log" "$tests"
else
  not_run "contract" "$(missing "$contract")"
fi

# ---- questions to the GPU ------------------------------------------------------------------------------------------

begin "questions"
if ! facts=$(program gpu_facts); then
  finish "not run" "$(missing gpu_facts)"
else
  code=0
  limited 150 "$work/facts.log" sh -c 'exec "$1" >"$2"' sh "$facts" "$out/facts.txt" || code=$?
  asked=$(grep -c ' | ' "$out/facts.txt" 2>/dev/null)
  unanswered=$(grep -c 'not answered' "$out/facts.txt" 2>/dev/null)
  case $code in
    0) finish ok "$asked questions, all answered" ;;
    1) finish ok "$asked questions, $unanswered of them not answered or not to the end" ;;
    77) finish "not run" "needs a GPU" ;;
    200) finish "not run" "no time was left" ;;
    *) finish FAILED "$(how_it_ended "$code") after ${asked:-0} answers" ;;
  esac
  [[ -s $out/facts.txt ]] || rm -f "$out/facts.txt"
fi

if tests=$(program "$kernels"); then
  silence=45 test_program "kernels" 90 "$out/kernels.log" "$tests"
else
  not_run "kernels" "$(missing "$kernels")"
fi

# ---- examples ------------------------------------------------------------------------------------------------------

examples=$out/examples.log
on_gpu=(env HEDDLE_BACKEND=cuda)
((!dry)) || on_gpu=(env)
on_host=(env -u HEDDLE_REQUIRE_GPU HEDDLE_BACKEND=host HEDDLE_HOST_DEVICES=2)

if tool=$(program heddle); then
  pick='^CUDA|GPU|cores' try "heddle doctor" 30 "$examples" "${on_gpu[@]}" "$tool" doctor
  try "heddle devices" 30 "$examples" "${on_gpu[@]}" "$tool" devices
else
  not_run "heddle doctor" "$(missing "the heddle command")"
fi

if ! pool=$(program gpu_pool); then
  not_run "gpu_pool" "$(missing gpu_pool)"
elif ((dry || gpus >= 2)); then
  try "gpu_pool" 30 "$examples" "$pool"
else
  not_run "gpu_pool" "it needs two GPUs, and there is $gpus"
  try "gpu_pool, GPUs hidden" 30 "$examples" env -u HEDDLE_REQUIRE_GPU CUDA_VISIBLE_DEVICES= "$pool"
fi

if server=$(program compute_server); then
  try "compute_server" 30 "$examples" "$server"
else
  not_run "compute_server" "$(missing compute_server)"
fi

# The same pictures on the GPU and on the host: the same bits are promised.
same_pictures() {
  local file differ=() count=0
  for file in "$work/pictures-out"/*; do
    [[ $(basename "$file") != contact-sheet.png ]] || continue
    count=$((count + 1))
    cmp -s -- "$file" "$work/pictures-host/$(basename "$file")" || differ+=("$(basename "$file")")
  done
  if ((count == 0)); then
    finish FAILED "there are no pictures to compare"
  elif ((${#differ[@]})); then
    finish FAILED "${#differ[@]} of $count pictures differ: ${differ[*]:0:5}"
  else
    finish ok "$count pictures are the same, bit by bit"
  fi
}

if batch=$(program image_batch); then
  rm -rf "$work"/pictures*
  pick=' done.* in '
  if try "image_batch" 60 "$examples" "${on_gpu[@]}" \
    "$batch" --draw 24 "$work/pictures" --out "$work/pictures-out" --quiet &&
    try "image_batch, host" 60 "$examples" "${on_host[@]}" \
      "$batch" "$work/pictures" --out "$work/pictures-host" --quiet; then
    begin "image_batch, compared"
    same_pictures
  fi
  pick=.
else
  not_run "image_batch" "$(missing image_batch)"
fi

# Each checks its own answer.
for name in "${loop_examples[@]}"; do
  if loop=$(program "$name"); then
    arguments=()
    [[ $name != mandelbrot ]] || arguments=(--out "$work/mandelbrot.png")
    try "$name" 60 "$examples" "${on_gpu[@]}" "$loop" "${arguments[@]}" || true
  else
    not_run "$name" "$(missing "$name")"
  fi
done

# ---- compute-sanitizer ---------------------------------------------------------------------------------------------

sanitizer_log=$out/sanitizer.log
sanitizer=""
for place in "$(command -v compute-sanitizer)" "$(dirname "$(command -v nvcc || echo /none)")/compute-sanitizer" \
  /usr/local/cuda*/bin/compute-sanitizer /opt/nvidia/*/compute-sanitizer /opt/nvidia/*/*/compute-sanitizer; do
  [[ -n $sanitizer || ! -x $place ]] || sanitizer=$place
done
device_work='Copy.*:Deferred.*:DeviceLocal.*:Enqueue.*:Keep.*:Launch.*:Scratch.*:StreamLocal.*:Streams.*:Sync.*'
device_work+=':ThenOnStream.*'

# sanitized STEP SECONDS TOOL EXPECTED COMMAND…: EXPECTED is the exit code, 86 where an error is to be found.
sanitized() {
  begin "$1"
  local code=0 mark=0 summary options=(--tool "$3" --error-exitcode 86)
  [[ $3 != memcheck ]] || options+=(--report-api-errors no) # tests provoke them
  [[ ! -e $sanitizer_log ]] || mark=$(stat -c %s "$sanitizer_log")
  limited "$2" "$sanitizer_log" "$sanitizer" "${options[@]}" "${@:5}" || code=$?
  summary=$(tail -c "+$((mark + 1))" "$sanitizer_log" 2>/dev/null |
    grep -E 'SUMMARY|not supported|[Ff]ailed to|PASSED|FAILED  \] [0-9]' | tail -n 4 | sed 's/^=* *//' | paste -sd ';')
  if ((code == 200)); then
    finish "not run" "no time was left"
  elif ((code == $4)); then
    finish ok "${summary//;/; }"
  else
    finish FAILED "$(how_it_ended "$code"), expected $4; ${summary//;/; }"
  fi
}

if ((dry)); then
  not_run "sanitizer" "needs a GPU"
elif [[ -z $sanitizer ]]; then
  not_run "sanitizer" "compute-sanitizer was not found"
elif (($(left) < 10)); then
  not_run "sanitizer" "no time was left"
elif [[ -n $facts ]] &&
  ! limited 60 "$sanitizer_log" "$sanitizer" --tool memcheck --error-exitcode 86 "$facts" --plant none; then
  not_run "sanitizer" "it refuses this machine: $(grep -E '=====|rror|support' "$sanitizer_log" |
    grep -vE '^--- |COMPUTE-SANITIZER' | head -n 2 | paste -sd ' ')"
else
  if [[ -n $facts ]]; then
    sanitized "memcheck, planted error" 40 memcheck 86 "$facts" --plant write
    sanitized "racecheck, planted race" 40 racecheck 86 "$facts" --plant race
  fi
  if tests=$(program "$kernels"); then
    sanitized "memcheck, kernels" 60 memcheck 0 "$tests" --gtest_brief=1
    sanitized "racecheck, kernels" 60 racecheck 0 "$tests" --gtest_brief=1
    sanitized "initcheck, kernels" 60 initcheck 0 "$tests" --gtest_brief=1
  else
    not_run "memcheck, racecheck, kernels" "$(missing "$kernels")"
  fi
  if tests=$(program "$contract"); then
    sanitized "memcheck, contract" 60 memcheck 0 "$tests" --gtest_brief=1 "--gtest_filter=$device_work"
    sanitized "racecheck, contract" 60 racecheck 0 "$tests" --gtest_brief=1 "--gtest_filter=$device_work"
  else
    not_run "memcheck, racecheck, contract" "$(missing "$contract")"
  fi
fi

# ---- benchmarks ----------------------------------------------------------------------------------------------------

mapfile -t benches < <(find "$folder" -name CMakeFiles -prune -o -type f -name 'bench_*' -perm -u+x -print | sort)
((${#benches[@]})) || not_run "benchmarks" "the build has none"
for bench in "${benches[@]}"; do
  name=$(basename "$bench")
  try "$name" 60 "$out/bench.log" "$bench" --quick || true
done

# ---- end -----------------------------------------------------------------------------------------------------------

for log in "$out"/*.log; do # both ends of what is too long
  [[ -e $log && $(stat -c %s "$log") -gt $((4 << 20)) ]] || continue
  { head -c $((2 << 20)) "$log" && printf '\n--- left out ---\n' && tail -c $((2 << 20)) "$log"; } >"$work/cut.log"
  mv "$work/cut.log" "$log"
done
begin "all" && finish "$( ((failed)) && echo FAILED || echo ok)" "$SECONDS s of $total"
exit "$failed"
