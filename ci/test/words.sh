#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the English of pages, messages and help by a list of words, ci/test/words.txt, and the
# length of their sentences. Words are looked for in comments and in shell scripts, too; code blocks
# and code spans of pages are not looked at, and of tests only the comments. Commit messages are
# checked for words, as they come.
#   ci/test/words.sh [ROOT]           the pages and the sources of a tree (default: this one)
#   ci/test/words.sh --message FILE   the message of a commit
# A sentence ends with a full stop, a question mark, an exclamation mark, or the end of its
# paragraph, list item or message. Tables, headings, quotations and code blocks are not counted. A
# code span is one word; so are names and numbers in a row, which is a list. A label that begins a
# list item ("**Label**: ...") is none.
# Exit codes: 0 no hit, 1 hits, each printed with what to write instead; 2 usage, or nothing to check.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
most_words=25
words=$(cd "$(dirname "$0")" && pwd)/words.txt
case $#${1:-} in
2--message) set -- message "$2" ;;
[01] | 1[!-]*)
  cd "${1:-$(dirname "$0")/../..}" || exit 2
  # shellcheck disable=SC2046  # no file of this tree has a blank in its name
  set -- tree $(git ls-files --cached --others --exclude-standard -- '*.md' '*.cc' '*.h' '*.inc' '*.c' \
    '*.java' '*.sh' '*.bats' '*.cmake' '*CMakeLists.txt' | grep -Ev '^ci/test/words|^docs/findings/README')
  [ $# -gt 1 ] || {
    echo "words: $PWD has no pages and no sources that git knows" >&2
    exit 2
  }
  ;;
*)
  echo "words: expected a folder, or --message FILE" >&2
  exit 2
  ;;
