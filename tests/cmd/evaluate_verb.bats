setup_file() { load reading.bash; make_run; }
setup() { load reading.bash; cd "$BATS_FILE_TMPDIR" || return 1; }

@test "evaluate: JSON has the keys that scripts rely on" {
  "$OCTAVO" --quiet evaluate --run run --json >report.json
  [[ "$(json 'sorted(o)[:0] + [o["split"], o["filtered"], o["triples"], o["candidates"]]' <report.json)" == "['test', True, 2, 14]" ]]
  for key in mrr hits@1 hits@3 hits@10 mean_rank; do
    [[ "$(json "isinstance(o['$key'], (int, float)) and o['raw']['$key'] is not None and o['head']['$key'] is not None and o['tail']['raw']['$key'] is not None" <report.json)" == True ]]
  done
  [[ "$(json '0 < o["mrr"] <= 1 and o["mean_rank"] >= 1 and o["seconds"] >= 0' <report.json)" == True ]]
  [[ "$(json '"relations" in o' <report.json)" == False ]]
}

@test "evaluate: the same numbers for any number of threads and any memory" {
  "$OCTAVO" --quiet --threads 1 evaluate --run run --json | json '{**o, "seconds": 0}' >one
  "$OCTAVO" --quiet evaluate --run run --json --threads 2 --memory 32MiB | json '{**o, "seconds": 0}' >two
  cmp one two
}

@test "evaluate: table, per relation, and candidates" {
  "$OCTAVO" --quiet evaluate --run run --split train --per-relation >table
  # The numbers end below their titles.
  [ "$(grep -A1 '^relation (filtered)' table | awk '{ print length($0) }' | uniq | wc -l)" -eq 1 ]
  grep -q 'among all 14 nodes' table
  grep -qE '^in +11 ' table
  grep -qE '^near +11 ' table
  "$OCTAVO" --quiet evaluate --run run --split train --per-relation --json | json '[r["triples"] for r in o["relations"]]' >counts
  [[ "$(cat counts)" == "[11, 11]" ]]
  "$OCTAVO" --quiet evaluate --run run --candidates 5 >table
  grep -q '5 random nodes of 14: not comparable' table
  [[ "$("$OCTAVO" --quiet evaluate --run run --split train --sample 7 --json | json 'o["triples"]')" == 7 ]]
}

@test "evaluate --typed: beside the untyped ranks, the same for any threads and memory" {
  "$OCTAVO" --quiet evaluate --run run --split train --json | json '{**o, "seconds": 0}' >untyped
  "$OCTAVO" --quiet evaluate --run run --split train --typed --json >typed
  json '{k: v for k, v in {**o, "seconds": 0}.items() if k != "typed"}' <typed | sed "s/, 'typed': {[^}]*}//g" | cmp - untyped
  # Tails of "in" are the 3 countries; heads of both and tails of "near" are the 11 places that are no country.
  [[ "$(json '[o["typed"]["candidates"], o["typed"]["plausible_answers"], o["typed"]["type_share"]]' <typed)" == "[9.0, 1.0, 0.1]" ]]
  [[ "$(json 'o["typed"]["mrr"] >= o["mrr"] and o["typed"]["mean_rank"] < o["mean_rank"]' <typed)" == True ]]
  [[ "$(json 'abs(o["head"]["typed"]["mrr"] / 2 + o["tail"]["typed"]["mrr"] / 2 - o["typed"]["mrr"]) < 1e-12' <typed)" == True ]]
  json '{**o, "seconds": 0}' <typed >any
  "$OCTAVO" --quiet --threads 1 evaluate --run run --split train --typed --memory 32MiB --json | json '{**o, "seconds": 0}' | cmp - any
  "$OCTAVO" --quiet evaluate --run run --split train --typed >table
  grep -q '^typed  ' table
  grep -qF 'ranked among nodes of a plausible type, 9.0 on average; 100.0 % of the answers are among them' table
  printf 'country0\tland\ncountry1\tland\ncountry2\tland\n' >types.tsv
  "$OCTAVO" --quiet evaluate --run run --split train --typed --types types.tsv --per-relation --json >given
  [[ "$(json '[o["typed"]["types_file"], o["typed"]["candidates"], o["relations"][0]["typed"]["mrr"] > 0]' <given)" == "['types.tsv', 9.0, True]" ]]
}

