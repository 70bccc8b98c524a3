# SPDX-License-Identifier: Apache-2.0
"""What setup.py builds with: steps that run where something changed, and the CUDA headers."""
