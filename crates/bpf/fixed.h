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

/* Whole root of n < 2^64 - 2^33, n > 0. Newton's method from a power of two that is above the root by
 * less than its double: relative errors 1, 1/4, 1/40, 3e-4, 5e-8, 1e-15. No branch, no loop. */
INLINE u64 root(u64 n)
{
	u64 m = n, bits = 0, step, x;

	step = (u64)(m >> 32 != 0) << 5, m >>= step, bits += step;
	step = (u64)(m >> 16 != 0) << 4, m >>= step, bits += step;
	step = (u64)(m >> 8 != 0) << 3, m >>= step, bits += step;
	step = (u64)(m >> 4 != 0) << 2, m >>= step, bits += step;
	step = (u64)(m >> 2 != 0) << 1, m >>= step, bits += step;
	bits += m >> 1;
	x = 2ULL << (bits >> 1);
	x = (x + n / x) >> 1;
	x = (x + n / x) >> 1;
	x = (x + n / x) >> 1;
	x = (x + n / x) >> 1;
	x = (x + n / x) >> 1;
	return x - (x * x > n);
}

/* Largest window whose power is known. [packets] */
#define MOST_PACKETS ((1ULL << 18) - 1)

/* w^(3/4) as sqrt(w) sqrt(sqrt(w)), to 2^-24 of itself; above 2^18 packets that of 2^18. */
INLINE u64 three_quarters(u64 w)
{
	u64 square = root(smaller(w, MOST_PACKETS << 32) << 14); /* in units of 2^-23 */
	u64 fourth = root(square << 31); /* in units of 2^-27 */

	return square * fourth >> 18;
}

#endif
