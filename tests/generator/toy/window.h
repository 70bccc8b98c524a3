/* SPDX-License-Identifier: Apache-2.0 */
/* A header of another library, whose types the declarations for cimport make themselves. */
#pragma once
typedef unsigned int toyWindow;