# The graph of a run was moved; the error said that it is not a graph, and did not mention --graph.
@test "readers of a run say where its graph was, and accept its new path" {
  cp -r graph mine
  "$OCTAVO" --quiet train --preset none --graph mine --run moved --model complex --dim 8 --epochs 1 --seed 1
  mv mine elsewhere
  for command in "evaluate" "query neighbors city1" "report --output x.html" "export --output x.npy" "index --output x.hnsw"; do
    fails 2 "moved: was trained on the graph $PWD/mine, where there is none now; --graph DIR names its new place" \
      "$OCTAVO" $command --run moved
    "$OCTAVO" --quiet $command --run moved --graph elsewhere >/dev/null
  done
  printf 'city1\tin\tcountry2\n' >add.tsv
  fails 2 "where there is none now; --base DIR names its new place" \
    "$OCTAVO" grow --run moved --add add.tsv --graph grown --output grown-run --epochs 1
  "$OCTAVO" --quiet grow --run moved --base elsewhere --add add.tsv --graph grown --output grown-run --epochs 1
  fails 2 "where there is none now; --init-graph DIR names its new place" \
    "$OCTAVO" train --preset none --graph graph --run warm --model complex --dim 8 --epochs 1 --init moved
  "$OCTAVO" --quiet train --preset none --graph graph --run warm --model complex --dim 8 --epochs 1 --init moved --init-graph elsewhere
  rm -r elsewhere moved grown grown-run warm
}

@test "a graph in place of a run, and a run in place of a graph, are reported as such" {
  for command in "evaluate" "query neighbors city1" "report --output y.html" "export --output y.npy" "resume"; do
    fails 2 "graph: is a graph, not a run" "$OCTAVO" $command --run graph
  done
  fails 2 "run: is a run, not a graph; expected a graph folder" "$OCTAVO" evaluate --run run --graph run
  fails 2 "run: is a run, not a graph; expected a graph folder" "$OCTAVO" train --preset none --graph run --run new
}

@test "evaluate: wrong usage" {
  fails 2 "the graph has no valid edges" "$OCTAVO" evaluate --run run --split valid
  fails 2 "foo" "$OCTAVO" evaluate --run run --split foo
  fails 2 "expected a whole number" "$OCTAVO" evaluate --run run --candidates -1
  fails 2 "nowhere" "$OCTAVO" evaluate --run nowhere
  fails 2 "--run is required" "$OCTAVO" evaluate
  fails 2 "and --memory allows 1.0 MiB; the smallest sufficient --memory is" \
    "$OCTAVO" evaluate --run run --memory 1MiB
  # The smallest amount that it names is sufficient, and one MiB less is not.
  local least
  least="$(sed -E 's/.*sufficient --memory is ([0-9]+)MiB/\1/' err.log)"
  "$OCTAVO" --quiet evaluate --run run --memory "${least}MiB" >/dev/null
  fails 2 "evaluate needs" "$OCTAVO" evaluate --run run --memory "$((least - 1))MiB"
}

@test "evaluate: NaN in the embeddings is named" {
  cp -r run spoilt
  printf '\xff\xff\xff\xff' | dd of=spoilt/embeddings.npy bs=1 seek=$((4096 + 3 * 8 * 4 + 4)) conv=notrunc 2>/dev/null
  fails 1 "row 3 (node \"$(sed -n 4p graph/nodes.names)\") holds -nan in column 1" "$OCTAVO" evaluate --run spoilt
  # Readers of the whole partition find that no training wrote it.
  fails 4 "spoilt/embeddings.npy: partition 0" "$OCTAVO" query --run spoilt neighbors city1
}

make_labels() {
  local i
  for i in 0 1 2 3 4 5 6 7 8 9; do printf 'city%d\tcity\n' "$i"; done >labels.txt
  printf 'country0\tcountry\ncountry1\tcountry\ncountry2\tcountry\nNew York\tcity\nAtlantis\tcity\n' >>labels.txt
}

