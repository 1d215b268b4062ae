#!/usr/bin/env bats
# octavo import and inspect as their users run them. OCTAVO is the program, OCTAVO_DATA the folder of benchmark graphs.

setup() {
  : "${OCTAVO_DATA:=$OCTAVO_DATA_DEFAULT}"
  cd "$BATS_TEST_TMPDIR"
}

# Runs import on the text of $1 (printf escapes) with the other arguments; the graph is ./g.
import_text() {
  printf "$1" > input.txt
  shift
  run "$OCTAVO" import input.txt --graph g "$@"
}

# The last run failed with exit code $1 and a message that contains $2; it left nothing.
failed_with() {
  echo "status $status: $output"
  [ "$status" -eq "$1" ]
  [[ "$output" == *"$2"* ]]
  [ ! -e g ]
  [ -z "$(find . -name '.g.partial*')" ]
}

@test "FB15k-237 has its published counts" {
  data="$OCTAVO_DATA/FB15k-237"
  if [ ! -e "$data/train.txt.zst" ]; then
    if [ "${CI:-}" = true ] || [ "${CI:-}" = 1 ]; then
      echo "$data is absent; set OCTAVO_DATA"
      return 1
    fi
    skip "NOT TESTED: $data is absent; set OCTAVO_DATA"
  fi
  "$OCTAVO" import "$data/train.txt.zst" --valid "$data/valid.txt.zst" --test "$data/test.txt.zst" --graph g \
    --json > summary.json
  grep -q '"nodes": 14541,' summary.json
  grep -q '"relations": 237,' summary.json
  grep -q '"train_edges": 272115,' summary.json
  grep -q '"valid_edges": 17535,' summary.json
  grep -q '"test_edges": 20466,' summary.json
  [ "$(wc -l < g/nodes.names)" -eq 14541 ]
  [ "$(wc -l < g/relations.tsv)" -eq 237 ]
  run "$OCTAVO" inspect g
  [ "$status" -eq 0 ]
  [[ "$output" == *"14541"* ]]
}

@test "plain, gzip, zstd and standard input give the same graph" {
  printf 'a\tr\tb\nb\ts\tc\n' > plain.tsv
  gzip -k plain.tsv
  zstd -q plain.tsv
  for input in plain.tsv plain.tsv.gz plain.tsv.zst; do
    "$OCTAVO" import "$input" --graph "from-$input"
    "$OCTAVO" import - --graph "piped-$input" < "$input"
    for made in "from-$input" "piped-$input"; do
      cmp from-plain.tsv/train.cells "$made/train.cells"
      cmp from-plain.tsv/nodes.names "$made/nodes.names"
    done
  done
}

@test "the number of threads does not change a byte" {
  seq 1 60000 | awk '{print "n" $1 % 3000 "\t" "r" $1 % 5 "\t" "n" ($1 * 7919) % 2999}' > input.txt
  for threads in 1 2 5; do
    "$OCTAVO" import input.txt --graph "g$threads" --split 0.8,0.1,0.1 --threads "$threads"
  done
  diff -r g1 g2
  diff -r g1 g5
}

