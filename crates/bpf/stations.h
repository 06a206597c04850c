/* Maps of the classifier of stations, which the gateway fills and reads. */
#ifndef LASTHOP_STATIONS_H
#define LASTHOP_STATIONS_H

#include "kernel.h"

/* Kinds of packets. Packets of STATION, UNCLASSIFIED and MULTICAST pass through a leaf; the others are exempt. */
enum kind {
	STATION,
	UNCLASSIFIED,
	MULTICAST,
	ARP,
	NEIGHBOURS,
	PINGS,
	DNS,
	DHCP,
	UPLINK_UDP,
	IGNORED,
	UNMATCHED,
	FORGED,
	KINDS
};
enum direction { FROM_STATIONS, TO_STATIONS, DIRECTIONS };

/* Station flags.
 * BY_ADDRESS: classify by address, since a router or several stations have this MAC address.
 * UDP_PASSES: do not shape uplink UDP.
 * HAS_IGNORED: some addresses of this MAC address are ignored; also the flag of such an address. Both have the same
 * number.
 * UNCLASSIFIED_AT: belongs to no station, but its access point is known. */
enum { BY_ADDRESS = 1, UDP_PASSES = 2, HAS_IGNORED = 4, UNCLASSIFIED_AT = 8 };

/* A station: its classes, the number under which its allowances are counted, and the interface at which the program
 * last saw it, with the number of changes. Classes are 0 if only ignored addresses of a MAC address are known. */
struct station {
	u16 to_class;
	u16 from_class;
	u16 ap;
	u16 flags;
	u32 number;
	u32 interface;
	u32 moves;
};

/* Leaves of an access point, and the first of STRANGERS numbers under which allowances of packets of no station are
 * counted. */
struct access {
	u16 unclassified_class;
	u16 multicast_class;
	u32 number;
};

/* A leaf inside a group: the class of the group, and the number of the hierarchy inside it. */
struct group {
	u16 group_class;
	u16 major;
};

/* An allowance: the time that one byte uses up, and the burst in time. [ns] */
struct allowance {
	u64 byte_ns;
	u64 burst_ns;
};

/* Allowances of each kind. That of STATION is the sum of all kinds for a station, that of UNCLASSIFIED the sum of all
 * kinds and stations for a group. */
struct settings {
	struct allowance allowance[KINDS];
	u32 ifb;
	u32 unused;
};

struct count {
	u64 packets;
	u64 bytes;
};

struct counts {
	struct count count[DIRECTIONS][KINDS];
};

struct prefix {
	u32 length;
	u8 version;
	u8 address[16];
	u8 unused[3];
};

#endif
