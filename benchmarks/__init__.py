# SPDX-License-Identifier: Apache-2.0
"""Speed of halfwarp compared with NVIDIA's packages and with C, measured in one run."""
