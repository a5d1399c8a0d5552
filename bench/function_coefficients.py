"""
The coefficients of kernels/functions.ts in f64: polynomials near the best, by interpolation at Chebyshev's nodes in 60
digits, each then rounded to f64; the highest power first, with the largest error relative to the function.

    python3 bench/function_coefficients.py
"""
from mpmath import mp, mpf, chebyfit, exp, log, sin, tanh, sqrt, pi, ln

mp.dps = 60
third = mpf(1) / 3


def series(term, x, first):
    """A sum of small terms, where the closed form cancels."""
    return sum((term(k) * x**(k - first) for k in range(first, first + 60)), mpf(0))


half = ln(2) / 2 * mpf("1.0001")
s2 = ((sqrt(2) - 1) / (sqrt(2) + 1))**2 * mpf("1.0001")
atanh = lambda z, first: series(lambda k: mpf(1) / (2 * k + 1), z, first)
turn = (pi / 4 * mpf("1.0001"))**2
small = mpf("0.625")**2 * mpf("1.0001")
alternating = lambda k: (-1)**k / mp.factorial(2 * k + 1)


def tanh_part(z):
    x = sqrt(z)
    return (tanh(x) / x - 1) / z if x > mpf("1e-20") else -third


FUNCTIONS = [
    # e^r = 1 + r + r²/2 + r³ P(r)
    ("exponential", lambda r: series(lambda k: 1 / mp.factorial(k), r, 3), [-half, half], 10, half**3 / exp(-half)),
    # ln((1 + s)/(1 − s)) = 2s + s³ P(s²)
    ("logarithm", lambda z: 2 * atanh(z, 1), [0, s2], 7, s2 / 2),
    # sin r = r + r³ P(r²)
    ("sine", lambda z: series(alternating, z, 1), [0, turn], 6, turn),
    # cos r = 1 − r²/2 + r⁴ P(r²)
    ("cosine", lambda z: series(lambda k: (-1)**k / mp.factorial(2 * k), z, 2), [0, turn], 6, turn**2 * sqrt(2)),
    # tanh x = x + x³ P(x²)
    ("tanh", tanh_part, [0, small], 12, small),
    # 3/(2s) ln((1 + s)/(1 − s)) = 3 + s² + s⁴ P(s²)
    ("power", lambda z: 3 * atanh(z, 2), [0, s2], 7, s2**2 / 3),
]

for name, f, interval, count, weight in FUNCTIONS:
    coefficients, error = chebyfit(f, interval, count, error=True)
    print(name, ", ".join(repr(float(c)) for c in coefficients), f"error 2^{float(log(error * weight, 2)):.1f}")
for name, value, bits in [("ln 2", ln(2), 33), ("π", pi, 39)]:
    parts, rest = [], value
    for _ in range(1 if name == "ln 2" else 3):
        unit = mpf(2)**(mp.floor(log(rest, 2)) + 1 - bits)
        parts.append(mp.floor(rest / unit) * unit)
        rest -= parts[-1]
    print(name, ", ".join(repr(float(part)) for part in [*parts, rest]))
