# SPDX-License-Identifier: Apache-2.0
"""Speed of halfwarp beside NVIDIA's packages and the C floor, measured in one run."""
