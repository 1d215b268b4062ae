# Labels: texts that people read beside the names of nodes and relations.
setup_file() {
  load reading.bash
  cd "$BATS_FILE_TMPDIR" || return 1
  local i
  for i in 0 1 2 3 4 5 6 7; do printf 'Q%d\tP31\tQ%d\nQ%d\tP17\tQ%d\n' "$i" $(((i + 3) % 8)) "$i" $(((i + 5) % 8)); done >edges.tsv
  printf 'Q0\tDouglas Adams\nQ1\tParis\nQ2\tParis\nQ3\tuniverse, "all"\nP31\tinstance of\nQ99\tCalifornia\nQ1\tParigi\n' >labels.tsv
  "$OCTAVO" import edges.tsv --graph graph --split 0.8,0.1,0.1 --labels labels.tsv 2>import.log
  "$OCTAVO" --quiet train --preset none --graph graph --run run --model complex --dim 8 --epochs 2 --seed 1
}
setup() { load reading.bash; cd "$BATS_FILE_TMPDIR" || return 1; }

@test "labels: the import counts them, and names that the graph lacks" {
  grep -q 'labels: 4 nodes and 1 relation; left out 1 label for names that have one already; 1 name that the graph lacks, such as "Q99"' import.log
  "$OCTAVO" inspect graph >table
  grep -qE '^labelled +4 nodes$' table
  grep -q 'P31 (instance of)$' table
  [[ "$("$OCTAVO" inspect graph --json | json 'o["labelled_nodes"], o["labelled_relations"]')" == "(4, 1)" ]]
  [[ "$(paste graph/nodes.names graph/nodes.labels | grep -c $'^Q0\tDouglas Adams$')" == 1 ]]
  "$OCTAVO" verify graph
}

@test "labels: the same from compressed files and from CSV; a graph without them has the same fingerprint" {
  gzip -k labels.tsv
  printf 'Q0,Douglas Adams\nQ1,Paris\nQ2,Paris\nQ3,"universe, ""all"""\nP31,instance of\n' >labels.csv
  for labels in labels.tsv.gz labels.csv; do
    "$OCTAVO" --quiet import edges.tsv --graph again --split 0.8,0.1,0.1 --labels "$labels" --overwrite
    for file in nodes.labels nodes.labels.hash nodes.labels.offsets nodes.labels.order relations.labels; do
      cmp "graph/$file" "again/$file"
    done
  done
  "$OCTAVO" --quiet import edges.tsv --graph plain --split 0.8,0.1,0.1
  [[ ! -e plain/nodes.labels ]]
  diff <(json 'o["fingerprint"]' <graph/graph.json) <(json 'o["fingerprint"]' <plain/graph.json)
  # A run of the graph without labels reads one with them.
  "$OCTAVO" --quiet query --run run --graph plain neighbors Q0 >plain.table
  [[ "$(grep -c Paris plain.table)" == 0 ]]
}

@test "labels: query finds a node by its label and shows labels" {
  "$OCTAVO" query --run run neighbors "Douglas Adams" -k 7 >by-label
  "$OCTAVO" query --run run neighbors Q0 -k 7 >by-name
  cmp by-label by-name
  grep -q 'neighbors of "Q0" (Douglas Adams)' by-name
  grep -qE '^rank +name +label +cosine$' by-name
  grep -qE ' Q1 +Paris +-?[0-9.]+$' by-name
  "$OCTAVO" query --run run neighbors "Douglas Adams" -k 7 --json >answer
  [[ "$(json 'o["node"], o["label"], {n["node"]: n["label"] for n in o["neighbors"]}["Q1"], {n["node"]: n["label"] for n in o["neighbors"]}["Q5"]' <answer)" == "('Q0', 'Douglas Adams', 'Paris', None)" ]]
  "$OCTAVO" query --run run predict "Douglas Adams" "instance of" '?' >table
  grep -q '(Q0 (Douglas Adams), P31 (instance of), ?)' table
  "$OCTAVO" query --run run predict '?' P31 Q0 --json >answer
  [[ "$(json 'o["tail"], o["tail_label"], o["relation_label"], o["head_label"]' <answer)" == "('Q0', 'Douglas Adams', 'instance of', None)" ]]
  printf 'Douglas Adams\npredict\tQ0\tinstance of\t?\n' | "$OCTAVO" query --run run batch - >both
  grep -q 'neighbors of "Q0" (Douglas Adams)' both
  grep -q '(Q0 (Douglas Adams), P31 (instance of), ?)' both
}

@test "labels: one of several nodes, and misspelt ones" {
  fails 2 '"Paris" is the label of 2 nodes: ' "$OCTAVO" query --run run neighbors Paris
  grep -q '"Q1"' err.log
  grep -q '"Q2"; expected one of these names\|"Q2", "Q1"; expected one of these names' err.log
  fails 2 'no node "Douglas Adam"; did you mean "Douglas Adams"?' "$OCTAVO" query --run run neighbors "Douglas Adam"
  fails 2 'no relation "instance off"; did you mean "instance of"?' "$OCTAVO" query --run run predict Q0 "instance off"
}

@test "labels: evaluate --per-relation shows those of relations" {
  "$OCTAVO" --quiet evaluate --run run --split train --per-relation >table
  grep -qE '^P31 \(instance of\) +[0-9]' table
  "$OCTAVO" --quiet evaluate --run run --split train --per-relation --json >report.json
  [[ "$(json '[r["label"] for r in o["relations"] if r["relation"] == "P31"]' <report.json)" == "['instance of']" ]]
}

