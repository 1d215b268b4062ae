#!/usr/bin/env bats
# octavo import of triples, matrices, arrays and patterns. OCTAVO is the program. The oracle is write_formats.py, which
# draws the graph and writes both the file and the expected result as tab-separated text.

setup_file() {
  cd "$BATS_FILE_TMPDIR"
  /usr/bin/python3 "$BATS_TEST_DIRNAME/write_formats.py" 6000
}

setup() {
  cd "$BATS_FILE_TMPDIR"
  rm -rf g expected
}

# Imports $1 with the other arguments as g, which must be the graph of the text $expected, except what graph.json says
# about the input.
becomes() {
  expected="$1"
  shift
  "$OCTAVO" import "$expected" --graph expected --overwrite --quiet $expected_flags
  run "$OCTAVO" import "$@" --graph g --overwrite
  echo "$output"
  [ "$status" -eq 0 ]
  for file in nodes.names nodes.hash relations.tsv train.cells valid.cells test.cells; do
    cmp "g/$file" "expected/$file"
  done
}

# An import with the remaining arguments fails with exit code $1 and a message that contains $2, and leaves nothing.
fails_with() {
  rm -rf g
  run "$OCTAVO" import "${@:3}" --graph g
  echo "status $status: $output"
  [ "$status" -eq "$1" ]
  [[ "$output" == *"$2"* ]]
  [ ! -e g ]
}

@test "N-Triples give the expected graph, with and without literals" {
  becomes kg.tsv kg.nt
  [[ "$output" == *'reading kg.nt as N-Triples (by extension)'* ]]
  literals=$(($(wc -l < literals.tsv) - $(wc -l < kg.tsv)))
  [[ "$output" == *"literals: $literals triples; dropped"* ]]
  becomes literals.tsv kg.nt --literals keep
  run "$OCTAVO" import kg.nt --graph g --overwrite --json --quiet
  [[ "$output" == *"\"literals\": $literals,"* ]]
  [[ "$output" == *'"literals": "drop",'* ]]
  cp kg.nt unnamed
  becomes kg.tsv unnamed
  [[ "$output" == *'reading unnamed as N-Triples (by its first lines)'* ]]
}

@test "N-Quads lose their graphs, and triples are valid quads" {
  becomes quads.tsv kg.nq.gz
  becomes kg.tsv kg.nt --format nquads
  run "$OCTAVO" import - --graph g --overwrite < <(gzip -dc kg.nq.gz)
  [[ "$output" == *'reading <stdin> as N-Quads (by its first lines)'* ]]
  cmp g/train.cells <("$OCTAVO" import quads.tsv --graph expected --overwrite --quiet; cat expected/train.cells)
}

@test "triples are the same bytes for any threads and memory" {
  for i in $(seq 6); do cat kg.nt; done > long.nt
  "$OCTAVO" import long.nt --graph one --threads 1 --literals keep --split 0.8,0.1,0.1
  "$OCTAVO" import long.nt --graph two --threads 2 --literals keep --split 0.8,0.1,0.1
  "$OCTAVO" import long.nt --graph small --threads 2 --literals keep --split 0.8,0.1,0.1 --memory 64MiB
  diff -r one two
  diff -r one small
}

@test "a pattern stands for its files in order; one without files is an error" {
  becomes kg.tsv 'part-*.nt*'
  [ "$(grep -c 'reading part' <<< "$output")" -eq 1 ]
  expected_flags='--valid kg.tsv' becomes kg.tsv 'part-?.nt*' --valid 'part-*'
  fails_with 2 'none-*.nt: no such file, and no file matches it as a pattern' 'none-*.nt'
  fails_with 2 'none-*.nt: no such file' kg.nt --test 'none-*.nt'
}

