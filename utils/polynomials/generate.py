#!/usr/bin/env python3
"""Prints the coefficient tables of the elementary functions (docs/explanation/Bits.md) as C++.

    pip install mpmath numpy
    generate.py NAMESPACE > FILE

The interpreter and the code generator each keep their own copy, lib/reprise/{Reference,Conversion}/Polynomials.h, since
they share no code. Every error in the comments is relative to the function, as a power of two.
"""
import sys

import mpmath as mp

import remez

HEADER = """\
// reprise: coefficients of the elementary functions, highest power first.
//
// Written by utils/polynomials/generate.py.
// In brackets: the error of the polynomial alone, relative to the function. The f32 ones are exact
// in f32.

#ifndef {guard}
#define {guard}

#include <cstdint>

// clang-format off
namespace {namespace} {{
"""


def over_root(function):
    """Returns function(√s)/√s: an odd function as a function of s = x²."""
    return lambda s: function(mp.sqrt(s)) / mp.sqrt(s)


def tables(single, isEmission):
    """(name, comment, function, error weight, interval, degree, fixed) of each polynomial of one type."""
    half = mp.log(2) / 2 * mp.mpf("1.0001")
    tanh, erf, sine = over_root(mp.tanh), over_root(mp.erf), over_root(mp.sin)
    turn = over_root(lambda x: mp.sin(mp.pi / 2 * x))
    tanh_limit, erf_limit = mp.mpf("0.625"), mp.mpf("0.85")
    quarter = mp.pi / 4 * mp.mpf("1.0001")
    yield ("exponential", "(exp(r) - 1 - r)/r², |r| <= ln(2)/2",
           lambda r: (mp.exp(r) - 1 - r) / r**2, lambda r: r * r / mp.exp(r), (-half, half),
           4 if single else 9, [])
    yield ("powerOfTwo", "(2^r - 1)/r, |r| <= 1/2",
           lambda r: (2**r - 1) / r, lambda r: r / 2**r, (mp.mpf("-.50001"), mp.mpf(".50001")),
           5 if single else 11, [])
    if single and isEmission:
        yield ("coarsePowerOfTwo", "(2^r - 1)/r, |r| <= 1/2: where 16 bits are rounded to",
               lambda r: (2**r - 1) / r, lambda r: r / 2**r, (mp.mpf("-.50001"), mp.mpf(".50001")), 4, [])
    yield ("tanhSmall", "(tanh(x)/x - 1)/s in s = x², x <= 0.625",
           lambda s: (tanh(s) - 1) / s, lambda s: s / tanh(s), (mp.mpf(0), tanh_limit**2),
           4 if single else 11, [])
    yield ("erfSmall", "erf(x)/x - 1 in s = x², x <= 0.85",
           lambda s: erf(s) - 1, lambda s: 1 / erf(s), (mp.mpf(0), erf_limit**2),
           5 if single else 12, [])
    yield ("erfLarge", "log2(erfc(t))/t, 0.85 <= t",
           lambda t: mp.log(mp.erfc(t), 2) / t,
           lambda t: t * mp.erfc(t) * mp.log(2) / mp.erf(t), (erf_limit, mp.mpf(4 if single else 6)),
           5 if single else 17, [])
    yield ("logarithm", "(log(1 + f) - f)/f², |f| <= 1/3",
           lambda f: (mp.log1p(f) - f) / f**2, lambda f: f * f / mp.log1p(f),
           (-mp.mpf(1) / 3, mp.mpf(1) / 3), 8 if single else 21, [mp.mpf("-0.5")])
    yield ("sine", "(sin(r)/r - 1)/s in s = r², |r| <= pi/4",
           lambda s: (sine(s) - 1) / s, lambda s: s / sine(s), (mp.mpf(0), quarter**2),
           2 if single else 5, [])
    yield ("cosine", "(cos(r) - 1 + s/2)/s² in s = r², |r| <= pi/4",
           lambda s: (mp.cos(mp.sqrt(s)) - 1 + s / 2) / s**2,
           lambda s: s * s / mp.cos(mp.sqrt(s)), (mp.mpf(0), quarter**2), 2 if single else 5, [])
    if not single:
        yield ("shortLogarithm", "(log(1 + f) - f)/f², |f| <= 1/3: for pow of f32",
               lambda f: (mp.log1p(f) - f) / f**2, lambda f: f * f / mp.log1p(f),
               (-mp.mpf(1) / 3, mp.mpf(1) / 3), 13, [mp.mpf("-0.5")])
        yield ("shortPowerOfTwo", "(2^r - 1)/r, |r| <= 1/2: for pow of f32",
               lambda r: (2**r - 1) / r, lambda r: r / 2**r, (mp.mpf("-.50001"), mp.mpf(".50001")), 8, [])
        atanh = over_root(mp.atanh)
        yield ("inverseTanh", "(atanh(s)/s - 1 - z/3)/z² in z = s², s <= tanh(ln(2)/4)",
               lambda z: (atanh(z) - 1 - z / 3) / z**2, lambda z: z * z / atanh(z),
               (mp.mpf(0), mp.tanh(mp.log(2) / 4)**2 * mp.mpf("1.0001")), 9, [])
    if single:
        high = remez.round_to(mp.pi / 2, 24)
        yield ("sineOfTurn", "sin(pi/2 y)/y - f32(pi/2) in s = y², |y| <= 1/2",
               lambda s: turn(s) - high, lambda s: 1 / turn(s), (mp.mpf(0), mp.mpf(".25")), 3, [])
        yield ("cosineOfTurn", "cos(pi/2 y) in s = y², |y| <= 1/2",
               lambda s: mp.cos(mp.pi / 2 * mp.sqrt(s)), lambda s: 1 / mp.cos(mp.pi / 2 * mp.sqrt(s)),
               (mp.mpf(0), mp.mpf(".25")), 4, [mp.mpf(1)])


def two_over_pi():
    """Words of 32 bits of 2/pi, the first two before the point: enough for every f64."""
    with mp.workprec(1400):
        bits = int(mp.floor(mp.ldexp(2 / mp.pi, 32 * 37)))
    return [0, 0] + [bits >> 32 * i & 0xFFFFFFFF for i in reversed(range(37))]


def main():
    namespace = sys.argv[1]
    guard = f"{namespace}_POLYNOMIALS_H".replace("::", "_").upper()
    print(HEADER.format(guard=guard, namespace=namespace))
    for bits in (24, 53):
        print(f"namespace f{32 if bits == 24 else 64} {{")
        for name, comment, function, weight, interval, degree, fixed in tables(bits == 24, namespace.endswith("emission")):
            values, error = remez.fit(function, weight, interval, degree, bits, fixed)
            print(f"/// {comment} [2^{float(mp.log(error, 2)):.1f}]")
            print(f"constexpr double {name}[] = {{")
            for value in reversed(values):
                print(f"    {remez.literal(value)},")
            print("};")
        print(f"}} // namespace f{32 if bits == 24 else 64}\n")
    print("/// The bits of 2/pi, 32 at a time, of which the first 64 stand before the point.")
    print("constexpr uint32_t twoOverPiBits[] = {")
    for word in two_over_pi():
        print(f"    0x{word:08x},")
    print("};")
    print(f"}} // namespace {namespace}\n// clang-format on\n\n#endif")


main()
