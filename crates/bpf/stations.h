/* Maps of the classifier of stations, which the gateway fills and reads. */
#ifndef LASTHOP_STATIONS_H
#define LASTHOP_STATIONS_H

#include "kernel.h"

/* Exempt kinds of packets. The first slot of the counters is that of packets that belong to a station's leaf. */
enum kind { STATION, UNCLASSIFIED, MULTICAST, ARP, NEIGHBOURS, PINGS, DNS, DHCP, UPLINK_UDP, UNMATCHED, KINDS };
enum direction { FROM_STATIONS, TO_STATIONS, DIRECTIONS };

/* Station flags: classify by address, since several stations share this MAC address; do not shape uplink UDP. */
enum { BY_ADDRESS = 1, UDP_PASSES = 2 };

/* A station: its classes, and the number under which its allowances are counted. */
struct station {
	u16 to_class;
	u16 from_class;
	u16 ap;
	u16 flags;
	u32 number;
};

/* The access point to which packets of no station are charged, by interface. */
struct access {
	u16 unclassified_class;
	u16 multicast_class;
	u16 ap;
	u16 unused;
	u32 number;
};

/* An allowance: the time that one byte uses up, and the burst in time. [ns] */
struct allowance {
	u64 byte_ns;
	u64 burst_ns;
};

struct settings {
	struct allowance allowance[KINDS];
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
