# ns-2: two classes of five downloads in one 802.11g cell at 36 Mb/s (paper 000, Table II).
#
#   ns two_classes.tcl DURATION_S WARMUP_S SEED ERROR ATTEMPTS TRACE AGENT [CLASS VARIABLE VALUE ...]
#
# AGENT is the class of the senders, such as TCP/Newreno. Each further triple sets a default value
# of a class, such as `Agent/TCP singledup_ 1`. The script prints one line per flow with values
# after the warm-up: "flow", number, segments acknowledged, timeouts, window reductions, segments
# retransmitted, segments sent, mean window. The file TRACE has all packets that were dropped since
# the start, with reason and flow.

lassign $argv duration warmup seed error attempts trace_name agent
set changes [lrange $argv 7 end]
set stations 10
ns-random $seed

remove-all-packet-headers
add-packet-header IP TCP ARP LL Mac Flags

Mac/802_11 set dataRate_ 36Mb
Mac/802_11 set basicRate_ 2Mb
Mac/802_11 set PLCPDataRate_ 1Mb
Mac/802_11 set PreambleLength_ 144
Mac/802_11 set PLCPHeaderLength_ 48
Mac/802_11 set SlotTime_ 0.000020
Mac/802_11 set SIFS_ 0.000010
Mac/802_11 set CWMin_ 31
Mac/802_11 set CWMax_ 1023
# No RTS. Frames up to the threshold use the short retry limit, which counts attempts.
Mac/802_11 set RTSThreshold_ 3000
Mac/802_11 set ShortRetryLimit_ $attempts
Mac/802_11 set LongRetryLimit_ $attempts
# No capture: two simultaneous frames on the air always collide.
Phy/WirelessPhy set CPThresh_ 1e30

# IP packets of 1500 and 40 bytes, and 28 bytes of MAC header.
Agent/TCP set packetSize_ 1460
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCPSink set packetSize_ 40
Agent/TCP set window_ 45
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 0.001
# Flow numbers for the trace.
Agent set fid_ 0
foreach {class variable value} $changes {
    $class set $variable $value
}

set ns [new Simulator]
$ns use-scheduler List
# The trace file contains only dropped packets.
set trace [open "| grep -a ^D > $trace_name" w]
$ns trace-all $trace
set topo [new Topography]
$topo load_flatgrid 100 100
create-god [expr {$stations + 1}]
set channel [new Channel/WirelessChannel]

# The queue contains up to 99 packets in addition to the packet at the MAC.
$ns node-config -adhocRouting DumbAgent -llType LL -macType Mac/802_11 \
    -ifqType Queue/DropTail/PriQueue -ifqLen 99 -antType Antenna/OmniAntenna \
    -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy -channel $channel \
    -topoInstance $topo -agentTrace OFF -routerTrace OFF -macTrace ON -movementTrace OFF

set ap [$ns node]
$ap random-motion 0
$ap set X_ 50
$ap set Y_ 50
$ap set Z_ 0

# Errors are drawn per byte. A data frame with 1552 bytes (including bytes that represent the PLCP
# header) is lost with probability ERROR, and a MAC ACK of 38 bytes with a probability below 0.01.
# Frames that a station overhears are also lost, and make it wait for EIFS.
proc errors {} {
    global error
    set model [new ErrorModel]
    $model unit byte
    $model set rate_ [expr {1 - pow(1 - $error, 1.0 / 1552)}]
    $model ranvar [new RandomVariable/Uniform]
    return $model
}

for {set i 0} {$i < $stations} {incr i} {
    if {$i == 5 && $error > 0} {
        $ns node-config -IncomingErrProc errors
    }
    set node [$ns node]
    $node random-motion 0
    set angle [expr {2 * 3.14159265358979 * $i / $stations}]
    $node set X_ [expr {50 + 5 * cos($angle)}]
    $node set Y_ [expr {50 + 5 * sin($angle)}]
    $node set Z_ 0
    set tcp($i) [new Agent/$agent]
    set kind [expr {[string match *Sack* $agent] ? "TCPSink/Sack1" : "TCPSink"}]
    set sink [new Agent/$kind]
    $tcp($i) set fid_ [expr {$i + 1}]
    $ns attach-agent $ap $tcp($i)
    $ns attach-agent $node $sink
    $ns connect $tcp($i) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at 0.0 "$ftp start"
}

proc seen {i} {
    global tcp
    set values [expr {[$tcp($i) set ack_] + 1}]
    foreach name {nrexmit_ ncwndcuts_ nrexmitpack_ ndatapack_} {
        lappend values [$tcp($i) set $name]
    }
    return $values
}
$ns at $warmup {
    for {set i 0} {$i < $stations} {incr i} {
        set early($i) [seen $i]
    }
}
# Samples the windows every 100 ms.
set looks 0
proc look {} {
    global ns tcp stations windows looks
    for {set i 0} {$i < $stations} {incr i} {
        set window [$tcp($i) set cwnd_]
        set windows($i) [expr {($looks ? $windows($i) : 0.0) + ($window < 45 ? $window : 45)}]
    }
    incr looks
    $ns at [expr {[$ns now] + 0.1}] look
}
$ns at $warmup look
$ns at $duration finish
proc finish {} {
    global early stations windows looks trace ns
    $ns flush-trace
    close $trace
    for {set i 0} {$i < $stations} {incr i} {
        set late [seen $i]
        set line "flow $i"
        foreach before $early($i) after $late {
            append line " [expr {$after - $before}]"
        }
        puts "$line [expr {$windows($i) / $looks}]"
    }
    exit 0
}
$ns run
