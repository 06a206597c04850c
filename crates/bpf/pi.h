/* PI in whole numbers. The law and its reference stand in crates/engine/src/queue/pi.rs; this is the same for a queue that
 * is looked at when a packet comes: steps that were due before see it as it is then. */
#ifndef LASTHOP_PI_H
#define LASTHOP_PI_H

#include "fixed.h"

/* Weights and the probability are in parts of 2^-48. */
#define PI_ONE (1ULL << 48)
/* Steps that are made up for at once: by then a queue that had no packet is empty. */
#define MOST_STEPS 64
/* Longest queue. */
#define MOST_PACKETS (1 << 20)

struct pi_setting {
	u64 a;
	u64 b;
	u64 update_ns;
	u32 target;
	/* Most packets, the one in service included. */
	u32 limit;
	/* Whether packets that can carry a mark get one instead of being lost. */
	u32 marks;
	u32 unused;
};

struct pi {
	struct pi_setting setting;
	u64 next_ns;
	u64 probability;
	/* Packets at the step before. */
	u64 before;
	u64 offered;
	u64 lost;
	u64 marked;
};

enum fate { ENTER, MARK, DROP };

/* by distance, up or down */
INLINE u64 pushed(u64 p, u64 weight, u64 packets, u64 target, u32 away)
{
	u32 above = packets > target;
	u64 by = weight * (above ? packets - target : target - packets);

	return above == away ? p + by : p - by;
}

INLINE void pi_step(struct pi *pi, u64 backlog)
{
	const struct pi_setting *setting = &pi->setting;
	/* beside it room for what is taken away before the sum is cut off at 0 and 1 */
	u64 zero = 1ULL << 62, p = zero + pi->probability;

	p = pushed(p, setting->a, backlog, setting->target, 1);
	p = pushed(p, setting->b, pi->before, setting->target, 0);
	pi->probability = smaller(larger(p, zero) - zero, PI_ONE);
	pi->before = backlog;
}

/* What becomes of a packet that finds `backlog` in the queue; `draw` is a random number. */
INLINE enum fate pi_judge(struct pi *pi, u64 backlog, u64 now_ns, u32 draw)
{
	u32 k;

	backlog = smaller(backlog, MOST_PACKETS);
	if (!pi->next_ns)
		pi->next_ns = now_ns + pi->setting.update_ns;
	for (k = 0; k < MOST_STEPS; k++) {
		if (now_ns < pi->next_ns)
			break;
		pi_step(pi, backlog);
		pi->next_ns += pi->setting.update_ns;
	}
	if (now_ns >= pi->next_ns)
		pi->next_ns = now_ns + pi->setting.update_ns;
	if (backlog >= pi->setting.limit)
		return DROP;
	if (draw >= pi->probability >> 16)
		return ENTER;
	return pi->setting.marks ? MARK : DROP;
}

#endif
