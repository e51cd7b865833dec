# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of computations: one function per operator of the specification, found by its name."""

OPERATORS = {}


def operator(*names):
    """Registers a computation.  It is called with the operator's name, the positional arguments in the order of the method's
    signature (operands as Tensor, the others as JSON has them) and the dictionary of options, and returns one Expected, or a
    list of them where the method returns a sequence."""
    def register(function):
        for name in names:
            OPERATORS[name] = function
        return function
    return register


def default(options, name, value):
    """An option, or its default where it is absent."""
    given = options.get(name)
    return value if given is None else given
