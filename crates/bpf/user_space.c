/* The laws of the kernel in a process: reads traces of 16-byte events, four numbers each, and answers each event with
 * the window after it, in units of 2^-32 packets. crates/engine/src/tcp/congestion/linux.rs writes the traces.
 *
 * 0 begin: receive window, initial window        1 ACK: snd_una, snd_nxt, round-trip time [us]
 * 2 loss, found and repaired                     3 timeout
 * 4 stretch ACK: as 1, for as many packets as are in the upper half of the first number
 */
#include <stdio.h>
#include <string.h>

#include LAW

/* Sequence numbers pass zero in every trace. */
#define FIRST 0xffffffc0u

static struct tcp_sock tp;

static u64 state_of(void)
{
	return cwnd(&tp, private_state(&tp));
}

static void acked(const u32 *event, u32 packets)
{
	struct ack_sample sample = { .rtt_us = event[3] };
	u64 args[3] = { (u64)&tp, (u64)&sample, packets };

	tp.snd_una = FIRST + event[1];
	tp.snd_nxt = FIRST + event[2];
	law.pkts_acked(args);
	args[1] = tp.snd_una;
	law.cong_avoid(args);
}

static void state(u32 to)
{
	u64 args[2] = { (u64)&tp, to };

	law.set_state(args);
}

static void happen(const u32 *event)
{
	u64 args[1] = { (u64)&tp };

	switch (event[0] & 0xffff) {
	case 0:
		memset(&tp, 0, sizeof(tp));
		tp.snd_cwnd_clamp = event[1];
		tp.snd_cwnd = event[2];
		tp.snd_ssthresh = event[1];
		tp.is_cwnd_limited = 1;
		law.init(args);
		break;
	case 1:
		acked(event, 1);
		break;
	case 2:
		tp.snd_ssthresh = law.ssthresh(args);
		state(3);
		tp.snd_cwnd = tp.snd_ssthresh;
		state(0);
		break;
	case 3:
		tp.snd_ssthresh = law.ssthresh(args);
		tp.snd_cwnd = 1;
		state(TCP_CA_LOSS);
		break;
	case 4:
		acked(event, event[0] >> 16);
		break;
	}
}

int main(void)
{
	static u32 events[4096][4];
	static u64 windows[4096];
	size_t count, k;

	while ((count = fread(events, sizeof(events[0]), 4096, stdin)) > 0) {
		for (k = 0; k < count; k++) {
			happen(events[k]);
			windows[k] = state_of();
		}
		fwrite(windows, sizeof(windows[0]), count, stdout);
	}
	return 0;
}
