/* SPDX-License-Identifier: Apache-2.0 */
/* A header of another library. The generated .pxd declares its types and does not include it. */
#pragma once
typedef unsigned int toyWindow;
