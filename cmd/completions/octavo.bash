# bash completion of octavo. The program says what is allowed at a place; bash completes files and folders.
_octavo() {
  local words=() joined=0 word i
  # bash splits --flag=VALUE at the sign.
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    word="${COMP_WORDS[i]}"
    if [[ "$word" == = && ${#words[@]} -gt 0 ]]; then
      words[-1]+="="
      joined=1
    elif ((joined)); then
      words[-1]+="$word"
      joined=0
    else
      words+=("$word")
    fi
  done
  local last="${words[-1]}" lines=() more line
  COMPREPLY=()
  mapfile -t lines < <("${COMP_WORDS[0]/#\~\//$HOME/}" __complete "${words[@]}" 2>/dev/null)
  ((${#lines[@]})) || return 0
  more="${lines[-1]}"
  unset 'lines[-1]'
  for line in "${lines[@]}"; do
    line="${line%%$'\t'*}"
    [[ "$last" == --*=* ]] && line="${line#*=}"
    COMPREPLY+=("$line")
  done
  [[ "$last" == --*=* ]] && last="${last#*=}"
  case "$more" in
    :files)
      compopt -o filenames
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$last")
      ;;
    :dirs)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -d -- "$last")
      ;;
  esac
}
complete -F _octavo octavo
