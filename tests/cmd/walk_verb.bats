#!/usr/bin/env bats
# octavo walk as its users run it. OCTAVO is the program.

setup_file() {
  load reading.bash
  cd "$BATS_FILE_TMPDIR" || return 1
  "$OCTAVO" --quiet generate --kind rmat --nodes 5000 --edges 20000 --output edges.tsv
  "$OCTAVO" --quiet import edges.tsv --graph graph --undirected --split 0.9,0.05,0.05
}
setup() { load reading.bash; cd "$BATS_FILE_TMPDIR" || return 1; }

@test "walk: threads and memory change no byte, and verify finds nothing" {
  local kind walks flags
  for kind in deepwalk node2vec ppr; do
    walks="--kind $kind $([ "$kind" = ppr ] && echo --samples 50 || echo --walks 2)"
    # shellcheck disable=SC2086
    "$OCTAVO" --quiet walk --graph graph --output "$kind" $walks
    "$OCTAVO" --quiet verify "$kind"
    for flags in "--threads 1" "--threads 4 --memory 64MiB"; do
      # shellcheck disable=SC2086
      "$OCTAVO" --quiet walk --graph graph --output other --overwrite $walks $flags
      diff -r "$kind" other
    done
    cmp graph/nodes.names "$kind/nodes.names"
  done
  if cmp -s deepwalk/train.cells ppr/train.cells; then return 1; fi
}

@test "walk: the graph trains and is evaluated like any other" {
  "$OCTAVO" --quiet walk --graph graph --output pairs --overwrite --walks 2 --length 10 --window 2 --json >summary.json
  [ "$(json 'o["walk"]["kind"], o["walk"]["window"], o["nodes"], o["streamed"]' <summary.json)" = "('deepwalk', 2, $(wc -l <graph/nodes.names), False)" ]
  for model in dot source-context; do
    "$OCTAVO" --quiet train --preset none --graph pairs --run run --overwrite --model "$model" --dim 16 --epochs 3
    "$OCTAVO" --quiet evaluate --run run --split test --json >report.json
    json 'o["mrr"]' <report.json
    # A random ranking among some thousand nodes: 0.003.
    [ "$(json 'o["mrr"] > 0.01' <report.json)" = True ]
  done
}

@test "walk: wrong usage names what is allowed and makes nothing" {
  local flags=(walk --graph graph --output out)
  fails 2 "--kind" "$OCTAVO" "${flags[@]}" --kind random
  fails 2 "--p: is not for --kind deepwalk; expected --kind node2vec" "$OCTAVO" "${flags[@]}" --p 2
  fails 2 "--window: is not for --kind ppr; expected --kind deepwalk or node2vec" "$OCTAVO" "${flags[@]}" --kind ppr --window 2
  fails 2 "--samples: is not for --kind node2vec; expected --kind ppr" "$OCTAVO" "${flags[@]}" --kind node2vec --samples 2
  fails 2 '--length: found "1"; expected a whole number from 2 to 10000' "$OCTAVO" "${flags[@]}" --length 1
  fails 2 '--alpha: found "1"; expected a number from 0 to 0.999' "$OCTAVO" "${flags[@]}" --kind ppr --alpha 1
  fails 2 "--memory 10.0 MiB is too little" "$OCTAVO" "${flags[@]}" --memory 10MiB
  fails 2 "not a graph" "$OCTAVO" walk --graph absent --output out
  fails 2 "the graph itself" "$OCTAVO" walk --graph graph --output graph --overwrite
  printf 'a\tr\tb\nb\ts\tc\n' >relations.tsv
  "$OCTAVO" --quiet import relations.tsv --graph relations --overwrite
  fails 2 "a graph of 2 relations" "$OCTAVO" walk --graph relations --output out
  [ ! -e out ]
  mkdir mine && echo hello >mine/file
  fails 2 "mine" "$OCTAVO" walk --graph graph --output mine --overwrite
  [ "$(cat mine/file)" = hello ]
}

