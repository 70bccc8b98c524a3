// SPDX-License-Identifier: Apache-2.0
// Part of every test library: marks a library that consists of objects alone as C++.
