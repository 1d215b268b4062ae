#compdef octavo
# zsh completion of octavo. The program says what is allowed at a place; zsh completes files and folders.
_octavo() {
  local -a lines candidates
  local line more program=${${(Q)words[1]}/#\~\//$HOME/}
  lines=("${(@f)$("$program" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  more=$lines[-1]
  for line in "${(@)lines[1,-2]}"; do
    candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  local found=1
  (($#candidates)) && _describe -t octavo octavo candidates && found=0
  [[ $more == :files || $more == :dirs ]] && compset -P '--*='
  case $more in
    :files) _files && found=0 ;;
    :dirs) _path_files -/ && found=0 ;;
  esac
  return found
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _octavo "$@"
else
  compdef _octavo octavo
fi
