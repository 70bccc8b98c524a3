/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenGL types that cudaGL.h names, so that no OpenGL headers are needed to build. */
#pragma once

typedef unsigned int GLenum;
typedef unsigned int GLuint;
