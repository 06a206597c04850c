/* Virtual buffer sharing in front of a shaper: a classifier at its root, which loses packets before they are queued
 * (sharing.h says which). It runs under the lock of the queue. */
#include "sharing.h"

/* What is known of the kernel: a packet as programs see it, and how to get at the queue of its interface. */
struct __sk_buff {
	u32 len;
	u32 pkt_type;
	u32 mark;
	u32 queue_mapping;
	u32 protocol;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct qdisc_skb_head {
	u32 qlen;
};

struct Qdisc {
	struct qdisc_skb_head q;
};

struct net_device {
	struct Qdisc *qdisc;
};

struct sk_buff {
	struct net_device *dev;
};
#pragma clang attribute pop

static void *(*const lookup)(void *map, const void *key) = (void *)1;
static u64 (*const clock_ns)(void) = (void *)5;
static u32 (*const random)(void) = (void *)7;
static long (*const load_bytes)(const void *skb, u32 at, void *to, u32 length) = (void *)26;
static long (*const read_kernel)(void *to, u32 length, const void *from) = (void *)113;

#define MAP(name, kind, key_bytes, value_bytes, most, with)                                                             \
	struct {                                                                                                        \
		int (*type)[kind];                                                                                      \
		int (*key_size)[key_bytes];                                                                             \
		int (*value_size)[value_bytes];                                                                         \
		int (*max_entries)[most];                                                                               \
		int (*map_flags)[with];                                                                                 \
	} name SEC(".maps")

/* linux/bpf.h */
enum { HASH = 1, ARRAY = 2, PREFIXES = 11, NO_PREALLOC = 1 };
#define MOST_MEMBERS 4096

struct prefix {
	u32 length;
	u8 address[16];
};

MAP(queue, ARRAY, 4, sizeof(struct shared), 1, 0);
MAP(marks, HASH, 4, 4, MOST_MEMBERS, 0);
MAP(macs, HASH, 8, 4, MOST_MEMBERS, 0);
/* An IPv4 address stands in the last four bytes. */
MAP(prefixes, PREFIXES, sizeof(struct prefix), 4, MOST_MEMBERS, NO_PREALLOC);

#define ETHERNET 14
#define SWAPPED(n) ((n) << 8 | (n) >> 8)
enum { IPV4 = SWAPPED(0x0800) & 0xffff, IPV6 = SWAPPED(0x86dd) & 0xffff };
enum { PASS = -1, LOSE = 2 };

INLINE u32 *of_mac(struct __sk_buff *skb, u32 at)
{
	u64 mac = 0;

	return load_bytes(skb, at, &mac, 6) ? 0 : lookup(&macs, &mac);
}

INLINE u32 *of_address(struct __sk_buff *skb, u32 at, u32 bytes)
{
	struct prefix prefix;

	__builtin_memset(&prefix, 0, sizeof(prefix));
	prefix.length = 128;
	if (bytes == 16 ? load_bytes(skb, at, prefix.address, 16) : load_bytes(skb, at, prefix.address + 12, 4))
		return 0;
	if (bytes == 4)
		prefix.address[10] = prefix.address[11] = 0xff;
	return lookup(&prefixes, &prefix);
}

/* The class of a packet: by its mark, else by a MAC address, else by an IP address; the source comes first. */
INLINE u32 class_number(struct __sk_buff *skb, u32 header_bytes)
{
	u32 mark = skb->mark, *found = mark ? lookup(&marks, &mark) : 0;

	if (!found && header_bytes == ETHERNET) {
		found = of_mac(skb, 6);
		if (!found)
			found = of_mac(skb, 0);
	}
	if (!found && skb->protocol == IPV4) {
		found = of_address(skb, header_bytes + 12, 4);
		if (!found)
			found = of_address(skb, header_bytes + 16, 4);
	}
	if (!found && skb->protocol == IPV6) {
		found = of_address(skb, header_bytes + 8, 16);
		if (!found)
			found = of_address(skb, header_bytes + 24, 16);
	}
	return found ? *found : NO_CLASS;
}

/* Packets in the queue of the packet's interface. Those that wait are counted there; while some do, there is one in
 * service, which the shaper has let go and not yet paid for. */
INLINE u32 backlog(struct __sk_buff *skb)
{
	struct net_device *dev = 0;
	struct Qdisc *qdisc = 0;
	u32 found = 0;

	read_kernel(&dev, sizeof(dev), &((struct sk_buff *)(void *)skb)->dev);
	read_kernel(&qdisc, sizeof(qdisc), &dev->qdisc);
	read_kernel(&found, sizeof(found), &qdisc->q.qlen);
	return smaller(found + (found > 0), PLACES);
}

SEC("classifier")
int share(struct __sk_buff *skb)
{
	u32 first = 0, number;
	struct shared *shared = lookup(&queue, &first);

	if (!shared)
		return PASS;
	number = class_number(skb, shared->setting.header_bytes);
	return admit(shared, number, backlog(skb), skb->len, clock_ns(), random()) ? PASS : LOSE;
}

char terms[] SEC("license") = "Dual MIT/GPL";
