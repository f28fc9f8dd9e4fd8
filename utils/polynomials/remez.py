"""Weighted minimax polynomials whose coefficients are floating-point numbers.

fit() runs the Remez exchange in 60 digits on a fixed grid and rounds the coefficients to the target type. For f32, where
rounding costs most of the accuracy, it then searches the neighbourhood. The result depends on the arguments alone.
"""
import itertools

import mpmath as mp
import numpy

mp.mp.dps = 60


def round_to(value, bits):
    """The nearest number with `bits` bits of precision (24: f32, 53: f64; no coefficient is subnormal)."""
    if value == 0:
        return mp.mpf(0)
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), int(exponent) - bits)


def chebyshev_grid(low, high, count):
    middle, half = (mp.mpf(low) + high) / 2, (mp.mpf(high) - low) / 2
    return [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]


def alternating_extrema(errors, count):
    """Returns indices of `count` extrema of alternating sign, the largest ones."""
    runs = []
    for i, error in enumerate(errors):
        if error == 0:
            continue
        if runs and (errors[runs[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    while len(runs) > count:
        runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
    return runs


def remez(grid, target, weight, degree):
    """Coefficients, lowest first, that minimise max |weight * (polynomial - target)| on the grid."""
    unknowns = degree + 1
    step = (len(grid) - 1) / mp.mpf(unknowns)
    nodes = [int(mp.nint(i * step)) for i in range(unknowns + 1)]
    table = [[x**p for p in range(unknowns)] for x in grid]
    for _ in range(40):
        matrix, right = mp.matrix(unknowns + 1), mp.matrix(unknowns + 1, 1)
        for row, node in enumerate(nodes):
            for column in range(unknowns):
                matrix[row, column] = table[node][column]
            matrix[row, unknowns] = (-1) ** row / weight[node]
            right[row] = target[node]
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[i] for i in range(unknowns)]
        errors = [
            w * (mp.fdot(coefficients, row) - t) for row, t, w in zip(table, target, weight)
        ]
        largest = max(abs(e) for e in errors)
        level = abs(solution[unknowns])
        nodes = alternating_extrema(errors, unknowns + 1)
        if len(nodes) < unknowns + 1 or largest <= level * mp.mpf("1.0001"):
            break
    return coefficients


def polish(grid, target, weight, coefficients, first):
    """Moves pairs of rounded f32 coefficients from `first` on by one unit in the last place while the error falls."""
    grid, target, weight = (numpy.array([float(v) for v in a]) for a in (grid, target, weight))
    table = numpy.vander(grid, len(coefficients), increasing=True)
    current = numpy.array([numpy.float32(float(c)) for c in coefficients])

    def error(candidate):
        return numpy.max(weight * numpy.abs(table @ candidate.astype(float) - target))

    best, improved = error(current), True
    while improved:
        improved = False
        for i, j in itertools.combinations_with_replacement(range(first, len(current)), 2):
            for up, other in itertools.product((-numpy.inf, numpy.inf), repeat=2):
                candidate = current.copy()
                candidate[i] = numpy.nextafter(candidate[i], numpy.float32(up))
                candidate[j] = numpy.nextafter(candidate[j], numpy.float32(other))
                if error(candidate) < best:
                    best, current, improved = error(candidate), candidate, True
    return [mp.mpf(float(c)) for c in current]


def fit(function, weight, interval, degree, bits, fixed=(), points=400):
    """Coefficients, lowest first, rounded to `bits` bits, and the weighted error that they leave.

    function, weight: of x, in mpmath. fixed: the first coefficients, where they are to be the exact ones of the
    function's own series.
    """
    known = [mp.mpf(c) for c in fixed]
    grid = [x for x in chebyshev_grid(*interval, points) if weight(x) != 0]
    target, weights = [function(x) for x in grid], [abs(weight(x)) for x in grid]
    # Dividing by the lowest free power keeps the alternation of signs across zero.
    lowest = len(known)
    rest = [(t - mp.polyval(known[::-1] or [0], x)) / x**lowest for x, t in zip(grid, target)]
    scaled = [w * abs(x) ** lowest for w, x in zip(weights, grid)]
    known += [round_to(c, bits) for c in remez(grid, rest, scaled, degree - lowest)]
    if bits == 24:
        known = polish(grid, target, weights, known, lowest)
    error = max(
        w * abs(mp.polyval(known[::-1], x) - t) for x, t, w in zip(grid, target, weights)
    )
    return known, error


def literal(value):
    """A C++ hexadecimal literal of exactly this value."""
    text = float(value).hex()
    assert mp.mpf(float(value)) == value
    mantissa, exponent = text.split("p")
    digits = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{digits}p{exponent}"
