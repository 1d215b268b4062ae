#!/usr/bin/env bats
# What all verbs share: help, version, unknown verbs, logs.

load training.bash

setup_file() { make_graph; }

setup() { cd "$BATS_TEST_TMPDIR" && ln -s "$BATS_FILE_TMPDIR/graph" graph; }

verbs() { "$OCTAVO" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'; }

# json_lines FILE: each line is an object with a level and a message.
json_lines() {
  /usr/bin/python3 - "$1" <<'PYTHON'
import json, sys
lines = open(sys.argv[1]).read().splitlines()
assert lines
for line in lines:
    event = json.loads(line)
    assert event["level"] in ("error", "warning", "info", "detail") and event["message"], event
PYTHON
}

@test "every verb has a help on standard output" {
  [ "$(verbs | tr '\n' ' ')" = "bench generate import walk plan train resume grow tune evaluate export index map query report serve inspect distribute verify presets completion help " ]
  for verb in $(verbs); do
    "$OCTAVO" "$verb" --help >out.log 2>err.log
    [ ! -s err.log ]
    grep -q "octavo $verb" out.log || grep -q "$verb" out.log
    "$OCTAVO" --help "$verb" >/dev/null
  done
  "$OCTAVO" --help | grep -q '  5  *the run is in use'
}

@test "the help of a verb has the options of every command, and of a subcommand those of its verb" {
  for verb in $(verbs); do
    "$OCTAVO" "$verb" --help-all >help.txt
    for flag in --memory --threads --quiet --verbose --log-format; do
      grep -qE "^  (-[a-z],)?$flag" help.txt || { echo "$verb lacks $flag"; return 1; }
    done
  done
  "$OCTAVO" query neighbors --help >help.txt
  for flag in --metric --run -k --json --memory; do grep -qE "^  ([a-z-]+,)?$flag" help.txt; done
  grep -q '^Options of octavo query:$' help.txt
  [ "$(grep -c -- '--version' help.txt)" = 0 ]
}

@test "the help of train has every option with its default and what is allowed" {
  "$OCTAVO" train --help-all | tr -s ' \n' ' ' >help.txt
  "$OCTAVO" --quiet train --graph graph --run run "${tiny[@]}" --durability process
  for option in $(/usr/bin/python3 -c 'import json; print(*json.load(open("run/run.json"))["options"])'); do
    grep -q -- "--$option" help.txt
  done
  grep -q -- '--dim N=100 ' help.txt
  grep -qF -- 'a whole number from 1 to 65536' help.txt
}

@test "the version is the first line, that of the changelog, followed by facts about the build" {
  run "$OCTAVO" --version
  [ "$status" -eq 0 ]
  [[ "${lines[0]}" =~ ^octavo\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
  grep -q "^## \[${lines[0]#octavo }\] - 20" "$BATS_TEST_DIRNAME/../../CHANGELOG.md"
  [ "$(printf '%s\n' "${lines[@]:1}" | cut -d' ' -f1 | xargs)" = "commit build SIMD GEMM libraries" ]
  [[ "$output" == *"zstd $(dpkg-query -W -f '${Version}' libzstd1 | sed 's/+.*//; s/-.*//')"* ]]
  OCTAVO_GEMM=portable "$OCTAVO" --version | grep -q '^GEMM *portable$'
}

@test "an unknown verb is named, and a missing verb is an error" {
  fails 2 'unknown verb "trian"' "$OCTAVO" trian
  fails 2 'unknown verb "trian"' "$OCTAVO" --threads 2 trian --graph graph
  fails 2 'unknown verb "trian"; did you mean "train"? see octavo --help' "$OCTAVO" trian --graph graph --run run
  fails 2 '--memory: found "much"; expected a size' "$OCTAVO" --memory much
  fails 2 "expected a verb: bench, generate, import" "$OCTAVO" --quiet
  fails 2 "see octavo --help" "$OCTAVO" --quiet
  fails 2 "--nosuch" "$OCTAVO" --nosuch train --preset none --graph graph --run run
}

@test "an unknown flag is named with what was meant, even if a required one is misspelt" {
  fails 2 'unknown flag "--grpah"; did you mean "--graph"? see octavo train --help' "$OCTAVO" train --grpah graph --run run
  fails 2 'unknown flag "--lerning-rate"; did you mean "--learning-rate"?' \
    "$OCTAVO" train --lerning-rate=0.1 --graph graph --run run
  fails 2 'unknown flag "-dim"; did you mean "--dim"?' "$OCTAVO" train -dim 8 --graph graph --run run
  fails 2 'unknown flag "--hepl"; did you mean "--help"? see octavo train --help' "$OCTAVO" train --hepl
  fails 2 'found the flag "-k" after --, where every word is a value; expected flags before --; see octavo query' \
    "$OCTAVO" query --run run neighbors -- --help -k 3
  fails 2 'unknown flag "--qiet"; did you mean "--quiet"?' "$OCTAVO" train --preset none --graph graph --run run --qiet
  fails 2 'unknown flag "--xyzzy"; see octavo train --help' "$OCTAVO" train --xyzzy --graph graph --run run
  fails 2 'unknown flag "--metrc"; did you mean "--metric"? see octavo query neighbors --help' \
    "$OCTAVO" query --run run neighbors a --metrc dot
  fails 2 'unknown subcommand "neighbours"; did you mean "neighbors"? see octavo query --help' \
    "$OCTAVO" query --run run neighbours a
  fails 2 '--run is required; found "graph", which does not belong to a flag' "$OCTAVO" train graph run
}

@test "global flags are allowed before and after the verb" {
  fails 2 '--memory: found "much"; expected a size' "$OCTAVO" --memory much train --preset none --graph graph --run run
  fails 2 '--memory: found "much"; expected a size' "$OCTAVO" train --preset none --graph graph --run run --memory much
  fails 2 '--threads: found "-2"' "$OCTAVO" train --preset none --graph graph --run run --threads=-2
  fails 2 "--log-format" "$OCTAVO" --log-format xml train --preset none --graph graph --run run
  "$OCTAVO" --quiet --threads 1 train --graph graph --run before "${tiny[@]}" 2>err.log
  [ ! -s err.log ]
  "$OCTAVO" train --graph graph --run after "${tiny[@]}" --quiet --threads 1 2>err.log
  [ ! -s err.log ]
  [ "$(tables before)" = "$(tables after)" ]
}

@test "--quiet leaves errors, --verbose adds details" {
  fails 2 "error: " "$OCTAVO" --quiet train --preset none --graph absent --run run
  "$OCTAVO" --verbose train --graph graph --run run "${tiny[@]}" 2>err.log
  grep -q '^learning-rate = 0.1$' err.log
  grep -q 'fetch .* compute .* apply .* stall .* commit ' err.log
}

@test "a log that is not a terminal has no control bytes" {
  "$OCTAVO" train --graph graph --run run "${tiny[@]}" 2>err.log
  if LC_ALL=C grep -q '[[:cntrl:]]' err.log; then false; fi
}

@test "--log-format json makes each line of the log an object" {
  "$OCTAVO" --log-format json --verbose train --graph graph --run run "${tiny[@]}" 2>err.log
  json_lines err.log
  fails 2 "" "$OCTAVO" train --preset none --graph graph --run run --log-format json
  json_lines err.log
  # Errors of the flags themselves were printed as text.
  fails 2 "" "$OCTAVO" train --preset none --graph graph --run run --dim 0 --log-format json
  json_lines err.log
  fails 2 "" "$OCTAVO" --log-format=json train --preset none --graph graph --run run --nosuch
  json_lines err.log
  fails 2 "" "$OCTAVO" --log-format json train
  json_lines err.log
}

# It aborted.
@test "a bad OCTAVO_FAILPOINT is an error message" {
  OCTAVO_FAILPOINT=commit.C2 fails 2 'OCTAVO_FAILPOINT: "commit.C2"; expected name[:n]=action' "$OCTAVO" verify graph
  OCTAVO_FAILPOINT=a=explode fails 2 'OCTAVO_FAILPOINT: action "explode"' "$OCTAVO" --version
}

# libxsmm's set-up overflowed the stack.
@test "a training with little stack has the same bits" {
  "$OCTAVO" --quiet train --graph graph --run usual "${tiny[@]}"
  for kib in 256 128; do
    (ulimit -s "$kib" && "$OCTAVO" --quiet train --graph graph --run "small$kib" "${tiny[@]}")
    [ "$(tables usual)" = "$(tables "small$kib")" ]
  done
}

# OpenBLAS, which liblinear brought, did not end.
@test "the program ends when address space is scarce" {
  for kib in 80000 120000 160000; do
    (ulimit -v "$kib" && timeout 20 "$OCTAVO" --version >/dev/null)
  done
}

# Terminals take U+009B for the beginning of a control sequence.
@test "JSON output has no control characters" {
  printf 'a\302\233[31mb\tr\tc\nc\tr\td\177\n' >names.tsv
  "$OCTAVO" --quiet import names.tsv --graph named --columns head,relation,tail
  "$OCTAVO" --quiet train --graph named --run named-run --dim 4 --epochs 1
  "$OCTAVO" query --run named-run neighbors c --json >out.json
  grep -qF 'a\u009b[31mb' out.json
  grep -qF 'd\u007f' out.json
}
