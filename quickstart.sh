#!/usr/bin/env bash
# Sets everything up and runs the main job. Usage: ./quickstart.sh accuracy | test | build | clean [flags for torchstone or ctest]
#   accuracy   build, then judge the compiled models against eager; reports in build/results
#   test       build, then run every test
#   build      build only: build/bin/torchstone and build/bin/torchstone-report
#   clean      remove build/ (the compile cache and .venv stay)
# Environment: TORCHSTONE_PYTHON (a Python with torch 2.11 to 2.13) or TORCHSTONE_LIBTORCH (an unzipped LibTorch).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

packages=(libgtest-dev libgmock-dev libfmt-dev libyaml-cpp-dev libcli11-dev nlohmann-json3-dev zlib1g-dev cmake ninja-build g++ ccache)

say() { printf '\033[1m%s\033[0m\n' "quickstart: $*" >&2; }
fail() { printf 'quickstart: %s\n' "$*" >&2; exit 2; }

# Names of those of the given packages that are not installed; none where there is no dpkg.
missing_packages() {
  command -v dpkg-query >/dev/null || return 0
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
  done
}

install_packages() {
  local missing needed sudo=()
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  [ "$(id -u)" = 0 ] || sudo=(sudo)
  # ccache saves time, zlib bytes in the HTML page: no reasons to stop.
  if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
    needed=${missing/ccache /}
    needed=${needed/zlib1g-dev /}
    [ -n "$needed" ] || return 0
    fail "please run: sudo apt-get update && sudo apt-get install -y $missing"
  fi
  say "installing $missing"
  "${sudo[@]}" apt-get update -qq
  # shellcheck disable=SC2086  # a list of names
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
}

# True when the Python has a torch that we build with.
has_torch() {
  "$1" -c 'import importlib.metadata as m, sys
v = tuple(int(p) for p in m.version("torch").split("+")[0].split(".")[:2])
sys.exit(not (2, 11) <= v <= (2, 13))' 2>/dev/null
}

# Sets `python` to an interpreter with a fitting torch; makes .venv when there is none.
find_python() {
  if [ -n "${TORCHSTONE_PYTHON:-}" ]; then
    has_torch "$TORCHSTONE_PYTHON" || fail "TORCHSTONE_PYTHON=$TORCHSTONE_PYTHON has no torch 2.11 to 2.13"
    python=$TORCHSTONE_PYTHON
  elif [ -x .venv/bin/python ] && has_torch .venv/bin/python; then
    python=$PWD/.venv/bin/python
  elif command -v python3 >/dev/null && has_torch python3; then
    python=$(command -v python3)
  else
    # A distribution's Python comes without venv and headers.
    case "$(command -v python3 || echo /usr/bin/python3)" in
      /usr/bin/*) install_packages python3-venv python3-dev ;;
    esac
    say "making .venv with torch 2.13.0"
    python3 -m venv .venv
    .venv/bin/pip install --quiet --disable-pip-version-check torch==2.13.0 ||
      fail "no torch 2.13.0 could be installed. Give one: TORCHSTONE_PYTHON=/path/to/python or TORCHSTONE_LIBTORCH=/path/to/libtorch"
    python=$PWD/.venv/bin/python
  fi
}

# The Python originals that the zoo is compared with live; without them the committed golden files serve.
install_oracles() {
  case "${python:-}" in "$PWD"/.venv/*) ;; *) return 0 ;; esac
  [ ! -e .venv/oracles-0.28-graphs-2 ] || return 0
  say "installing the Python originals (torchvision, timm, transformers, torch_geometric) for the parity tests"
  if .venv/bin/pip install --quiet --disable-pip-version-check --no-deps torchvision==0.28.0 timm==1.0.31 transformers==5.23.0 torch_geometric==2.8.1 &&
     .venv/bin/pip install --quiet --disable-pip-version-check numpy pillow pyyaml huggingface_hub safetensors tokenizers regex requests tqdm packaging typer psutil pyparsing aiohttp jinja2 fsspec xxhash; then
    touch .venv/oracles-0.28-graphs-2
  else
    say "not to be had; the parity tests use the golden files"
  fi
}

# As many jobs as cores, but no more than one for 2 GB of memory.
jobs_that_fit() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemTotal/ {print int($2 / 2000000)}' /proc/meminfo)
  [ "$memory" -lt 1 ] && memory=1
  [ "$memory" -lt "$cores" ] && echo "$memory" || echo "$cores"
}

build() {
  install_packages "${packages[@]}"
  # Files joined for the compiler: a build from nothing takes little more than half the time.
  local options=(-DCMAKE_UNITY_BUILD=ON)
  # Not switched off outside of CI: every file would be compiled anew.
  [ -z "${CI:-}" ] || options+=(-DTORCHSTONE_WERROR=ON)
  if [ -n "${TORCHSTONE_LIBTORCH:-}" ]; then
    options+=(-DTORCHSTONE_LIBTORCH="$TORCHSTONE_LIBTORCH")
  else
    find_python
    options+=(-DTORCHSTONE_PYTHON="$python")
  fi
  mkdir -p build
  cmake -S . -B build -G Ninja "${options[@]}" >build/configure.log 2>&1 || { cat build/configure.log >&2; exit 2; }
  ninja -C build -j "$(jobs_that_fit)" >&2
}

job=${1:-help}
[ $# -eq 0 ] || shift
case "$job" in
  build) build ;;
  accuracy)
    build
    exec build/bin/torchstone --gtest_filter='*/Accuracy.*' "$@"
    ;;
  test)
    build
    install_oracles
    exec ctest --test-dir build --output-on-failure --no-tests=error -j "$(nproc)" "$@"
    ;;
  clean) rm -rf build ;;
  *)
    sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
