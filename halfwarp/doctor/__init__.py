# SPDX-License-Identifier: Apache-2.0
"""``halfwarp doctor``: what is installed, what works, and what to do about the rest.

Each probe looks at one thing, in a process of its own: one that crashes or hangs spoils nothing.
`apart` starts it, `inside` is what it does. `relations` then compares what they found, and `text`
writes it down.
"""
