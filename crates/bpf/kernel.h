/* What the laws know of the kernel: the members that they read or write, no more. Compiled for BPF, offsets are
 * relocated to the running kernel's when a program is loaded (CO-RE); compiled for user space, these are the types. */
#ifndef LASTHOP_KERNEL_H
#define LASTHOP_KERNEL_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;

#ifdef __bpf__
#define SEC(name) __attribute__((section(name), used))
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#else
#define SEC(name)
#endif

struct inet_connection_sock {
	u64 icsk_ca_priv[13];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_una;
	u32 snd_nxt;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 max_packets_out;
	u8 is_cwnd_limited : 1;
};

struct ack_sample {
	s32 rtt_us;
};

#ifdef __bpf__
#pragma clang attribute pop
#endif

/* Arguments of an operation stand in an array of 64-bit numbers, the connection first. */
struct tcp_congestion_ops {
	void (*init)(u64 *args);
	void (*pkts_acked)(u64 *args);
	void (*cong_avoid)(u64 *args);
	u32 (*ssthresh)(u64 *args);
	void (*set_state)(u64 *args);
	u32 (*undo_cwnd)(u64 *args);
	char name[16];
	u32 flags;
};

/* linux/tcp.h: users without rights may choose it. */
#define TCP_CONG_NON_RESTRICTED 1
/* linux/tcp.h, enum tcp_ca_state */
#define TCP_CA_LOSS 4

#define INLINE static inline __attribute__((always_inline))

INLINE struct tcp_sock *connection(u64 *args)
{
	return (struct tcp_sock *)(unsigned long)args[0];
}

INLINE void *private_state(struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_ca_priv;
}

#ifdef __bpf__
/* A member of a single bit lies elsewhere in each kernel: its byte, and where in it. */
#define FIELD(tp, what) __builtin_preserve_field_info((tp)->is_cwnd_limited, what)
enum { BYTE_OFFSET = 0, BYTE_SIZE = 1, LSHIFT_U64 = 4, RSHIFT_U64 = 5 };

INLINE u32 is_cwnd_limited(struct tcp_sock *tp)
{
	const void *at = (const void *)tp + FIELD(tp, BYTE_OFFSET);
	u64 value = 0;

	asm volatile("" : "=r"(at) : "0"(at));
	switch (FIELD(tp, BYTE_SIZE)) {
	case 1:
		value = *(const u8 *)at;
		break;
	case 2:
		value = *(const u16 *)at;
		break;
	case 4:
		value = *(const u32 *)at;
		break;
	case 8:
		value = *(const u64 *)at;
		break;
	}
	return value << FIELD(tp, LSHIFT_U64) >> FIELD(tp, RSHIFT_U64);
}
#else
INLINE u32 is_cwnd_limited(struct tcp_sock *tp)
{
	return tp->is_cwnd_limited;
}
#endif

#endif
