#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# import --redact: what is personal leaves a crash log, and nothing else does.
# shellcheck disable=SC2154,SC2030,SC2031  # bats sets stderr; each test is a subshell

load lib

setup() {
  log=$BATS_TEST_TMPDIR/hs_err.log
  cat >"$log" <<'END'
#
# A fatal error has been detected by the Java Runtime Environment:
#
#  SIGSEGV (0xb) at pc=0x00007fb1c6cd2f94, pid=4891, tid=4892
#
# Problematic frame:
# V  [libjvm.so+0x6c5e95]  frame::sender(RegisterMap*) const+0x325
#
Command Line: -Ddb.password=hunter2 -Dpeer=192.168.1.20 -Dlog=/home/frodo/log Main --api-token s3cr3t
Host: bag-end, AMD EPYC, 2 cores
Environment Variables:
PATH=/home/frodo/bin
USER=frodo
HOSTNAME=bag-end

END
}

@test "redact takes out what is personal and lists it on stderr" {
  run --separate-stderr "$walkhammer" import --redact "$log"
  [ "$status" -eq 0 ]
  for word in hunter2 192.168 frodo s3cr3t bag-end; do
    [[ $output$stderr != *$word* ]]
  done
  [[ $output == *'Command Line: -Ddb.password=<redacted> -Dpeer=<ip> -Dlog=/home/<user>/log Main --api-token <redacted>'* ]]
  [[ $output == *'V  [libjvm.so+0x6c5e95]  frame::sender(RegisterMap*) const+0x325'* ]]
  [[ $output == *'Host: <host>, AMD EPYC, 2 cores'* ]]
  [[ $stderr == *'redacted: secret, 2 times (first in line 9)'* ]]
  [[ $stderr == *'redacted: environment variable PATH, 1 time (first in line 12)'* ]]
}

@test "a redacted log is redacted to itself" {
  "$walkhammer" import --redact "$log" >"$log.once" 2>/dev/null
  "$walkhammer" import --redact "$log.once" >"$log.twice" 2>"$log.said"
  cmp "$log.once" "$log.twice"
  grep 'redacted: nothing' "$log.said"
  [ "$(wc -l <"$log")" -eq "$(wc -l <"$log.once")" ]
  run ! cmp -s "$log" "$log.once"
}

@test "redact reads UTF-16, gzip and other ends of lines, and refuses what it cannot read" {
  iconv -t UTF-16 "$log" >"$log.bom"
  iconv -t UTF-16LE "$log" >"$log.le"
  iconv -t UTF-16BE "$log" >"$log.be"
  tr '\n' '\r' <"$log" >"$log.cr"
  "$walkhammer" import --redact "$log" >"$log.plain" 2>/dev/null
  gzip -c "$log" >"$log.gz"
  for form in bom le be cr gz; do
    "$walkhammer" import --redact "$log.$form" 2>/dev/null | cmp - "$log.plain"
  done
  for packer in xz zstd bzip2; do
    command -v "$packer" >/dev/null || continue
    "$packer" -c "$log" >"$log.packed"
    refuses 2 "is compressed ($packer)" import --redact "$log.packed"
  done
  head -c 100000 "$walkhammer" >"$log.program"
  refuses 2 "is not a text" import --redact "$log.program"
}

@test "redact refuses what is no log, in one sentence" {
  for path in "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/none"; do
    refuses 2 "" import --redact "$path"
  done
  run -2 "$walkhammer" import --redact
  run -2 "$walkhammer" import --redact "$log" "$log"
}

@test "redact knows secrets without a name, and a log in JSON" {
  {
    cat "$log"
    printf '%s\n' ' - string: "select ssn"' 'jdbc:oracle:thin:scott/tiger@//db-prod:1521/x' \
      'Caused by: no answer with glpat-0a1b2c3d4e5f6g7h8i9j' '-----BEGIN PRIVATE KEY-----' \
      'MIIa1b2c3' '-----END PRIVATE KEY-----' 'the end'
  } >"$log.long"
  awk '{ gsub(/\\/, "&&"); gsub(/"/, "\\\""); printf "%s\\n", $0 }
    BEGIN { printf "{\"message\": \"" } END { print "\"}" }' "$log.long" >"$log.json"
  for file in "$log.long" "$log.json"; do
    # Whether a log in JSON is known to be one is not the matter here.
    "$walkhammer" import --redact --force "$file" >"$log.out" 2>/dev/null
    run ! grep -E 'hunter2|192.168|frodo|s3cr3t|bag-end|ssn|scott|tiger|db-prod|0a1b2c|MIIa1' "$log.out"
    grep -q 'the end' "$log.out"
    grep -q 'frame::sender(RegisterMap\*) const+0x325' "$log.out"
    [ "$(wc -l <"$file")" -eq "$(wc -l <"$log.out")" ]
  done
  run ! diff "$log.long" "$log.json"
}

@test "redact prints nothing of a text without a crash report, unless it is forced" {
  printf 'login of frodo\npassword=hunter2 from 192.168.1.20\n' >"$log"
  run --separate-stderr "$walkhammer" import --redact "$log"
  [ "$status" -eq 4 ]
  [ -z "$output" ]
  [[ $stderr == "walkhammer: $log holds no known crash report, "*'--force'* ]]
  [ "${#stderr_lines[@]}" -eq 1 ]
  run --separate-stderr "$walkhammer" import --redact --force "$log"
  [ "$status" -eq 0 ]
  [ "$output" = 'login of frodo
password=<redacted> from <ip>' ]
  refuses 2 "--force requires --redact" import --force "$log"
}
