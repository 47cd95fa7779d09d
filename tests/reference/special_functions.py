#!/usr/bin/env python3
"""Prints the numbers behind log_gamma and digamma, computed by mpmath at 40 digits.

    python3 special_functions.py coefficients   the tables of lib/base/special_functions.cpp
    python3 special_functions.py reference      the table of tests/base/test_special_functions.cpp

Every argument is a double: the reference is the function of exactly the number that the C++
compiler reads from the printed text, so that the argument adds no error of its own.
"""

import sys

from mpmath import bernoulli, digamma, euler, loggamma, log, mp, mpf, nstr, pi, zeta

mp.dps = 40

ARGUMENTS = (
    # tiny, beyond the promised range
    [1e-300, 1e-100, 1e-20]
    # small
    + [1e-8, 3e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4]
    # both sides of 0.5, where the formula changes
    + [0.4999999999999999, 0.5, 0.5000000000000001, 0.6, 0.75, 0.9]
    # the zero of log_gamma at 1
    + [0.99, 0.999, 0.999999, 0.999999999, 0.9999999999999999]
    + [1.0, 1.0000000000000002, 1.000000001, 1.000001, 1.001, 1.01, 1.1, 1.25]
    # the zero of digamma, where log_gamma is smallest
    + [1.46, 1.4616321449683622, 1.4616321449683625, 1.47, 1.4999999999999998, 1.5, 1.6]
    # the zero of log_gamma at 2
    + [1.75, 1.9, 1.99, 1.999, 1.999999, 1.999999999, 1.9999999999999998]
    + [2.0, 2.0000000000000004, 2.000000001, 2.000001, 2.001, 2.01, 2.1, 2.25]
    # the recurrence, and both sides of 10 where the asymptotic series takes over
    + [2.5, 2.5000000000000004, 3.0, 3.5, 4.0, 5.0, 6.7, 8.0, 9.5, 9.99, 9.999999999999998]
    + [10.0, 10.000000000000002, 10.5, 12.0, 15.5, 20.0, 33.3, 50.0, 100.0, 171.5]
    # large
    + [1e3, 12345.678, 1e4, 1e5, 1e6, 1e7, 1e8]
    # huge, beyond the promised range
    + [1e12, 1e16, 1e100, 1e300]
)


def as_double(value):
    """The shortest text that reads back as the double nearest to value."""
    return repr(float(value))


def print_coefficients():
    print("kOneMinusEulerGamma", as_double(1 - euler))
    print("kHalfLogTwoPi", as_double(log(2 * pi) / 2))
    print("(-1)^k (zeta(k) - 1) / k for k = 2 ... 28")
    for k in range(2, 29):
        print("   ", as_double((-1) ** k * (zeta(k) - 1) / k) + ",")
    print("B(2k) / (2k (2k - 1)) for k = 1 ... 7")
    for k in range(1, 8):
        print("   ", as_double(bernoulli(2 * k) / (2 * k * (2 * k - 1))) + ",")
    print("B(2k) / (2k) for k = 1 ... 7")
    for k in range(1, 8):
        print("   ", as_double(bernoulli(2 * k) / (2 * k)) + ",")


def print_reference():
    for x in ARGUMENTS:
        exact = mpf(x)
        row = (repr(x), nstr(loggamma(exact), 20), nstr(digamma(exact), 20))
        print("    {%s, %s, %s}," % row)


if __name__ == "__main__":
    commands = {"coefficients": print_coefficients, "reference": print_reference}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]]()
