# SPDX-License-Identifier: Apache-2.0
# Run at each build: writes OUT, the facts of this build that harness/cli/version.cc shows, if they
# are others than before. "unknown": a source without git.
set(commit unknown)
execute_process(COMMAND git -C ${SOURCE} log -1 --format=%h\ of\ %cs
                OUTPUT_VARIABLE said RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT failed)
  set(commit "${said}")
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no
                  OUTPUT_VARIABLE changes)
  if(changes)
    string(APPEND commit ", with changes")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define WALKHAMMER_COMMIT \"${commit}\"
#define WALKHAMMER_ARCH \"${ARCH}\"
#define WALKHAMMER_FEATURES \"${FEATURES}\"
")
