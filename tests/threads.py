# SPDX-License-Identifier: Apache-2.0
"""Calls on threads of their own."""

import threading
from concurrent.futures import ThreadPoolExecutor


def run_together(*calls):
    """Make each call on a new thread, all at once; give what they return, in order.

    What a call raises is raised here, after all have ended.
    """
    barrier = threading.Barrier(len(calls))

    def begin(call):
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        answers = [threads.submit(begin, call) for call in calls]
    for call, answer in zip(calls, answers, strict=True):
        if error := answer.exception():
            error.add_note(f"raised by {call}")
    return [answer.result() for answer in answers]
