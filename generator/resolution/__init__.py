# SPDX-License-Identifier: Apache-2.0
"""Builds the model from facts and decisions: kinds, numbers of tagless types, signatures."""