@test "a malformed line names the file, the line, what was found and what was expected" {
  import_text 'a\tr\tb\n# comment\na\tb\n'
  failed_with 3 'input.txt:3: found 2 tsv columns in "a\tb", expected 3 (head,relation,tail)'
  import_text 'a\tr\tb\na\tr\n\nc\n'
  failed_with 3 'input.txt:2: found 2 tsv columns'
  [[ "$output" == *'input.txt:4: found 1 tsv column'* ]]
  [[ "$output" == *'--max-bad-lines'* ]]
  import_text 'a\t\tb\n'
  failed_with 3 'input.txt:1: found an empty relation, expected a name'
  import_text 'a\tr\tb\t0.5\na\tr\tb\tnan\n'
  failed_with 3 'input.txt:2: found the weight "nan", expected a finite number, 0 or above'
  import_text 'a\tr\tb\t1e400\n'
  failed_with 3 'input.txt:1: found the weight "1e400"'
  import_text 'a\tb\nx\0y\tb\n'
  failed_with 3 'input.txt:2: found a NUL byte'
  import_text '"a,b\n' --format csv
  failed_with 3 'input.txt:1: found a quote without its closing quote'
  import_text 'a b c d e f\n'
  failed_with 3 '--columns names others'
  import_text 'a\tr\tb\n\033[31mred\n'
  failed_with 3 '\x1B[31mred'
  { printf 'a\tb\n'; head -c 70000 /dev/zero | tr '\0' x; printf '\tb\n'; } > input.txt
  run "$OCTAVO" import input.txt --graph g
  failed_with 3 'input.txt:2: found a head of 70000 bytes'
  { printf 'a\tb\n'; head -c 3000000 /dev/zero | tr '\0' x; printf '\nc\td\n'; } > input.txt
  run "$OCTAVO" import input.txt --graph g
  failed_with 3 'input.txt:2: found a line of more than 1048576 bytes'
}

@test "--max-bad-lines skips so many and no more" {
  import_text 'a\tb\nbad\nb\tc\nworse\n' --max-bad-lines 1
  failed_with 3 '2 malformed lines; --max-bad-lines allows 1'
  import_text 'a\tb\nbad\nb\tc\nworse\n' --max-bad-lines 2
  [ "$status" -eq 0 ]
  [[ "$output" == *'input.txt:2: found 1 tsv column'* ]]
  [[ "$output" == *'2 malformed lines skipped'* ]]
  [[ "$output" == *'3 nodes'* ]]
}

@test "a line of titles is reported, and --skip-lines skips it" {
  import_text 'source,target,weight\nann,bob,2\nbob,cid,3\n' --columns head,tail,-
  [ "$status" -eq 0 ]
  [[ "$output" == *'warning: input.txt:1: "source,target,weight" looks like column titles but is read as an edge; --skip-lines 1 skips it'* ]]
  [[ "$output" == *'g: 5 nodes, '* ]]
  mv g with-titles
  import_text 'source,target,weight\nann,bob,2\nbob,cid,3\n' --columns head,tail,- --dry-run
  [[ "$output" == *'--skip-lines 1 skips it'* ]]
  import_text 'source,target,weight\nann,bob,2\nbob,cid,3\n' --columns head,tail,weight --skip-lines 1
  [ "$status" -eq 0 ]
  [[ "$output" != *warning* ]]
  [[ "$output" == *'read 3 lines (1 comment, 0 blank), csv'* && "$output" == *'g: 3 nodes, '* ]]
  grep -Eq '"skip_lines": *1' g/graph.json
  # The columns are those of the following lines; the same number of lines is skipped in each file.
  printf 'made by hand, in three columns\nx,y\nann,bob\n' >one.csv
  printf '\n\nbob,cid\n' | gzip >two.csv.gz
  "$OCTAVO" import one.csv two.csv.gz --graph skipped --skip-lines 2 2>err.log
  printf 'ann,bob\nbob,cid\n' | "$OCTAVO" import - --graph plain --format csv
  for file in train.cells nodes.names; do cmp "skipped/$file" "plain/$file"; done
  grep -q 'read 6 lines (4 comments, 0 blank), csv, columns head,tail' err.log
}

@test "inputs without an edge are bad input" {
  import_text ''
  failed_with 3 'input.txt: found no edge'
  import_text '# only\n%% comments\n\n'
  failed_with 3 'input.txt: found no edge'
  run "$OCTAVO" import - --graph g < /dev/null
  failed_with 3 '<stdin>: found no edge'
}