@test "a malformed statement names the file, the line and the byte" {
  printf '<a:a> <r:r> <b:b> .\n# c\n<a:a> <r:r> 1 .\n<a:a> <r:r> <b:b> <g:g> .\n%% no comment\n' > bad.nt
  fails_with 3 "bad.nt:3:13: found \"1 .\", expected a statement of N-Triples; expected: ':', '<', or '_'" bad.nt
  [[ "$output" == *'bad.nt:4:1: found '*'a graph after the object, which requires --format nquads'* ]]
  [[ "$output" == *'bad.nt:5:1: found '* ]]
  fails_with 3 '3 malformed lines; --max-bad-lines allows 2' bad.nt --max-bad-lines 2
  run "$OCTAVO" import bad.nt --graph g --max-bad-lines 3
  [ "$status" -eq 0 ]
  [[ "$output" == *'3 malformed lines skipped'* ]]
  fails_with 2 'kg.nt: found --columns for N-Triples, expected none' kg.nt --columns head,relation,tail
  printf '<a:a> <r:r> "b" .\n' > only.nt
  fails_with 3 'only.nt: found no edge, expected at least one line of head,tail or head,relation,tail; --literals keep' \
    only.nt
}

@test "matrices are edges of numbers, symmetric ones in both directions" {
  expected_flags='--columns head,tail,weight' becomes general.tsv general.mtx
  becomes pattern.tsv pattern.mtx
  becomes pattern.tsv general.mtx --columns head,tail,-
  expected_flags='--columns head,tail,weight' becomes symmetric.tsv symmetric.mtx
  [[ "$output" == *'reading symmetric.mtx as Matrix Market (by extension)'* ]]
  expected_flags='--columns head,tail,weight --undirected --split 0.8,0.1,0.1' \
    becomes <(awk '$1 >= $2' symmetric.tsv) symmetric.mtx --undirected --split 0.8,0.1,0.1
  becomes skew.tsv skew.mtx --columns head,tail,-
  fails_with 2 'skew.mtx: found values that are not weights' skew.mtx
  fails_with 2 'symmetric.mtx: found a symmetric matrix and --split, expected --undirected' symmetric.mtx \
    --split 0.8,0.1,0.1
  head -n 50 general.mtx > cut.mtx
  fails_with 3 "cut.mtx: found 46 entries, expected the $(wc -l < general.tsv) of its size line; was the file cut?" cut.mtx
  sed '20s/.*/1 201 1/' general.mtx > outside.mtx
  fails_with 3 'outside.mtx:20: found the column "201", expected a number from 1 to 200' outside.mtx
}

# Nothing said which titles the file has.
@test "a misspelt title in --columns is answered by the titles of the file" {
  printf 'from;to;weight\nann;bob;2\nbob;cid;3\n' >titles.csv
  fails_with 2 '; the first line of titles.csv has from, to, weight' titles.csv --columns form,to,weight
  fails_with 3 'titles.csv:1: found the titles from, to, weight, expected "form" of --columns' titles.csv --columns head=form,tail=to
  printf 'a line\n' | cat - titles.csv >skipped.csv
  fails_with 2 '; the first line of skipped.csv has from, to, weight' skipped.csv --columns form,to,weight --skip-lines 1
  mkfifo pipe
  fails_with 2 '--columns: found "form,to,weight", expected a list' pipe --columns form,to,weight
}

# It was read as names with NUL bytes, or as one line.
@test "a list in UTF-16 is refused with the program that converts it" {
  printf 'ann\tbob\nbob\tcid\n' >plain.tsv
  for to in UTF-16 UTF-16LE UTF-16BE; do
    iconv -f UTF-8 -t "$to" plain.tsv >wide.tsv
    fails_with 3 'wide.tsv: found UTF-16 (' wide.tsv
    eval "$(grep -o 'iconv -f [^ ]* -t UTF-8' <<<"$output")" <wide.tsv | cmp - plain.tsv
    fails_with 3 'wide.tsv: found UTF-16 (' plain.tsv --labels wide.tsv
  done
}

@test "lists of SNAP are read unchanged" {
  becomes pattern.tsv snap.txt
  [[ "$output" == *'(2 comments, 0 blank)'* ]]
}

