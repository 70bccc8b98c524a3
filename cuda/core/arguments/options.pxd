# SPDX-License-Identifier: Apache-2.0
# Options arguments: an instance, a dict of its keywords, or None.

# An instance of `cls` for what the caller gave; None stays None, which stands for the defaults.
# `what` describes the argument in messages, for instance "stream options".
cdef object as_options(object given, object cls, str what)

# A class or function by its public name, for what is loaded at the first use.
cdef object public_object(str name)
cdef void tell(str what, tuple values) noexcept
