#!/usr/bin/env bats
# octavo verify as its users run it.

load training.bash

setup_file() {
  make_graph
  cd "$BATS_FILE_TMPDIR"
  "$OCTAVO" --quiet train --graph graph --run run "${tiny[@]}" --durability process
}

setup() {
  cd "$BATS_TEST_TMPDIR"
  cp -r "$BATS_FILE_TMPDIR/graph" "$BATS_FILE_TMPDIR/run" .
}

# damaged TEXT COMMAND...: the command exits with 4, prints TEXT on standard output, and the summary on standard error.
damaged() {
  local text="$1" status=0
  shift
  "$@" >out.log 2>err.log || status=$?
  if [[ "$status" != 4 ]] || ! grep -qF -- "$text" out.log || ! grep -q 'damages\? found' err.log; then
    echo "exit $status, expected 4 and \"$text\":"
    cat err.log out.log
    return 1
  fi
}

# flip FILE BYTE: flips one bit.
flip() {
  /usr/bin/python3 -c 'import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(int(sys.argv[2])); byte = file.read(1)[0]
    file.seek(int(sys.argv[2])); file.write(bytes([byte ^ 16]))' "$1" "$2"
}

sums() { find "$1" -type f ! -name LOCK -exec sha256sum {} + | sort -k2; }

@test "an undamaged graph and run: one line per file, a summary, exit 0, nothing changed" {
  before="$(sums .)"
  "$OCTAVO" verify graph >out.log
  for file in graph.json nodes.hash nodes.names nodes.offsets relations.tsv train.cells valid.cells test.cells; do
    [ "$(grep -c "^ok  *$file " out.log)" -eq 1 ]
  done
  grep -Eq '^graph: whole; .* checked in [0-9.]+ s$' out.log
  "$OCTAVO" verify run --deep --memory 64MiB >out.log
  for file in run.json STATE embeddings.npy optimizer.npy relations.npy relations.optimizer.npy metrics.jsonl; do
    [ "$(grep -c "^ok  *$file " out.log)" -eq 1 ]
  done
  grep -q '^run: whole; .* read from the disk$' out.log
  rm out.log
  [ "$(sums .)" = "$before" ]
}

@test "--json is one object" {
  "$OCTAVO" verify run --json >out.log
  /usr/bin/python3 -c 'import json
o = json.load(open("out.log"))
assert o["kind"] == "run" and o["whole"] is True and o["findings"] == [] and o["bytes"] > 0, o
assert o["generation"] > 3 and len(o["slots"]) == 2 and len(o["files"]) == 7, o'
  flip graph/train.cells 4100
  damaged '"whole": false' "$OCTAVO" verify graph --json
  /usr/bin/python3 -c 'import json
o = json.load(open("out.log"))
assert o["damages"] == 1 and o["findings"][0]["place"].startswith("block 0 at byte 4096"), o
assert o["findings"][0]["file"] == "graph/train.cells" and o["findings"][0]["expected"], o'
}

@test "all damage is reported with its file and place, in one run" {
  flip graph/train.cells 4100
  flip graph/nodes.names 3
  truncate -s 100 graph/test.cells
  damaged "train.cells: block 0 at byte 4096: checksum" "$OCTAVO" verify graph
  grep -q "nodes.names: line 1 at byte 0" out.log
  grep -q "test.cells: header: 100 bytes" out.log
  grep -q "^graph: 3 damages found" out.log
  flip run/embeddings.npy 4200
  rm run/relations.npy
  damaged "run/embeddings.npy: partition 0 (rows 0 on, byte 4096 on): checksum" "$OCTAVO" verify run --deep
  grep -q "run/relations.npy: no such file" out.log
}

@test "a missing graph is a note, not damage" {
  "$OCTAVO" verify run >out.log
  if grep -q '^note' out.log; then false; fi
  sed -i "s|\"graph\": .*|\"graph\": \"$PWD/absent\",|; /\"checksum\"/d; s/^  },\$/  }/" run/run.json
  "$OCTAVO" verify run >out.log
  grep -q "^note: $PWD/absent: does not exist" out.log
}

@test "a folder that is neither graph nor run is rejected" {
  mkdir empty
  fails 2 "empty: found no file of a graph, a run or a search" "$OCTAVO" verify empty
  fails 2 "absent: no such folder" "$OCTAVO" verify absent
  fails 2 "graph/graph.json: no such folder" "$OCTAVO" verify graph/graph.json
  fails 2 "" "$OCTAVO" verify
  fails 2 "verify needs" "$OCTAVO" verify graph --memory 1MiB
  # A graph or a run that lost its description is still one.
  rm graph/graph.json
  damaged "graph.json: no such file" "$OCTAVO" verify graph
  rm run/STATE
  damaged "STATE: no such file" "$OCTAVO" verify run
}

