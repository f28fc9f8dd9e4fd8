// reprise: the elementary functions as the interpreter computes them, one element at a time.
//
// Their results are part of the promise on bits (docs/explanation/Bits.md): IEEE +, -, ×, ÷, square
// root and fma in a fixed order, so every machine gives the same bits. Subnormal arguments and
// results, infinities, signed zeros and NaN are right; a NaN result has no promised payload. Each
// function states the largest measured error, in units in the last place, for f32 and f64.

#ifndef REPRISE_REFERENCE_ELEMENTARY_H
#define REPRISE_REFERENCE_ELEMENTARY_H

namespace reprise::reference {

/// Returns e^x; error 0.87 and 0.93 ulp.
float exp(float x);
double exp(double x);

/// Returns the natural logarithm, NaN below zero, -∞ at either zero; error 0.92 and 1.24 ulp.
float log(float x);
double log(double x);

/// Returns the hyperbolic tangent; error 1.28 and 1.22 ulp.
float tanh(float x);
double tanh(double x);

/// Returns the error function 2/√π ∫₀ˣ exp(-t²) dt; error 1.00 and 0.99 ulp.
float erf(float x);
double erf(double x);

/// Returns 1/(1 + e^-x), subnormal if necessary; error 2.00 and 2.00 ulp.
float sigmoid(float x);
double sigmoid(double x);

/// Returns the square root, correctly rounded.
float sqrt(float x);
double sqrt(double x);

/// Returns 1/√x in two correctly rounded operations; error 1.5 ulp.
float rsqrt(float x);
double rsqrt(double x);

/// Returns x^y with the special values of IEEE 754-2019; error 0.51 and 0.90 ulp.
float pow(float x, float y);
double pow(double x, double y);

/// Returns sine and cosine of x in radians, of any magnitude, NaN if x is infinite; error 1.53 and
/// 1.47 ulp.
float sin(float x);
double sin(double x);
float cos(float x);
double cos(double x);

/// Returns sin(2πu) and cos(2πu) for u in [0, 1] that is a multiple of 2^-24, so that the reduction
/// to an eighth of a turn is exact; error 0.88 ulp.
void sinCosOfTurn(float u, float &sine, float &cosine);

/// Returns the IEEE 754-2019 maximum and minimum: a NaN wins, and -0 is less than +0.
float maximum(float a, float b);
double maximum(double a, double b);
float minimum(float a, float b);
double minimum(double a, double b);

} // namespace reprise::reference

#endif // REPRISE_REFERENCE_ELEMENTARY_H
