# One bulk flow over SCTP and one link in ns-2, for validation/compare.py.
#
#   ns ns2_sctp.tcl KEY=VALUE...
#
# The keys are those of validation/runs.py. Prints one JSON object. docs/validation.md says which settings
# differ from ns-2's defaults, and why.

set payload_bytes 1000

array set run {
    variant sctp ack_every 1 rate_bps 10000000 delay_s 0.02 queue_packets 100 ssthresh 0
    min_rto_s 0.2 loss 0 outage_s 0 outage_for_s 0 drop {} duration_s 100 seed 1 after_s -1 mark_bytes -1
}
foreach word $argv {
    if {![regexp {^(\w+)=(.*)$} $word whole key value] || ![info exists run($key)]} {
        puts stderr "ns2_sctp.tcl: $word is no KEY=VALUE of a run"
        exit 2
    }
    set run($key) $value
}
if {$run(outage_for_s) > 0 || $run(after_s) >= 0} {
    puts stderr "ns2_sctp.tcl: it knows no outages"
    exit 2
}

remove-all-packet-headers
add-packet-header IP SCTP Flags

# A packet is a chunk: 20 octets of IPv4, 12 of the common header, 16 of the chunk's.
Agent/SCTP set dataChunkSize_ [expr {$payload_bytes + 16}]
Agent/SCTP set mtu_ [expr {$payload_bytes + 48}]
# The threshold is the peer's window, which ns-2 counts with the headers of chunks.
set window_bytes [expr {$run(ssthresh) > 0 ? $run(ssthresh) * ($payload_bytes + 16) : 6291000}]
Agent/SCTP set initialRwnd_ $window_bytes
Agent/SCTP set initialSsthresh_ $window_bytes
Agent/SCTP set initialRto_ 3
Agent/SCTP set minRto_ $run(min_rto_s)
Agent/SCTP set maxRto_ 60
Agent/SCTP set fastRtxTrigger_ 3
Agent/SCTP set sackDelay_ 0.1
Agent/SCTP set useDelayedSacks_ [expr {$run(ack_every) == 2}]
# Ordered chunks stall when their stream sequence number wraps.
Agent/SCTP set unordered_ [expr {$run(mark_bytes) < 0}]
Trace set show_sctphdr_ 1

set ns [new Simulator]
$ns use-scheduler Splay
set a [$ns node]
set b [$ns node]
$ns duplex-link $a $b $run(rate_bps) $run(delay_s) DropTail
# A packet that would be the limit-th to wait is dropped.
set limit [expr {$run(queue_packets) + 1}]
$ns queue-limit $a $b $limit
$ns queue-limit $b $a $limit

if {$run(drop) ne ""} {
    # The packets of number 0 to 2 come before the data: INIT, COOKIE ECHO, HEARTBEAT.
    set numbers {}
    foreach number [split $run(drop) ,] { lappend numbers [expr {$number + 2}] }
    set loss [new ErrorModel/List]
    $loss unit pkt
    $loss droplist $numbers
    $loss drop-target [new Agent/Null]
    $ns link-lossmodel $loss $a $b
} elseif {$run(loss) > 0} {
    # Behind the link, and with a seed scrambled, as in ns2.tcl.
    set rng [new RNG]
    $rng seed [expr {1 + ($run(seed) * 1588635695) % 2147483646}]
    for {set i 0} {$i < 100} {incr i} { $rng uniform 0 1 }
    set uniform [new RandomVariable/Uniform]
    $uniform use-rng $rng
    set loss [new ErrorModel]
    $loss unit pkt
    $loss set rate_ $run(loss)
    $loss ranvar $uniform
    $loss drop-target [new Agent/Null]
    $ns link-lossmodel $loss $a $b
}

set source [new Agent/SCTP]
set sink [new Agent/SCTP]
$ns attach-agent $a $source
$ns attach-agent $b $sink
$ns connect $source $sink
set application [new Application/FTP]
$application attach-agent $source
$ns at 0.0 "$application start"

# The agent tells no application of what it delivers: chunks are counted where they arrive, each TSN once.
$ns trace-queue $a $b [open /dev/null w]
set arrivals [[$ns link $a $b] set rcvT_]
$arrivals set callback_ 1
array set seen {}
set repeated 0
# Everything up to this TSN has arrived; the first is 1.
set cumulative 0
set marked_s -1
$arrivals proc handle line {
    global ns run payload_bytes seen repeated cumulative marked_s
    if {[lindex $line 0] eq "r" && [string match *D [lindex $line 6]]} {
        set tsn [lindex $line 11]
        if {[info exists seen($tsn)]} { incr repeated }
        set seen($tsn) 1
        while {[info exists seen([expr {$cumulative + 1}])]} { incr cumulative }
        if {$marked_s < 0 && $run(mark_bytes) >= 0 && $cumulative * $payload_bytes >= $run(mark_bytes)} {
            set marked_s [$ns now]
        }
    }
}

# Retransmissions are not counted: of those that arrive, the ones that were not needed are.
$ns at $run(duration_s) {
    puts [format {{"delivered_bytes": %d, "timeouts": %d, "retransmissions": %d, "first_after_s": -1, "marked_s": %.9f}} \
        [expr {[array size seen] * $payload_bytes}] [$source set timeoutCount_] $repeated $marked_s]
    exit 0
}
$ns run
