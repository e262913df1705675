# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Completion of walkhammer for bash 4.4 or newer, of which it needs nothing but bash:
#   source walkhammer.bash
# What can be chosen, the command itself says: harness/cli/completion.h.

_walkhammer() {
  local last=${COMP_WORDS[COMP_CWORD]} words=() word value
  # bash also splits words at these, and replaces only what follows them.
  case $last in = | : | @) last= ;; esac
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [ "${#words[@]}" -gt 0 ] && [[ $word == [=:@]* || ${words[-1]} == *[=:@] ]] &&
      [[ $COMP_LINE == *"${words[-1]}$word"* ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  words[-1]=${words[-1]#[\"\']}
  last=${last#[\"\']}
  COMPREPLY=()
  while IFS=$'\t' read -r value _; do
    case $value in
      :files) compopt -o default ;;
      :folders) compopt -o plusdirs ;;
      *) COMPREPLY+=("${value#"${words[-1]%"$last"}"}") ;;
    esac
  done < <("${1/#\~/$HOME}" complete "${words[@]}" 2>/dev/null)
}
complete -F _walkhammer walkhammer
