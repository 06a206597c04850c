/* Virtual buffer sharing in front of a queue: packets are lost before they enter it (sharing.h says which). */
#include "packet.h"
#include "sharing.h"

#define MOST_MEMBERS 4096

struct prefix {
	u32 length;
	u8 version;
	u8 address[16];
};

MAP(queue, ARRAY, 4, struct shared, 1, MAPPED);
MAP(marks, HASH, 4, u32, MOST_MEMBERS, 0);
MAP(macs, HASH, 8, u32, MOST_MEMBERS, 0);
MAP(prefixes, PREFIXES, sizeof(struct prefix), u32, MOST_MEMBERS, NO_PREALLOC);

#define ETHERNET 14
#define SWAPPED(n) ((n) << 8 | (n) >> 8)
enum { IPV4 = SWAPPED(0x0800) & 0xffff, IPV6 = SWAPPED(0x86dd) & 0xffff };

INLINE u32 *of_mac(struct __sk_buff *skb, u32 at)
{
	u64 mac = 0;

	return load_bytes(skb, at, &mac, 6) ? 0 : lookup(&macs, &mac);
}

INLINE u32 *of_address(struct __sk_buff *skb, u32 at, u32 bytes)
{
	struct prefix prefix;

	__builtin_memset(&prefix, 0, sizeof(prefix));
	prefix.length = 8 * (1 + bytes);
	prefix.version = bytes == 16 ? 6 : 4;
	if (bytes == 16 ? load_bytes(skb, at, prefix.address, 16) : load_bytes(skb, at, prefix.address, 4))
		return 0;
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

SEC("classifier")
int share(struct __sk_buff *skb)
{
	u32 first = 0, number;
	struct shared *shared = lookup(&queue, &first);

	if (!shared)
		return PASS;
	number = class_number(skb, shared->setting.header_bytes);
	return admit(shared, number, smaller(backlog(skb), PLACES), skb->len, clock_ns(), random()) ? PASS : LOSE;
}

char terms[] SEC("license") = "Dual MIT/GPL";
