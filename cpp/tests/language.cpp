// SPDX-License-Identifier: Apache-2.0
// Part of every library of the tests: says that it is C++, where it is made of objects alone.