@test "--repair rewrites a torn slot, removes leftovers of interrupted work, and changes nothing else" {
  tables="$(tables run)"
  cp run/STATE state
  # The slot of the older generation is damaged, so the newer one stays valid.
  newest="$("$OCTAVO" verify run --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["generation"])')"
  flip run/STATE $(((newest + 1) % 2 * 4096 + 50))
  echo half >run/run.json.partial
  echo half >run/STATE.partial
  damaged "slot $(((newest + 1) % 2)): a torn manifest" "$OCTAVO" verify run
  grep -q 'note: run/STATE.partial: left by an interrupted training' out.log
  "$OCTAVO" verify run --repair >out.log
  grep -q "^repaired: run/STATE: slot $(((newest + 1) % 2)): wrote generation $((newest + 1)), which names the same rows as generation $newest" out.log
  grep -q "^repaired: run/run.json.partial: removed" out.log
  [ ! -e run/STATE.partial ] && [ ! -e run/run.json.partial ]
  "$OCTAVO" verify run >out.log
  if grep -q '^note' out.log; then false; fi
  [ "$(tables run)" = "$tables" ]
  "$OCTAVO" --quiet resume --run run --epochs 4
  "$OCTAVO" --quiet train --graph graph --run longer "${tiny[@]/3/4}" --durability process
  [ "$(tables run)" = "$(tables longer)" ]
}

@test "--repair completes the replacement of a run, or removes an early one" {
  local before place
  "$OCTAVO" --quiet train --graph graph --run source "${tiny[@]}" --durability process
  "$OCTAVO" --quiet train --graph graph --run whole "${tiny[@]}" --seed 5 --init source
  before="$(tables run)"
  for place in P1 P3; do
    if OCTAVO_FAILPOINT="replace.$place=kill" "$OCTAVO" --quiet train --graph graph --run run "${tiny[@]}" --seed 5 \
      --init source --overwrite; then false; fi
    if [ "$place" = P1 ]; then
      "$OCTAVO" verify run >out.log
      grep -q "^note: run/.replacement: " out.log
    else  # its files are in two folders: it was called whole, with nothing checked
      fails 2 "octavo verify --repair run only completes it" "$OCTAVO" verify run
    fi
    "$OCTAVO" verify run --repair >out.log
    grep -q "^repaired: run/.replacement: " out.log
    [ ! -e run/.replacement ]
    [ "$place" = P3 ] || [ "$before" = "$(tables run)" ]
  done
  "$OCTAVO" --quiet resume --run run
  [ "$(tables run)" = "$(tables whole)" ]
}

@test "--repair does not change a run with damaged tables" {
  flip run/STATE 50
  flip run/optimizer.npy 4100
  before="$(sums run)"
  damaged "note: run/STATE: not repaired" "$OCTAVO" verify run --repair
  [ "$(sums run)" = "$before" ]
}

@test "the run of the best validation is checked with its run, and an unfinished copy of it removed" {
  head -40 "$BATS_FILE_TMPDIR/train.tsv" >valid.tsv
  "$OCTAVO" --quiet import "$BATS_FILE_TMPDIR/train.tsv" --valid valid.tsv --graph valid-graph \
    --columns head,relation,tail
  "$OCTAVO" --quiet train --graph valid-graph --run kept "${tiny[@]}" --validate-every 1 --keep best
  cp -r kept/best kept/best.unfinished
  "$OCTAVO" verify kept >out.log
  grep -Eq '^ok +best/embeddings.npy ' out.log
  grep -q '^note: kept/best.unfinished: a training is making it, or was interrupted; --repair removes the leftovers' out.log
  "$OCTAVO" verify kept --repair >out.log
  grep -q '^repaired: kept/best.unfinished: removed' out.log
  [ ! -e kept/best.unfinished ]
  flip kept/best/embeddings.npy 4100
  damaged "DAMAGED best/embeddings.npy" "$OCTAVO" verify kept
}

