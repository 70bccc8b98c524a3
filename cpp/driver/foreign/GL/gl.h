/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenGL types that cudaGL.h names, so that no OpenGL headers are needed to build. */
#pragma once

typedef unsigned int GLenum;
typedef unsigned int GLuint;

/* On ARM, cuda_gl_interop.h requires this macro of a real gl.h. */
#ifndef GL_VERSION
#define GL_VERSION 0x1F02
#endif
