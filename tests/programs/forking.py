# SPDX-License-Identifier: Apache-2.0
"""Program text for programs that fork: ``in_child(work)`` makes a call in a child process, and
waits."""

FORK = """
import os, sys, traceback
def in_child(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""
