# Set-up for quickstart.sh, which sources this file: finds the requirements of a build and the tests, and installs missing ones.

say() { printf '\033[1m%s\033[0m\n' "quickstart: $*" >&2; }
fail() { printf 'quickstart: %s\n' "$*" >&2; exit 2; }
runs() { "$1" --version >/dev/null 2>&1; }

# ---- Missing packages, by Debian's names. The check looks for programs and asks CMake, so other kinds of installation count.

cmake_version() { cmake --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p'; }
has_cmake() { printf '3.25\n%s\n' "$(cmake_version)" | sort -V -C; }

missing_programs() {
  has_cmake || echo cmake
  runs ninja || runs ninja-build || runs make || echo ninja-build
  if [ -n "${CXX:-}" ]; then
    runs "${CXX%% *}" || fail "the compiler cannot be run: CXX=$CXX"
  else
    runs c++ || runs g++ || runs clang++ || echo g++
  fi
}

# An existing build keeps its generator, because CMake allows no change. Without ninja, CMake chooses make.
generator() {
  [ ! -e "$1/CMakeCache.txt" ] && [ -z "${CMAKE_GENERATOR:-}" ] || return 0
  ! { runs ninja || runs ninja-build; } || echo -GNinja
}

# Prints the packages that CMake's probe reports. $1: Missing or Optional. An existing build reports them when it is configured.
libraries_by_cmake() {
  local answer
  [ ! -e build/build.ninja ] && [ ! -e build/Makefile ] || return 0
  rm -rf build/probe
  # shellcheck disable=SC2046  # none or one
  if ! answer=$(cmake -S cmake/probe -B build/probe $(generator build/probe) 2>&1) &&
     [[ $answer != *"-- Missing Debian packages: "* ]]; then
    fail "CMake cannot look for libraries: $answer"
  fi
  sed -n "s/^-- $1 Debian packages: //p" <<<"$answer"
}

# Does the same on machines without CMake.
libraries_by_dpkg() {
  local package
  for package in libgtest-dev libgmock-dev libfmt-dev libyaml-cpp-dev libcli11-dev nlohmann-json3-dev; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

missing_for_venv() {
  [ -z "$python" ] || return 0
  python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
}

# Optional packages: ccache shortens builds, zlib shrinks the HTML page, and Inductor may include Python.h.
missing_optional() {
  runs ccache || echo ccache
  libraries_by_cmake Optional
  [ -n "$python" ] || python3 -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
    echo python3-dev
}

# ---- Installing.

may_install() {
  command -v apt-get >/dev/null || return 1
  [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

apt_get() {
  local sudo=()
  [ "$(id -u)" = 0 ] || sudo=(sudo)
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@" >&2
}

# Without permission to install, ends the script with the command to type.
install_packages() {
  [ $# -gt 0 ] || return 0
  may_install || fail "please run: sudo apt-get update && sudo apt-get install -y $*"
  say "installing $*"
  [ -n "$installed" ] || apt_get update -qq || say "updating the package lists failed"
  apt_get install -y -qq --no-install-recommends "$@" || fail "installing failed: $*"
  installed=yes
}

# shellcheck disable=SC2086  # lists of names without spaces
install_what_is_missing() {
  local programs missing
  installed=
  programs=$(missing_programs)
  missing="$programs $(missing_for_venv)"
  if [ -z "$programs" ]; then
    missing+=" $(libraries_by_cmake Missing)"
  elif ! may_install; then
    missing+=" $(libraries_by_dpkg)"
  fi
  if ! has_cmake && runs cmake; then
    say "CMake 3.25 or newer is needed, found: $(cmake_version). If the distribution has no newer one, run 'pip install cmake' in an active environment"
  fi
  install_packages $missing
  if [ -n "$programs" ]; then
    has_cmake || fail "the installed CMake is too old: $(cmake_version)"
    missing=$(libraries_by_cmake Missing)
    install_packages $missing
  fi
  [ -n "$installed" ] || return 0
  missing=$(missing_optional)
  [ -z "$missing" ] || apt_get install -y -qq --no-install-recommends $missing || say "continuing without" $missing
}

# ---- A Python with torch.

# shellcheck source=cmake/torch_versions
. cmake/torch_versions

# Succeeds if $1 is not newer than $2.
in_order() { printf '%s\n%s\n' "$1" "$2" | sort -V -C; }

# Prints the version of a Python's torch, without the local part (+cpu). Without torch it prints nothing and does not fail.
torch_of() { "$1" -c 'import importlib.metadata as m; print(m.version("torch").split("+")[0])' 2>/dev/null || true; }

# The version that TORCHSTONE_TORCH asks for, or the empty string. Each version has its own virtual environment.
asked_torch=${TORCHSTONE_TORCH:-}
asked_torch=${asked_torch%%+*}
venv_folder=.venv${asked_torch:+-$asked_torch}

check_asked_torch() {
  [ -n "$asked_torch" ] || return 0
  [[ $asked_torch =~ ^[0-9]+\.[0-9]+\.[0-9]+[a-z0-9.]*$ ]] || fail "TORCHSTONE_TORCH=$TORCHSTONE_TORCH is no version (expected one such as $default_torch)"
  in_order "$oldest_torch" "$asked_torch" || fail "TORCHSTONE_TORCH=$TORCHSTONE_TORCH is too old (expected torch $oldest_torch or newer)"
  [ -z "${TORCHSTONE_LIBTORCH:-}" ] || fail "TORCHSTONE_TORCH and TORCHSTONE_LIBTORCH both name a torch: unset one of them"
}

# Prints which torch TORCHSTONE_PYTHON must have.
expected_torch() {
  [ -n "$asked_torch" ] && echo "torch $asked_torch, which TORCHSTONE_TORCH asks for" || echo "torch $oldest_torch or newer"
}

# Succeeds if the Python has a torch that Torchstone builds with: the one of TORCHSTONE_TORCH, otherwise any that is new enough.
has_torch() {
  local found
  found=$(torch_of "$1")
  [ -n "$found" ] || return 1
  if [ -n "$asked_torch" ]; then [ "$found" = "$asked_torch" ]; else in_order "$oldest_torch" "$found"; fi
}

# Sets `python` to an interpreter with a suitable torch, or to the empty string.
find_python() {
  local venv found
  python=
  if [ -n "${TORCHSTONE_PYTHON:-}" ]; then
    if ! has_torch "$TORCHSTONE_PYTHON"; then
      found=$(torch_of "$TORCHSTONE_PYTHON")
      fail "TORCHSTONE_PYTHON=$TORCHSTONE_PYTHON has ${found:+torch }${found:-no torch} (expected $(expected_torch))"
    fi
    python=$TORCHSTONE_PYTHON
    return 0
  fi
  for venv in .venv "$venv_folder"; do
    if [ -x "$venv/bin/python" ] && has_torch "$venv/bin/python"; then
      python=$PWD/$venv/bin/python
      return 0
    fi
  done
  if command -v python3 >/dev/null && has_torch python3; then
    python=$(command -v python3)
  fi
}

# $1: CMake's log, which names the LibTorch that CMake found.
warn_of_untested_torch() {
  local found
  found=$(sed -n 's/^-- LibTorch \([0-9][0-9.]*\) in .*/\1/p' "$1")
  [[ $found =~ ^[0-9]+\.[0-9]+ ]] || return 0
  in_order "${BASH_REMATCH[0]}" "$newest_tested_torch" ||
    say "warning: torch $found is newer than $newest_tested_torch, the newest release that Torchstone was tested with"
}

has_gpu() { [ -e /dev/nvidia0 ] || [ -e /proc/driver/nvidia/version ] || [ -e /dev/dxg ] || nvidia-smi -L >/dev/null 2>&1; }

# Prints the build that pip would install for a version, without downloading it. 2.13.0+cpu has no CUDA; plain 2.13.0 of the
# default index has CUDA on x86-64. Prints nothing without network or with pip older than 21.2. `pip index` ignores folders of
# wheels (find-links), so these are searched first.
pip_choice() {
  local folder
  for folder in $("$venv_folder/bin/pip" config list 2>/dev/null | sed -n "s/.*find-links='\(.*\)'$/\1/p"); do
    ! compgen -G "$folder/torch-$1+cpu-*.whl" >/dev/null || { echo "$1+cpu"; return; }
  done
  timeout 30 "$venv_folder/bin/pip" index versions torch 2>/dev/null |
    awk -F '[:, ]+' -v version="$1" '/^Available versions/ { for (i = 3; i <= NF; ++i) if ($i == version || index($i, version "+") == 1) { print $i; exit } }'
}

tell_of_cuda() {
  local choice message="pip may bring torch with CUDA"
  has_gpu && return 0
  [[ $1 != *+cpu ]] || return 0
  choice=$(pip_choice "$1") || choice=
  case "$choice" in
    *+cpu) return 0 ;;
    *+cu*) message="pip brings torch with CUDA" ;;
    "$1") [ "$(uname -m)" != x86_64 ] || message="pip brings torch with CUDA" ;;
  esac
  say "$message: 2.7 GB to download and 4.7 GB in $venv_folder. Without a GPU, this machine needs only 1 GB of that." \
    "For a CPU build, stop here and point pip to an index of CPU builds (pip.conf, PIP_INDEX_URL, PIP_EXTRA_INDEX_URL)," \
    "or name a Python that has one: TORCHSTONE_PYTHON=/path/to/python"
}

make_venv() {
  local version=${TORCHSTONE_TORCH:-$default_torch}
  say "creating $venv_folder with torch $version"
  python3 -m venv "$venv_folder"
  tell_of_cuda "$version"
  "$venv_folder/bin/pip" install --quiet --disable-pip-version-check "torch==$version" ||
    fail "torch $version could not be installed. Name another: TORCHSTONE_TORCH=$default_torch, TORCHSTONE_PYTHON=/path/to/python or TORCHSTONE_LIBTORCH=/path/to/libtorch"
  python=$PWD/$venv_folder/bin/python
}

# The Python originals of the built-in models, for direct comparison. Without them, the tests use the committed golden files.
install_oracles() {
  case "${python:-}" in "$PWD"/.venv/*) ;; *) return 0 ;; esac
  [ ! -e .venv/oracles-0.28-diffusion-1 ] || return 0
  say "installing the Python originals (torchvision, timm, transformers, diffusers, torch_geometric) for the parity tests"
  if .venv/bin/pip install --quiet --disable-pip-version-check --no-deps torchvision==0.28.0 timm==1.0.31 transformers==5.23.0 diffusers==0.42.1 torch_geometric==2.8.1 &&
     .venv/bin/pip install --quiet --disable-pip-version-check numpy pillow pyyaml huggingface_hub safetensors tokenizers regex requests tqdm packaging typer psutil pyparsing aiohttp jinja2 fsspec xxhash; then
    touch .venv/oracles-0.28-diffusion-1
  else
    say "installing failed; the parity tests use the golden files"
  fi
}

# Compilers of other projects, and torchao for quantisation. Their tests are skipped without them.
install_compilers() {
  case "${python:-}" in "$PWD"/.venv/*) ;; *) return 0 ;; esac
  [ ! -e .venv/compilers-1 ] || return 0
  say "installing OpenVINO, ONNX Runtime and torchao for the tests of their backends"
  if .venv/bin/pip install --quiet --disable-pip-version-check --no-deps openvino==2026.4.1 openvino-telemetry \
       onnxruntime==1.32.0 onnx==1.23.2 onnxscript==0.7.2 onnx_ir==1.1.0 ml_dtypes==0.6.0 protobuf==7.36.2 torchao==0.18.0 &&
     .venv/bin/pip install --quiet --disable-pip-version-check numpy; then
    touch .venv/compilers-1
  else
    say "installing failed; their backends are not tested"
  fi
}

# ExecuTorch, with the requirements that lowering imports. Not every system has a wheel.
install_executorch() {
  case "${python:-}" in "$PWD"/.venv/*) ;; *) return 0 ;; esac
  [ ! -e .venv/executorch-1 ] || return 0
  say "installing ExecuTorch for the tests of its backend"
  if .venv/bin/pip install --quiet --disable-pip-version-check --no-deps executorch==1.5.1 flatbuffers ruamel.yaml tabulate torchao==0.18.0; then
    touch .venv/executorch-1
  else
    say "installing failed; its backend is not tested"
  fi
}

# The tools of tests/style, in the versions that the project's configuration needs. clang-tidy needs LLVM: only CI installs it.
install_style_tools() {
  case "${python:-}" in
    "$PWD"/.venv/*)
      [ -x .venv/bin/clang-format ] || .venv/bin/pip install --quiet --disable-pip-version-check clang-format==14.0.6 ||
        say "no clang-format 14: the format is not checked" ;;
  esac
  [ -n "${CI:-}" ] && may_install && ! runs clang-tidy-14 || return 0
  apt_get install -y -qq --no-install-recommends clang-tidy-14 || say "no clang-tidy-14: nothing is linted"
}
