# shellcheck shell=bash
# run_tests: ctest, counted, with a second try for what may not be at fault. Sourced by ./dev, which
# defines test_count (how many at a time) and fail; run in the folder that holds build/PRESET.

# count FILE ATTRIBUTE: a total from the JUnit report that ctest wrote.
count() { grep -o -m1 "$2=\"[0-9]*\"" "$1" | tr -dc 0-9; }

passed=0
failed=0

# failures PRESET: the tests of the last run that failed, or that a failed one kept from running.
failures() {
  local list=build/$1/Testing/Temporary/LastTestsFailed.log
  if [ -e "$list" ]; then cut -d: -f2- "$list" | sort; fi
}

# second_try PRESET FILE: of the tests in FILE, those that drive whole programs in real time (a
# browser, a cluster, processes that are killed) run once more, alone: a machine that does other
# things may be at fault. Says which passed then, so that they get mended, and takes them out.
second_try() {
  local names log=build/$1/second-try.log
  names=$(ctest --test-dir "build/$1" -N -L 'e2e|kubernetes|nosanitize' |
    sed -n 's/^ *Test *#[0-9]*: //p' | sort | comm -12 - "$2")
  [ -n "$names" ] || return 0
  rm -f "build/$1/Testing/Temporary/LastTestsFailed.log"
  ctest --test-dir "build/$1" --output-on-failure -R "^($(paste -sd '|' <<<"$names"))\$" \
    >"$log" 2>&1 || true
  grep -Ev '^ +Start ' "$log" || true
  comm -23 "$2" <(echo "$names") | sort -u - <(failures "$1") >"$2.left"
  comm -23 "$2" "$2.left" | sed "s/^/$1: passed at the second try, mend it: /"
  mv "$2.left" "$2"
}

# run_tests PRESET [CTEST OPTIONS…]: adds to passed and failed.
run_tests() {
  local preset=$1 report=$PWD/build/$1/tests.xml names=build/$1/failed-tests total bad
  shift
  rm -f "$report" "build/$preset/Testing/Temporary/LastTestsFailed.log"
  ctest --test-dir "build/$preset" -j "$(test_count)" --output-on-failure --no-tests=error \
    --output-junit "$report" "$@" >"build/$preset/tests.log" 2>&1 || true
  [ -s "$report" ] || { cat "build/$preset/tests.log" >&2; fail "ctest wrote no report"; }
  total=$(($(count "$report" tests) - $(grep -c '[*]Skipped ' "build/$preset/tests.log" || true)))
  failures "$preset" >"$names"
  if [ -s "$names" ]; then
    grep -Ev ' Passed |^ +Start ' "build/$preset/tests.log" || true
    second_try "$preset" "$names"
  fi
  bad=$(wc -l <"$names")
  echo "$preset: $((total - bad)) passed, $bad failed (build/$preset/tests.log)"
  passed=$((passed + total - bad))
  failed=$((failed + bad))
}
