setup_file() { load reading.bash; make_run; }
setup() { load reading.bash; cd "$BATS_FILE_TMPDIR" || return 1; }

@test "export: npy and names are the run's and the graph's own" {
  "$OCTAVO" --quiet export --run run --output out.npy --names out.names
  cmp out.npy run/embeddings.npy
  cmp out.names graph/nodes.names
  [[ ! -e out.npy.partial ]]
}

@test "export: the extension determines the format, and the log says which" {
  "$OCTAVO" export --run run --output ending.vec.gz 2>ending.log
  grep -q "^ending.vec.gz: word2vec, " ending.log
  "$OCTAVO" --quiet export --run run --output named.txt --format word2vec
  zcat ending.vec.gz | cmp - named.txt
}

# interrupted SIGNAL PARTIAL COMMAND...: the signal comes when the partial file exists; the exit code is the signal's,
# and no file is left.
interrupted() {
  local signal="$1" partial="$2" status=0 pid
  shift 2
  OCTAVO_FAILPOINT="file.write:1=sleep,file.sync:1=sleep,file.sync:2=sleep" env --default-signal="$signal" "$@" \
    >out.log 2>err.log &
  pid=$!
  until compgen -G "$partial" >/dev/null; do kill -0 "$pid"; sleep 0.01; done
  kill "-$signal" "$pid"
  wait "$pid" || status=$?
  [ "$status" -eq $((128 + $(kill -l "$signal"))) ]
  grep -q "^warning: interrupted; .* was not made$" err.log
  [ "$(ls -A | grep -c partial)" -eq 0 ]
}

@test "export, index, report: a signal ends them at once and leaves nothing" {
  mkdir stopped
  cd stopped
  for signal in INT TERM HUP; do
    interrupted "$signal" ".out.npy.partial-*" "$OCTAVO" export --run ../run --output out.npy --names out.names
    interrupted "$signal" ".i.partial-*" "$OCTAVO" index --run ../run --output i
    interrupted "$signal" ".r.html.partial-*" "$OCTAVO" report --run ../run --output r.html
  done
  [ "$(ls -A | tr '\n' ' ')" = "err.log out.log " ]
}

@test "export: files that belong together appear when all are complete" {
  echo old >kept.names
  for failing in 1 2; do
    OCTAVO_FAILPOINT="file.sync:$failing=eio" fails 1 "file.sync" \
      "$OCTAVO" --quiet export --run run --output whole.npy --names kept.names
    [ ! -e whole.npy ] && [ "$(cat kept.names)" = old ]
  done
}

@test "export: standard output, and relations" {
  "$OCTAVO" --quiet export --run run --output - --format tsv >all.tsv
  [[ "$(wc -l <all.tsv)" == 14 ]]
  cut -f1 all.tsv | cmp - graph/nodes.names
  "$OCTAVO" --quiet export --run run --output - --format word2vec --table relations >relations.txt
  [[ "$(head -1 relations.txt)" == "2 8" ]]
  [[ "$(cut -d' ' -f1 relations.txt | tail -2 | xargs)" == "in near" ]]
}

@test "export: word2vec replaces blanks and says how many" {
  "$OCTAVO" --quiet export --run run --output out.w2v --format word2vec 2>warning
  grep -q '^New_York ' out.w2v
  grep -q 'warning: 1 of 14 names' warning
}

@test "export: the halves of source-context rows" {
  "$OCTAVO" --quiet train --preset none --graph graph --run halves --model source-context --dim 6 --epochs 1
  for part in source context; do "$OCTAVO" --quiet export --run halves --output "$part.npy" --part "$part"; done
  /usr/bin/python3 -c '
import numpy
whole = numpy.load("halves/embeddings.npy")
assert whole.shape == (14, 6) and whole.any()
assert (numpy.load("source.npy") == whole[:, :3]).all() and (numpy.load("context.npy") == whole[:, 3:]).all()'
  fails 2 "--part source: found embeddings of the complex model" "$OCTAVO" export --run run --output x --part source
  fails 2 "source" "$OCTAVO" export --run halves --output x --part target
}

