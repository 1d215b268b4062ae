#!/usr/bin/env bats
# octavo generate as its users run it. OCTAVO is the program.

setup() { load reading.bash; cd "$BATS_TEST_TMPDIR" || return 1; }

@test "generate: the bytes are a function of the flags, not of the threads" {
  local kind threads
  for kind in rmat sbm kg; do
    for threads in 1 2 4; do
      "$OCTAVO" --quiet generate --kind "$kind" --nodes 5000 --edges 300000 --seed 7 --output "$kind-$threads" --threads "$threads"
    done
    cmp "$kind-1" "$kind-2"
    cmp "$kind-1" "$kind-4"
    [ "$(wc -l <"$kind-1")" -eq 300000 ]
    "$OCTAVO" --quiet generate --kind "$kind" --nodes 5000 --edges 300000 --seed 8 --output other
    if cmp -s "$kind-1" other; then return 1; fi
  done
}

@test "generate: standard output, gzip and zstd hold the same edges" {
  local flags=(generate --kind kg --nodes 1000 --edges 100000 --names string)
  "$OCTAVO" --quiet "${flags[@]}" --output plain
  "$OCTAVO" --quiet "${flags[@]}" --output - | cmp - plain
  "$OCTAVO" --quiet "${flags[@]}" --output a.tsv.gz
  gzip -dc a.tsv.gz | cmp - plain
  "$OCTAVO" --quiet "${flags[@]}" --output a.tsv.zst
  zstd -dcq a.tsv.zst | cmp - plain
  grep -qE $'^node_0*[0-9]{1,3}\trelation_[0-9]\tnode_[0-9]{3}$' plain
  "$OCTAVO" --quiet import a.tsv.zst --graph g
  [ "$(wc -l <g/relations.tsv)" -eq 10 ]
}

@test "generate: a model learns the knowledge graph far better than chance" {
  "$OCTAVO" --quiet generate --kind kg --nodes 800 --edges 40000 --relations 8 --output kg.tsv
  "$OCTAVO" --quiet import kg.tsv --graph g --split 0.9,0.05,0.05
  "$OCTAVO" --quiet train --preset none --graph g --run run --model complex --dim 32 --epochs 15 --negatives 100 --seed 1
  "$OCTAVO" --quiet evaluate --run run --json >report.json
  json 'o["mrr"]' <report.json
  # A random ranking among 800 nodes: 0.009; knowing only the types of nodes means ranking among 100.
  [ "$(json 'o["mrr"] > 0.2' <report.json)" = True ]
}

@test "generate: wrong usage names what is allowed and makes nothing" {
  local flags=(generate --nodes 100 --edges 10 --output out)
  fails 2 "--kind" "$OCTAVO" "${flags[@]}"
  fails 2 "rmat" "$OCTAVO" "${flags[@]}" --kind grid
  fails 2 '--nodes: found "3"; expected a whole number from 4 to 1099511627776' \
    "$OCTAVO" generate --kind rmat --nodes 3 --edges 10 --output out
  fails 2 '--edges: found "0"; expected a whole number from 1 to' \
    "$OCTAVO" generate --kind rmat --nodes 10 --edges 0 --output out
  fails 2 '--mixing: found "1.5"; expected a number from 0 to 1' "$OCTAVO" "${flags[@]}" --kind sbm --mixing 1.5
  fails 2 "--blocks: found 60; expected a whole number from 2 to 50, half the nodes" \
    "$OCTAVO" "${flags[@]}" --kind sbm --blocks 60
  fails 2 "--relations: is not for --kind rmat; expected --kind kg" "$OCTAVO" "${flags[@]}" --kind rmat --relations 3
  fails 2 "--output is required" "$OCTAVO" generate --kind rmat --nodes 10 --edges 10
  fails 2 "no folder" "$OCTAVO" generate --kind rmat --nodes 10 --edges 10 --output absent/out
  [ ! -e out ]
}

@test "generate: Ctrl-C leaves nothing new and the old file unchanged" {
  echo old >out
  "$OCTAVO" --quiet generate --kind rmat --nodes 1000000 --edges 10000000000 --output out 2>err.log &
  local pid=$! status=0
  until [ -n "$(find . -name '.out.partial-*' -size +1M)" ]; do kill -0 "$pid"; sleep 0.05; done
  kill -TERM "$pid"
  wait "$pid" || status=$?
  [ "$status" -eq 143 ]
  grep -q "interrupted; out was not made" err.log
  [ "$(cat out)" = old ]
  [ -z "$(find . -name '.out.partial-*')" ]
}
