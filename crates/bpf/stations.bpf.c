/* Classifier of the gateway: finds the station of a frame at `lan` by its MAC address, whatever its protocol.
 *
 * `from_stations` and `to_stations` run at the two hooks of `lan`. They return 0 for an exempt packet, which passes.
 * The filter redirects all other packets to the IFB, with the number of the leaf in skb->tc_index. At the IFB, `leaf`
 * returns that number, or the class of the leaf's group. `inside` returns the number in the hierarchy of the group. */
#include "packet.h"
#include "stations.h"

struct packet {
	u32 len;
	u32 pkt_type;
	u32 mark;
	u32 queue_mapping;
	u32 protocol;
	u32 vlan_present;
	u32 vlan_tci;
	u32 vlan_proto;
	u32 priority;
	u32 ingress_ifindex;
	u32 ifindex;
	u32 tc_index;
};

static long (*const update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*const store_bytes)(void *skb, u32 offset, const void *from, u32 length, u64 flags) = (void *)9;

enum { MOST_MACS = 1 << 17, MOST_ADDRESSES = 1 << 17, MOST_APS = 256, STRANGERS = 16, MOST_HEADERS = 4 };

MAP(macs, HASH, 8, struct station, MOST_MACS, NO_PREALLOC);
MAP(prefixes, PREFIXES, sizeof(struct prefix), struct station, MOST_ADDRESSES, NO_PREALLOC);
MAP(own, HASH, 16, u32, 1 << 14, NO_PREALLOC);
MAP(interfaces, HASH, 4, u32, MOST_APS, NO_PREALLOC);
MAP(aps, ARRAY, 4, struct access, MOST_APS, 0);
MAP(groups, HASH, 4, struct group, 1 << 16, NO_PREALLOC);
MAP(spent, HASH, 8, u64, 1 << 19, NO_PREALLOC);
MAP(counters, ARRAY, 4, struct counts, MOST_APS, 0);
MAP(setup, ARRAY, 4, struct settings, 1, 0);

#define SWAPPED(n) (((n) << 8 | (n) >> 8) & 0xffff)
enum { IPV4 = SWAPPED(0x0800), IPV6 = SWAPPED(0x86dd), IS_ARP = SWAPPED(0x0806), EAPOL = SWAPPED(0x888e) };
enum { VLAN = SWAPPED(0x8100), SERVICE_VLAN = SWAPPED(0x88a8) };
enum { ETHERNET = 14, ICMP = 1, UDP = 17, ICMP6 = 58, MAJOR = 0x6c68, EVERY = -1 };

INLINE struct station *of_mac(struct packet *skb, u32 at)
{
	u64 mac = 0;

	return load_bytes(skb, at, &mac, 6) ? 0 : lookup(&macs, &mac);
}

INLINE struct station *of_address(struct packet *skb, enum direction direction)
{
	struct prefix prefix;
	u32 is_to = direction == TO_STATIONS;

	__builtin_memset(&prefix, 0, sizeof(prefix));
	if (skb->protocol == IPV4) {
		prefix.length = 40;
		prefix.version = 4;
		if (load_bytes(skb, ETHERNET + (is_to ? 16 : 12), prefix.address, 4))
			return 0;
	} else if (skb->protocol == IPV6) {
		prefix.length = 136;
		prefix.version = 6;
		if (load_bytes(skb, ETHERNET + (is_to ? 24 : 8), prefix.address, 16))
			return 0;
	} else {
		return 0;
	}
	return lookup(&prefixes, &prefix);
}

/* Returns whether an address is one of this machine. An IPv4 address is mapped (RFC 4291, 2.5.5.2). */
INLINE u32 is_own(struct packet *skb, u32 at, u32 is_v6)
{
	u8 address[16];

	__builtin_memset(address, 0, sizeof(address));
	address[10] = address[11] = 0xff;
	if (is_v6 ? load_bytes(skb, at, address, 16) : load_bytes(skb, at, address + 12, 4))
		return 0;
	return lookup(&own, address) != 0;
}

