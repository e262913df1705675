# SPDX-License-Identifier: Apache-2.0
# Prints the mutants of a C++ file, one a line: line number, number of the line among equal lines,
# the line, the mutated line; separated by tabs, without indentation. Relies on clang-format: spaces
# surround binary operators but not template brackets, and a statement begins on a line of its own.
# Comments, strings and preprocessor lines are not mutated.
#   awk -f ci/test/mutants.awk FILE

function mutant(from, to) {
  if (from != to) printf "%d\t%d\t%s\t%s\n", NR, same, from, to
}

# The text without a comment, and with strings and characters replaced by as many "_".
function code_of(text,   i, c, quote, code) {
  for (i = 1; i <= length(text); i++) {
    c = substr(text, i, 1)
    if (quote != "") {
      code = code "_"
      if (c == "\\") { i++; code = code "_" } else if (c == quote) quote = ""
    } else if (substr(text, i, 2) == "//") {
      break
    } else if (c == "\"" || (c == "'" && substr(code, i - 1, 1) !~ /[0-9a-fA-F]/)) {
      quote = c
      code = code "_"
    } else {
      code = code c
    }
  }
  sub(/ +$/, "", code)
  return code
}

# A mutant for each occurrence of `from`, which becomes `to`.
function each(from, to,   at, rest, done) {
  for (rest = code; (at = index(rest, from)) > 0; rest = substr(rest, at + length(from))) {
    done = length(code) - length(rest) + at - 1
    mutant(line, substr(line, 1, done) to substr(line, done + length(from) + 1))
  }
}

# The position of the parenthesis that closes the one at `open`; 0 if it is not on this line.
function closing(open,   i, depth) {
  for (i = open; i <= length(code); i++) {
    if (substr(code, i, 1) == "(") depth++
    if (substr(code, i, 1) == ")" && --depth == 0) return i
  }
  return 0
}

function negate_condition(word,   at, open, end, condition, last) {
  at = index(code, word " (")
  if (at == 0 || (at > 1 && substr(code, at - 1, 1) != " ")) return
  open = at + length(word) + 1
  end = closing(open)
  if (end == 0) return
  while ((last = index(substr(code, open + 1, end - open - 1), "; ")) > 0) open += last + 1
  condition = substr(code, open + 1, end - open - 1)
  if (condition ~ / = / || condition ~ / : /) return
  mutant(line, substr(line, 1, open) "!(" substr(line, open + 1, end - open - 1) ")" substr(line, end))
}

function constants(   rest, done, number) {
  for (rest = code; match(rest, /[0-9]+/); rest = substr(rest, RSTART + RLENGTH)) {
    done = length(code) - length(rest) + RSTART - 1
    number = substr(code, done + 1, RLENGTH)
    if ((done > 0 && substr(code, done, 1) ~ /[A-Za-z0-9_.'"]/) || length(number) > 9 ||
        substr(code, done + 1 + RLENGTH, 1) ~ /[A-Za-z0-9_.'"]/) continue
    mutant(line, substr(line, 1, done) (number + 1) substr(line, done + RLENGTH + 1))
    mutant(line, substr(line, 1, done) (number - 1) substr(line, done + RLENGTH + 1))
  }
}

function statements() {
  if (before !~ /(^|[;{}:)]|else)$/ || code !~ /;$/) return
  if (code ~ /^[A-Za-z_*(][^ ]* ([-+*\/|&^%]|<<|>>)?= / || code ~ /^[^ ]+(\+\+|--);/ ||
      code ~ /^[A-Za-z_][^ (]*\([^;]*\);$/) {
    if (code !~ /^(return|if|for|while|switch|delete|using|static_assert|throw|break|continue)/)
      mutant(line, "{}")
  }
}

function returns(   value) {
  if (code !~ /^return [^;]+;$/) return
  value = substr(line, 8, index(code, ";") - 8)
  if (value ~ /^[{"0-9-]/) return
  if (value == "true") mutant(line, "return false;")
  else if (value == "false") mutant(line, "return true;")
  else mutant(line, "return !(" value ");")
}

{
  line = $0
  sub(/^ +/, "", line)
  same = ++seen[line]
  code = code_of(line)
  if (line !~ /^(#|\/\/|static_assert|template|using|namespace|case .*:$)/ && line !~ /\t|R"/) {
    each(" < ", " <= "); each(" < ", " >= ")
    each(" <= ", " < "); each(" <= ", " > ")
    each(" > ", " >= "); each(" > ", " <= ")
    each(" >= ", " > "); each(" >= ", " < ")
    each(" == ", " != "); each(" != ", " == ")
    each(" && ", " || "); each(" || ", " && ")
    negate_condition("if")
    negate_condition("while")
    constants()
    statements()
    returns()
  }
  if (code != "") before = code
}
