# SPDX-License-Identifier: Apache-2.0
# For scripts that measure; to be sourced from the repository's root. Sets $walkhammer, the
# executable, and $work, a temporary folder that is removed when the script ends.
# shellcheck shell=sh
# shellcheck disable=SC2034  # used where this is sourced
walkhammer=${WALKHAMMER:-build/release/walkhammer}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# shellcheck source=ci/measure/lib_agreement.sh
. ci/measure/lib_agreement.sh