/* Returns the exempt kind of a packet, MULTICAST or STATION. Later fragments, which have no ports, and packets with
 * extension headers are never exempt. */
INLINE enum kind kind_of(struct packet *skb, enum direction direction, u32 is_group, u32 is_control)
{
	u32 is_v6 = skb->protocol == IPV6, to = direction == TO_STATIONS, header = 40, own_at;
	u8 begin[40], ports[4];
	u16 port, other;

	if (skb->protocol == IS_ARP || skb->protocol == EAPOL || is_control)
		return ARP;
	if (!is_v6 && skb->protocol != IPV4)
		return is_group ? MULTICAST : STATION;
	if (is_v6 ? load_bytes(skb, ETHERNET, begin, 40) : load_bytes(skb, ETHERNET, begin, 20))
		return is_group ? MULTICAST : STATION;
	if (!is_v6) {
		header = (begin[0] & 15) * 4;
		if ((begin[6] & 0x1f) || begin[7])
			return is_group ? MULTICAST : STATION;
	}
	if (load_bytes(skb, ETHERNET + header, ports, 4))
		return is_group ? MULTICAST : STATION;
	switch (is_v6 ? begin[6] : begin[9]) {
	case ICMP6:
		if (is_v6 && ports[0] >= 133 && ports[0] <= 137)
			return NEIGHBOURS;
		/* fallthrough */
	case ICMP:
		own_at = ETHERNET + (is_v6 ? (to ? 8 : 24) : (to ? 12 : 16));
		if (ports[0] == (is_v6 ? (to ? 128 : 129) : (to ? 8 : 0)) && is_own(skb, own_at, is_v6))
			return PINGS;
		break;
	case UDP:
		port = ports[2] << 8 | ports[3];
		other = ports[0] << 8 | ports[1];
		if (to) {
			u16 swap = port;
			port = other;
			other = swap;
		}
		if (port == 53)
			return DNS;
		if ((!is_v6 && port == 67 && other == 68) || (is_v6 && port == 547 && other == 546))
			return DHCP;
		break;
	}
	return is_group ? MULTICAST : STATION;
}

/* Takes a packet out of an allowance, a token bucket as virtual scheduling. Returns whether it had room. */
INLINE u32 take(u64 number, struct allowance *allowance, u32 slot, u32 bytes)
{
	u64 now = clock_ns(), key = number << 8 | slot, fresh, *due;

	if (!allowance->byte_ns)
		return 0;
	due = lookup(&spent, &key);
	if (due && *due > now + allowance->burst_ns)
		return 0;
	fresh = (due && *due > now ? *due : now) + bytes * allowance->byte_ns;
	if (due) {
		*due = fresh;
		return 1;
	}
	return update(&spent, &key, &fresh, 0) == 0;
}

/* Whether a packet is within the allowances of its station: that of its kind, and that of all kinds together; and within
 * that of the station's group. */
INLINE u32 is_allowed(u32 number, u32 own_class, enum kind kind, enum direction direction, u32 bytes)
{
	u32 first = 0;
	struct settings *settings = lookup(&setup, &first);
	struct group *group = lookup(&groups, &own_class);

	if (!settings || kind >= KINDS)
		return 0;
	if (!take(number, &settings->allowance[kind], kind << 1 | direction, bytes))
		return 0;
	if (kind == MULTICAST)
		return 1;
	if (!take(number, &settings->allowance[STATION], direction, bytes))
		return 0;
	return !group || take(1ULL << 32 | group->group_class, &settings->allowance[UNCLASSIFIED], direction, bytes);
}

/* Whether an IPv6 header is followed by another one: hop-by-hop options, routing, destination options (RFC 8200, 4). */
INLINE u32 is_extension(u8 type)
{
	return type == 0 || type == 43 || type == 60;
}

/* Whether a packet of ARP (RFC 826) or of IPv6 neighbour discovery (RFC 4861) names another MAC address as its sender's
 * than the frame does. The neighbours of this machine, and so its stations, would be what one guest invents. Such a
 * packet is made void: hosts ignore an ARP operation of 0, an ICMPv6 type of 255, and an EtherType of 0. It passes through
 * the leaf of its sender. */
