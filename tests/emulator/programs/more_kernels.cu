// SPDX-License-Identifier: Apache-2.0
// The second object of a program with relocatable device code.
__device__ int total = 1;
__device__ int twice(int value) { return 2 * value; }