@test "evaluate --labels: JSON has the keys that scripts rely on" {
  make_labels
  "$OCTAVO" evaluate --run run --labels labels.txt --train-fractions 0.5,0.9 --repeats 4 --json >report.json 2>err.log
  grep -q 'warning: labels.txt: left out 1 line with names that .*graph lacks, the first "Atlantis"' err.log
  [[ "$(json '[o["labelled_nodes"], o["labels"], o["label_assignments"], o["multi_label"], o["unknown_lines"], o["part"], o["repeats"]]' <report.json)" == "[14, 2, 14, False, 1, 'all', 4]" ]]
  [[ "$(json '[(f["train_fraction"], f["train_nodes"], f["test_nodes"]) for f in o["fractions"]]' <report.json)" == "[(0.5, 7, 7), (0.9, 12, 2)]" ]]
  [[ "$(json 'all(0 <= f[k] <= 1 and f[k + "_deviation"] >= 0 for f in o["fractions"] for k in ("micro_f1", "macro_f1", "accuracy"))' <report.json)" == True ]]
  [[ "$(json '[o["model"], o["dim"], o["epochs"], o["seconds"] >= 0]' <report.json)" == "['complex', 8, 2, True]" ]]
}

@test "evaluate --labels: table, compressed labels, several labels, standard input" {
  make_labels
  "$OCTAVO" --quiet evaluate --run run --labels labels.txt --repeats 2 >table 2>/dev/null
  grep -q '^14 labelled nodes of run (complex, dim 8, 2 epochs), 2 classes; 2 random splits$' table
  [[ "$(grep -cE '^ +[1-9]0 % ' table)" == 9 ]]
  grep -q accuracy table
  gzip -k labels.txt
  "$OCTAVO" --quiet evaluate --run run --labels labels.txt.gz --repeats 2 2>/dev/null | cmp - table
  "$OCTAVO" --quiet evaluate --run run --labels - --repeats 2 <labels.txt 2>/dev/null | cmp - table
  printf 'city1\tbig\n' >>labels.txt
  "$OCTAVO" --quiet evaluate --run run --labels labels.txt --repeats 1 >table 2>/dev/null
  grep -q '3 classes, 15 in all; 1 random split$' table
  [[ "$(grep -cE 'accuracy|±' table)" == 0 ]]
}

# "class 1" was read as two classes, one of them of every node, and texts for people as thousands, without a word.
@test "evaluate --labels: classes with blanks and texts for people are warned of" {
  for i in 0 1 2 3 4 5 6 7 8 9; do printf 'city%d\tclass %d\n' "$i" $((i % 3)); done >blanks.txt
  "$OCTAVO" --quiet evaluate --run run --labels blanks.txt --repeats 1 2>log >table
  grep -q '^warning: blanks.txt: every node has the class "class" beside others; a line is NODE<TAB>CLASS' log
  [[ "$(wc -l <log)" == 1 ]]
  for i in 0 1 2 3 4 5 6 7 8 9; do printf 'city%d\tTown%d\n' "$i" $((i % 5)); done >texts.txt
  "$OCTAVO" --quiet evaluate --run run --labels texts.txt --repeats 1 2>log >table
  grep -q '^warning: texts.txt: 5 classes for 10 nodes; expected classes that many nodes share (octavo import' log
  make_labels
  "$OCTAVO" --quiet evaluate --run run --labels labels.txt --repeats 1 2>log >table
  [[ "$(grep -c 'class' log)" == 0 ]]
}

@test "evaluate --labels: the same numbers for any number of threads and any memory" {
  make_labels
  "$OCTAVO" --quiet --threads 1 evaluate --run run --labels labels.txt --json 2>/dev/null | json '{**o, "seconds": 0}' >one
  "$OCTAVO" --quiet --threads 3 evaluate --run run --labels labels.txt --json --memory 32MiB 2>/dev/null |
    json '{**o, "seconds": 0}' >three
  cmp one three
  "$OCTAVO" --quiet evaluate --run run --labels labels.txt --json --seed 2 2>/dev/null | json 'o["fractions"]' >other
  "$OCTAVO" --quiet evaluate --run run --labels labels.txt --json 2>/dev/null | json 'o["fractions"]' >first
  [[ "$(cat other)" != "$(cat first)" ]]
}

@test "evaluate --labels: given test nodes" {
  make_labels
  printf 'city3\ncountry1\nnobody\n' >test-nodes.txt
  "$OCTAVO" evaluate --run run --labels labels.txt --label-test test-nodes.txt --normalize --cost 10 --json >report.json 2>err.log
  grep -q 'test-nodes.txt: left out 1 line with names' err.log
  [[ "$(json '[(f["train_nodes"], f["test_nodes"], f["micro_f1_deviation"]) for f in o["fractions"]]' <report.json)" == "[(12, 2, None)]" ]]
  "$OCTAVO" --quiet evaluate --run run --labels labels.txt --label-test test-nodes.txt 2>/dev/null | grep -q 'tested on the nodes of test-nodes.txt'
}