@test "labels: export has a column or a field for them" {
  "$OCTAVO" --quiet export --run run --output v.csv
  head -1 v.csv | grep -q '^"name","label",v1,'
  grep -q '^"Q3","universe, ""all""",' v.csv
  "$OCTAVO" --quiet export --run run --output v.jsonl
  [[ "$(grep '"name":"Q0"' v.jsonl | json 'o["label"], len(o["vector"])')" == "('Douglas Adams', 8)" ]]
  [[ "$(grep '"name":"Q4"' v.jsonl | json 'o["label"]')" == "None" ]]  # it has none
  "$OCTAVO" --quiet export --run run --output v.jsonl --table relations
  [[ "$(grep '"name":"P31"' v.jsonl | json 'o["label"]')" == "instance of" ]]
  "$OCTAVO" --quiet export --run run --output projector.tsv --format projector --metadata metadata.tsv
  [[ "$(head -1 metadata.tsv)" == $'name\tlabel' ]]
  grep -q $'^Q0\tDouglas Adams$' metadata.tsv
  printf 'Q0\n' | "$OCTAVO" --quiet export --run run --output one.csv --select -
  [[ "$(wc -l <one.csv)" == 2 ]]
  grep -q '^"Q0","Douglas Adams",' one.csv
}

@test "labels: the report has them in the map and beside relations" {
  "$OCTAVO" --quiet report --run run --output page.html --split train
  sed -n 's/.*id="map-data">\(.*\)<\/script>.*/\1/p' page.html >map.json
  [[ "$(json '"Douglas Adams (Q0)" in o["names"], "Q5" in o["names"]' <map.json)" == "(True, True)" ]]
  grep -q 'instance of (P31)' page.html
  # The first node of the map and its neighbours; the likeliest tails of trained edges, which are marked.
  grep -q '<section id="examples">' page.html
  [[ "$(grep -c '<table class="answers">' page.html)" == 6 ]]
  grep -q '<td>Douglas Adams (Q0)</td>' page.html
  "$OCTAVO" --quiet report --run run --output none.html --examples 0
  [[ "$(grep -c 'id="examples"' none.html)" == 0 ]]
}

@test "labels: literals of a predicate, in one language" {
  {
    printf '<http://e/Q42> <http://e/P31> <http://e/Q5> .\n'
    printf '<http://e/Q42> <http://www.w3.org/2000/01/rdf-schema#label> "Douglas Adams"@en .\n'
    printf '<http://e/Q42> <http://www.w3.org/2000/01/rdf-schema#label> "D. Adams"@de .\n'
    printf '<http://e/Q5> <http://www.w3.org/2000/01/rdf-schema#label> "Mensch" .\n'
  } >world.nt
  "$OCTAVO" import world.nt --graph world --label-predicate '<http://www.w3.org/2000/01/rdf-schema#label>' \
    --label-language de 2>err.log
  grep -q 'labels: 2 nodes and 0 relations' err.log
  grep -q '^D. Adams$' world/nodes.labels
  grep -q '^Mensch$' world/nodes.labels  # without a tag
  [[ "$(json 'o["train_edges"], o["relations"]' <world/graph.json)" == "(1, 1)" ]]
  "$OCTAVO" import <(grep -v Mensch world.nt) --format ntriples --graph world2 --label-predicate http://www.w3.org/2000/01/rdf-schema#label \
    --label-language fr 2>err.log
  grep -q '2 triples of that predicate, none in the language fr' err.log
  "$OCTAVO" import world.nt --graph world3 --label-predicate rdfs:label 2>err.log
  grep -q 'no triple has the predicate rdfs:label with a literal; expected its whole IRI' err.log
  [[ ! -e world2/nodes.labels ]]
  fails 2 'found no --label-predicate' "$OCTAVO" import world.nt --graph world4 --label-language en
}

@test "labels: a grown graph and a walk graph keep them" {
  printf 'Q0\tP31\tQ100\n' >more.tsv
  printf 'Q100\ttwenty\n' >more-labels.tsv
  "$OCTAVO" --quiet import more.tsv --base graph --graph grown --labels more-labels.tsv
  grep -q '^twenty$' grown/nodes.labels
  grep -q '^Douglas Adams$' grown/nodes.labels
  "$OCTAVO" --quiet import edges.tsv --columns head,-,tail --graph simple --labels labels.tsv
  "$OCTAVO" --quiet walk --graph simple --output walked --walks 2 --length 5
  cmp simple/nodes.labels walked/nodes.labels
  "$OCTAVO" --quiet verify walked
}

@test "labels: damage and malformed files" {
  cp -r graph spoilt
  sed -i 's/Douglas/Dougles/' spoilt/nodes.labels
  fails 4 'spoilt/nodes.labels: line' "$OCTAVO" query --run run --graph spoilt neighbors Q0
  if "$OCTAVO" verify spoilt >out.log 2>&1; then false; fi
  grep -q 'nodes.labels' out.log
  printf 'Q0 no tab\n' >bad.tsv
  fails 3 'bad.tsv:1: found 1 tsv column in "Q0 no tab", expected 2: a name and its label' \
    "$OCTAVO" import edges.tsv --graph never --labels bad.tsv --dry-run
  fails 3 'bad.tsv:1: found 1 tsv column in "Q0 no tab", expected 2: a name and its label' \
    "$OCTAVO" import edges.tsv --graph none --labels bad.tsv
  fails 2 'nowhere.tsv: no such file' "$OCTAVO" import edges.tsv --graph none --labels nowhere.tsv
  [[ ! -e none ]]
}
