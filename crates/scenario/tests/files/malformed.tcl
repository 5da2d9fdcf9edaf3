$node_(0) set X_ 10.0
$node_(0) set Y_ 20.0
$ns_ at 5.0 "$node_(0) setdest 10.0 far 10.0"
