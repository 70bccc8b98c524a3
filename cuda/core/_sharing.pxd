# SPDX-License-Identifier: Apache-2.0
# The cimport contract of sharing: empty, since only Python code uses the module.