@test "--repair removes what an interrupted import left beside the graph, and nothing else" {
  bash -c 'mkdir ".graph.partial-$$"; echo x >".graph.partial-$$/train.cells"; echo mine >other'
  bash -c 'mkdir ".graph.partial-$$"; echo x >".graph.partial-$$/diary"'
  mkdir ".graph.partial-$$"  # of a running process
  damaged_sums="$(sums graph)"
  "$OCTAVO" verify graph >out.log
  [ "$(grep -c '^note: .*: left by an interrupted import' out.log)" -eq 2 ]
  "$OCTAVO" verify graph --repair >out.log
  [ "$(grep -c '^repaired: .*: removed, left by an interrupted import' out.log)" -eq 1 ]
  grep -q 'holds something that is not from an import, so it is kept' out.log
  [ "$(ls -d .graph.partial-* | wc -l)" -eq 2 ]
  [ -d ".graph.partial-$$" ] && [ -e other ]
  [ "$(sums graph)" = "$damaged_sums" ]
}

@test "during a training: the newest commit is checked, and --repair is refused with 5" {
  OCTAVO_FAILPOINT="$(printf 'train.batch:%d=sleep,' {2..20})" "$OCTAVO" --quiet train --graph graph --run live \
    "${tiny[@]/3/60}" --durability process 3>&- &
  pid=$!
  wait_for 20 test -e live/STATE
  fails 5 "the run is in use by pid $pid" "$OCTAVO" verify live --repair
  while kill -0 "$pid" 2>/dev/null; do "$OCTAVO" verify live >out.log || { cat out.log; return 1; }; done
  wait "$pid"
  "$OCTAVO" verify live
}

# verify called the folder damaged although nothing had been lost.
@test "a training that was killed before its first commit is not damage" {
  for place in file.allocate:1 file.allocate:2 file.allocate:6; do
    rm -rf begun
    OCTAVO_FAILPOINT="$place=kill" "$OCTAVO" --quiet train --graph graph --run begun "${tiny[@]}" || true
    "$OCTAVO" verify begun >out.log
    grep -q 'note: begun: a training was stopped before its first commit' out.log
    "$OCTAVO" --quiet train --graph graph --run begun "${tiny[@]}"
  done
  rm run/STATE
  damaged STATE "$OCTAVO" verify run
}

# Half a best run was left beside the older run, and --repair could not mend it.
@test "wherever a kill interrupts train --overwrite, verify --repair finds a whole run or none" {
  "$OCTAVO" --quiet import "$BATS_FILE_TMPDIR/train.tsv" --graph held --columns head,relation,tail --split 0.8,0.1,0.1
  "$OCTAVO" --quiet train --graph held --run kept "${tiny[@]}" --keep best --validate-every 1
  for n in 1 2 4 8 10 12 14 18 20 22 24; do
    rm -rf again
    cp -r kept again
    OCTAVO_FAILPOINT="file.remove:$n=kill" "$OCTAVO" --quiet train --graph held --run again "${tiny[@]}" --overwrite ||
      true
    "$OCTAVO" --quiet verify again --repair
  done
  "$OCTAVO" --quiet train --graph held --run again "${tiny[@]}" --overwrite
}

@test "a search is checked with its log, its preset and its runs" {
  "$OCTAVO" --quiet import "$BATS_FILE_TMPDIR/train.tsv" --graph split --columns head,relation,tail --split 0.8,0.1,0.1
  printf 'dim = [4, 8]\nbatch = 64\nchunk = 16\nnegatives = 8\n' >space.toml
  "$OCTAVO" --quiet tune --graph split --space space.toml --output search --trials 2 --epochs-least 1 --epochs 2 \
    --reduction-factor 2
  trial="$(basename search/trial-*)"
  before="$(sums search)"
  "$OCTAVO" verify search >out.log
  grep -q '^search: whole; ' out.log
  grep -q "^ok  *$trial/embeddings.npy " out.log
  grep -q '^ok  *tune.jsonl .* 4 lines$' out.log
  "$OCTAVO" verify search --json | grep -q '"kind": "search"'
  for place in tune.jsonl:20 "tune.jsonl:$(($(stat -c %s search/tune.jsonl) - 1))" best.toml:30 "$trial/metrics.jsonl:9" \
    "$trial/relations.npy:4100"; do
    flip "search/${place%:*}" "${place#*:}"
    damaged "search/${place%:*}: " "$OCTAVO" verify search
    flip "search/${place%:*}" "${place#*:}"
  done
  [ "$(sums search)" = "$before" ]
  echo half >search/best.toml.partial
  echo half >"search/$trial/run.json.partial"
  "$OCTAVO" verify search | grep -q '^note: search/best.toml.partial: left by an interrupted search; --repair removes it'
  "$OCTAVO" verify search --repair >out.log
  [ "$(grep -c '^repaired: search/.*\.partial: removed' out.log)" = 2 ]
  [ "$(sums search)" = "$before" ]
}
