# SPDX-License-Identifier: Apache-2.0
"""``halfwarp replay``: repeats the calls of an allocation log on any resource and settings."""
