/* What every law shares: the window with its fraction, slow start, rounds.
 *
 * The kernel keeps whole packets, snd_cwnd and snd_ssthresh; the fractions behind them are ours. So the kernel may
 * set the window itself, in recovery, after a timeout or a pause, and nothing falls out of step.
 */
#ifndef LASTHOP_WINDOW_H
#define LASTHOP_WINDOW_H

#include "fixed.h"

/* Least slow-start threshold (RFC 5681, equation 4). */
#define LEAST_SSTHRESH (2 * ONE)

struct window {
	u32 fraction;
	u32 ssthresh_fraction;
	/* Set by a decrease until the kernel says what it was for. */
	u32 reduced;
	/* Round: whether there is one, the segment whose ACK ends it, its round-trip times. [us] */
	u32 in_round;
	u32 round_end;
	u32 samples;
	u64 sum_us;
	/* Latest sample, 0 before the first; shortest and longest of all. [us] */
	u32 rtt_us;
	u32 least_us;
	u32 greatest_us;
	u32 unused;
	/* Before the latest decrease. */
	u64 before;
};

/* What an ACK means to the rounds. */
enum turn { WITHIN, BEGINS, OVER };

/* What a round showed, in sums over its samples. [us] */
struct round {
	u64 sum_us;
	/* Queueing delay in that: what is above the least round-trip time. */
	u64 delay_us;
	/* Largest delay of a segment so far, times the samples. */
	u64 largest_us;
};

INLINE u64 cwnd(struct tcp_sock *tp, struct window *window)
{
	return (u64)tp->snd_cwnd << 32 | window->fraction;
}

INLINE u64 ssthresh(struct tcp_sock *tp, struct window *window)
{
	return (u64)tp->snd_ssthresh << 32 | window->ssthresh_fraction;
}

/* At least a packet, or nothing would ever be sent. */
INLINE void set_cwnd(struct tcp_sock *tp, struct window *window, u64 w)
{
	w = smaller(larger(w, ONE), (u64)tp->snd_cwnd_clamp << 32);
	tp->snd_cwnd = w >> 32;
	window->fraction = w;
}

INLINE void begin(struct window *window)
{
	window->least_us = ~0U;
}

/* The operation pkts_acked: takes a sample, if there is one. */
INLINE void take_sample(struct window *window, const struct ack_sample *sample)
{
	s32 rtt_us = sample->rtt_us;

	if (rtt_us >= 0)
		window->rtt_us = rtt_us > 0 ? rtt_us : 1;
}

INLINE void interrupt(struct window *window)
{
	window->in_round = 0;
	window->sum_us = 0;
	window->samples = 0;
}

/* Tells rounds apart on an ACK of new data; what the last one showed, if it is over. */
INLINE enum turn turn_of(struct tcp_sock *tp, struct window *window, struct round *round)
{
	enum turn turn = WITHIN;
	u64 samples = window->samples;
	u32 rtt_us = window->rtt_us;

	if (!rtt_us)
		return WITHIN;
	if (!window->in_round) {
		turn = BEGINS;
	} else if ((s32)(tp->snd_una - window->round_end) > 0) {
		turn = OVER;
		round->sum_us = window->sum_us;
		round->delay_us = window->sum_us - samples * window->least_us;
		round->largest_us = samples * (window->greatest_us - window->least_us);
	}
	if (turn != WITHIN) {
		interrupt(window);
		window->in_round = 1;
		window->round_end = tp->snd_nxt;
	}
	if (rtt_us < window->least_us)
		window->least_us = rtt_us;
	if (rtt_us > window->greatest_us)
		window->greatest_us = rtt_us;
	window->sum_us += rtt_us;
	window->samples++;
	return turn;
}

/* Whether the window is what holds the sender back, as the kernel's own laws ask (tcp_is_cwnd_limited). */
INLINE int is_limiting(struct tcp_sock *tp)
{
	if (is_cwnd_limited(tp))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/* Grows in slow start, a packet for each acknowledged; those left for congestion avoidance. */
INLINE u32 slow_start(struct tcp_sock *tp, struct window *window, u32 acked)
{
	u64 w = cwnd(tp, window), missing = less(ssthresh(tp, window), w);
	u64 steps = smaller((missing + ONE - 1) >> 32, acked);

	if (steps)
		set_cwnd(tp, window, w + (steps << 32));
	return acked - steps;
}

/* A loss leaves `left` of the window: the new threshold, in whole packets for the kernel. */
INLINE u32 decrease(struct tcp_sock *tp, struct window *window, u64 left)
{
	left = larger(left, LEAST_SSTHRESH);
	window->before = cwnd(tp, window);
	window->fraction = left;
	window->ssthresh_fraction = left;
	window->reduced = 1;
	interrupt(window);
	return left >> 32;
}

/* The operation set_state: a timeout leaves half, whatever the law, and a window of whole packets. Whether it is one. */
INLINE int timed_out(struct tcp_sock *tp, struct window *window, u32 state)
{
	u32 reduced = window->reduced;
	u64 half;

	window->reduced = 0;
	if (state != TCP_CA_LOSS)
		return 0;
	interrupt(window);
	window->fraction = 0;
	if (reduced) {
		half = larger(window->before >> 32 << 31, LEAST_SSTHRESH);
		tp->snd_ssthresh = half >> 32;
		window->ssthresh_fraction = half;
	}
	return 1;
}

/* The operation undo_cwnd: nothing was lost after all. */
INLINE u32 undo(struct tcp_sock *tp, struct window *window)
{
	u32 before = window->before >> 32;

	if (before < tp->snd_cwnd)
		return tp->snd_cwnd;
	window->fraction = window->before;
	return before;
}

#endif
