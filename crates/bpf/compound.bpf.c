/* Compound TCP. The law, its references and what it does differently stand in
 * crates/engine/src/tcp/congestion/compound.rs; this is the same in whole numbers. */
#include "constants.h"
#include "window.h"

struct compound {
	struct window window;
	/* Delay window; the rest of cwnd is the loss window. */
	u64 dwnd;
	u64 dwnd_before;
	/* win at the beginning of the round, if that was in congestion avoidance; else 0. */
	u64 win;
};

_Static_assert(sizeof(struct compound) <= sizeof(struct inet_connection_sock), "no room in a socket");
_Static_assert(COMPOUND_K == 0.75, "three_quarters() is the power");

/* The update of dwnd at the end of a round that began with the window `win`. */
INLINE void on_round(struct tcp_sock *tp, struct compound *state, struct round *round, int limiting)
{
	u64 w = cwnd(tp, &state->window), before = state->dwnd, dwnd = before;
	u64 diff = times(state->win, part(round->delay_us, round->sum_us));

	if (diff < FIXED(COMPOUND_GAMMA_PACKETS)) {
		u64 room = less((u64)tp->snd_cwnd_clamp << 32, w);
		u64 growth = times(FIXED(COMPOUND_ALPHA), three_quarters(state->win));

		if (limiting)
			dwnd += smaller(less(growth, ONE), room);
	} else {
		dwnd = less(dwnd, times(FIXED(COMPOUND_ZETA), diff));
	}
	state->dwnd = dwnd;
	set_cwnd(tp, &state->window, w - before + dwnd);
}

SEC("struct_ops/compound_init")
void compound_init(u64 *args)
{
	struct compound *state = private_state(connection(args));

	begin(&state->window);
}

SEC("struct_ops/compound_pkts_acked")
void compound_pkts_acked(u64 *args)
{
	struct compound *state = private_state(connection(args));

	take_sample(&state->window, (const struct ack_sample *)(unsigned long)args[1]);
}

SEC("struct_ops/compound_cong_avoid")
void compound_cong_avoid(u64 *args)
{
	struct tcp_sock *tp = connection(args);
	struct compound *state = private_state(tp);
	int limiting = is_limiting(tp);
	u32 acked = args[2];
	struct round round = { 0 };
	enum turn turn = turn_of(tp, &state->window, &round);
	u64 w;

	if (limiting)
		acked = slow_start(tp, &state->window, acked);
	if (!acked || cwnd(tp, &state->window) < ssthresh(tp, &state->window)) {
		state->win = 0;
		return;
	}
	w = cwnd(tp, &state->window);
	if (limiting)
		set_cwnd(tp, &state->window, w + acked * inverse(w));
	if (turn == OVER && state->win)
		on_round(tp, state, &round, limiting);
	if (turn != WITHIN)
		state->win = cwnd(tp, &state->window);
}

SEC("struct_ops/compound_ssthresh")
u32 compound_ssthresh(u64 *args)
{
	struct tcp_sock *tp = connection(args);
	struct compound *state = private_state(tp);
	u64 win = (u64)tp->snd_cwnd << 32;
	u64 loss_window = less(win, state->dwnd) >> 1;

	state->dwnd_before = state->dwnd;
	state->dwnd = less(times(FIXED(1 - COMPOUND_BETA), win), loss_window);
	state->win = 0;
	return decrease(tp, &state->window, loss_window + state->dwnd);
}

SEC("struct_ops/compound_set_state")
void compound_set_state(u64 *args)
{
	struct tcp_sock *tp = connection(args);
	struct compound *state = private_state(tp);

	if (timed_out(tp, &state->window, args[1])) {
		state->dwnd = 0;
		state->win = 0;
	}
}

SEC("struct_ops/compound_undo_cwnd")
u32 compound_undo_cwnd(u64 *args)
{
	struct tcp_sock *tp = connection(args);
	struct compound *state = private_state(tp);

	state->dwnd = state->dwnd_before;
	return undo(tp, &state->window);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops law = {
	.init = compound_init,
	.pkts_acked = compound_pkts_acked,
	.cong_avoid = compound_cong_avoid,
	.ssthresh = compound_ssthresh,
	.set_state = compound_set_state,
	.undo_cwnd = compound_undo_cwnd,
	.name = "lasthop_ctcp",
	.flags = TCP_CONG_NON_RESTRICTED,
};

SEC("license")
char terms[] = "Dual MIT/GPL";
