# SPDX-License-Identifier: Apache-2.0
# Makes headers of the HTML pages that reports fill in. Included by CMakeLists.txt; paths are
# relative to the project.

# base64_of_sha256(OUT TEXT): the hash as a Content-Security-Policy names a script or style.
function(base64_of_sha256 out text)
  string(SHA256 hex "${text}")
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(base64)
  foreach(at RANGE 0 60 3)  # three hex digits are two of base64; of the 64th, one remains
    string(SUBSTRING ${hex} ${at} 3 digits)
    foreach(shift 6 0)
      math(EXPR index "(0x${digits} >> ${shift}) & 63")
      string(SUBSTRING ${alphabet} ${index} 1 letter)
      string(APPEND base64 ${letter})
    endforeach()
  endforeach()
  string(SUBSTRING ${hex} 63 1 digit)
  math(EXPR index "0x${digit} << 2")
  string(SUBSTRING ${alphabet} ${index} 1 letter)
  set(${out} "${base64}${letter}=" PARENT_SCOPE)
endfunction()

file(READ reports/flame_page.html FLAME_PAGE)
configure_file(reports/flame_page.h.in generated/reports/flame_page.h @ONLY)

file(READ reports/run_page.html RUN_PAGE)
file(READ reports/run_page.css style)
file(READ reports/run_page.js script)
base64_of_sha256(style_hash "${style}")
base64_of_sha256(script_hash "${script}")
foreach(part STYLE_HASH SCRIPT_HASH STYLE SCRIPT)
  string(TOLOWER ${part} value)
  string(REPLACE "@${part}@" "${${value}}" RUN_PAGE "${RUN_PAGE}")
endforeach()
configure_file(reports/run_page.h.in generated/reports/run_page.h @ONLY)

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             reports/flame_page.html reports/run_page.html reports/run_page.css reports/run_page.js)
