# SPDX-License-Identifier: Apache-2.0
# Included by CMakeLists.txt before it looks for libraries: of all but the C library, static ones
# are found and linked. What the child exports is walkhammer's own: libjvm and its libraries must
# not bind to functions of these.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(PKG_CONFIG_ARGN --static)
add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=" "-ffile-prefix-map=${CMAKE_BINARY_DIR}/="
                    "-ffile-prefix-map=${CMAKE_SYSROOT}=")
# Without the line tables, which depend on what ccache had: names are enough for crashes of ours.
add_link_options(-Wl,--strip-debug -static-libgcc -static-libstdc++ -Wl,--build-id=sha1
  -Wl,--exclude-libs,libstdc++.a:libgcc.a:libgcc_eh.a:libdw.a:libelf.a:libcapstone.a:libsqlite3.a:libz.a:libbz2.a:liblzma.a)
