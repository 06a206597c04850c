/* TCP Illinois. The law, its references and what it does differently stand in
 * crates/engine/src/tcp/congestion/illinois.rs; this is the same in whole numbers. */
#include "constants.h"
#include "window.h"

struct illinois {
	struct window window;
	/* Packets per round trip, and part of the window that a loss takes. */
	u64 alpha;
	u64 beta;
	/* Rounds in a row with hardly any delay since alpha left its maximum. */
	u32 quiet_rounds;
};

_Static_assert(sizeof(struct illinois) <= sizeof(struct inet_connection_sock), "no room in a socket");

/* kappa_1 and kappa_2 for delays as parts of the largest one. */
#define SPAN ((1 - ILLINOIS_ETA_1) / (ILLINOIS_ALPHA_MAX - ILLINOIS_ALPHA_MIN))
#define KAPPA_1 (SPAN * ILLINOIS_ALPHA_MIN * ILLINOIS_ALPHA_MAX)
#define KAPPA_2 (SPAN * ILLINOIS_ALPHA_MIN - ILLINOIS_ETA_1)
/* kappa_4 likewise */
#define SLOPE ((ILLINOIS_BETA_MAX - ILLINOIS_BETA_MIN) / (ILLINOIS_ETA_3 - ILLINOIS_ETA_2))

/* alpha(d) for d above d_1, as a part of d_m. */
INLINE u64 increase(u64 d)
{
	return ((u64)(KAPPA_1 * 9223372036854775808.0) / (FIXED(KAPPA_2) + d)) << 1;
}

INLINE u64 part_taken(u64 d)
{
	if (d <= FIXED(ILLINOIS_ETA_2))
		return FIXED(ILLINOIS_BETA_MIN);
	if (d >= FIXED(ILLINOIS_ETA_3))
		return FIXED(ILLINOIS_BETA_MAX);
	return FIXED(ILLINOIS_BETA_MIN) + times(FIXED(SLOPE), d - FIXED(ILLINOIS_ETA_2));
}

INLINE void on_round(struct illinois *state, struct round *round)
{
	u64 d = round->largest_us ? part(round->delay_us, round->largest_us) : 0;

	state->beta = part_taken(d);
	if (d > FIXED(ILLINOIS_ETA_1)) {
		state->quiet_rounds = 0;
		state->alpha = increase(d);
	} else if (++state->quiet_rounds >= ILLINOIS_THETA) {
		state->alpha = FIXED(ILLINOIS_ALPHA_MAX);
	}
}

/* Begins as Reno does, until a round has been measured. */
SEC("struct_ops/illinois_init")
void illinois_init(u64 *args)
{
	struct illinois *state = private_state(connection(args));

	begin(&state->window);
	state->alpha = ONE;
	state->beta = FIXED(ILLINOIS_BETA_MAX);
	state->quiet_rounds = ILLINOIS_THETA;
}

SEC("struct_ops/illinois_pkts_acked")
void illinois_pkts_acked(u64 *args)
{
	struct illinois *state = private_state(connection(args));

	take_sample(&state->window, (const struct ack_sample *)(unsigned long)args[1]);
}

SEC("struct_ops/illinois_cong_avoid")
void illinois_cong_avoid(u64 *args)
{
	struct tcp_sock *tp = connection(args);
	struct illinois *state = private_state(tp);
	u32 acked = args[2];
	struct round round = { 0 };
	u64 w, alpha;

	if (turn_of(tp, &state->window, &round) == OVER)
		on_round(state, &round);
	if (!is_limiting(tp))
		return;
	acked = slow_start(tp, &state->window, acked);
	w = cwnd(tp, &state->window);
	alpha = w < FIXED(ILLINOIS_W_THRESH) ? ONE : state->alpha;
	if (acked)
		set_cwnd(tp, &state->window, w + acked * ((alpha << 28) / (w >> 4)));
}

SEC("struct_ops/illinois_ssthresh")
u32 illinois_ssthresh(u64 *args)
{
	struct tcp_sock *tp = connection(args);
	struct illinois *state = private_state(tp);
	u64 w = cwnd(tp, &state->window);
	u64 beta = w < FIXED(ILLINOIS_W_THRESH) ? FIXED(ILLINOIS_BETA_MAX) : state->beta;

	return decrease(tp, &state->window, tp->snd_cwnd * (ONE - beta));
}

SEC("struct_ops/illinois_set_state")
void illinois_set_state(u64 *args)
{
	struct tcp_sock *tp = connection(args);
	struct illinois *state = private_state(tp);

	timed_out(tp, &state->window, args[1]);
}

SEC("struct_ops/illinois_undo_cwnd")
u32 illinois_undo_cwnd(u64 *args)
{
	struct tcp_sock *tp = connection(args);
	struct illinois *state = private_state(tp);

	return undo(tp, &state->window);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops law = {
	.init = illinois_init,
	.pkts_acked = illinois_pkts_acked,
	.cong_avoid = illinois_cong_avoid,
	.ssthresh = illinois_ssthresh,
	.set_state = illinois_set_state,
	.undo_cwnd = illinois_undo_cwnd,
	.name = "illinois",
	.flags = TCP_CONG_NON_RESTRICTED,
};

SEC("license")
char terms[] = "Dual MIT/GPL";
