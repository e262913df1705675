// SPDX-License-Identifier: Apache-2.0
// Holds what the tests share of compiled headers: see CMakeLists.txt.
