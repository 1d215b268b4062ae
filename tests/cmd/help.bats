#!/usr/bin/env bats
# What a new user asks for: help in its forms, presets, and options under the names that other programs give them.

load training.bash

setup_file() { make_graph; }

setup() { cd "$BATS_TEST_TMPDIR" && ln -s "$BATS_FILE_TMPDIR/graph" graph; }

@test "octavo alone prints the first steps and the verbs, with the exit code of a missing verb" {
  fails 2 "First steps:" "$OCTAVO"
  grep -q '^  octavo import .* --graph graph' err.log
  grep -q '^  octavo train --graph graph --run run' err.log
  tr '\n' ' ' <err.log | grep -q 'Verbs: bench, generate, import.* help '
  grep -q 'octavo help VERB' err.log
}

@test "octavo help, with a verb and a subcommand, prints what --help prints" {
  cmp <("$OCTAVO" help) <("$OCTAVO" --help)
  cmp <("$OCTAVO" help import) <("$OCTAVO" import --help)
  cmp <("$OCTAVO" help train) <("$OCTAVO" train --help)
  cmp <("$OCTAVO" help --all train) <("$OCTAVO" train --help-all)
  cmp <("$OCTAVO" help query neighbors) <("$OCTAVO" query neighbors --help)
  fails 2 'unknown verb "trian"; did you mean "train"?' "$OCTAVO" help trian
  fails 2 'unknown subcommand "guess"; expected neighbors, predict, batch, prompt' "$OCTAVO" help query guess
  fails 2 'unknown subcommand "graph"; train has none' "$OCTAVO" help train graph
}

@test "train --help describes ten options first and names all others, --help-all describes all" {
  "$OCTAVO" train --help >help.txt
  [ "$(wc -l <help.txt)" -lt 70 ]
  described="$(grep -oP '^  (-\w,)?\K--[a-z-]+' help.txt | grep -vxE -- '--help(-all)?')"
  [ "$(wc -l <<<"$described")" = 10 ]
  [ "$(head -n 3 <<<"$described" | xargs)" = "--graph --run --preset" ]
  for flag in $("$OCTAVO" train --help-all | grep -oP '^  (-\w,)?\K--[a-z-]+'); do
    grep -qE -- "$flag( |\$|,)" help.txt || { echo "train --help lacks $flag"; return 1; }
  done
  grep -q 'octavo train --help-all describes' help.txt
}

@test "help is wrapped at words by COLUMNS, and 80 columns without a terminal" {
  for verb in "" train import walk evaluate query; do
    for columns in 60 80 100; do
      COLUMNS=$columns "$OCTAVO" $verb --help-all >help.txt
      awk -v most="$columns" 'length($0) > most { print "too long: " $0; bad = 1 } END { exit bad }' help.txt
      # A long command ends its lines with a backslash, choices their lines with a comma.
      cmp <(tr -s ' \n' ' ' <help.txt | sed 's/ \\ / /g; s/, /,/g') \
        <(COLUMNS=1000 "$OCTAVO" $verb --help-all | tr -s ' \n' ' ' | sed 's/, /,/g')
    done
  done
  cmp <("$OCTAVO" train --help) <(COLUMNS=80 "$OCTAVO" train --help)
  COLUMNS=80 script -qec "stty cols 66; unset COLUMNS; $OCTAVO import --help" /dev/null | tr -d '\r' >terminal.txt
  cmp terminal.txt <(COLUMNS=66 "$OCTAVO" import --help)
}

