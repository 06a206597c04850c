/* Virtual buffer sharing in whole numbers. The laws, their references and the design of the regulator stand in
 * crates/engine/src/control/buffer_sharing.rs, the queue around them in crates/engine/src/queue/buffer_sharing.rs; this
 * is the same for a queue that says only how many packets wait in it.
 *
 * Packets leave in the order in which they came, so that the number of those that wait tells which they are: the class
 * of each packet that has entered stands in a ring until as many as are gone have been taken out of it. */
#ifndef LASTHOP_SHARING_H
#define LASTHOP_SHARING_H

#include "sharing_constants.h"
#include "fixed.h"

#define MOST_CLASSES 63
/* Packets whose classes are known, a power of two: more than a queue may hold. */
#define PLACES 4096
/* The class of packets that are of none: they are never blocked. */
#define NO_CLASS MOST_CLASSES

/* "held": probabilities stay as they are set from outside. */
enum law { CORRECTED = 0, PRINTED = 1, REGULATED = 2, PARTITION = 3, HELD = 4 };

struct class {
	/* Part of what all classes together are to have. [2^-32] */
	u64 target;
	/* Probability of blocking a packet, and its integral part. [2^-32, 2^-48] */
	u64 blocking;
	u64 integral;
	/* When it had a packet last; 0 if never. */
	u64 last_ns;
	/* Packets that came, those that were lost, those that have left. */
	u64 offered;
	u64 lost;
	u64 left;
	/* Length of those that entered. */
	u64 entered_bytes;
};

struct setting {
	u32 law;
	u32 classes;
	/* Most packets, the one in service included; below PLACES. */
	u32 limit;
	/* Before a packet's IP header. */
	u32 header_bytes;
	/* c B. [2^-24 packets] */
	u64 occupancy;
	/* Squared distance from it within which Algorithm 1 rests. [2^-32 packets^2] */
	u64 tolerance;
	/* Between steps; 0: one at every arrival. */
	u64 update_ns;
};

/* What a step sees. */
struct seen {
	u64 backlog;
	/* Packets of all classes. */
	u64 whole;
	/* Targets of those that have had traffic lately. [2^-32] */
	u64 present;
	/* Packets that have left since the last step. */
	u64 served;
};

struct shared {
	struct setting setting;
	struct seen seen;
	u64 next_ns;
	/* Packets that have entered, and those of them that have left. */
	u64 entered;
	u64 left;
	struct class class[MOST_CLASSES + 1];
	u8 ring[PLACES];
};

/* A function that the kernel checks by itself: its pointers may be none for all that is known. */
#define APART __attribute__((noinline))

#define ABSENCE_NS 1000000000ULL
#define MOST_SERVED (1 << 15)
/* Packets are counted in parts of 2^-24. */
#define PACKET_BITS 24

INLINE struct class *class_of(struct shared *shared, u32 number)
{
	return &shared->class[number & MOST_CLASSES];
}

INLINE u64 length(const struct class *class)
{
	return class->offered - class->lost - class->left;
}

/* Takes note of packets that have left: `inside` are still there. */
APART u32 retire(struct shared *shared, u64 inside)
{
	u32 k;

	if (!shared)
		return 0;
	for (k = 0; k < PLACES; k++) {
		if (shared->entered - shared->left <= inside)
			break;
		class_of(shared, shared->ring[shared->left & (PLACES - 1)])->left++;
		shared->left++;
		shared->seen.served++;
	}
	return 0;
}

/* x / y in units of 2^-32 for x < 2^55, at most 2^44. */
INLINE u64 ratio(u64 x, u64 y)
{
	u64 found;

	if (x >> 47)
		x >>= 8, y >>= 8;
	if (!y)
		return 1ULL << 44;
	if (x < ONE)
		found = (x << 32) / y;
	else if (y < ONE)
		found = smaller((x << 16) / y, 1ULL << 28) << 16;
	else
		found = (x << 16) / (y >> 16);
	return smaller(found, 1ULL << 44);
}

INLINE u64 moved(u64 from, u64 by, u32 down, u64 most)
{
	return down ? less(from, by) : smaller(from + by, most);
}

#define LEAST_INTEGRAL ((u64)(SHARING_LEAST_PROBABILITY * 281474976710656.0))

INLINE u32 is_present(const struct class *class, u64 now_ns)
{
	return class->last_ns && now_ns - class->last_ns <= ABSENCE_NS;
}