@test "evaluate --labels: by one half of source-context rows" {
  make_labels
  "$OCTAVO" --quiet train --preset none --graph graph --run halves --model source-context --dim 6 --epochs 1
  for part in source context all; do
    "$OCTAVO" --quiet evaluate --run halves --labels labels.txt --part "$part" --json 2>/dev/null >"$part.json"
    [[ "$(json 'o["part"]' <"$part.json")" == "$part" ]]
    "$OCTAVO" --quiet evaluate --run halves --labels labels.txt --part "$part" 2>/dev/null >"$part.txt"
  done
  grep -q ', 1 epoch, source half)' source.txt
  grep -q ', 1 epoch)' all.txt
  [[ "$(json 'o["fractions"]' <source.json)" != "$(json 'o["fractions"]' <context.json)" ]]
  fails 2 "--part source: found embeddings of the complex model" "$OCTAVO" evaluate --run run --labels labels.txt --part source
  fails 2 "--part" "$OCTAVO" evaluate --run run --part source
}

@test "evaluate --link-prediction: JSON, table, threads and memory" {
  "$OCTAVO" --quiet evaluate --run run --link-prediction --json >report.json
  [[ "$(json '[o["edges"], o["non_edges"], o["split"], 0 <= o["auc"] <= 1, 0 < o["average_precision"] <= 1]' <report.json)" == "[2, 2, 'test', True, True]" ]]
  "$OCTAVO" --quiet evaluate --run run --link-prediction --split train --sample 20 --threads 1 --json |
    json '{**o, "seconds": 0}' >one
  "$OCTAVO" --quiet evaluate --run run --link-prediction --split train --sample 20 --threads 3 --memory 32MiB --json |
    json '{**o, "seconds": 0}' >three
  cmp one three
  "$OCTAVO" --quiet evaluate --run run --link-prediction --split train >table
  grep -q '^22 train edges of run (complex, dim 8, 2 epochs) and 22 random pairs without an edge$' table
  grep -qE '^AUC +[01]\.[0-9]{4}$' table
}

@test "evaluate --labels and --link-prediction: wrong usage" {
  make_labels
  fails 2 "--labels excludes --link-prediction" "$OCTAVO" evaluate --run run --labels labels.txt --link-prediction
  fails 2 "--split excludes --labels" "$OCTAVO" evaluate --run run --labels labels.txt --split test
  fails 2 "--repeats requires --labels" "$OCTAVO" evaluate --run run --repeats 3
  fails 2 "--repeats excludes --label-test" "$OCTAVO" evaluate --run run --labels labels.txt --label-test a --repeats 3
  fails 2 "expected at most one to be standard input" "$OCTAVO" evaluate --run run --labels - --label-test -
  fails 2 "the graph has no valid edges" "$OCTAVO" evaluate --run run --link-prediction --split valid
  local verb least
  for verb in "--labels labels.txt" "--link-prediction"; do
    # shellcheck disable=SC2086
    fails 2 "the smallest sufficient --memory is" "$OCTAVO" evaluate --run run $verb --memory 1MiB
    least="$(sed -nE 's/.*sufficient --memory is ([0-9]+)MiB/\1/p' err.log)"
    # shellcheck disable=SC2086
    "$OCTAVO" --quiet evaluate --run run $verb --memory "${least}MiB" >/dev/null
    # shellcheck disable=SC2086
    fails 2 "evaluate --l" "$OCTAVO" evaluate --run run $verb --memory "$((least - 1))MiB"
  done
}

