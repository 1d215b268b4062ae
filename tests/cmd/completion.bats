#!/usr/bin/env bats
# Completion: what the program says is allowed at a place, and bash, zsh and fish as people type into them.

setup() { cd "$BATS_TEST_TMPDIR" && mkdir -p some-graph other && touch edges.tsv; }

# offers WORD... -- CANDIDATE...: exactly these; the last one names what the shell adds.
offers() {
  local words=()
  while [[ "$1" != -- ]]; do words+=("$1"); shift; done
  shift
  local found
  found="$("$OCTAVO" __complete "${words[@]}" | cut -f1 | xargs)"
  [ "$found" = "$*" ] || { echo "${words[*]} offers $found"; return 1; }
}

@test "verbs, flags, choices and paths are offered where they belong" {
  offers tr -- train :none
  offers "" -- $("$OCTAVO" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p') :none
  offers --log-format json tr -- train :none
  offers train --le -- --learning-rate --learning-rate-schedule :none
  offers train --mod -- --model :none
  offers train --model dist -- distmult :none
  offers train --model=dist -- --model=distmult :none
  offers train --reciprocal --model t -- transe :none
  offers train --dim 8 --storage "" -- float32 bf16 :none
  offers train --negatives "" -- all :none
  offers train --graph "" -- :dirs
  offers train --config karate -- karate-dot :files  # from configs/, for a build tree's program
  offers tune --space umls -- umls-complex :files    # from configs/tune
  offers train --graph=so -- :dirs
  offers train --thr -- --threads :none
  offers train --nosuch=x -- :none
  offers import "" -- :files
  offers import one.tsv "" -- :files
  offers query --run run pre -- predict :none
  offers query --run run neighbors x --metric "" -- cosine dot :none
  offers query predict h r "" -- :none
  offers evaluate --json --split "" -- train valid test :none
  offers inspect "" -- :files
  offers help tr -- train :none
  offers presets kar -- karate-dot :none
  [ "$("$OCTAVO" __complete import -- --he)" = :files ]
}

@test "every flag of every help is offered" {
  for verb in $("$OCTAVO" __complete "" | sed -n 's/^\([a-z]*\)\t.*/\1/p'); do
    for flag in $("$OCTAVO" "$verb" --help-all | grep -oP '^  (-\w,)?\K--[a-z-]+'); do
      "$OCTAVO" __complete "$verb" "$flag" | grep -q -- "^$flag	"
    done
  done
}

@test "an installed program offers its presets, and --config accepts their names" {
  mkdir -p root/bin root/share/octavo/configs
  cp "$OCTAVO" root/bin/octavo
  printf 'dim = 24\n' >root/share/octavo/configs/small.toml
  [ "$(root/bin/octavo __complete train --config "" | cut -f1 | xargs)" = "small :files" ]
  mkdir root/share/octavo/configs/walk
  printf 'walks = 3\n' >root/share/octavo/configs/walk/few.toml
  [ "$(root/bin/octavo __complete walk --config "" | cut -f1 | xargs)" = "few :files" ]
  root/bin/octavo walk --config few --print-config | grep -qx 'walks = 3'
  printf '1\t2\n2\t3\n3\t1\n' >edges.tsv
  root/bin/octavo --quiet import edges.tsv --graph graph
  root/bin/octavo plan --graph graph --config small --model dot --no-probe >by-name.txt
  root/bin/octavo plan --preset none --graph graph --dim 24 --model dot --no-probe >by-flag.txt
  cmp by-name.txt by-flag.txt
}

@test "bash, zsh and fish complete what is typed" {
  for shell in bash zsh fish; do
    command -v "$shell" >/dev/null || { echo "no $shell; scripts/setup installs it"; return 1; }
    mkdir -p "home-$shell"
    HOME="$PWD/home-$shell" timeout 60 /usr/bin/python3 "$BATS_TEST_DIRNAME/type_and_tab.py" "$shell" "$OCTAVO"
  done
}

@test "another shell is rejected" {
  run "$OCTAVO" completion csh
  [ "$status" -eq 2 ]
}