INLINE u32 is_forged(struct packet *skb)
{
	u8 macs[12], named[6], option[2], type = 0;
	u32 base = ETHERNET - 2, at, void_at, k;
	u16 protocol = 0;

	if (load_bytes(skb, 0, macs, 12))
		return 0;
	/* the kernel takes away tags of VLAN 0, one after another */
	for (k = 0; k < MOST_HEADERS; k++) {
		if (load_bytes(skb, base, &protocol, 2))
			return 0;
		if (protocol != VLAN && protocol != SERVICE_VLAN)
			break;
		base += 4;
	}
	void_at = base;
	if (k == MOST_HEADERS)
		goto forged;
	base += 2;
	if (protocol == IPV6) {
		if (load_bytes(skb, base + 6, &type, 1))
			return 0;
		at = base + 40;
		for (k = 0; k < MOST_HEADERS && is_extension(type); k++) {
			if (load_bytes(skb, at, option, 2))
				return 0;
			type = option[0];
			at += (option[1] + 1) * 8;
		}
		/* what is after so many headers is not looked at: an IP version of 0 */
		void_at = base;
		if (is_extension(type))
			goto forged;
		if (type != ICMP6 || load_bytes(skb, at, &type, 1))
			return 0;
		if (type < 133 || type > 137)
			return 0;
		void_at = at;
		/* bytes before the options (RFC 4861, 4.1 to 4.5) */
		at += type == 133 ? 8 : type == 134 ? 16 : type == 137 ? 40 : 24;
		for (k = 0; k < MOST_HEADERS; k++) {
			if (load_bytes(skb, at, option, 2) || !option[1])
				return 0;
			if (option[0] == (type >= 136 ? 2 : 1))
				break;
			at += option[1] * 8;
		}
		if (k == MOST_HEADERS)
			goto forged;
		at += 2;
	} else if (protocol == IS_ARP) {
		at = base + 8;
		void_at = base + 6;
	} else {
		return 0;
	}
	if (load_bytes(skb, at, named, 6))
		return 0;
	for (k = 0; k < 6 && named[k] == macs[6 + k]; k++)
		;
	if (k == 6)
		return 0;
forged:
	if (void_at > base) {
		option[0] = protocol == IPV6 ? 255 : 0;
		store_bytes(skb, void_at, option, 1, 0);
		if (protocol != IPV6)
			store_bytes(skb, void_at + 1, option, 1, 0);
	} else {
		option[0] = option[1] = 0;
		store_bytes(skb, void_at, option, 2, 0);
	}
	return 1;
}

INLINE void add(u32 ap, enum direction direction, enum kind kind, u32 bytes)
{
	struct counts *counts = lookup(&counters, &ap);

	if (!counts || kind >= KINDS)
		return;
	__sync_fetch_and_add(&counts->count[direction][kind].packets, 1);
	__sync_fetch_and_add(&counts->count[direction][kind].bytes, bytes);
}

/* Notes the interface at which a station sends: one MAC address at two interfaces is a fault. */
INLINE void note_interface(struct station *station, u32 interface)
{
	if (station->interface == interface)
		return;
	if (station->interface)
		__sync_fetch_and_add(&station->moves, 1);
	station->interface = interface;
}

/* Returns whether this is UDP. IPv6 packets with extension headers do not count. */
INLINE u32 is_udp(struct packet *skb)
{
	u8 transport = 0;

	if (skb->protocol == IPV4)
		load_bytes(skb, ETHERNET + 9, &transport, 1);
	else if (skb->protocol == IPV6)
		load_bytes(skb, ETHERNET + 6, &transport, 1);
	return transport == UDP;
}

