# Completion of bash for `hearth`. Subcommands and options are those that `hearth ... --help` names.
_hearth() {
  local current="${COMP_WORDS[COMP_CWORD]}" hearth="${COMP_WORDS[0]}" before=() i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "${COMP_WORDS[i]}" in
      --) # what follows is the program's
        if ((i == COMP_CWORD - 1)); then
          compopt -o filenames
          mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current")
        else
          compopt -o default
        fi
        return
        ;;
      -*) ;;
      *) ((${#before[@]} < 2)) && before+=("${COMP_WORDS[i]}") ;;
    esac
  done
  local help
  help=$("$hearth" "${before[@]}" --help 2>/dev/null) || help=$("$hearth" "${before[0]}" --help 2>/dev/null)
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(grep -oE -- '(^|[ ,])--?[a-z][a-z-]*' <<<"$help" | tr -d ' ,')" -- "$current")
    return
  fi
  case "${COMP_WORDS[COMP_CWORD - 1]}" in
    --machine)
      mapfile -t COMPREPLY < <(compgen -W "$("$hearth" model list 2>/dev/null | awk '{print $1}')" -- "$current")
      ;;
    *)
      # The words of the table of subcommands, which comes last.
      mapfile -t COMPREPLY < <(compgen -W "$(sed -n '/^Subcommands:/,$s/^  \([a-z][a-z-]*\).*/\1/p' <<<"$help")" -- "$current")
      ;;
  esac
  if ((${#COMPREPLY[@]} == 0)); then compopt -o default; fi
}
complete -F _hearth hearth