@test "arrays are edges of indexes, with names or without" {
  for type in int32 int64 uint32 uint64; do
    becomes triples.tsv "triples-$type.npy"
  done
  becomes pairs.tsv pairs.npy
  becomes named.csv triples-int32.npy --node-names nodes.txt --relation-names relations.txt
  expected_flags='--valid pairs.tsv' becomes pairs.tsv pairs.npy --valid pairs.npy
  gzip -c pairs.npy > packed
  becomes pairs.tsv packed
  run "$OCTAVO" import - --graph g --overwrite < pairs.npy
  cmp g/train.cells expected/train.cells
}

@test "an invalid or truncated array, or one with an invalid index, is rejected" {
  head -n 99 nodes.txt > few.txt
  fails_with 3 'triples-int64.npy: row ' triples-int64.npy --node-names few.txt
  [[ "$output" == *' 99, expected one below 99, the number of names in few.txt'* ]]
  fails_with 2 'kg.nt: found N-Triples, expected a NumPy array' kg.nt --node-names nodes.txt
  fails_with 2 'pairs.npy: found --relation-names for the columns head,tail' pairs.npy --relation-names relations.txt
  head -c 1000 pairs.npy > cut.npy
  fails_with 3 'cut.npy: found 54 rows, expected 6000; was the file cut?' cut.npy
  head -c 100 pairs.npy > cut.npy
  fails_with 3 'cut.npy: found 100 bytes, expected a header of 128; was the file cut?' cut.npy
  cat pairs.npy pairs.npy > twice.npy
  fails_with 3 'twice.npy: found bytes after row 6000, the last one, expected the end' twice.npy
  /usr/bin/python3 -c 'import numpy; a = numpy.load("pairs.npy")
numpy.save("f.npy", a.T); numpy.save("four.npy", numpy.hstack([a, a])); numpy.save("real.npy", a.astype("f8"))'
  fails_with 3 'numpy.ascontiguousarray' f.npy
  fails_with 3 'four.npy: found the shape [6000, 4], expected 2 columns' four.npy
  fails_with 3 "real.npy: found the header \"{'descr': '<f8'" real.npy
  [[ "$output" == *'as from array.astype(numpy.int64)'* ]]
  /usr/bin/python3 -c 'import numpy; a = numpy.load("pairs.npy")
numpy.save("lying.npy", numpy.ascontiguousarray(a.T))'
  fails_with 3 'lying.npy: found the shape [2, 6000], expected 2 columns (head,tail) or 3 (head,relation,tail); numpy.ascontiguousarray(array.T)' lying.npy
}

@test "if extension and content disagree, the messages say so" {
  cp kg.tsv wrong.nt
  fails_with 3 'wrong.nt is read as N-Triples (by extension), but looks like tab-separated text; --format tsv reads' \
    wrong.nt
  becomes kg.tsv wrong.nt --format tsv
  cp pairs.tsv wrong.npy
  fails_with 3 'wrong.npy: found the first bytes "' wrong.npy
  [[ "$output" == *'read as a NumPy array (by extension)'* ]]
  cp pairs.tsv wrong.mtx
  fails_with 3 'read as Matrix Market (by extension), but looks like tab-separated text; --format tsv' wrong.mtx
  printf '<a:a>\t<r:r>\t<b:b> .\n' > wrong.tsv
  run "$OCTAVO" import wrong.tsv --graph g
  [ "$status" -eq 0 ]
  [[ "$output" == *'warning: reading wrong.tsv as tab-separated text (by extension), but looks like N-Triples'* ]]
}

@test "files of several formats make one graph if their columns agree" {
  expected_flags='--valid quads.tsv --test kg.tsv' becomes kg.tsv kg.nt --valid kg.nq.gz --test kg.tsv
  fails_with 3 'pairs.npy: found the columns head,tail, expected head,relation,tail, as the files before it have' \
    kg.nt --valid pairs.npy
  fails_with 3 'general.mtx: found the columns head,tail,weight, expected head,tail' pairs.npy general.mtx
}

