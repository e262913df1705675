# SPDX-License-Identifier: Apache-2.0
# 10 minutes a JDK (WALKHAMMER_TIME): the clients of libasgst's APIs on every torture program.
# shellcheck shell=sh
# shellcheck disable=SC2154  # ci/measure.sh sets them
# shellcheck disable=SC2086  # words
WALKHAMMER_OUT=$work/soak ci/soak.sh $jdk_options clients >"$work/table" ||
  { cat "$work/table" >&2; exit 1; }
# of CLIENT: its row for each JDK, without the names of both.
of() {
  awk -F ' *[|] *' -v client="$1" '$3 == client {
      printf "%s%s: %s; %s; %s; %s; %s; %s; %s", (n++ ? ". " : ""), $2, $4, $5, $6, $7, $8, $9, $10 }
    END { print "" }' "$work/table"
}
for client in iterator queue mark stack_trace; do
  row 'Clients of libasgst' \
    "$client client on \`torture:*\`: samples; failed; full queue; names; wrong; unknown; JVMs that died" \
    "$(of "$client")" \
    "WALKHAMMER_TIME=${WALKHAMMER_TIME:-10m} ci/soak.sh clients"
done