# Fixed candidates were not possible: Countries ranks each country among the regions only.
@test "evaluate --candidates FILE: ranks the ends that the file names among them" {
  printf 'country0\ncountry1\ncountry2\nNarnia\n' >countries.txt
  "$OCTAVO" evaluate --run run --split train --candidates countries.txt --per-relation >table 2>err.log
  grep -q '11 train triples of run .*, those ends that countries.txt names ranked among its 3 nodes' table
  grep -q 'tails' table
  [[ "$(grep -c 'heads' table)" == 0 ]]
  grep -q 'warning: countries.txt: left out 1 line with names that .*graph lacks, the first "Narnia"' err.log
  "$OCTAVO" --quiet evaluate --run run --split train --candidates countries.txt --json >report.json 2>/dev/null
  [[ "$(json '[o["triples"], o["candidates"], o["head"]["mrr"], o["tail"]["mrr"] == o["mrr"], o["mean_rank"] <= 3]' <report.json)" == "[11, 3, None, True, True]" ]]
  "$OCTAVO" --quiet evaluate --run run --split train --candidates - --json <countries.txt 2>/dev/null |
    json '{**o, "seconds": 0, "candidates_file": 0}' >stdin.json
  json '{**o, "seconds": 0, "candidates_file": 0}' <report.json | cmp - stdin.json
  printf 'New York\n' >none.txt
  fails 2 'none of the 1 candidates is an end of one of the 2 test edges' \
    "$OCTAVO" evaluate --run run --candidates none.txt
  fails 2 'found "nowhere.txt", which is no file; expected a whole number, or a file with names of nodes' \
    "$OCTAVO" evaluate --run run --candidates nowhere.txt
}

@test "evaluate --link-prediction: given negatives and candidates" {
  printf 'city1\tnear\tcity5\ncity2\tnear\tcity9\ncity1\tin\tcountry1\ncity1\tin\tNarnia\n' >negatives.txt
  "$OCTAVO" evaluate --run run --link-prediction --negatives negatives.txt >table 2>err.log
  grep -q '^2 test edges of run .* and 3 negatives of negatives.txt$' table
  grep -q 'left out 1 line with names that .*graph lacks, the first "Narnia"' err.log
  grep -q 'warning: negatives.txt: 1 of 3 negatives are edges of the graph' err.log
  printf 'country0\ncountry1\ncountry2\n' >countries.txt
  "$OCTAVO" --quiet evaluate --run run --split train --link-prediction --candidates countries.txt --json |
    json '[o["edges"], o["non_edges"], o["candidates_file"], 0 < o["average_precision"] <= 1]' >found
  [[ "$(cat found)" == "[11, 22, 'countries.txt', True]" ]]  # 11 edges to a country, 2 others each
  printf 'city1 near\n' >short.txt
  fails 3 'short.txt:1: found two fields in "city1 near"; expected head<TAB>relation<TAB>tail' \
    "$OCTAVO" evaluate --run run --link-prediction --negatives short.txt
  fails 2 'requires --link-prediction' "$OCTAVO" evaluate --run run --negatives negatives.txt
  fails 2 'found --candidates with a number' "$OCTAVO" evaluate --run run --link-prediction --candidates 5
}

# The splits of Planetoid train on few nodes and test on some of the others.
@test "evaluate --label-train: a fixed split" {
  make_labels
  printf 'city0\ncity1\ncountry0\ncountry1\n' >train-nodes.txt
  printf 'city5\ncountry2\n' >test-nodes.txt
  counts='[(f["train_nodes"], f["test_nodes"]) for f in o["fractions"]]'
  evaluate=("$OCTAVO" --quiet evaluate --run run --labels labels.txt --json)
  [[ "$("${evaluate[@]}" --label-train train-nodes.txt 2>/dev/null | json "$counts")" == "[(4, 10)]" ]]
  [[ "$("${evaluate[@]}" --label-test test-nodes.txt 2>/dev/null | json "$counts")" == "[(12, 2)]" ]]
  [[ "$("${evaluate[@]}" --label-train train-nodes.txt --label-test test-nodes.txt 2>/dev/null | json "$counts")" == "[(4, 2)]" ]]
  "$OCTAVO" --quiet evaluate --run run --labels labels.txt --label-train train-nodes.txt --label-test test-nodes.txt \
    >table 2>/dev/null
  grep -q 'trained on the nodes of train-nodes.txt, tested on the nodes of test-nodes.txt$' table
  fails 2 'is among the nodes to train on and among those to test' \
    "$OCTAVO" --quiet evaluate --run run --labels labels.txt --label-train train-nodes.txt --label-test train-nodes.txt
  fails 2 'expected at most one to be standard input' \
    "$OCTAVO" evaluate --run run --labels - --label-train - --label-test test-nodes.txt
}
