# SPDX-License-Identifier: Apache-2.0
# Options arguments: an instance, a dict of its keywords, or None.

# Returns an instance of `cls` for an instance, a dict or None; None, the defaults, remains None.
# `description` names the argument in messages, for example "stream options".
cdef object as_options(object value, object cls, str description)

# Returns the module of checks of unusual values, imported at the first call.
cdef object option_checks()

# Returns a public class or function of cuda.core by name, importing it at the first use.
cdef object public_object(str name)

# Returns the qualified name of an object's class, for messages.
cdef str qualified_name(object value)

# Returns the text of a str, also of an instance of a subclass; TypeError for other types.
cdef str exact_str(object text, str label)

# Returns the module cuda.core._sharing, imported at the first call.
cdef object sharing_module()

# Returns a str as UTF-8. UnicodeEncodeError, for surrogates, states what the text is.
cdef bytes utf8(object text, str description)

# Calls a function of halfwarp.logs if logging is imported. Prints exceptions.
cdef void notify_log(str function, tuple values) noexcept
