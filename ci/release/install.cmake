# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` and CPack lay out. The command finds its parts beside itself, so all of
# them are in lib/walkhammer, and bin has a script that starts it. The component asgst is libasgst.so
# alone:
#   cmake --install build/release --component asgst --prefix DIR
set(home lib/walkhammer)
set(programs walkhammer walkhammer_child walkhammer_agent)
if(WALKHAMMER_ENGINES)
  list(APPEND programs walk_fuzzer walk_afl walkhammer_mutator)
endif()
install(TARGETS ${programs} RUNTIME DESTINATION ${home} LIBRARY DESTINATION ${home}
        COMPONENT walkhammer)
install(FILES ${scenes_jar} ${recordings_jar} ${CMAKE_BINARY_DIR}/walkhammer-torture.jar
              ${CMAKE_BINARY_DIR}/jvm_flags.txt
        DESTINATION ${home} COMPONENT walkhammer)
foreach(folder seeds known-issues regressions vmstructs workloads)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/${folder} DESTINATION ${home} COMPONENT walkhammer
          USE_SOURCE_PERMISSIONS)
endforeach()
install(PROGRAMS ci/gate.sh ci/harness.sh ci/nightly.sh DESTINATION ${home}/ci COMPONENT walkhammer)
install(FILES ci/lib_jvm.sh DESTINATION ${home}/ci COMPONENT walkhammer)
install(PROGRAMS ci/examples/shard.sh DESTINATION ${home}/ci/examples COMPONENT walkhammer)
install(PROGRAMS ci/release/walkhammer.sh DESTINATION bin RENAME walkhammer COMPONENT walkhammer)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/links)
file(CREATE_LINK ../libasgst.so.0 ${CMAKE_BINARY_DIR}/links/libasgst.so SYMBOLIC)
install(FILES ${CMAKE_BINARY_DIR}/links/libasgst.so DESTINATION ${home} COMPONENT walkhammer)

# What shells and man look for.
if(TARGET manual)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/manual/ DESTINATION share/man/man1 COMPONENT walkhammer)
endif()
set(completion harness/cli/completion)
install(FILES ${completion}/walkhammer.bash DESTINATION share/bash-completion/completions
        RENAME walkhammer COMPONENT walkhammer)
install(FILES ${completion}/_walkhammer DESTINATION share/zsh/site-functions COMPONENT walkhammer)
install(FILES ${completion}/walkhammer.fish DESTINATION share/fish/vendor_completions.d
        COMPONENT walkhammer)

# libasgst.so, for profilers.
configure_file(harness/asgst/asgst.pc.in asgst.pc @ONLY)
install(TARGETS asgst LIBRARY DESTINATION lib COMPONENT asgst NAMELINK_COMPONENT asgst)
install(DIRECTORY harness/asgst/include/ DESTINATION include/asgst COMPONENT asgst
        FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_BINARY_DIR}/asgst.pc DESTINATION lib/pkgconfig COMPONENT asgst)

install(FILES harness/walkers/include/walkhammer_walker.h DESTINATION include COMPONENT walkhammer)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION share/doc/walkhammer COMPONENT walkhammer)
install(DIRECTORY docs corpora DESTINATION share/doc/walkhammer COMPONENT walkhammer
        FILES_MATCHING PATTERN "*.md" PATTERN "*.json" PATTERN "*.cc" PATTERN "*.c")
install(DIRECTORY ci/examples DESTINATION share/doc/walkhammer/ci COMPONENT walkhammer
        USE_SOURCE_PERMISSIONS)
if(WALKHAMMER_RELEASE)  # the licences of what is linked statically
  file(GLOB licences ${CMAKE_SYSROOT}/usr/share/doc/*/copyright)
  foreach(licence ${licences})
    cmake_path(GET licence PARENT_PATH package)
    cmake_path(GET package FILENAME package)
    install(FILES ${licence} DESTINATION share/doc/walkhammer/licences RENAME ${package}
            COMPONENT walkhammer)
  endforeach()
endif()

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_FILE_NAME
    ${PROJECT_NAME}-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
