/* Numbers without a floating-point unit: packets and parts in units of 2^-32. */
#ifndef LASTHOP_FIXED_H
#define LASTHOP_FIXED_H

#include "kernel.h"

/* A constant; the compiler computes it. */
#define FIXED(x) ((u64)((x) * 4294967296.0 + 0.5))
#define ONE (1ULL << 32)

/* a b, where either is a part of 1 or the whole numbers in a and b multiply to less than 2^32. */
INLINE u64 times(u64 a, u64 b)
{
	u64 high = (a >> 32) * b, low = (a & (ONE - 1)) * (b >> 32);

	return high + low + ((a & (ONE - 1)) * (b & (ONE - 1)) >> 32);
}

/* a / b for a <= b < 2^48, by long division in two steps. */
INLINE u64 part(u64 a, u64 b)
{
	u64 high = (a << 16) / b, rest = (a << 16) % b;

	return high << 16 | (rest << 16) / b;
}

/* 1 / w for w >= 1. */
INLINE u64 inverse(u64 w)
{
	return ~0ULL / w;
}

INLINE u64 less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

INLINE u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

INLINE u64 larger(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* Place of the highest bit of n > 0, without a branch. */
INLINE u64 highest(u64 n)
{
	u64 bits = 0, step;

	step = (u64)(n >> 32 != 0) << 5, n >>= step, bits += step;
	step = (u64)(n >> 16 != 0) << 4, n >>= step, bits += step;
	step = (u64)(n >> 8 != 0) << 3, n >>= step, bits += step;
	step = (u64)(n >> 4 != 0) << 2, n >>= step, bits += step;
	step = (u64)(n >> 2 != 0) << 1, n >>= step, bits += step;
	return bits + (n >> 1);
}

/* Whole root of 0 < n < 2^63. Newton's method from a power of two that is above the root, by at most its
 * double: relative errors 1, 1/4, 1/40, 3e-4, 5e-8, 1e-15. No branch, no loop. */
INLINE u64 root(u64 n)
{
	u64 x = 2ULL << (highest(n) >> 1);

	x = (x + n / x) >> 1;
	x = (x + n / x) >> 1;
	x = (x + n / x) >> 1;
	x = (x + n / x) >> 1;
	x = (x + n / x) >> 1;
	return x - (x * x > n);
}

/* w^(3/4) as sqrt(w) sqrt(sqrt(w)) for w >= 1, to 2^-29 of itself: both are roots of numbers of 60 bits or more. */
INLINE u64 three_quarters(u64 w)
{
	u64 quarter = (62 - highest(w)) >> 2;
	u64 square = root(w << 4 * quarter); /* sqrt(w) in units of 2^-(16 + 2 quarter) */
	u64 fourth = root(square << 30); /* its root in units of 2^-(23 + quarter) */

	return square * fourth >> (7 + 3 * quarter);
}

#endif
