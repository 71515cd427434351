#!/usr/bin/env bash
# Compiles each header of the SDK alone: C headers as C11 and as C++20, C++ headers as C++20; and
# all of them together with every compiler that is here, C headers as C11, C17, C++17 and C++20.
# Usage: headers_test.sh INCLUDE_FOLDER
set -u
include=$1
flags=(-I"$include" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tried=0

check() {  # COMPILER LANGUAGE STANDARD HEADER…
  local compiler=$1 language=$2 standard=$3
  shift 3
  # Twice: a header must be safe to include again.
  printf '#include <%s>\n' "$@" "$@" >"$work/source.$language"
  tried=$((tried + 1))
  "$compiler" -std="$standard" "${flags[@]}" "$work/source.$language" 2>"$work/errors" && return
  echo "FAILED: $* as $standard with $compiler"
  cat "$work/errors"
  touch "$work/failed"
}

cd "$include" || exit 1
mapfile -t c_headers < <(find sluice -name '*.h' | sort)
mapfile -t cpp_headers < <(find sluice -name '*.hpp' | sort)

for header in "${c_headers[@]}"; do
  check gcc c c11 "$header"
  check g++ cpp c++20 "$header"
done
for header in "${cpp_headers[@]}"; do check g++ cpp c++20 "$header"; done
for compiler in gcc clang; do
  command -v "$compiler" >/dev/null || continue
  for standard in c11 c17; do check "$compiler" c "$standard" "${c_headers[@]}"; done
done
for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || continue
  for standard in c++17 c++20; do check "$compiler" cpp "$standard" "${c_headers[@]}"; done
  check "$compiler" cpp c++20 "${cpp_headers[@]}"
done
echo "$tried compilations"
[ "$tried" -gt 50 ] && [ ! -e "$work/failed" ]