# Turtle and RDF/XML were once read as blank-separated text.
@test "other syntaxes of RDF are rejected with a command that converts them to N-Triples" {
  printf '# a world\n@prefix ex: <http://example.org/> .\nex:a ex:b ex:c .\n' >world.ttl
  fails_with 3 'world.ttl: found Turtle (by extension), expected an edge list or triples, to which this command converts it: serdi -i turtle -o ntriples world.ttl >world.nt' world.ttl
  cp world.ttl world.nt
  fails_with 3 'world.nt: found Turtle (by its first lines)' world.nt
  gzip -kf world.ttl
  fails_with 3 'zcat world.ttl.gz | serdi -i turtle -o ntriples - >world.nt' world.ttl.gz
  printf '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n</rdf:RDF>\n' >world
  fails_with 3 'world: found RDF/XML (by its first lines)' world
  cp world world.owl
  fails_with 3 'rapper -i rdfxml -o ntriples world.owl >world.nt' world.owl
  # N-Triples are also valid Turtle; an explicit --format is respected.
  cp kg.nt kg.ttl
  becomes kg.tsv kg.ttl
  printf 'a r b\n' >edges.xml
  fails_with 3 'edges.xml: found XML (by extension), expected an edge list or triples; --format reads it as another format' edges.xml
  "$OCTAVO" import edges.xml --format blank --graph g --quiet
}

@test "a semicolon CSV with decimal commas and titles is read as such" {
  printf 'from;to;weight\nann;bob;0,5\nbob;cid;1,25\ncid;ann;0\n' >german.csv
  run "$OCTAVO" import german.csv --graph g --overwrite
  [[ "$output" == *'semicolon-separated text'* && "$output" == *'--columns from,to,weight reads the columns'* ]]
  run "$OCTAVO" import german.csv --graph g --overwrite --columns from,to,weight
  [ "$status" -eq 0 ]
  [[ "$output" != *warning* && "$output" == *'weight 0: 1 line; dropped'* && "$output" == *'g: 3 nodes, 1 relation, 2 train'* ]]
  cp -r g by-title
  printf 'ann\tbob\t0.5\nbob\tcid\t1.25\n' >plain.tsv
  "$OCTAVO" --quiet import plain.tsv --graph g --overwrite --columns head,tail,weight
  for file in nodes.names nodes.offsets train.cells; do cmp "g/$file" "by-title/$file"; done
  tail -n +2 german.csv | sed 's/;/:/g' >colons.txt
  "$OCTAVO" --quiet import colons.txt --graph g --overwrite --separator : --columns head=1,tail=2,weight=3
  for file in nodes.names nodes.offsets train.cells; do cmp "g/$file" "by-title/$file"; done
  for separator in tab $'\t' '\t'; do
    "$OCTAVO" --quiet import plain.tsv --graph g --overwrite --separator "$separator" --columns 1,2,3 --format tsv
  done
  run "$OCTAVO" import plain.tsv --graph g --overwrite --separator ';;'
  [ "$status" -eq 2 ]
  [[ "$output" == *'--separator: found ";;"; expected one ASCII character'* ]]
  run "$OCTAVO" import plain.tsv --graph g --overwrite --separator ';' --format tsv
  [ "$status" -eq 2 ]
}

