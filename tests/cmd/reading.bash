# A small trained run for the tests of the verbs that read runs. Sourced by bats files; $OCTAVO is the program.

# Makes graph and run in $BATS_FILE_TMPDIR: cities and countries, two relations, one node named "New York".
make_run() {
  cd "$BATS_FILE_TMPDIR" || return 1
  local i
  for i in 0 1 2 3 4 5 6 7 8 9; do
    printf 'city%d\tin\tcountry%d\n' "$i" $((i % 3))
    printf 'city%d\tnear\tcity%d\n' "$i" $(((i + 3) % 10))
  done >train.txt
  printf 'New York\tin\tcountry1\nNew York\tnear\tcity1\n' >>train.txt
  printf 'city1\tnear\tcity7\ncity2\tnear\tcity8\n' >test.txt
  "$OCTAVO" --quiet import train.txt --test test.txt --graph graph --format tsv
  "$OCTAVO" --quiet train --preset none --graph graph --run run --model complex --dim 8 --epochs 2 --seed 1
}

# Also makes web-graph and web-run: nodes and relations are IRIs, C3 is one country, and A1 is at two places.
make_web_run() {
  local i
  for i in 0 1 2 3 4 5 6 7; do
    printf '<http://example.org/city/A%d> <http://example.org/terms#in> <http://example.org/country/C%d> .\n' \
      "$i" $((i % 4))
  done >web.nt
  printf '<http://example.org/person/A1> <http://example.org/terms#from> <http://example.org/country/C3> .\n' >>web.nt
  "$OCTAVO" --quiet import web.nt --graph web-graph
  "$OCTAVO" --quiet train --preset none --graph web-graph --run web-run --model complex --dim 8 --epochs 1 --seed 1
}

# json EXPRESSION: evaluates a Python expression on the object `o` read from standard input.
json() { /usr/bin/python3 -c 'import json, sys; o = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }

# fails CODE TEXT COMMAND...: the command exits with CODE and prints TEXT on standard error, nothing on standard output.
fails() {
  local code="$1" text="$2" status=0
  shift 2
  "$@" >out.log 2>err.log || status=$?
  if [[ "$status" != "$code" ]] || ! grep -qF -- "$text" err.log || [[ -s out.log ]]; then
    echo "exit $status, expected $code and \"$text\":"
    cat err.log out.log
    return 1
  fi
}
