# SPDX-License-Identifier: Apache-2.0
"""Facts and decisions -> the model: kinds of parameters, numbers of tagless types, signatures."""
