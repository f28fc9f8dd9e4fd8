#!/bin/sh
# Installs the Debian packages that building and testing Reprise needs, and says which. Does nothing if all are there.
# With --optional it also installs MPI, what the Python package and the site are built with, and what only comparisons, speed
# measurements and a few tests use.
set -eu

# Compiler and MLIR; clang compiles kernels/cuda, too, whatever compiles the rest, with llvm-link and opt of llvm-22, which
# llvm-22-dev brings. The tests' FileCheck and lit are in llvm-22-tools.
required="libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 clang-format-22 lld-22 libclang-rt-22-dev
  g++ make cmake ninja-build ccache zlib1g-dev libgtest-dev libgmock-dev libbenchmark-dev python3"
# oneDNN is the yardstick of `make bench`; nothing links it. CBC judges the planner's exact search; only the unit tests
# link it.
# With Open MPI, several processes can run one bundle. The Python package links zstd statically, and makes a venv. The site
# has pages of C and C++ by doxygen.
optional="clang-tidy-22 libdnnl-dev coinor-libcbc-dev libopenmpi-dev openmpi-bin libzstd-dev python3-dev python3-venv doxygen"

say() { echo "install-deps: $*"; }
fail() {
  say "$@" >&2
  exit 1
}

wanted=$required
case "${1:-}" in
"") ;;
--optional) wanted="$required $optional" ;;
*)
  echo "usage: $0 [--optional]" >&2
  exit 2
  ;;
esac

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
  fail "this is no Debian system; install the counterparts of:" $wanted

missing=""
for package in $wanted; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
  say "all packages are installed"
  exit 0
fi
say "missing:$missing"

as_root=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null ||
    fail "neither root nor sudo here; run as root: apt-get install --no-install-recommends$missing"
  as_root=sudo
fi

# apt-get update reports an unreachable archive as a warning only.
if ! log=$($as_root apt-get update -q 2>&1) || echo "$log" | grep -q "Failed to fetch\|Could not resolve"; then
  echo "$log" >&2
  fail "the package archives cannot be reached; with a network run: apt-get install --no-install-recommends$missing"
fi

absent=""
for package in $missing; do
  # A candidate is a version that some configured source offers.
  apt-cache policy "$package" | grep -q 'Candidate: [^(]' || absent="$absent $package"
done
if [ -n "$absent" ]; then
  say "no configured package source offers:$absent" >&2
  say "on Debian 12, LLVM 22 comes with the security updates: add the suite bookworm-security, component main, of" \
    "the archive debian-security to /etc/apt/sources.list.d; elsewhere, add a source of LLVM 22; then run this again" >&2
  exit 1
fi

say "installing:$missing"
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -q --no-install-recommends $missing ||
  fail "apt-get failed; see above"
say "done"
