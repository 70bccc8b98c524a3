# SPDX-License-Identifier: Apache-2.0
"""``halfwarp replay``: the calls of an allocation log once more, on any resource and settings."""