@test "damaged compressed inputs are bad input" {
  seq 1 20000 | awk '{print $1 "\t" $1 + 1}' > whole.tsv
  gzip -k whole.tsv
  zstd -q whole.tsv
  for kind in gz zst; do
    head -c 20000 "whole.tsv.$kind" > cut
    run "$OCTAVO" import cut --graph g
    failed_with 3 'was the file cut?'
    { cat "whole.tsv.$kind"; echo junk; } > trailing
    run "$OCTAVO" import trailing --graph g
    failed_with 3 'after the end of the compressed data'
  done
  cat whole.tsv.gz whole.tsv.gz > twice
  "$OCTAVO" import twice --graph g
}

@test "wrong usage has exit code 2 and says what to do" {
  run "$OCTAVO" import none.tsv --graph g
  failed_with 2 'none.tsv: no such file'
  run "$OCTAVO" import . --graph g
  failed_with 2 'is a folder'
  run "$OCTAVO" import --graph g
  failed_with 2 'INPUT'
  printf 'a\tb\n' > input.txt
  run "$OCTAVO" import input.txt
  failed_with 2 '--graph'
  for flags in '--columns head' '--columns head,head,tail' '--split 0.9,0.2,0.1' '--split 1' '--max-bad-lines -1' \
    '--duplicates drop' '--self-loops maybe' '--unseen maybe' '--format xml' '--seed x' \
    '--split 0.8,0.1,0.1 --valid input.txt' '--valid none.txt'; do
    run "$OCTAVO" import input.txt --graph g $flags
    failed_with 2 ''
  done
}

@test "an existing graph is kept without --overwrite" {
  import_text 'a\tb\n'
  [ "$status" -eq 0 ]
  cp -r g before
  import_text 'c\td\n'
  [ "$status" -eq 2 ]
  [[ "$output" == *'--overwrite'* ]]
  diff -r before g
  import_text 'bad\n' --overwrite
  [ "$status" -eq 3 ]
  diff -r before g
  import_text 'c\td\n' --overwrite
  [ "$status" -eq 0 ]
  grep -qx c g/nodes.names
}

@test "a signal leaves nothing, even while waiting for standard input" {
  for signal in INT TERM; do
    mkfifo "pipe-$signal"
    # A shell's background jobs ignore SIGINT; env restores the default.
    env --default-signal=INT "$OCTAVO" import - --graph g < "pipe-$signal" &
    pid=$!
    exec 7> "pipe-$signal"
    printf 'a\tb\n' >&7
    sleep 0.5
    kill "-$signal" "$pid"
    status=0
    wait "$pid" || status=$?
    exec 7>&-
    echo "$signal: $status"
    [ "$status" -eq $((128 + $(kill -l "$signal"))) ]
    [ ! -e g ]
    [ -z "$(find . -name '.g.partial*')" ]
  done
}

@test "a kill leaves nothing under the final name and the next import cleans up" {
  printf 'a\tb\n' > input.txt
  for failpoint in file.write:2 folder.commit; do
    run env OCTAVO_FAILPOINT="$failpoint=kill" "$OCTAVO" import input.txt --graph g
    [ "$status" -eq 137 ]
    [ ! -e g ]
  done
  "$OCTAVO" import input.txt --graph g
  [ -z "$(find . -name '.g.partial*')" ]
}

@test "duplicates, self-loops and unseen names follow their flags and are reported" {
  printf 'a\tr\tb\nb\tr\tnew\n' > valid.txt
  import_text 'a\tr\tb\na\tr\tb\nc\tr\tc\n' --valid valid.txt
  [ "$status" -eq 0 ]
  [[ "$output" == *'duplicates: 1 train'* ]]
  [[ "$output" == *'self-loops: 1; kept'* ]]
  [[ "$output" == *'1 node and 0 relations'* ]]
  [[ "$output" == *'1 valid and 0 test edges are also in train'* ]]
  [[ "$output" == *'4 nodes, 1 relation, 2 train, 2 valid and 0 test edges'* ]]
  import_text 'a\tr\tb\na\tr\tb\nc\tr\tc\n' --valid valid.txt --overwrite --duplicates keep --self-loops drop --unseen drop
  [[ "$output" == *'2 nodes, 1 relation, 2 train, 1 valid and 0 test edges'* ]]
}