@test "columns that are probably misread are warned about, with the flag that mends it" {
  printf 'ann,bob,1\nbob,cid,2\ncid,ann,3\n' >weights.csv
  run "$OCTAVO" import weights.csv --graph g --overwrite
  [[ "$output" == *'warning: weights.csv: the third column has numbers only and is read as tail; if they are weights: --columns head,tail,weight'* ]]
  for i in $(seq 60); do echo "$i $((i * 7 % 60)) $((1082040961 + i * i))"; done >times.txt
  for i in $(seq 60); do echo "$i $((i * 7 % 60)) $((i % 5 + 1)) $((881250949 + i))"; done >ratings.txt
  run "$OCTAVO" import times.txt --graph g --overwrite
  [[ "$output" == *'warning: times.txt: the third column has numbers only '*'if they are none: --columns head,tail,-'* ]]
  run "$OCTAVO" import ratings.txt --graph g --overwrite
  [[ "$output" == *'warning: ratings.txt: the third column has numbers only '*'--columns head,tail,weight,-;'* ]]
  for i in $(seq 60); do echo "n$i r n$((i * 7 % 60)) $((1600000000 + i * i))"; done >events.txt
  run "$OCTAVO" import events.txt --graph g --overwrite
  [[ "$output" == *'warning: events.txt: the fourth column has whole numbers as large as times '*'--columns head,relation,tail,-'* ]]
  run "$OCTAVO" import events.txt --graph g --overwrite --columns head,relation,tail,-
  [[ "$output" != *warning* ]]
  for i in $(seq 60); do echo "$i $((i % 4)) $((i * 7 % 60))"; done >ids.txt
  run "$OCTAVO" import ids.txt --graph g --overwrite
  [[ "$output" != *warning* ]]
  run "$OCTAVO" import weights.csv --graph g --overwrite --columns head,tail,weight
  [[ "$output" != *warning* ]]
  seq 100 | awk '{ print "p" $1 "\tp" ($1 * 7) % 100 "\tp" ($1 * 3) % 100 }' >people.tsv
  run "$OCTAVO" import people.tsv --graph g --overwrite
  [[ "$output" == *'warning: 100 relations for '*' nodes: is the second column the relation?'* ]]
  printf 'a, likes, b\nb, likes, c\nc, knows, a\n' >blanks.csv
  run "$OCTAVO" import blanks.csv --graph g --overwrite
  [[ "$output" == *'warning: blanks.csv: names begin with a blank, because one follows each ","; remove the blanks ('*"sed 's/, */,/g'"* ]]
  [[ "$output" == *'g: 6 nodes, '* ]]
  sed 's/, */,/g' blanks.csv >removed.csv
  run "$OCTAVO" import removed.csv --graph g --overwrite
  [[ "$output" != *warning* ]]
  [[ "$output" == *'g: 3 nodes, '* ]]
  printf 'a\tlikes\tb\nb\tlikes\tc\nc\tknows\ta\n' >fine.tsv
  run "$OCTAVO" import fine.tsv --graph g --overwrite
  [[ "$output" != *warning* ]]
}

@test "formats of graphs and tables that are not read are refused by name, with a way to convert them" {
  refused() { run "$OCTAVO" import "$1" --graph new; [ "$status" -eq 3 ]; [[ "$output" == *"$2"* ]] || { echo "$output"; return 1; }; [ ! -e new ]; }
  printf '<?xml version="1.0"?>\n<graphml xmlns="x">\n' >g.graphml && cp g.graphml g.any
  refused g.graphml 'found GraphML (by extension), expected an edge list; networkx'
  refused g.any 'found GraphML (by its first lines)'
  printf '{"source": "a", "target": "b"}\n' >g.jsonl && cp g.jsonl g.txt
  refused g.jsonl 'found JSON lines (by extension), expected an edge list; jq'
  refused g.txt 'found JSON lines (by its first lines)'
  printf 'PK\003\004' >g.npz
  refused g.npz 'found an archive of NumPy arrays (by extension), expected an edge list; numpy.save'
  for name in g.h5 g.hdf5.gz g.arrow g.feather g.dot g.gv g.pkl; do
    cp g.npz $name
    refused $name '(by extension), expected an edge list; '
  done
  printf '%%%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n' >b.mtx
  refused b.mtx 'of a bipartite matrix this makes an edge list: grep'
  eval "$(grep -o "grep -v .*edges.tsv" <<<"$output")"
  [ "$(cat edges.tsv)" = "$(printf 'r1\tc3')" ]
}
