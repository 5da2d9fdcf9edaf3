# One bulk flow over one link in ns-2, for validation/compare.py.
#
#   ns ns2.tcl KEY=VALUE...
#
# The keys are those of validation/runs.py. Prints one JSON object. docs/validation.md says which settings
# differ from ns-2's defaults, and why.

set mss_bytes 1000

array set run {
    variant newreno ack_every 1 rate_bps 10000000 delay_s 0.02 queue_packets 100 ssthresh 0
    min_rto_s 0.2 loss 0 outage_s 0 outage_for_s 0 drop {} duration_s 100 seed 1 after_s -1 mark_bytes -1
}
foreach word $argv {
    if {![regexp {^(\w+)=(.*)$} $word whole key value] || ![info exists run($key)]} {
        puts stderr "ns2.tcl: $word is no KEY=VALUE of a run"
        exit 2
    }
    set run($key) $value
}

remove-all-packet-headers
add-packet-header IP TCP Flags

# A packet is a segment and 40 bytes of headers; the one-way agents count windows in packets.
Agent/TCP set useHeaders_ true
Agent/TCP set packetSize_ $mss_bytes
Agent/TCP set window_ 6291
Agent/TCP set windowInit_ 10
Agent/TCP set minrto_ $run(min_rto_s)
Agent/TCP set maxrto_ 60
Agent/TCP set rtxcur_init_ 3
Agent/TCP set tcpTick_ 0.001
Agent/TCP set overhead_ 0
Agent/TCP set singledup_ 1
Agent/TCPSink/DelAck set interval_ 100ms
Agent/TCP/Vegas set v_alpha_ 2
Agent/TCP/Vegas set v_beta_ 4
Agent/TCP/Vegas set v_gamma_ 1
Agent/TCP/Linux set minrto_ $run(min_rto_s)
Agent/TCP/Linux set maxrto_ 60
Agent/TCP/Linux set rtxcur_init_ 3

array set agents {
    tahoe Agent/TCP
    reno Agent/TCP/Reno
    newreno Agent/TCP/Newreno
    sack Agent/TCP/Sack1
    vegas Agent/TCP/Vegas
    cubic Agent/TCP/Linux
}
if {![info exists agents($run(variant))]} {
    puts stderr "ns2.tcl: there is no variant $run(variant)"
    exit 2
}
switch $run(variant) {
    tahoe { Agent/TCP set singledup_ 0 }
    reno { Agent/TCP set bugFix_ false }
    vegas { Agent/TCP set packetSize_ [expr {$mss_bytes + 40}] }
}
# Vegas' packets have no octets for headers, and its SYN is as long as a segment.
set syn_bytes [expr {$run(variant) eq "vegas" ? $mss_bytes + 40 : 40}]
set sink_class Agent/TCPSink
if {$run(variant) in {sack cubic}} { append sink_class /Sack1 }
if {$run(ack_every) == 2} { append sink_class /DelAck }

set ns [new Simulator]
$defaultRNG seed $run(seed)
$ns use-scheduler Splay
set a [$ns node]
set b [$ns node]
$ns duplex-link $a $b $run(rate_bps) $run(delay_s) DropTail
# A packet that would be the limit-th to wait is dropped.
set limit [expr {$run(queue_packets) + 1}]
$ns queue-limit $a $b $limit
$ns queue-limit $b $a $limit

# A loss model behind the link decides when a packet has arrived; one between queue and link would hold the queue up
# for a random time after each loss.
proc lossy {from to} {
    global ns run
    set rng [new RNG]
    # With small seeds the generator begins with values near zero, and each run with a lost SYN.
    $rng seed [expr {1 + ($run(seed) * 1588635695) % 2147483646}]
    for {set i 0} {$i < 100} {incr i} { $rng uniform 0 1 }
    set uniform [new RandomVariable/Uniform]
    $uniform use-rng $rng
    set loss [new ErrorModel]
    $loss unit pkt
    $loss set rate_ 0
    $loss ranvar $uniform
    $loss drop-target [new Agent/Null]
    $ns link-lossmodel $loss $from $to
    return $loss
}
if {$run(drop) ne ""} {
    # The packet of number 0 is the SYN.
    set loss [new ErrorModel/List]
    $loss unit pkt
    $loss droplist [split $run(drop) ,]
    $loss drop-target [new Agent/Null]
    $ns link-lossmodel $loss $a $b
} elseif {$run(loss) > 0} {
    [lossy $a $b] set rate_ $run(loss)
}
if {$run(outage_for_s) > 0} {
    # What is sent during the outage arrives a delay later.
    set from [expr {$run(outage_s) + $run(delay_s)}]
    foreach cut [list [lossy $a $b] [lossy $b $a]] {
        $ns at $from "$cut set rate_ 1"
        $ns at [expr {$from + $run(outage_for_s)}] "$cut set rate_ 0"
    }
}

set source [new $agents($run(variant))]
set sink [new $sink_class]
$ns attach-agent $a $source
$ns attach-agent $b $sink
$ns connect $source $sink
set application [new Application/FTP]
$application attach-agent $source
$ns at 0.0 "$application start"
if {$run(ssthresh) > 0} { $ns at 0.0 "$source set ssthresh_ $run(ssthresh)" }
if {$run(variant) eq "cubic"} { $ns at 0.0 "$source select_ca cubic" }

# Octets of the stream that the sink has delivered in order; it counts headers, and the SYN as a packet.
proc delivered_bytes {} {
    global sink mss_bytes syn_bytes
    return [expr {int(([$sink set bytes_] - $syn_bytes) / ($mss_bytes + 40)) * $mss_bytes}]
}

# Called at each delivery, where the run watches for one.
set first_after_s -1
set marked_s -1
Class Delivery -superclass Application
Delivery instproc recv {bytes} {
    global ns run first_after_s marked_s
    set now [$ns now]
    if {$first_after_s < 0 && $run(after_s) >= 0 && $now >= $run(after_s)} { set first_after_s $now }
    if {$marked_s < 0 && $run(mark_bytes) >= 0 && [delivered_bytes] >= $run(mark_bytes)} { set marked_s $now }
}
if {$run(after_s) >= 0 || $run(mark_bytes) >= 0} {
    set delivery [new Delivery]
    $delivery attach-agent $sink
    $ns at 0.0 "$delivery start"
}

$ns at $run(duration_s) {
    puts [format {{"delivered_bytes": %d, "timeouts": %d, "retransmissions": %d, "first_after_s": %.9f, "marked_s": %.9f}} \
        [delivered_bytes] [$source set nrexmit_] [$source set nrexmitpack_] $first_after_s $marked_s]
    exit 0
}
$ns run