/* Adds a class to what a step sees. */
APART u32 see(struct shared *shared, u32 number, u64 now_ns)
{
	struct class *class;

	if (!shared)
		return 0;
	class = class_of(shared, number);
	shared->seen.whole += length(class);
	if (is_present(class, now_ns))
		shared->seen.present += class->target;
	return 0;
}

/* The regulator's next probability for a class that is to have `target` of what all classes have. Its gain is
 * pi / (6 sqrt(beta)) sqrt(p) / V, its gain times its pole pi / 3 p / (V c B). */
INLINE void regulate(struct class *class, u64 target, u64 occupancy, const struct seen *seen)
{
	u64 wanted = times(target, occupancy);
	u64 has = (seen->backlog * length(class) << PACKET_BITS) / larger(seen->whole, 1);
	u64 buffer = larger(wanted, 1 << PACKET_BITS), slow = larger(class->integral, LEAST_INTEGRAL);
	u32 down = has < wanted;
	u64 excess = down ? wanted - has : has - wanted;
	u64 both = ratio(smaller(seen->served, MOST_SERVED) * excess, times(buffer << 4, occupancy << 4));
	u64 fast = times(times(root(slow << 14) << 1, ratio(excess, buffer)), FIXED(SHARING_GAIN));

	class->integral = moved(class->integral, times(times(slow, both), FIXED(SHARING_SLOW_GAIN)), down, 1ULL << 48);
	class->blocking = moved(class->integral >> 16, fast, down, ONE);
}

/* The next probability of blocking a packet of a class. */
APART u32 judge(struct shared *shared, u32 number, u64 now_ns)
{
	struct class *class;
	u64 of;

	if (!shared)
		return 0;
	class = class_of(shared, number);
	of = is_present(class, now_ns) ? shared->seen.present : ONE;
	if (shared->setting.law == REGULATED)
		regulate(class, ratio(class->target, of), shared->setting.occupancy, &shared->seen);
	else if (shared->setting.law == PARTITION)
		class->blocking = length(class) << PACKET_BITS >=
						  times(ratio(class->target, of), shared->setting.occupancy)
					  ? ONE
					  : 0;
	else if (shared->setting.law == CORRECTED && shared->seen.backlog << PACKET_BITS < shared->setting.occupancy)
		class->blocking = 0;
	else /* length / whole >= target / of */
		class->blocking = length(class) * of >= class->target * larger(shared->seen.whole, 1) ? ONE : 0;
	return 0;
}

/* One step of the law. */
APART u32 step(struct shared *shared, u64 now_ns)
{
	u64 full, far;
	u32 k;

	if (!shared)
		return 0;
	full = shared->seen.backlog << PACKET_BITS;
	far = larger(full, shared->setting.occupancy) - smaller(full, shared->setting.occupancy);
	far >>= PACKET_BITS - 16;
	if (shared->setting.law == HELD)
		return 0;
	if (shared->setting.law <= PRINTED && far * far <= shared->setting.tolerance)
		return 0;
	shared->seen.whole = shared->seen.present = 0;
	for (k = 0; k < MOST_CLASSES && k < shared->setting.classes; k++)
		see(shared, k, now_ns);
	for (k = 0; k < MOST_CLASSES && k < shared->setting.classes; k++)
		judge(shared, k, now_ns);
	return 0;
}

/* Whether a packet of `bytes` of the class of this number enters the queue, in which there are `backlog`, the one in
 * service included; `draw` is a random number. */
INLINE u32 admit(struct shared *shared, u32 number, u64 backlog, u32 bytes, u64 now_ns, u32 draw)
{
	struct class *class = class_of(shared, number);
	u32 is_lost;

	retire(shared, backlog);
	class->last_ns = now_ns;
	if (!shared->setting.update_ns || now_ns >= shared->next_ns) {
		if (shared->setting.update_ns)
			shared->next_ns = now_ns + shared->setting.update_ns -
					  (now_ns - shared->next_ns) % shared->setting.update_ns;
		shared->seen.backlog = backlog;
		step(shared, now_ns);
		shared->seen.served = 0;
	}
	is_lost = backlog >= shared->setting.limit || (number < MOST_CLASSES && draw < class->blocking);
	class->offered++;
	class->lost += is_lost;
	if (is_lost)
		return 0;
	class->entered_bytes += bytes;
	shared->ring[shared->entered & (PLACES - 1)] = number;
	shared->entered++;
	return 1;
}

#endif
