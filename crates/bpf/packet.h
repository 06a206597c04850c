/* A program in front of a queue: packets as it sees them, maps, and how many packets are in the queue. It runs under the
 * lock of the queue, as a classifier at the root of a shaper. */
#ifndef LASTHOP_PACKET_H
#define LASTHOP_PACKET_H

#include "fixed.h"

/* A packet as programs see it. */
struct __sk_buff {
	u32 len;
	u32 pkt_type;
	u32 mark;
	u32 queue_mapping;
	u32 protocol;
};

/* How to get from there at the queue of its interface. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct qdisc_skb_head {
	u32 qlen;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct Qdisc {
	u32 handle;
	struct hlist_node hash;
	struct qdisc_skb_head q;
};

struct net_device {
	struct Qdisc *qdisc;
	struct hlist_head qdisc_hash[16];
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

#define MAP(name, kind, key_bytes, value_type, most, with)								\
	struct {													\
		int (*type)[kind];											\
		int (*key_size)[key_bytes];										\
		int (*value_size)[sizeof(value_type)];									\
		int (*max_entries)[most];										\
		value_type *value;											\
		int (*map_flags)[with];											\
	} name SEC(".maps")

/* linux/bpf.h. A value that is mapped is written in place: settings change and what the program counts goes on. */
enum { HASH = 1, ARRAY = 2, PREFIXES = 11, NO_PREALLOC = 1, MAPPED = 1 << 10 };
/* What becomes of a packet: the queue takes it, or it is lost. */
enum { PASS = -1, LOSE = 2 };

/* Handle of the shaper, and its list in the hash table of an interface (linux/hash.h: hash_32 with 4 bits). */
#define SHAPER 0x6c680000U
#define BUCKET (SHAPER * 0x61C88647U >> 28)
#define MOST_IN_BUCKET 8
/* linux/bpf.h: what of a member is asked for. */
#define BYTE_OFFSET 0

/* The shaper of an interface. The root in front of it splits packets of merged segments, and counts the segments of a
 * packet only when all of them have entered. */
INLINE struct Qdisc *shaper(struct net_device *dev)
{
	u32 offset = __builtin_preserve_field_info(((struct Qdisc *)0)->hash, BYTE_OFFSET);
	struct hlist_node *node = 0;
	struct Qdisc *root = 0;
	u32 k;

	read_kernel(&node, sizeof(node), &dev->qdisc_hash[BUCKET].first);
	for (k = 0; k < MOST_IN_BUCKET && node; k++) {
		struct Qdisc *qdisc = (void *)((u8 *)node - offset);
		u32 handle = 0;

		read_kernel(&handle, sizeof(handle), &qdisc->handle);
		if (handle == SHAPER)
			return qdisc;
		read_kernel(&node, sizeof(node), &node->next);
	}
	read_kernel(&root, sizeof(root), &dev->qdisc);
	return root;
}

/* Packets in the queue of the packet's interface. Those that wait are counted there; while some do, there is one in
 * service, which the shaper has let go and not yet paid for. */
INLINE u32 backlog(struct __sk_buff *skb)
{
	struct net_device *dev = 0;
	u32 found = 0;

	read_kernel(&dev, sizeof(dev), &((struct sk_buff *)(void *)skb)->dev);
	read_kernel(&found, sizeof(found), &shaper(dev)->q.qlen);
	return found + (found > 0);
}

#endif
