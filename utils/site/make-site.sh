#!/bin/sh
# Builds the site of docs/ into build/site. Usage: make-site.sh [BUILD]
# The generator comes from docs/requirements.txt, into a virtual environment in BUILD that is made again only if that file
# changes. Pages of C and C++ need doxygen; without it they are left out, and a line says so.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build}
venv=$build/site-venv
mkdir -p "$build"
if ! cmp -s "$root/docs/requirements.txt" "$venv/requirements.txt"; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$root/docs/requirements.txt"
  cp "$root/docs/requirements.txt" "$venv/requirements.txt"
fi
if ! command -v doxygen >/dev/null; then
  echo "make-site: doxygen is not installed, so that the pages of C and C++ are left out: utils/install-deps.sh --optional"
  export REPRISE_DOXYGEN=false
fi
cd "$root"
NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true "$venv/bin/mkdocs" build --quiet --strict --site-dir "$build/site"
echo "make-site: the site is $build/site/index.html"