@test "walk: --config equals the flags, which override it, and --print-config writes such a file" {
  printf 'kind = "node2vec"\nwalks = 2\nlength = 6\nwindow = 2\np = 0.25\nq = 2\npairs = "forward"\nseed = 3\n' >walks.toml
  "$OCTAVO" --quiet walk --graph graph --output flags --overwrite --kind node2vec --walks 2 --length 6 --window 2 --p 0.25 --q 2 --pairs forward --seed 3
  "$OCTAVO" --quiet walk --graph graph --output config --overwrite --config walks.toml
  diff -r flags config
  "$OCTAVO" walk --print-config --config walks.toml >printed.toml
  "$OCTAVO" walk --print-config --config printed.toml | cmp - printed.toml
  "$OCTAVO" --quiet walk --graph graph --output config --overwrite --config printed.toml
  diff -r flags config
  "$OCTAVO" walk --print-config --config walks.toml --walks 007 --p .5 --seed 18446744073709551615 >over.toml
  "$OCTAVO" walk --print-config --config over.toml | cmp - over.toml
  [ "$(/usr/bin/python3 -c 'import tomllib; print(tomllib.load(open("over.toml", "rb")))')" = "{'kind': 'node2vec', 'walks': 7, 'length': 6, 'window': 2, 'p': 0.5, 'q': 2, 'pairs': 'forward', 'self-loops': 'drop', 'seed': '18446744073709551615'}" ]
  [ "$("$OCTAVO" walk --print-config --kind ppr | tail -n +2 | cut -d ' ' -f 1 | xargs)" = "kind samples alpha pairs self-loops seed" ]
}

@test "walk: errors in a file are reported with their line" {
  local flags=(walk --graph graph --output out --config wrong.toml)
  wrong() { printf '%b' "$1" >wrong.toml; fails 2 "$2" "$OCTAVO" "${flags[@]}" "${@:3}"; }
  wrong '\nwalk = 2\n' 'wrong.toml:2: unknown key "walk"; did you mean "walks"'
  wrong 'graph = "other"\n' 'wrong.toml:1: unknown key "graph"'
  wrong 'seed = 1\nwalks = 0\n' 'wrong.toml:2: --walks: found "0"; expected a whole number from 1 to 1000000'
  wrong 'walks = 0.5\n' 'wrong.toml:1: walks: found 0.5; expected a whole number'
  wrong 'walks = "3"\n' "wrong.toml:1: walks: found '3'; expected a whole number" --walks 3
  wrong 'kind = "random"\n' 'wrong.toml:1: --kind: random not in {'
  wrong 'kind = true\n' 'wrong.toml:1: kind: found true; expected a string'
  wrong 'p = "a"\n' "wrong.toml:1: p: found 'a'; expected a number"
  wrong 'p = 2\n' '--p: is not for --kind deepwalk; expected --kind node2vec'
  wrong 'walks 2\n' 'wrong.toml:1:'
  fails 2 "absent.toml" "$OCTAVO" walk --graph graph --output out --config absent.toml
  [ ! -e out ]
}

@test "walk: Ctrl-C leaves nothing" {
  "$OCTAVO" --quiet walk --graph graph --output stopped --walks 1000000 2>err.log &
  local pid=$! status=0
  until [ -n "$(find . -name '.stopped.partial-*')" ]; do kill -0 "$pid"; sleep 0.05; done
  kill -TERM "$pid"
  wait "$pid" || status=$?
  [ "$status" -eq 143 ]
  grep -q "interrupted; stopped was not made" err.log
  [ ! -e stopped ]
  [ -z "$(find . -name '.stopped*')" ]
}

# It said nothing, and the training of 4 pairs a walk reached nothing.
@test "walk: a directed graph whose walks end early is warned about, with the flag that mends it" {
  awk 'BEGIN { srand(5); for (i = 0; i < 3000; ++i) print int(rand() * 1000) "\t" 1000 + int(rand() * 1000) }' >bipartite.tsv
  "$OCTAVO" --quiet import bipartite.tsv --graph one-way --overwrite
  "$OCTAVO" walk --graph one-way --output out --overwrite 2>err.log
  grep -qE '^warning: most walks end early: 0\.[0-9]+ pairs a walk, of [0-9]+ that are possible, .* import the graph with --undirected$' err.log
  "$OCTAVO" walk --graph one-way --output out --overwrite --kind ppr 2>err.log
  grep -q '^warning: most walks end early' err.log
  "$OCTAVO" --quiet import bipartite.tsv --graph both-ways --overwrite --undirected
  for kind in deepwalk node2vec ppr; do
    "$OCTAVO" walk --graph both-ways --output out --overwrite --kind "$kind" 2>err.log
    if grep -q '^warning' err.log; then false; fi
  done
  # Each line for both directions, without the flag.
  awk '{ print; print $2 "\t" $1 }' bipartite.tsv >lines.tsv
  "$OCTAVO" --quiet import lines.tsv --graph both-ways --overwrite
  "$OCTAVO" walk --graph both-ways --output out --overwrite 2>err.log
  if grep -q '^warning' err.log; then false; fi
  grep -qE "^next: octavo train --graph out --run run(-[0-9]+)? --model dot --negatives 64 " err.log
}
