#!/usr/bin/env bash
# Compiles each header of the SDK alone: C headers as C11, C17, C++17 and C++20, C++ headers as
# C++20, with every compiler that is here. Usage: headers_test.sh INCLUDE_FOLDER
set -u
include=$1
flags=(-I"$include" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tried=0

check() {  # COMPILER LANGUAGE STANDARD HEADER
  # Twice: a header must be safe to include again.
  printf '#include <%s>\n#include <%s>\n' "$4" "$4" >"$work/alone.$2"
  tried=$((tried + 1))
  "$1" -std="$3" "${flags[@]}" "$work/alone.$2" 2>"$work/errors" && return
  echo "FAILED: $4 as $3 with $1"
  cat "$work/errors"
  touch "$work/failed"
}

cd "$include" || exit 1
for header in $(find sluice -name '*.h' | sort); do
  for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    for standard in c11 c17; do check "$compiler" c "$standard" "$header"; done
  done
  for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    for standard in c++17 c++20; do check "$compiler" cpp "$standard" "$header"; done
  done
done
for header in $(find sluice -name '*.hpp' | sort); do
  for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null && check "$compiler" cpp c++20 "$header"
  done
done
echo "$tried compilations"
[ "$tried" -gt 50 ] && [ ! -e "$work/failed" ]
