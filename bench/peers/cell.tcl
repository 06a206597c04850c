# ns-2: seven download stations in one 802.11b cell (paper 003, Table 2).
#
#   ns cell.tcl DURATION_S WARMUP_S SEED default|tuned [STATIONS FLOWS_EACH QUEUE]
#
# The script prints one line: "delivered", the number of segments delivered in the whole run, and
# the number after the warm-up. It has no trace file, no monitor and no Tcl code per packet, so that
# only the simulation is measured.
#
# The senders are at the access point, which is equivalent to a wire without delay and with an
# unlimited rate, and has no cost. Comments explain settings that differ from ns-2's defaults.

lassign $argv duration warmup seed how stations each places
if {$stations eq ""} {
    lassign {7 1 100} stations each places
}
ns-random $seed

if {$how eq "tuned"} {
    # Only the headers that this traffic uses. By default ns-2 allocates all headers in every
    # packet.
    remove-all-packet-headers
    add-packet-header IP TCP ARP LL Mac Flags
}

# Frames of 802.11 DSSS with a long preamble.
Mac/802_11 set dataRate_ 11Mb
Mac/802_11 set basicRate_ 2Mb
Mac/802_11 set PLCPDataRate_ 1Mb
Mac/802_11 set PreambleLength_ 144
Mac/802_11 set PLCPHeaderLength_ 48
Mac/802_11 set SlotTime_ 0.000020
Mac/802_11 set SIFS_ 0.000010
Mac/802_11 set CWMin_ 31
Mac/802_11 set CWMax_ 1023
# No RTS: with the default of 0, an RTS precedes every frame. Frames up to the threshold use the
# short retry limit, which counts attempts.
Mac/802_11 set RTSThreshold_ 3000
Mac/802_11 set ShortRetryLimit_ 7
Mac/802_11 set LongRetryLimit_ 4
# No capture: two simultaneous frames on the air always collide.
Phy/WirelessPhy set CPThresh_ 1e30

# MAC frames of 1538 and 78 bytes. ns-2 has 28 bytes of MAC header and no SNAP header. The payload
# is 10 bytes longer, so that the headers have the paper's 38 bytes.
Agent/TCP set packetSize_ 1470
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCPSink set packetSize_ 50
Agent/TCP set window_ 4
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 0.001

set ns [new Simulator]
if {$how eq "tuned"} {
    $ns use-scheduler List
}
# A wireless node requires a trace file. With the following traces OFF, only ARP drops would be
# written to it, and there are none.
$ns trace-all [open /dev/null w]
set topo [new Topography]
$topo load_flatgrid 100 100
create-god [expr {$stations + 1}]
set channel [new Channel/WirelessChannel]

# DumbAgent passes every packet to the MAC, without routing. Do not use Propagation/FreeSpace: in
# this build it prints a line for every received frame.
$ns node-config -adhocRouting DumbAgent -llType LL -macType Mac/802_11 \
    -ifqType Queue/DropTail/PriQueue -ifqLen $places -antType Antenna/OmniAntenna \
    -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy -channel $channel \
    -topoInstance $topo -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF

# The access point is in the middle, and all stations are 5 m away, so that all nodes hear all
# frames.
set ap [$ns node]
$ap random-motion 0
$ap set X_ 50
$ap set Y_ 50
$ap set Z_ 0
for {set i 0} {$i < $stations} {incr i} {
    set node [$ns node]
    $node random-motion 0
    set angle [expr {2 * 3.14159265358979 * $i / $stations}]
    $node set X_ [expr {50 + 5 * cos($angle)}]
    $node set Y_ [expr {50 + 5 * sin($angle)}]
    $node set Z_ 0
    for {set k [expr {$i * $each}]} {$k < ($i + 1) * $each} {incr k} {
        set tcp($k) [new Agent/TCP/Newreno]
        set sink [new Agent/TCPSink]
        $ns attach-agent $ap $tcp($k)
        $ns attach-agent $node $sink
        $ns connect $tcp($k) $sink
        set ftp [new Application/FTP]
        $ftp attach-agent $tcp($k)
        $ns at 0.0 "$ftp start"
    }
}

proc delivered {} {
    global tcp stations each
    set sum 0
    for {set i 0} {$i < $stations * $each} {incr i} {
        set sum [expr {$sum + [$tcp($i) set ack_] + 1}]
    }
    return $sum
}
$ns at $warmup "set early \[delivered\]"
$ns at $duration "finish"
proc finish {} {
    global early
    puts "delivered [delivered] [expr {[delivered] - $early}]"
    exit 0
}
$ns run
