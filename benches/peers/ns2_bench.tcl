# The bench scenarios in ns-2, for benches/compare.py.
#
#   ns ns2_bench.tcl SCHEDULER bulk
#   ns ns2_bench.tcl SCHEDULER signalling
#   ns ns2_bench.tcl SCHEDULER dumbbell FLOWS
#   ns ns2_bench.tcl SCHEDULER cell STATIONS SECONDS
#
# SCHEDULER is Calendar, the default of ns-2, or another of its event queues: Heap, Map, Splay.
# Prints one JSON object. `cpu_s` is the process's CPU time of the event loop alone: from the first event at time 0
# (`$ns run` computes the routes before that) to the last. Nothing is traced, and packets carry only the headers
# that are used (all of them would make every packet several times larger).

remove-all-packet-headers
add-packet-header IP TCP Flags
if {[lindex $argv 1] eq "cell"} { add-packet-header LL Mac ARP RTP }

set mss_bytes 1000
set message_bytes 200
# Wire size is the segment plus 40 bytes of IPv4 and TCP headers, as in the other simulators.
Agent/TCP set useHeaders_ true
Agent/TCP set packetSize_ $mss_bytes
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 0.001
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 10
Agent/TCP set overhead_ 0

proc cpu_s {} {
    # The first number is nanoseconds on the processor.
    set file [open /proc/self/schedstat]
    set ns [lindex [read $file] 0]
    close $file
    return [expr {$ns * 1e-9}]
}

proc max_rss_bytes {} {
    set file [open /proc/self/status]
    regexp {VmHWM:\s+(\d+) kB} [read $file] whole kilobytes
    close $file
    return [expr {$kilobytes * 1024}]
}

proc begin {} {
    global before_cpu before_wall
    set before_wall [clock microseconds]
    set before_cpu [cpu_s]
}

proc finish {} {
    global before_cpu before_wall unit_bytes traffic_s
    set cpu [expr {[cpu_s] - $before_cpu}]
    set wall [expr {([clock microseconds] - $before_wall) * 1e-6}]
    set bytes [delivered_bytes]
    puts [format {{"cpu_s": %.6f, "wall_s": %.6f, "delivered_bytes": %.0f, "delivered_units": %.0f, "goodput_bps": %.0f, "max_rss_bytes": %.0f}} \
        $cpu $wall $bytes [expr {floor($bytes / $unit_bytes)}] [expr {8.0 * $bytes / $traffic_s}] [max_rss_bytes]]
    exit 0
}

proc run_until {end} {
    global ns
    $ns at $end finish
    $ns run
}

proc lossy {ns from to probability start} {
    set loss [new ErrorModel]
    $loss unit pkt
    $loss set rate_ 0
    $loss drop-target [new Agent/Null]
    $ns lossmodel $loss $from $to
    $ns at $start "$loss set rate_ $probability"
}