# Names that formats cannot hold, all rows and some, plain and compressed; the checker must detect a wrong row.
@test "export: numpy, gensim, h5py, json and csv read every format" {
  end_to_end="$BATS_TEST_DIRNAME/../end_to_end"
  printf '%s\t%s\n' 'New York' 'Zürich' 'a "b" \c' 'x' $'caf\xe9' 'New York' '東京' '#lead' 'x' 'NaN' >names.txt
  "$OCTAVO" --quiet import names.txt --graph names
  "$OCTAVO" --quiet train --preset none --graph names --run named --model dot --dim 6 --epochs 1
  "$end_to_end/export_all" "$OCTAVO" named plain "" 2>/dev/null
  /usr/bin/python3 "$end_to_end/check_readers.py" named/embeddings.npy names/nodes.names plain
  printf '%s\n' '東京' $'caf\xe9' '#lead' 'x' >selected
  "$end_to_end/export_all" "$OCTAVO" named some .zst --select selected 2>/dev/null
  /usr/bin/python3 "$end_to_end/check_readers.py" named/embeddings.npy names/nodes.names some selected
  printf 'x\n東京\n' >others
  if /usr/bin/python3 "$end_to_end/check_readers.py" named/embeddings.npy names/nodes.names some others; then false; fi
}

@test "export: rows by name and by expression" {
  printf 'city3\nnobody\n\ncity1\n' >list
  fails 3 'list:2: found "nobody", which names no row' "$OCTAVO" --quiet export --run run --output - --select list
  "$OCTAVO" export --run run --output some.tsv --format tsv --select list --unknown skip 2>warning
  [[ "$(cut -f1 some.tsv | xargs)" == "city3 city1" ]]
  grep -q 'warning: list: left out 2 names that the graph lacks, the first "nobody"' warning
  printf 'city3\ncity1\n' | "$OCTAVO" --quiet export --run run --output piped.tsv --format tsv --select -
  cmp some.tsv piped.tsv
  "$OCTAVO" --quiet export --run run --output - --format tsv --match '^c.*[12]$' | cut -f1 | sort >matched
  [[ "$(xargs <matched)" == "city1 city2 country1 country2" ]]
  "$OCTAVO" --quiet export --run run --output - --format tsv --table relations --match near | grep -q ^near
  "$OCTAVO" --quiet export --run run --output same.npy --select graph/nodes.names
  cmp same.npy run/embeddings.npy
  fails 2 'missing )' "$OCTAVO" export --run run --output x --match 'a('
  fails 2 'matches none of 14 names' "$OCTAVO" export --run run --output x --match nobody
  fails 2 'absent: ' "$OCTAVO" export --run run --output x --select absent
  [[ ! -e x ]]
  fails 2 "--unknown skip: found no --select" "$OCTAVO" export --run run --output x --unknown skip
  cp list list.before
  fails 2 "--output list: --select reads the same file" "$OCTAVO" export --run run --output list --format tsv --select ./list --unknown skip
  cmp list list.before
}

# It became readable by everybody.
@test "export: a private file that is replaced stays private" {
  touch private.npy && chmod 600 private.npy
  "$OCTAVO" --quiet export --run run --output private.npy
  cmp private.npy run/embeddings.npy
  [ "$(stat -c %a private.npy)" = 600 ]
}

@test "export: the JSON names of hdf5 and the metadata of projector are written beside the output" {
  mkdir beside
  "$OCTAVO" --quiet export --run run --output beside/vectors.tsv --format projector
  cmp beside/vectors.metadata.tsv graph/nodes.names
  "$OCTAVO" --quiet export --run run --output - --format hdf5 >piped.h5
  "$OCTAVO" --quiet export --run run --output written.h5 --format hdf5
  cmp piped.h5 written.h5
  fails 2 "expected --metadata FILE" "$OCTAVO" export --run run --output - --format projector
  fails 2 "--metadata x: --output writes to the same file" "$OCTAVO" export --run run --output x --format projector --metadata x
  fails 2 "is a file of the run" "$OCTAVO" export --run run --output x --type int8 --scales run/STATE
  fails 2 "--scales: found none with --type int8" "$OCTAVO" export --run run --output x --type int8
  fails 2 "--scales: found one with --type float16" "$OCTAVO" export --run run --output x --type float16 --scales y
  fails 2 "--type float16: found --format tsv; expected npy" "$OCTAVO" export --run run --output x --type float16 --format tsv
  fails 2 "--metadata: found --format npy; expected projector" "$OCTAVO" export --run run --output x --metadata y
  [[ ! -e x && ! -e y ]]
}

# An unrelated metadata.tsv beside the output was replaced, and nothing said so.
@test "export: the metadata of projector is named for its output, and replacing it is reported" {
  mkdir told
  echo precious >told/metadata.tsv
  "$OCTAVO" export --run run --output told/hp2.tsv --format projector 2>log
  [[ "$(cat told/metadata.tsv)" == precious ]]
  grep -q '^told/hp2.metadata.tsv: [^,]*$' log
  "$OCTAVO" export --run run --output told/hp2.tsv.zst --format projector 2>log
  grep -q '^told/hp2.metadata.tsv: .*, replacing the existing file$' log
  "$OCTAVO" export --run run --output told/other.tsv --format projector --metadata told/metadata.tsv 2>log
  grep -q '^told/metadata.tsv: .*, replacing the existing file$' log
  "$OCTAVO" export --run run --output told/some.npy --names told/metadata.tsv 2>log
  grep -q '^told/metadata.tsv: .*, replacing the existing file$' log
}