@test "names of any bytes, CSV quotes and skipped columns come through" {
  printf '"New York, ""NY""",x,0.5,\xff\xfe\n' > odd.csv
  "$OCTAVO" import odd.csv --graph g --columns head,-,weight,tail
  grep -qxF 'New York, "NY"' g/nodes.names
  LC_ALL=C grep -qxaF $'\xff\xfe' g/nodes.names
  run "$OCTAVO" inspect g --json
  [[ "$output" == *'"has_weights": true'* ]]
}

@test "--json is alone on standard output, --quiet silences the rest" {
  printf 'a\tb\n' > input.txt
  "$OCTAVO" import input.txt --graph g --json --quiet > out 2> err
  [ ! -s err ]
  [ "$(head -c 1 out)" = "{" ]
  [ "$(tail -n 1 out)" = "}" ]
}

# Writes input.txt, a graph of $1 edges that needs about 30 MB per million; from 600,000 on it does not fit 64 MiB.
many_edges() {
  awk -v n="$1" 'BEGIN { srand(2); for (i = 0; i < n; ++i) printf "node-%d\tnode-%d\n", rand() * n, rand() * n }' \
    > input.txt
}

@test "a --memory that is too small is rejected before any work" {
  printf 'a\tb\n' > input.txt
  run "$OCTAVO" import input.txt --graph g --memory 63MiB
  failed_with 2 'expected at least 64MiB'
  "$OCTAVO" import input.txt --graph g --memory 64MiB
}

@test "an import larger than --memory goes through files and gives the same graph" {
  many_edges 700000
  "$OCTAVO" import input.txt --graph held --split 0.8,0.1,0.1 --memory 2GiB --json > held.json
  "$OCTAVO" import input.txt --graph spilled --split 0.8,0.1,0.1 --memory 64MiB --json > spilled.json 2> err
  diff -r held spilled
  grep -q '"spilled": false' held.json
  grep -q '"spilled_bytes": 0,' held.json
  grep -q '"spilled": true' spilled.json
  grep -q 'MiB went through temporary files' err
  grep -Eq 'took .* reading, .* ranking, .* encoding, .* writing' err
  [ "$(ls -A | grep -c partial)" -eq 0 ]
}

@test "an import that spills leaves nothing when it is interrupted or killed" {
  many_edges 700000
  for point in file.flush:5 file.flush:30 file.flush:60 file.read:2; do
    run env OCTAVO_FAILPOINT="$point=kill" "$OCTAVO" import input.txt --graph g --memory 64MiB
    [ "$status" -eq 137 ]
    [ ! -e g ]
    # A kill leaves files of the graph; the temporary ones disappear at once.
    [ -z "$(find . -name '*.spill')" ]
  done
  env --default-signal=INT "$OCTAVO" import input.txt --graph g --memory 64MiB &
  pid=$!
  sleep 0.3
  kill -INT "$pid"
  status=0
  wait "$pid" || status=$?
  [ "$status" -eq 130 ]
  [ ! -e g ]
  [ -z "$(find . -name '.g.partial*')" ]
}

@test "inspect reports what it cannot inspect" {
  run "$OCTAVO" inspect none
  [ "$status" -eq 2 ]
  mkdir empty
  run "$OCTAVO" inspect empty
  [ "$status" -eq 2 ]
  printf 'a\tb\n' > input.txt
  "$OCTAVO" import input.txt --graph g
  truncate -s 100 g/train.cells
  run "$OCTAVO" inspect g
  [ "$status" -eq 4 ]
  [[ "$output" == *'train.cells'* ]]
}