esac
perl -e '
  use strict;
  my ($words, $most, $kind, @files) = @ARGV;
  my (@rules, @small, $bad);
  open my $in, "<", $words or die "$words: $!";
  while (<$in>) {
    chomp;
    next if /^#/;
    my ($pattern, $instead, $exception) = split /\t/;
    push @rules, [qr/$pattern/i, $instead, ($exception // "") eq "" ? undef : qr/$exception/i];
    push @small, qr/\L$pattern/;
  }
  sub check {
    my ($place, $text) = @_;
    my $lower = lc $text;  # most texts have none of the words, and this is fast
    return unless grep { $lower =~ $_ } @small;
    for my $rule (@rules) {
      my ($pattern, $instead, $exception) = @$rule;
      my $left = $text;
      $left =~ s/$exception//g if $exception;
      next unless $left =~ /$pattern/;
      my $hit = $&;
      print "$place: \"$hit\": write $instead\n";
      $bad = 1;
    }
  }
  my $name = qr/(?:CODE|[^\s,;:]*\d[^\s,;:.]*(?:\.[^\s,;:.]+)*)/;
  my $joint = qr/(?:,? (?:and|or|to) |, )/;
  sub measure {
    my ($place, $text) = @_;
    return if ($text =~ tr/ //) < $most;
    $text =~ s/`[^`]*`/CODE/g;
    $text =~ s/\]\([^)]*\)/]/g;
    $text =~ s/^(\*\*[^*]+\*\*|CODE|\[[^\]]*\])(?:,? (?:and )?CODE)*:? //;
    $text =~ s/[][*()"]//g;
    $text =~ s/\b(e\.g|i\.e|etc|vs|al)\. /$1 /g;
    $text =~ s/$name(?:$joint$name)+/LIST/g;
    for my $sentence (split /(?<=[.?!]) +| · /, $text) {
      my $count = () = $sentence =~ /[^\s]*[\w{}][^\s]*/g;
      next unless $count > $most;
      print "$place: $count words, not at most $most: $sentence\n";
      $bad = 1;
    }
  }
  sub page {
    my ($in, $file) = @_;
    my ($code, $paragraph, $start) = (0, "", 0);
    my $end = sub { measure("$file:$start", $paragraph) if $paragraph ne ""; $paragraph = "" };
    while (<$in>) {
      last if $kind eq "message" && /^# -+ >8 -+$/;  # git commit --verbose: the diff follows
      if (/^ *```/) { $end->(); $code = !$code; next }
      next if $code || ($kind eq "message" && /^#/);
      if ($kind eq "tree") {
        chomp;
        $end->() if /^\s*$|^\s*[|#<>]|^---/ || s/^\s*(?:[*-]|\d+\.) //;
        $start = $. if $paragraph eq "";
        $paragraph .= $paragraph eq "" ? $_ : " $_" unless /^\s*$|^\s*[|#<>]|^---|^    /;
      }
      s/`[^`]*`/CODE/g;
      s/\]\([^)]*\)/]/g;
      check("$file:$.", $_);
    }
    $end->();
  }
  # The comments, joined where lines follow each other; what is left of the text is code.
  sub comments {
    my ($file, $sign, $text) = @_;
    # Comments of blocks become comments of lines; those with code behind them are checked here.
    my $literal = qr{"(?:[^"\\\n]|\\.)*"|\x27(?:[^\x27\\\n]|\\.)*\x27|//[^\n]*};
    my $as_lines = sub {
      my ($words, $is_last, $before) = @_;
      return join "\n", map "// $_", split /\n */, $words if $is_last;
      check("$file:" . (1 + ($before =~ tr/\n//)), $words);
      return "";
    };
    $text =~ s{($literal)|/\*(.*?)\*/( *$)?}{$1 // $as_lines->($2, defined $3, substr($text, 0, $-[0]))}gesm
      if $sign eq "//";
    my ($number, $start, $comment, $code) = (0, 0, "", "");
    for my $line (split /\n/, $text) {
      $number++;
      my ($before, $words) = index($line, $sign) < 0 ? () : $line =~ /^(\s*|.*?\s)$sign+(?:\s+(.*))?$/;
      my $inside = defined $before;
      if ($comment ne "" && !($inside && $before =~ /^\s*$/)) { check("$file:$start", $comment); $comment = "" }
      if ($inside) {
        $start = $number if $comment eq "";
        $comment .= ($comment eq "" ? "" : " ") . ($words =~ s{`[^`]*`}{CODE}gr) if defined $words;
      }
      $code .= ($inside ? $before : $line) . "\n";
    }
    check("$file:$start", $comment);
    return $code;
  }
  for my $file (@files) {
    open my $in, "<", $file or do {
      next if $kind eq "tree";  # removed, but not yet committed
      print STDERR "words: $file: $!\n";
      exit 2;
    };
    if ($file =~ /\.md$/ || $kind eq "message") { page($in, $file); next }
    local $/;
    my $text = <$in>;
    my $shell = $file =~ /\.(?:sh|bats|cmake|txt)$/;
    $text = comments($file, $shell ? "#" : "//", $text);
    next if $file =~ /_(?:test|testing|bench)\.|\/testing\/|\.bats$/;
    if ($shell) {
      $text =~ s/\\\n//g;
      check($file, $1) while $text =~ /^(.*)$/mg;
      measure($file, $1) while $text =~ /"((?:[^"\\\n]|\\.)*)"/g;
      next;
    }
    next unless $file =~ m{^(?:harness|reports|stress|fuzzers|workloads)/.*\.(?:cc|h|inc)$};
    $text =~ s/^#include.*$//mg;
    $text =~ s/"\s*\n\s*"//g;
    while ($text =~ /"((?:[^"\\\n]|\\.)*)"/g) {
      check($file, $1);
      next if $1 =~ /\bSELECT\b|^[ A-Z_]+$/;  # SQL, names of variables
      measure($file, $_) for split /\\n/, $1;
    }
  }
  exit($bad ? 1 : 0);' "$words" "$most_words" "$@"