INLINE int classify(struct packet *skb, enum direction direction)
{
	u32 interface = skb->ifindex, number, ap, own_class, flags = 0, is_to = direction == TO_STATIONS;
	u32 stranger, is_control, by_address = 0;
	struct settings *settings = lookup(&setup, &flags);
	u32 *at_interface = lookup(&interfaces, &interface);
	struct station *station, *at_address, *machine = 0;
	enum kind kind, belongs = STATION;
	struct access *access;
	u8 macs[12];

	/* A packet that comes back from the IFB passes the hook towards stations again, where the kernel skips the action
	 * of the filter. It has been counted before, possibly for another class. */
	if (is_to && settings && skb->ingress_ifindex == settings->ifb)
		return EVERY;
	if (load_bytes(skb, 0, macs, 12))
		return 0;
	station = of_mac(skb, is_to ? 0 : 6);
	if (station && !is_to)
		note_interface(station, interface);
	if (station)
		by_address = station->flags & BY_ADDRESS;
	if (!station || station->flags & (BY_ADDRESS | HAS_IGNORED)) {
		at_address = of_address(skb, direction);
		if (station && station->flags & HAS_IGNORED)
			machine = station;
		if (at_address && at_address->flags & HAS_IGNORED) {
			/* The address can be forged, so the MAC address must be that of its machine. */
			if (machine && machine->number == at_address->number) {
				add(at_interface ? *at_interface : 0, direction, IGNORED, skb->len);
				return 0;
			}
			at_address = 0;
		}
		if (!station || station->flags & BY_ADDRESS || !station->to_class)
			station = at_address;
	}
	if (station && !(station->flags & UNCLASSIFIED_AT)) {
		number = station->number;
		ap = station->ap;
		own_class = is_to ? station->to_class : station->from_class;
		flags = station->flags;
		access = lookup(&aps, &ap);
	} else {
		if (!station && !at_interface) {
			add(0, direction, UNMATCHED, skb->len);
			return 0;
		}
		ap = station ? station->ap : *at_interface;
		access = lookup(&aps, &ap);
		if (!access)
			return 0;
		stranger = is_to ? macs[5] ^ macs[4] : macs[11] ^ macs[10];
		number = machine ? machine->number : access->number + (stranger & (STRANGERS - 1));
		own_class = access->unclassified_class;
		belongs = UNCLASSIFIED;
	}
	/* 01:80:c2:00:00:0x: control frames of a link, such as those of spanning trees (IEEE 802.1Q, 8.6.3) */
	is_control = macs[0] == 1 && macs[1] == 0x80 && macs[2] == 0xc2 && !macs[3] && !macs[4] && macs[5] < 16;
	kind = kind_of(skb, direction, macs[0] & 1, is_control);
	if (!is_to && !by_address && is_forged(skb)) {
		kind = STATION;
		belongs = FORGED;
	}
	if (kind == STATION && !is_to && flags & UDP_PASSES && is_udp(skb)) {
		add(ap, direction, UPLINK_UDP, skb->len);
		return 0;
	}
	if (kind != STATION && kind != MULTICAST && is_allowed(number, own_class, kind, direction, skb->len)) {
		add(ap, direction, kind, skb->len);
		return 0;
	}
	if ((macs[0] & 1) && belongs != FORGED && access &&
	    (is_to || is_allowed(number, own_class, MULTICAST, direction, skb->len))) {
		own_class = access->multicast_class;
		belongs = MULTICAST;
	}
	add(ap, direction, belongs, skb->len);
	skb->tc_index = own_class;
	return EVERY;
}

SEC("at_ingress")
int from_stations(struct packet *skb)
{
	return classify(skb, FROM_STATIONS);
}

SEC("at_egress")
int to_stations(struct packet *skb)
{
	return classify(skb, TO_STATIONS);
}

SEC("at_ifb")
int leaf(struct packet *skb)
{
	u32 number = skb->tc_index;
	struct group *group = lookup(&groups, &number);

	/* Without a class the hierarchy's default applies; 0 would pass past all leaves. */
	return number ? MAJOR << 16 | (group ? group->group_class : number) : 0;
}

SEC("at_group")
int inside(struct packet *skb)
{
	u32 number = skb->tc_index;
	struct group *group = lookup(&groups, &number);

	return group ? group->major << 16 | number : 0;
}

char terms[] SEC("license") = "Dual MIT/GPL";