@test "export: wrong usage changes no file" {
  cp -r run before
  fails 2 "is a file of the run or its graph" "$OCTAVO" export --run run --output run/embeddings.npy
  fails 2 "is a file of the run or its graph" "$OCTAVO" export --run run --output x.npy --names run/../graph/nodes.names
  fails 2 "the smallest sufficient --memory is" "$OCTAVO" export --run run --output x --memory 1MiB
  [[ ! -e x ]]
  fails 2 "hdf6" "$OCTAVO" export --run run --output x --format hdf6
  fails 2 "no folder absent" "$OCTAVO" export --run run --output absent/x.npy
  fails 2 "is a folder" "$OCTAVO" export --run run --output graph
  fails 2 "--output writes to the same file" "$OCTAVO" export --run run --output x --names x
  diff -r run before
}

@test "export: a full disk leaves no file" {
  OCTAVO_FAILPOINT=file.write=enospc fails 1 "No space left" "$OCTAVO" --quiet export --run run --output full.npy
  [[ ! -e full.npy && ! -e full.npy.partial ]]
}

# The vectors were already in place when the names met the full disk.
@test "export: names that do not fit the disk leave the vectors unchanged" {
  echo old >both.npy
  OCTAVO_FAILPOINT=file.write:1=enospc fails 1 "No space left on device; make room there" \
    "$OCTAVO" --quiet export --run run --output both.npy --names both.names
  OCTAVO_FAILPOINT=file.write:2=enospc fails 1 "No space left" \
    "$OCTAVO" --quiet export --run run --output both.npy --names both.names
  [[ "$(cat both.npy)" == old && ! -e both.names ]]
  [[ -z "$(find . -name '.both*')" ]]
}

@test "export: a reader that closed the pipe is an error with a message" {
  { sleep 0.3; fails 1 "the reader closed the pipe" "$OCTAVO" --quiet export --run run --output /dev/fd/9 9>&1; echo $? >code; } | true
  for _ in 1 2 3 4 5 6 7 8 9 10; do [[ -s code ]] && break; sleep 0.3; done
  [[ "$(cat code)" == 0 ]]
}

@test "export, evaluate and query: a damaged table exits with 4, names the file, and leaves nothing" {
  cp -r run damaged
  printf x | dd of=damaged/embeddings.npy bs=1 seek=4200 conv=notrunc status=none
  before="$(cd damaged && sha256sum -- *)"
  for format in npy word2vec word2vec-binary tsv jsonl hdf5; do
    fails 4 "damaged/embeddings.npy: partition 0 (byte 4096 on): checksum" \
      "$OCTAVO" --quiet export --run damaged --output damaged.out --format "$format"
    [[ ! -e damaged.out && ! -e damaged.out.partial ]]
  done
  fails 4 "damaged/embeddings.npy: partition 0" "$OCTAVO" evaluate --run damaged
  fails 4 "damaged/embeddings.npy: partition 0" "$OCTAVO" query --run damaged neighbors city1
  for file in embeddings.npy relations.npy STATE run.json; do
    rm -r damaged
    cp -r run damaged
    truncate -s -1 "damaged/$file"
    [[ "$file" != run.json ]] || truncate -s 100 "damaged/$file"
    before="$(cd damaged && sha256sum -- *)"
    fails 4 "damaged/$file" "$OCTAVO" export --run damaged --output damaged.out --format npy
    fails 4 "damaged/$file" "$OCTAVO" evaluate --run damaged
    fails 4 "damaged/$file" "$OCTAVO" query --run damaged neighbors city1
    [[ "$(cd damaged && sha256sum -- *)" == "$before" ]]
  done
  rm -r damaged
}

