# SPDX-License-Identifier: Apache-2.0
# For scripts that judge runs of walkhammer; to be sourced.
# shellcheck shell=sh

# not_started FILE...: whether the reason that walkhammer printed is that a JVM did not start.
not_started() {
  grep -qs 'this JVM does not start\|the JVM did not start\|Error occurred during init' "$@"
}
