//! The memory that Linux counts for a packet (`truesize` of an skb; `__alloc_skb` and
//! `kmalloc_reserve` in `net/core/skbuff.c`, 6.12).
//!
//! Limits in bytes of memory, such as `memlimit` of CAKE, apply to this number. It depends on the
//! allocator of the packet. The function below describes slabs: `kmalloc` has objects with lengths
//! of powers of two, and there are smaller objects for packets with little data. Packets of programs
//! are in slabs, and so are received packets that a driver copies.
//!
//! Differs from other allocators in: a driver that receives into half pages has 2048 bytes of memory
//! for each packet up to the MTU. With this allocator, an ACK counts 2304 bytes, and not 896. A full
//! packet counts 2304 bytes with both. A segment of TCP whose payload is in pages counts 896 bytes
//! and its payload: 2356 bytes for a payload of 1460 bytes.

/// Length of `struct sk_buff`. [bytes]
const STRUCT: u32 = 256;
/// Space for headers before the IP packet: `NET_SKB_PAD`, and the Ethernet header. [bytes]
const HEADROOM: u32 = 64 + 14;
/// Length to which the data is aligned, `SMP_CACHE_BYTES`. [bytes]
const CACHE_LINE: u32 = 64;
/// Length of `struct skb_shared_info`, after the data. [bytes]
const SHARED_INFO: u32 = 320;
/// Length of the smallest objects (`skb_small_head_cache`). [bytes]
const SMALL_HEAD: u32 = 640;

/// Returns the memory that Linux counts for an IP packet of this length. [bytes]
#[inline]
pub(super) fn truesize(bytes: u16) -> u32 {
    let data = (HEADROOM + u32::from(bytes)).next_multiple_of(CACHE_LINE);
    let head = data + SHARED_INFO;
    STRUCT
        + if head <= SMALL_HEAD {
            SMALL_HEAD
        } else {
            head.next_power_of_two()
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_counted_as_linux_counts_it() {
        // 1500 + 78 = 1578, aligned to 1600; with 320 bytes 1920: an object of 2048 bytes
        assert_eq!(truesize(1500), 256 + 2048);
        // 576 + 78 = 654, aligned to 704; with 320 bytes exactly 1024
        assert_eq!([576, 626, 627].map(truesize), [1280, 1280, 2304]);
        // 40 + 78 = 118, aligned to 128; with 320 bytes 448: the smallest object
        assert_eq!([40, 52, 200].map(truesize), [896; 3]);
        // 242 + 78 = 320 and 320 bytes fill the smallest object
        assert_eq!([242, 243].map(truesize), [896, 1280]);
        // 9000 + 78 = 9078, aligned to 9088: an object of 16 KiB
        assert_eq!(truesize(9000), 256 + 16_384);
    }
}
