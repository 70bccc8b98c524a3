# SPDX-License-Identifier: Apache-2.0
# The cimport contract of what processes share: nothing, it is used from Python.
