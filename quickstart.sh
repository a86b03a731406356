#!/usr/bin/env bash
# Sets everything up and runs the main job. Usage: ./quickstart.sh accuracy | test | build | clean [flags for torchstone or ctest]
#   accuracy   build the programs, then judge the compiled models against eager. Reports are in build/results.
#   test       build everything, then run the tests. --all adds those that take long.
#   build      build only build/bin/torchstone and build/bin/torchstone-report.
#   clean      remove build/. The compile cache and .venv stay.
# Environment: TORCHSTONE_PYTHON (a Python with torch 2.11 or newer), TORCHSTONE_LIBTORCH (an unzipped LibTorch) or TORCHSTONE_TORCH
#   (a version such as 2.14.1, which is installed in .venv-2.14.1 unless a Python has it).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# shellcheck source=cmake/setup.sh
. cmake/setup.sh

# Prints the number of cores, but at most one job per 2 GB of memory.
jobs_that_fit() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemTotal/ {print int($2 / 2000000)}' /proc/meminfo)
  [ "$memory" -lt 1 ] && memory=1
  [ "$memory" -lt "$cores" ] && echo "$memory" || echo "$cores"
}

# Builds the targets in the arguments, or all.
build() {
  # With unity builds, a build from scratch takes a fifth of the time.
  local options=(-DCMAKE_UNITY_BUILD=ON)
  check_asked_torch
  # Set only in CI: switching it OFF elsewhere would recompile every file of a build that has it.
  [ -z "${CI:-}" ] || options+=(-DTORCHSTONE_WERROR=ON)
  if [ -n "${TORCHSTONE_LIBTORCH:-}" ]; then
    python=none
    install_what_is_missing
    options+=(-DTORCHSTONE_LIBTORCH="$TORCHSTONE_LIBTORCH")
  else
    find_python
    install_what_is_missing
    [ -n "$python" ] || make_venv
    options+=(-DTORCHSTONE_LIBTORCH:PATH= -DTORCHSTONE_PYTHON="$python")  # build/ may have been configured for an unzipped LibTorch
  fi
  mkdir -p build
  # shellcheck disable=SC2046  # none or one
  cmake -S . -B build $(generator build) "${options[@]}" >build/configure.log 2>&1 || { cat build/configure.log >&2; exit 2; }
  warn_of_untested_torch build/configure.log
  cmake --build build --parallel "$(jobs_that_fit)" ${1:+--target "$@"} >&2
}

# The runner reports single tests and the slowest ones, and returns ctest's exit code.
run_tests() {
  local interpreter=$python flags=(-LE '^large$')
  [ -x "$interpreter" ] || interpreter=$(command -v python3) || interpreter=
  [ -z "$interpreter" ] || exec "$interpreter" -B tests/runner/run.py build "$@"
  say "without python3 the single tests are not listed at the end"
  [ "${1:-}" != --all ] || { flags=(); shift; }
  exec ctest --test-dir build --output-on-failure --no-tests=error -j "$(nproc)" "${flags[@]}" "$@"
}

job=${1:-help}
[ $# -eq 0 ] || shift
case "$job" in
  build) build torchstone torchstone-report ;;
  accuracy)
    build torchstone torchstone-report
    # No case is timed. Threads that wait in a loop would slow down concurrent compiles.
    OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} exec build/bin/torchstone --gtest_filter='*/Accuracy.*' "$@"
    ;;
  test)
    build
    install_oracles
    install_compilers
    install_executorch
    install_style_tools
    run_tests "$@"
    ;;
  clean) rm -rf build ;;
  *)
    sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