@test "presets are listed by verb with what each is for, in the help and by octavo presets" {
  "$OCTAVO" presets >list.txt
  grep -q '^octavo train --config$' list.txt
  grep -qE '^  karate-dot +Zachary.s karate club' list.txt
  sed -n '/^octavo walk --config$/,/^$/p' list.txt | grep -qE '^  cora +[A-Z]'
  sed -n '/^octavo tune --space$/,/^$/p' list.txt | grep -qE '^  umls-complex +[A-Z]'
  for preset in "$BATS_TEST_DIRNAME"/../../configs/{,walk/,tune/}*.toml; do
    grep -qE "^  $(basename "$preset" .toml)( |\$)" list.txt
  done
  "$OCTAVO" presets karate-dot | grep -qx 'model = "dot"'
  "$OCTAVO" train --help | tr '\n' ' ' | grep -q 'Presets for --config (octavo presets says what each is for): .*karate-dot'
  "$OCTAVO" tune --help | tr '\n' ' ' | grep -q 'Presets for --space .*umls-complex'
  fails 2 '"karate-dto" is neither a file nor a preset; did you mean "karate-dot"?' "$OCTAVO" presets karate-dto
  fails 2 '"umls" is neither a file nor a preset; did you mean "umls-complex"? octavo presets' "$OCTAVO" presets umls
}

# A program outside of its folder printed three empty headings, and sent others there.
@test "missing presets are an error that names the folder" {
  mkdir -p alone/bin
  cp "$OCTAVO" alone/bin/octavo
  fails 1 "no presets in $(realpath alone)/share/octavo/configs; expected" alone/bin/octavo presets
  fails 2 "\"karate-dot\" is neither a file nor a preset; no presets in $(realpath alone)/share/octavo/configs" \
    alone/bin/octavo presets karate-dot
  fails 2 "--config: \"karate-dot\" is neither a file nor a preset; no presets in $(realpath alone)/share" \
    alone/bin/octavo train --graph graph --run run --config karate-dot
}

@test "a misspelt preset is answered by the nearest, and one of another verb by that verb" {
  train=("$OCTAVO" train --graph graph --run run)
  fails 2 '--config: "karate-dto" is neither a file nor a preset; did you mean "karate-dot"?' "${train[@]}" --config karate-dto
  fails 2 'did you mean "karate-dot"?' "${train[@]}" --config karate-dto.toml
  fails 2 'did you mean "umls-complex"?' "${train[@]}" --config umls
  fails 2 '--preset: "umls" is neither a file nor a preset; did you mean "umls-complex"?' "${train[@]}" --preset umls
  fails 2 '--config: "xyzzy" is neither a file nor a preset; octavo presets lists them' "${train[@]}" --config xyzzy
  fails 2 '--config "cora": a preset of octavo walk' "${train[@]}" --config cora
  fails 2 '--config "cora-dot": a preset of octavo train' "$OCTAVO" walk --graph graph --output walks --config cora-dot
  fails 2 'did you mean "umls-complex"?' "$OCTAVO" tune --graph graph --output search --space umls-compelx
  fails 2 'some/where.toml: no such file' "${train[@]}" --config some/where.toml
}

@test "options and models under the names of other programs are answered or understood" {
  train=("$OCTAVO" train --graph graph --run run)
  fails 2 'unknown flag "--lr"; did you mean "--learning-rate"?' "${train[@]}" --lr 0.1
  fails 2 'unknown flag "--learning_rate"; did you mean "--learning-rate"?' "${train[@]}" --learning_rate=0.1
  fails 2 'unknown flag "--batch-size"; did you mean "--batch"?' "${train[@]}" --batch-size 100
  fails 2 'unknown flag "--embedding_dim"; did you mean "--dim"?' "${train[@]}" --embedding_dim 100
  printf 'lr = 0.1\n' >lr.toml
  fails 2 'lr.toml:1: unknown key "lr"; did you mean learning-rate?' "${train[@]}" --config lr.toml
  cmp <("$OCTAVO" train --print-config --model complex) <("$OCTAVO" train --print-config --model ComplEx)
  cmp <("$OCTAVO" train --print-config --loss self-adversarial) <("$OCTAVO" train --print-config --loss Self_Adversarial)
  printf 'model = "DistMult"\n' >model.toml
  "$OCTAVO" train --print-config --config model.toml | grep -qx 'model = "distmult"'
  fails 2 '--model: found "Compl"; expected one of dot, distmult' "${train[@]}" --model Compl
}
