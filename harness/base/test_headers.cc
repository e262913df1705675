// Holds what the tests share of compiled headers: see CMakeLists.txt.
