# SPDX-License-Identifier: Apache-2.0
"""Pythonic bindings, under a provisional name: functions return values and raise on failure."""
