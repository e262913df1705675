// SPDX-License-Identifier: Apache-2.0
// The source file of the precompiled headers that all tests share: see ci/test/tests.cmake.
