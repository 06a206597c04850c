# ns-2: sixty NewReno flows through one router.
#
#   ns dumbbell.tcl DURATION_S WARMUP_S SEED RTT_MS droptail|red|bytes measure|bare [FLOWS LIMIT]
#
# The script prints "delivered", the number of segments delivered in the whole run, and the number
# after the warm-up. With `measure` it also prints "bottleneck", utilisation, mean queue length with
# the packet in service, and fraction of packets dropped, all after the warm-up. This requires a
# monitor of the queue, which is absent with `bare`. Comments explain settings that differ from
# ns-2's defaults.

lassign $argv duration warmup seed rtt_ms queue mode flows places
# The rate of the bottleneck is proportional to the number of flows.
if {$flows eq ""} {
    lassign {60 15} flows places
}
set bottleneck_bps [expr {100e6 * $flows / 60}]
ns-random $seed

# A segment has 1500 bytes on the wire, and an ACK 40 bytes (ns-2's default).
Agent/TCP set packetSize_ 1460
Agent/TCP set tcpip_base_hdr_size_ 40
# A window that never limits a flow.
Agent/TCP set window_ 10000
Agent/TCP set minrto_ 0.2
Agent/TCP set rtxcur_init_ 1.0
Agent/TCP set tcpTick_ 0.001
# Every ACK gives a round-trip time sample, as with timestamps, and the first sample ends the
# back-off. The option has no bytes.
Agent/TCP set timestamps_ true
Agent/TCP set ts_option_size_ 0
Agent/TCP set ts_resetRTO_ true
# No limited transmit: no segment is sent on the first two duplicate ACKs.
Agent/TCP set singledup_ 0

# With `bytes`, the default of ns-2, RED counts bytes and drops long packets more often. Thresholds
# and limit are then in packets of the mean length (500 bytes by default), from which RED also
# computes its weight.
if {$queue eq "bytes"} {
    lassign {true 20 60 100} bytes least most limit
} else {
    lassign {false 50 100 2084} bytes least most limit
}
Queue/RED set bytes_ $bytes
Queue/RED set queue_in_bytes_ $bytes
Queue/RED set thresh_ $least
Queue/RED set maxthresh_ $most

set ns [new Simulator]
set left [$ns node]
set right [$ns node]
if {$queue eq "droptail"} {
    $ns simplex-link $left $right $bottleneck_bps 0 DropTail
    # A limit of 15 means 14 packets in the queue, and one packet in service.
    $ns queue-limit $left $right $places
} else {
    $ns simplex-link $left $right $bottleneck_bps 0 RED
    $ns queue-limit $left $right $limit
}
$ns simplex-link $right $left $bottleneck_bps 0 DropTail
$ns queue-limit $right $left [expr {1000 * $flows / 60}]

# Each direction of a host's two links has a quarter of the round-trip time. The rates are evenly
# spaced over 1 %.
set quarter [expr {$rtt_ms / 4000.0}]
set start [new RandomVariable/Uniform]
$start set min_ 0
$start set max_ 1
for {set i 0} {$i < $flows} {incr i} {
    set source [$ns node]
    set target [$ns node]
    set rate [expr {2e6 * (1 + 0.01 * ($i / ($flows - 1.0) - 0.5))}]
    foreach {from to bps} [list $source $left $rate $left $source $rate \
            $right $target 100e9 $target $right 100e9] {
        $ns simplex-link $from $to $bps $quarter DropTail
        $ns queue-limit $from $to 1000000
    }
    set tcp($i) [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $source $tcp($i)
    $ns attach-agent $target $sink
    $ns connect $tcp($i) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [$start value] "$ftp start"
}

proc delivered {} {
    global tcp flows
    set sum 0
    for {set i 0} {$i < $flows} {incr i} {
        set sum [expr {$sum + [$tcp($i) set ack_] + 1}]
    }
    return $sum
}

if {$mode eq "measure"} {
    set monitor [$ns monitor-queue $left $right ""]
    set waiting [$monitor get-pkts-integrator]
}
# Returns bytes sent, the integral of the queue length [packets s], packets that arrived, and
# packets dropped, all since the start.
proc counters {} {
    global ns monitor waiting
    $waiting newpoint [$ns now] [$monitor set pkts_]
    return [list [$monitor set bdepartures_] [$waiting set sum_] \
        [$monitor set parrivals_] [$monitor set pdrops_]]
}
$ns at $warmup "warm"
proc warm {} {
    global mode early before
    set early [delivered]
    if {$mode eq "measure"} {
        set before [counters]
    }
}
$ns at $duration "finish"
proc finish {} {
    global mode early before duration warmup bottleneck_bps
    puts "delivered [delivered] [expr {[delivered] - $early}]"
    if {$mode eq "measure"} {
        foreach now [counters] then $before {
            lappend change [expr {double($now) - $then}]
        }
        lassign $change bytes packet_seconds arrivals drops
        set measured [expr {$duration - $warmup}]
        set utilisation [expr {8 * $bytes / $bottleneck_bps / $measured}]
        # The queue of ns-2 does not include the packet in service, which is present while the link
        # is busy.
        set mean [expr {$packet_seconds / $measured + $utilisation}]
        puts "bottleneck $utilisation $mean [expr {$drops / $arrivals}]"
    }
    exit 0
}
$ns run