# A bulk flow. One-way agents count whole segments; `ack_` is the number of the last one acknowledged, from 0.
proc bulk_flow {ns from to start} {
    global sources
    set source [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $from $source
    $ns attach-agent $to $sink
    $ns connect $source $sink
    set application [new Application/FTP]
    $application attach-agent $source
    $ns at $start "$application start"
    lappend sources $source
}

proc bulk_delivered_bytes {} {
    global sources mss_bytes
    set total 0.0
    foreach source $sources { set total [expr {$total + ([$source set ack_] + 1.0) * $mss_bytes}] }
    return $total
}

proc bulk {} {
    global ns unit_bytes traffic_s mss_bytes
    set unit_bytes $mss_bytes
    interp alias {} delivered_bytes {} bulk_delivered_bytes
    set traffic_s 300.0
    set a [$ns node]
    set b [$ns node]
    $ns duplex-link $a $b 10Mb 20ms DropTail
    $ns queue-limit $a $b 100
    $ns queue-limit $b $a 100
    lossy $ns $a $b 0.01 0.0
    bulk_flow $ns $a $b 0.0
    run_until 300.0
}

proc dumbbell {flows} {
    global ns unit_bytes traffic_s mss_bytes
    set unit_bytes $mss_bytes
    interp alias {} delivered_bytes {} bulk_delivered_bytes
    set traffic_s 60.0
    set left [$ns node]
    set right [$ns node]
    $ns duplex-link $left $right 100Mb 10ms DropTail
    $ns queue-limit $left $right 300
    $ns queue-limit $right $left 300
    for {set i 0} {$i < $flows} {incr i} {
        set source [$ns node]
        set sink [$ns node]
        foreach {from to} [list $source $left $right $sink] {
            $ns duplex-link $from $to 1Gb 1ms DropTail
            $ns queue-limit $from $to 300
            $ns queue-limit $to $from 300
        }
        # Starts are spread over the first second.
        bulk_flow $ns $source $sink [expr {double($i) / $flows}]
    }
    run_until 60.0
}

proc signalling {} {
    global ns unit_bytes traffic_s message_bytes client
    set unit_bytes $message_bytes
    set traffic_s 4000.0
    Agent/TCP set maxrto_ 1
    Agent/TCP/FullTcp set segsize_ 1280
    Agent/TCP/FullTcp set nodelay_ true
    Agent/TCP/FullTcp set interval_ 0
    Agent/TCP/FullTcp set segsperack_ 1
    set a [$ns node]
    set b [$ns node]
    $ns duplex-link $a $b 100Mb 20ms DropTail
    $ns queue-limit $a $b 100
    $ns queue-limit $b $a 100
    lossy $ns $a $b 0.3 5.0
    lossy $ns $b $a 0.3 5.0
    set client [new Agent/TCP/FullTcp/Newreno]
    set server [new Agent/TCP/FullTcp/Newreno]
    $ns attach-agent $a $client
    $ns attach-agent $b $server
    $ns connect $client $server
    $server listen
    proc message {} {
        global ns client message_bytes
        $client advance-bytes $message_bytes
        if {[$ns now] + 0.5 < 4005.0 - 1e-6} { $ns at [expr {[$ns now] + 0.5}] message }
    }
    proc delivered_bytes {} {
        global client
        # One number of the sequence went to the SYN.
        return [expr {double([$client set ack_]) - 1}]
    }
    $ns at 5.0 message
    run_until 4005.0
}

# Stations of 802.11g that always have something to send, UDP, to one that stands for the access point: ns-2 has no symbols
# of 4 us and no ACK at another rate than `basicRate_`. Nobody routes; addresses are resolved once.
proc cell {stations seconds} {
    global ns unit_bytes traffic_s sink
    set unit_bytes 1472
    set traffic_s $seconds
    Mac/802_11 set SlotTime_ 0.000009
    Mac/802_11 set SIFS_ 0.000010
    Mac/802_11 set CWMin_ 15
    Mac/802_11 set CWMax_ 1023
    # Preamble, SIGNAL and signal extension: 26 us.
    Mac/802_11 set PreambleLength_ 20
    Mac/802_11 set PLCPHeaderLength_ 6
    Mac/802_11 set PLCPDataRate_ 1.0e6
    Mac/802_11 set dataRate_ 54.0e6
    Mac/802_11 set basicRate_ 24.0e6
    Mac/802_11 set RTSThreshold_ 3000
    # What is dropped it wants to trace.
    $ns trace-all [open /dev/null w]
    set topography [new Topography]
    $topography load_flatgrid 100 100
    create-god [expr {$stations + 1}]
    $ns node-config -adhocRouting DumbAgent -llType LL -macType Mac/802_11 -ifqType Queue/DropTail -ifqLen 100 \
        -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
        -channel [new Channel/WirelessChannel] -topoInstance $topography \
        -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
    set access_point [$ns node]
    $access_point random-motion 0
    set sink [new Agent/LossMonitor]
    $ns attach-agent $access_point $sink
    for {set i 0} {$i < $stations} {incr i} {
        set station [$ns node]
        $station random-motion 0
        $station set X_ 1.0
        $station set Y_ 1.0
        set source [new Agent/UDP]
        # With the headers of IP and UDP, and with LLC and SNAP, which ns-2 leaves out.
        $source set packetSize_ 1508
        $ns attach-agent $station $source
        $ns connect $source $sink
        set application [new Application/Traffic/CBR]
        $application set packetSize_ 1508
        $application set interval_ [expr {1472 * 8.0 * $stations / 36e6}]
        $application attach-agent $source
        $ns at [expr {1472 * 8.0 * $i / 36e6}] "$application start"
    }
    proc delivered_bytes {} {
        global sink
        return [expr {1472.0 * [$sink set npkts_]}]
    }
    run_until $seconds
}

proc usage {} {
    puts stderr "usage: ns ns2_bench.tcl SCHEDULER bulk | signalling | dumbbell FLOWS | cell STATIONS SECONDS"
    exit 2
}

set words [dict create bulk 2 signalling 2 dumbbell 3 cell 4]
if {![dict exists $words [lindex $argv 1]] || [llength $argv] != [dict get $words [lindex $argv 1]]} usage
set ns [new Simulator]
$ns use-scheduler [lindex $argv 0]
# Events at one instant run in the order in which they were scheduled: this one is the first.
$ns at 0.0 begin
set sources {}
switch -- [lindex $argv 1] {
    bulk { bulk }
    signalling { signalling }
    dumbbell { dumbbell [lindex $argv 2] }
    cell { cell [lindex $argv 2] [lindex $argv 3] }
}