@test "export, evaluate and query: a damaged graph exits with 4, names the file, and changes nothing" {
  cp -r graph damaged
  for file in graph.json nodes.hash nodes.offsets nodes.names relations.tsv train.cells valid.cells test.cells; do
    cp "graph/$file" "damaged/$file"
    truncate -s -2 "damaged/$file"
    before="$(cd damaged && sha256sum -- *)"
    for command in "export --output damaged.out --format npy" "evaluate" "query neighbors city1"; do
      # shellcheck disable=SC2086 # shellcheck disable=SC2086 # words of a command
      fails 4 "damaged/$file" "$OCTAVO" ${command%% *} --run run --graph damaged $(cut -s -d' ' -f2- <<<"$command")
    done
    fails 4 "damaged/$file" "$OCTAVO" inspect damaged
    fails 4 "damaged/$file" "$OCTAVO" train --preset none --graph damaged --run damaged.run
    [[ ! -e damaged.out && ! -e damaged.run ]]
    [[ "$(cd damaged && sha256sum -- *)" == "$before" ]]
    cp "graph/$file" "damaged/$file"
  done
  rm -r damaged
}

# They were written as NumPy's arrays, with exit code 0.
@test "export: an ending of no format is refused with the endings and formats that exist" {
  for name in x.json x.parquet x.arrow x.xlsx.gz; do
    fails 2 "--output $name: no format has the ending" "$OCTAVO" export --run run --output "$name"
    grep -q 'expected \.npy, .*\.csv, .*, or --format with npy, .*csv' err.log
    [ ! -e "$name" ]
  done
  "$OCTAVO" --quiet export --run run --output x.json --format jsonl
  head -n 1 x.json | grep -q '^{"name":'
  "$OCTAVO" --quiet export --run run --output unnamed  # npy, as there is no ending
  cmp unnamed run/embeddings.npy
}

@test "export: csv has titles and quoted names, safetensors one tensor, for their readers" {
  "$OCTAVO" --quiet export --run run --output all.csv
  "$OCTAVO" --quiet export --run run --output all.safetensors --names all.names
  /usr/bin/python3 - <<'PYTHON'
import csv, json, numpy, struct
rows = numpy.load("run/embeddings.npy")
names = open("graph/nodes.names", newline="").read().split("\n")[:-1]
with open("all.csv", newline="") as file:
    titles, *lines = csv.reader(file)
assert titles == ["name"] + [f"v{i}" for i in range(1, rows.shape[1] + 1)], titles
assert [line[0] for line in lines] == names
assert any(" " in name for name in names)
assert (numpy.array([line[1:] for line in lines], numpy.float32) == rows).all()
data = open("all.safetensors", "rb").read()
(length,) = struct.unpack("<Q", data[:8])
header = json.loads(data[8:8 + length])
assert length % 8 == 0 and list(header) == ["embeddings"], header
tensor = header["embeddings"]
assert tensor["dtype"] == "F32" and tensor["shape"] == list(rows.shape) and tensor["data_offsets"] == [0, rows.nbytes]
assert data[8 + length:] == rows.tobytes()
PYTHON
  cmp all.names graph/nodes.names
  printf 'say "a, b"\tc\nc\td\n' >quotes.tsv
  "$OCTAVO" --quiet import quotes.tsv --graph quotes --columns head,tail
  "$OCTAVO" --quiet train --graph quotes --run quotes-run --model dot --dim 2 --epochs 1
  "$OCTAVO" --quiet export --run quotes-run --output quotes.csv --select <(echo 'say "a, b"')
  sed -n 2p quotes.csv | grep -q '^"say ""a, b""",-\?[0-9]'
}

@test "export: --escape-formulas keeps a spreadsheet from running names" {
  printf '=1+1\tnear\t-2\n@x\tnear\tplain\n' >formulas.tsv
  "$OCTAVO" --quiet import formulas.tsv --graph formulas --format tsv
  "$OCTAVO" --quiet train --graph formulas --run formulas-run --dim 4 --epochs 1
  "$OCTAVO" --quiet export --run formulas-run --output safe.tsv --escape-formulas
  [ "$(cut -f 1 safe.tsv | sort | tr '\n' ' ')" = "'-2 '=1+1 '@x plain " ]
  "$OCTAVO" --quiet export --run formulas-run --output safe.csv --escape-formulas
  [ "$(tail -n +2 safe.csv | cut -d , -f 1 | tr -d '"' | sort | tr '\n' ' ')" = "'-2 '=1+1 '@x plain " ]
  "$OCTAVO" --quiet export --run formulas-run --output p.tsv --metadata m.tsv --format projector --escape-formulas
  [ "$(sort m.tsv | tr '\n' ' ')" = "'-2 '=1+1 '@x plain " ]
  "$OCTAVO" --quiet export --run formulas-run --output as-they-are.tsv
  cut -f 1 as-they-are.tsv | grep -qx -- '-2'
  fails 2 '--escape-formulas: found --format npy; expected tsv, csv or projector' \
    "$OCTAVO" export --run run --output x.npy --escape-formulas
}
