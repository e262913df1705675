#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the English of pages, messages and help by a list of words: ci/test/words.txt. Code blocks
# and code spans of pages, tests and comments are not looked at; commit messages are, as they come.
#   ci/test/words.sh [ROOT]           the pages and the messages of a tree (default: this one)
#   ci/test/words.sh --message FILE   the message of a commit
# Exit codes: 0 no hit, 1 hits, each printed with what to write instead; 2 usage, or nothing to check.
set -eu
[ "${1:-}" != --help ] || exec sed -n '3,/^set/s/^# \{0,1\}//p' "$0"
words=$(cd "$(dirname "$0")" && pwd)/words.txt
case $#${1:-} in
2--message) set -- message "$2" ;;
[01] | 1[!-]*)
  cd "${1:-$(dirname "$0")/../..}" || exit 2
  # shellcheck disable=SC2046  # no file of this tree has a blank in its name
  set -- tree $(git ls-files --cached --others --exclude-standard -- '*.md' 'harness/*.cc' 'harness/*.h' \
    'harness/*.inc' 'reports/*.cc' \
    'stress/*.cc' 'fuzzers/*.cc' 'workloads/*.cc' | grep -Ev '_(test|testing|bench)\.|/testing/|^docs/findings/README')
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
  my ($words, $kind, @files) = @ARGV;
  my (@rules, $bad);
  open my $in, "<", $words or die "$words: $!";
  while (<$in>) {
    chomp;
    next if /^#/;
    my ($pattern, $instead, $exception) = split /\t/;
    push @rules, [qr/$pattern/i, $instead, ($exception // "") eq "" ? undef : qr/$exception/i];
  }
  sub check {
    my ($place, $text) = @_;
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
  for my $file (@files) {
    open my $in, "<", $file or do {
      next if $kind eq "tree";  # removed, but not yet committed
      print STDERR "words: $file: $!\n";
      exit 2;
    };
    if ($file =~ /\.md$/ || $kind eq "message") {
      my $code = 0;
      while (<$in>) {
        last if $kind eq "message" && /^# -+ >8 -+$/;  # git commit --verbose: the diff follows
        if (/^ *```/) { $code = !$code; next }
        next if $code || ($kind eq "message" && /^#/);
        s/`[^`]*`/CODE/g;
        s/\]\([^)]*\)/]/g;
        check("$file:$.", $_);
      }
    } else {
      local $/;
      my $text = <$in>;
      $text =~ s{^\s*//.*$}{}mg;
      $text =~ s/^#include.*$//mg;
      $text =~ s/"\s*\n\s*"//g;
      check($file, $1) while $text =~ /"((?:[^"\\\n]|\\.)*)"/g;
    }
  }
  exit($bad ? 1 : 0);' "$words" "$@"
