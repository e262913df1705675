# SPDX-License-Identifier: Apache-2.0
# Included by CMakeLists.txt: the Java side of the scenes, and the reader of JFR recordings. Paths are
# relative to the project.

# A compiler that runs for a second or two: C2 and parallel collectors cost it more than they give.
# javac's stack must hold the recursion into expressions of thousands of terms.
set(javac ${Java_JAVAC_EXECUTABLE} -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -J-Xss64m)
if(CMAKE_COMPILE_WARNING_AS_ERROR)
  list(APPEND javac -Werror)
endif()
set(jar ${Java_JAR_EXECUTABLE} --create)
if(WALKHAMMER_RELEASE)
  string(TIMESTAMP time "%Y-%m-%dT%H:%M:%SZ" UTC)  # that of SOURCE_DATE_EPOCH
  list(APPEND jar --date=${time})
endif()
# Nothing in the sanitized build starts a JVM.
set(jars_by_default ALL)
if(WALKHAMMER_SANITIZE)
  set(jars_by_default)
endif()

# wh_repeated(SOURCES TEMPLATE...): writes Java sources in which TEXT for each number in place of #
# replaces @FROM..TO:TEXT@ of the templates, NAME.java.in; appends their paths to SOURCES.
function(wh_repeated sources)
  foreach(template IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${template})
    file(READ ${template} text)
    while(text MATCHES "@([0-9]+)\\.\\.([0-9]+):([^@]*)@")
      set(whole "${CMAKE_MATCH_0}")
      set(each "${CMAKE_MATCH_3}")
      set(all "")
      foreach(number RANGE ${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
        string(REPLACE "#" "${number}" one "${each}")
        string(APPEND all "${one}\n")
      endforeach()
      string(REPLACE "${whole}" "${all}" text "${text}")
    endwhile()
    cmake_path(GET template STEM LAST_ONLY name)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/repeated/${name})
    file(CONFIGURE OUTPUT ${source} CONTENT "${text}" @ONLY)
    list(APPEND ${sources} ${source})
  endforeach()
  set(${sources} ${${sources}} PARENT_SCOPE)
endfunction()

# wh_jar(TARGET FILE RELEASE SOURCE...): TARGET makes the jar FILE of these classes, for JDKs from
# RELEASE on; the variable TARGET has its path.
function(wh_jar target file release)
  set(path ${CMAKE_BINARY_DIR}/${file})
  add_custom_command(
    OUTPUT ${path}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${target}-classes
    COMMAND ${javac} --release ${release} -Xlint:all -d ${target}-classes ${ARGN}
    COMMAND ${jar} --file ${path} -C ${target}-classes .
    DEPENDS ${ARGN}
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
    VERBATIM)
  add_custom_target(${target} ${jars_by_default} DEPENDS ${path})
  set(${target} ${path} PARENT_SCOPE)
endfunction()

file(GLOB scene_sources CONFIGURE_DEPENDS harness/scenes/java/wh/*.java)
file(GLOB scene_templates CONFIGURE_DEPENDS harness/scenes/java/wh/*.java.in)
wh_repeated(scene_sources ${scene_templates})
set(scenes_jar ${CMAKE_BINARY_DIR}/walkhammer-scenes.jar)
add_custom_command(
  OUTPUT ${scenes_jar}
  COMMAND ${CMAKE_COMMAND} -E rm -rf scene-classes
  COMMAND ${javac} --release 8 -Xlint:all,-options -d scene-classes ${scene_sources}
  COMMAND ${javac} --release 17 -Xlint:all -d scene-classes/META-INF/versions/17
          ${scene_sources}
  COMMAND ${jar} --file ${scenes_jar}
          --manifest ${CMAKE_SOURCE_DIR}/harness/scenes/java/manifest.txt -C scene-classes .
  COMMAND ${CMAKE_COMMAND} -E copy_if_different
          ${CMAKE_SOURCE_DIR}/harness/scenes/jvm_flags.txt ${CMAKE_BINARY_DIR}/jvm_flags.txt
  DEPENDS ${scene_sources} harness/scenes/jvm_flags.txt harness/scenes/java/manifest.txt
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
  VERBATIM)
add_custom_target(scenes_jar ${jars_by_default} DEPENDS ${scenes_jar})

# The reader of JFR recordings lies beside the command. The JDK that made a recording runs it.
file(GLOB recording_sources CONFIGURE_DEPENDS harness/supervise/stress_runs/java/wh/recordings/*.java)
wh_jar(recordings_jar walkhammer-recordings.jar 11 ${recording_sources})
if(NOT WALKHAMMER_SANITIZE)
  add_dependencies(walkhammer asgst)
endif()
