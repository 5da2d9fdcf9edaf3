//! What users see when something is wrong: each report is a snapshot, and each was read with the question
//! whether its reader would know where the mistake is and what to do.

use crate::refusal::refuse;
use roamsim_scenario::{Format, Scenario};

const GOOD: &str = r#"[scenario]
name = "example"
duration = "60s"

[[node]]
name = "server"
[[node]]
name = "phone"
[[node]]
name = "island"

[[link]]
name = "pipe"
between = ["server", "phone"]
rate = "10Mb/s"
delay = "20ms"
queue = { packets = 100 }
loss = { from = "server", model = "bernoulli", probability = 0.01 }

[[flow]]
name = "ftp"
from = "server"
to = "phone"
transport = { protocol = "tcp", min_rto = "200ms" }
application = { kind = "bulk", start = "0s" }

[[flow]]
name = "voice"
from = "phone"
to = "server"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "172B", interval = "20ms" }

[[signalling]]
name = "indications"
kind = "indication"
from = "phone"
to = "server"
transport = { protocol = "udp" }
message_size = "200B"
interval = "500ms"
acknowledgement = { timeout = "100ms" }

# Far from the others.
[[node]]
name = "reef"
[[wifi]]
name = "lagoon"
access_point = "reef"
stations = ["island"]
"#;

/// A walk between two cells.
const WALK: &str = r#"[scenario]
name = "walk"
duration = "60s"
area = { from = { x = "-100m", y = "-100m" }, to = { x = "500m", y = "100m" } }

[[node]]
name = "server"
[[node]]
name = "west"
position = { x = "0m", y = "0m" }
[[node]]
name = "east"
position = { x = "300m", y = "0m" }
[[node]]
name = "walker"
position = { x = "10m", y = "0m" }
motion = { kind = "back_and_forth", to = { x = "290m", y = "0m" }, speed = "5m/s" }
hysteresis = "20m"

[[link]]
name = "wire"
between = ["server", "west"]
rate = "10Mb/s"
delay = "20ms"
[[link]]
name = "backbone"
between = ["west", "east"]
rate = "10Mb/s"
delay = "1ms"

[[cell]]
name = "west cell"
base_station = "west"
stations = ["walker"]
rate = "2Mb/s"
coverage = { model = "disc", radius = "200m" }

[[cell]]
name = "east cell"
base_station = "east"
stations = ["walker"]
rate = "1Mb/s"
coverage = { model = "distance_power", radius = "180m", error_at_edge = 0.1 }

[[flow]]
name = "ftp"
from = "server"
to = "walker"
transport = { protocol = "tcp" }
application = { kind = "bulk" }
"#;

reports! {
    timers_of_an_indication: "acknowledgement = { timeout = \"100ms\" }" =>
        "acknowledgement = { timeout = \"100ms\" }\nmessages = [{ message = \"response\", timeout = \"1s\" }]";
    timers_of_messages_without_acknowledgement: "acknowledgement = { timeout = \"100ms\" }" =>
        "messages = [{ message = \"request\", timeout = \"1s\" }, { message = \"request\", timeout = \"0s\" }]";
    // Text.
    syntax_error: "delay = \"20ms\"" => "delay = \"20ms";
    decimal_comma: "probability = 0.01" => "probability = 0,01";
    key_twice: "delay = \"20ms\"" => "delay = \"20ms\"\ndelay = \"30ms\"";
    // Keys.
    unknown_key_with_synonym: "rate = \"10Mb/s\"" => "bandwith = \"10Mb/s\"";
    unknown_key_without_idea: "delay = \"20ms\"" => "delay = \"20ms\"\ncolour = \"red\"";
    unknown_section: "[[link]]" => "[[links]]";
    unknown_key_of_another_kind: "kind = \"bulk\", start" => "kind = \"bulk\", size = \"1MB\", start";
    unknown_key_of_other_kinds_of_a_queue: "queue = { packets = 100 }" => "queue = { packets = 100, target = \"5ms\" }";
    unknown_key_of_another_protocol: "transport = { protocol = \"udp\" }\napplication" => "transport = { protocol = \"udp\", mss = \"1000B\" }\napplication";
    missing_key: "delay = \"20ms\"\n" => "";
    missing_duration: "duration = \"60s\"\n" => "";
    missing_ends: "between = [\"server\", \"phone\"]\n" => "";
    missing_packet_size: "packet_size = \"172B\", " => "";
    missing_tag: "protocol = \"tcp\", " => "";
    single_brackets: "[[link]]" => "[link]";
    // Values.
    unit_missing: "delay = \"20ms\"" => "delay = 10";
    unit_missing_in_text: "interval = \"500ms\"" => "interval = \"500\"";
    unit_of_the_wrong_kind: "delay = \"20ms\"" => "delay = \"20kB\"";
    unit_misspelt: "rate = \"10Mb/s\"" => "rate = \"10Mbps\"";
    rate_in_bytes: "rate = \"10Mb/s\"" => "rate = \"1.25MB/s\"";
    time_negative: "delay = \"20ms\"" => "delay = \"-20ms\"";
    time_too_fine: "delay = \"20ms\"" => "delay = \"0.5ns\"";
    time_too_large: "duration = \"60s\"" => "duration = \"300000000000s\"";
    video_without_frames: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"video\", packet_size = \"1kB\" }";
    video_of_film_and_trace: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"video\", film = \"star_wars_iv_high\", trace = \"tests/files/film.txt\", packet_size = \"1kB\" }";
    video_film_unknown: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"video\", film = \"star_wars\", packet_size = \"1kB\" }";
    video_film_with_keys_of_a_trace: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"video\", film = \"lecture_room_cam\", repeat = true, frame_interval = \"40ms\", group_of_pictures = \"IBBP\", packet_size = \"1kB\" }";
    video_trace_of_no_file: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"video\", trace = \"nowhere.txt\", packet_size = \"1kB\" }";
    video_trace_with_a_negative_size: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"video\", trace = \"tests/files/negative-size.txt\", packet_size = \"1kB\" }";
    video_trace_that_goes_back: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"video\", trace = \"tests/files/goes-back.txt\", packet_size = \"1kB\" }";
    video_trace_without_frames: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"video\", trace = \"tests/files/no-frames.txt\", packet_size = \"1kB\" }";
    video_trace_that_is_no_text: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"video\", trace = \"tests/files/no-text.bin\", packet_size = \"1kB\" }";
    video_trace_with_keys_of_a_terse_one: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"video\", trace = \"tests/files/film.txt\", frame_interval = \"40ms\", group_of_pictures = \"IBBP\", packet_size = \"1kB\" }";
    video_group_malformed: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"video\", content = \"500\\n600\", group_of_pictures = \"PBB\", packet_size = \"1kB\" }";
    video_in_tiny_packets: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"video\", content = \"500\\n60000\", packet_size = \"5B\", playout_delay = \"0s\" }";
    video_packets_above_a_datagram: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"video\", film = \"star_wars_iv_high\", packet_size = \"70kB\" }";
    pareto_without_a_mean: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"on_off\", packet_size = \"172B\", rate = \"1Mb/s\", on = { distribution = \"pareto\", mean = \"1s\", shape = 1 }, off = \"1s\" }";
    probability_above_one: "probability = 0.01" => "probability = 1.2";
    scenario_name_that_moves_a_terminal: "name = \"example\"" => "name = \"an \\u001b[2Jexample\"";
    scenario_name_that_reverses_what_follows: "name = \"example\"" => "name = \"an \u{202e}elpmaxe\"";
    link_name_that_cannot_be_seen: "name = \"pipe\"" => "name = \"\\u2060\"";
    probability_in_percent: "probability = 0.01" => "probability = \"1.1%\"";
    probability_of_more_than_one_in_percent: "probability = 0.01" => "probability = 1.1";
    boolean_in_quotation_marks: "min_rto = \"200ms\"" => "nagle = \"false\"";
    sctp_streams_above_their_range: "protocol = \"tcp\", min_rto = \"200ms\"" => "protocol = \"sctp\", streams = 70000";
    variant_unknown: "min_rto = \"200ms\"" => "variant = \"new-reno\"";
    kind_unknown: "kind = \"cbr\"" => "kind = \"cbs\"";
    transport_as_string: "transport = { protocol = \"tcp\", min_rto = \"200ms\" }" => "transport = \"tcp\"";
    queue_without_unit_of_count: "queue = { packets = 100 }" => "queue = 100";
    queue_of_no_discipline: "queue = { packets = 100 }" => "queue = { discipline = \"codell\", packets = 100 }";
    queue_of_no_discipline_and_no_limit: "queue = { packets = 100 }" => "queue = { discipline = \"codell\" }";
    queue_with_thresholds_beyond_its_room: "queue = { packets = 100 }" => "queue = { discipline = \"red\", packets = 50, min_threshold = 50, max_threshold = 150 }";
    queue_in_quotation_marks: "packets = 100" => "packets = \"100\"";
    queue_of_half_a_packet_in_quotation_marks: "packets = 100" => "packets = \"0.5\"";
    queue_of_drop_tail_without_a_limit: "queue = { packets = 100 }" => "queue = { discipline = \"drop_tail\" }";
    queue_of_codel_in_bytes: "queue = { packets = 100 }" => "queue = { discipline = \"codel\", bytes = \"15kB\" }";
    queue_with_target_above_interval: "queue = { packets = 100 }" => "queue = { discipline = \"codel\", target = \"200ms\" }";
    queue_without_target: "queue = { packets = 100 }" => "queue = { discipline = \"pie\", target = \"0s\", update_interval = \"0s\" }";
    queue_with_thresholds_in_the_wrong_order: "queue = { packets = 100 }" => "queue = { discipline = \"red\", min_threshold = 20, weight = 0 }";
    queue_of_dualpi2_without_turns: "queue = { packets = 100 }" => "queue = { discipline = \"dualpi2\", update_interval = \"1us\", coupling = 0, classic_share = 1 }";
    queue_without_flows: "queue = { packets = 100 }" => "queue = { discipline = \"fq_codel\", flows = 0, quantum = \"0B\", packets = 0 }";
    tcp_abe_without_ecn: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", abe = true, min_rto";
    tcp_abe_with_vegas: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"vegas\", ecn = true, abe = true, min_rto";
    tcp_abe_with_dctcp: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"dctcp\", ecn = true, abe = true, min_rto";
    tcp_dctcp_without_ecn: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"dctcp\", min_rto";
    tcp_l4s_without_dctcp: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"cubic\", ecn = true, l4s = true, min_rto";
    tcp_rack_without_sack: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", rack = true, min_rto";
    tcp_rack_with_sack_off: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"cubic\", sack = false, rack = true, min_rto";
    tcp_prr_with_reno: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"reno\", prr = true, min_rto";
    tcp_probes_without_rack: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"cubic\", tail_loss_probe = true, undo = true, min_rto";
    tcp_delay_of_no_delay: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", delayed_ack = false, delayed_ack_adapts = true, quick_acks = 16, min_rto";
    tcp_first_window_above_the_largest: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", initial_receive_window = \"64KiB\", receive_window = \"20kB\", min_rto";
    tcp_first_window_of_zero: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", initial_receive_window = \"0B\", min_rto";
    tcp_first_window_below_a_step: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", initial_receive_window = \"100B\", min_rto";
    tcp_fast_open_cookie_alone: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", fast_open_cookie = \"known\", min_rto";
    tcp_fast_open_one_way: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", fast_open = true, one_way_connections = true, min_rto";
    tcp_user_timeout_of_half_a_second: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", advertised_user_timeout = \"100.5s\", min_rto";
    tcp_user_timeout_below_its_limit: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", advertised_user_timeout = \"30s\", min_rto";
    tcp_user_timeout_limits_crossed: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", advertised_user_timeout = \"600s\", user_timeout_upper_limit = \"60s\", min_rto";
    tcp_user_timeout_limits_alone: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", user_timeout_changeable = false, user_timeout_lower_limit = \"60s\", min_rto";
    tcp_send_buffer_of_nothing: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", send_buffer = \"0B\", initial_send_buffer = \"1kB\", min_rto";
    tcp_first_send_buffer_alone: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", initial_send_buffer = \"1kB\", min_rto";
    tcp_control_that_is_a_variant: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", congestion_control = \"vegas\", min_rto";
    tcp_cubic_rules_without_cubic: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"sack\", cubic_rules = \"linux\", min_rto";
    tcp_prr_for_ecn_alone: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", prr_for_ecn = true, min_rto";
    tcp_prr_for_ecn_with_prague: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"prague\", ecn = true, prr = true, prr_for_ecn = true, min_rto";
    tcp_marked_window_of_none: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", ecn = true, ecn_min_window = 0, min_rto";
    tcp_marked_window_without_ecn: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", ecn_min_window = 1, min_rto";
    tcp_marked_window_of_vegas: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"vegas\", ecn = true, ecn_min_window = 1, min_rto";
    tcp_marked_window_of_dctcp: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"dctcp\", ecn = true, ecn_min_window = 1, min_rto";
    tcp_marked_window_of_linux: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"cubic\", cubic_rules = \"linux\", ecn = true, ecn_min_window = 1, min_rto";
    tcp_window_rules_beside_window: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", initial_window = 4, initial_window_rules = \"rfc5681\", min_rto";
    tcp_reduction_again_without_rack: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"cubic\", reduce_after_lost_retransmission = true, min_rto";
    tcp_reduction_again_of_bbr: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"bbr\", reduce_after_lost_retransmission = true, min_rto";
    tcp_marked_window_of_linuxs_reno: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"sack\", reno_rules = \"linux\", ecn = true, ecn_min_window = 1, min_rto";
    tcp_growth_rules_with_prague: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"prague\", growth_rules = \"linux\", min_rto";
    tcp_rack_rules_without_rack: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", rack_rules = \"linux\", min_rto";
    tcp_growth_rules_without_rack: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", growth_rules = \"linux\", min_rto";
    tcp_growth_rules_with_bbr: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"bbr\", growth_rules = \"linux\", min_rto";
    tcp_undo_rules_without_undo: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", undo_rules = \"linux\", min_rto";
    tcp_probe_rules_without_probes: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", loss_probe_rules = \"linux\", min_rto";
    tcp_compressed_acks_without_sack: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"reno\", compressed_acks = true, min_rto";
    tcp_rules_without_hystart: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", hystart_rules = \"linux\", min_rto";
    tcp_nagle_rules_without_nagle: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", nagle = false, nagle_rules = \"minshall\", min_rto";
    tcp_delayed_ack_rules_without_delay: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", delayed_ack = false, delayed_ack_rules = \"linux\", min_rto";
    tcp_delayed_ack_count_beside_rules: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", delayed_ack_count = 3, delayed_ack_rules = \"linux\", min_rto";
    tcp_validation_with_bbr: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"bbr\", window_validation = \"linux\", min_rto";
    tcp_hystart_with_vegas: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"vegas\", hystart = true, min_rto";
    tcp_bbr_with_what_it_lacks: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", variant = \"bbr\", sack = false, prr = true, hystart = true, restart_after_idle = false, ecn = true, initial_ssthresh = \"10kB\", byte_counting_limit = 2, min_rto";
    tcp_bbr_without_what_it_always_does: "protocol = \"tcp\", min_rto" => "protocol = \"tcp\", stack = \"linux\", variant = \"bbr\", rack = false, pacing = false, min_rto";
    deadline_of_no_time: "interval = \"20ms\"" => "interval = \"20ms\", deadline = \"0s\"";
    deadline_behind_the_end: "interval = \"20ms\"" => "interval = \"20ms\", deadline = \"2h\"";
    queue_negative: "packets = 100" => "packets = -1";
    wrong_type: "name = \"pipe\"" => "name = 7";
    three_ends: "[\"server\", \"phone\"]" => "[\"server\", \"phone\", \"island\"]";
    // Contradictions.
    node_unknown: "from = \"server\"\nto" => "from = \"servr\"\nto";
    node_twice: "name = \"island\"" => "name = \"phone\"";
    rate_zero: "rate = \"10Mb/s\"" => "rate = \"0Mb/s\"";
    stack_unknown: "min_rto = \"200ms\"" => "stack = \"clasic\"";
    stack_by_its_old_name: "min_rto = \"200ms\"" => "profile = \"rfc\"";
    stack_against_a_setting: "min_rto = \"200ms\"" => "stack = \"classic\", receive_window = \"1MiB\"";
    sack_blocks_without_sack: "min_rto = \"200ms\"" => "sack = false, max_sack_blocks = 2";
    sack_blocks_beside_timestamps: "min_rto = \"200ms\"" => "timestamps = true, max_sack_blocks = 4";
    sack_blocks_out_of_range: "min_rto = \"200ms\"" => "max_sack_blocks = 5";
    delayed_ack_for_no_segment: "min_rto = \"200ms\"" => "delayed_ack_count = 0";
    delayed_ack_count_without_delay: "min_rto = \"200ms\"" => "delayed_ack = false, delayed_ack_count = 3";
    delayed_ack_without_piggyback: "min_rto = \"200ms\"" => "piggyback_acks = false";
    one_way_connections_with_piggyback: "min_rto = \"200ms\"" => "one_way_connections = true, piggyback_acks = true";
    successive_fast_retransmits_of_another_variant: "min_rto = \"200ms\"" => "variant = \"sack\", successive_fast_retransmits = false";
    max_rto_below_min_rto: "min_rto = \"200ms\"" => "min_rto = \"2s\", max_rto = \"1s\"";
    tcp_times_of_zero: "min_rto = \"200ms\"" => "min_rto = \"200ms\", msl = \"0s\", challenge_ack_interval = \"0s\", challenge_ack_limit = 0";
    vegas_alpha_above_beta: "min_rto = \"200ms\"" => "variant = \"vegas\", vegas = { alpha = 5 }";
    vegas_alpha_zero: "min_rto = \"200ms\"" => "variant = \"vegas\", vegas = { alpha = 0, beta = 0 }";
    sctp_key_of_tcp: "protocol = \"tcp\", min_rto = \"200ms\"" => "protocol = \"sctp\", min_rto = \"200ms\"";
    sctp_rules_unknown: "protocol = \"tcp\", min_rto = \"200ms\"" => "protocol = \"sctp\", rules = \"rfc4960\"";
    sctp_stack: "protocol = \"tcp\", min_rto = \"200ms\"" => "protocol = \"sctp\", stack = \"classic\"";
    sctp_mtu_above_the_path: "protocol = \"tcp\", min_rto = \"200ms\"" => "protocol = \"sctp\", mtu = \"1501B\"";
    sctp_mtu_too_small: "protocol = \"tcp\", min_rto = \"200ms\"" => "protocol = \"sctp\", mtu = \"100B\"";
    sctp_sack_delay_too_long: "protocol = \"tcp\", min_rto = \"200ms\"" => "protocol = \"sctp\", sack_delay = \"1s\"";
    sctp_zeros: "protocol = \"tcp\", min_rto = \"200ms\"" => "protocol = \"sctp\", streams = 0, sack_frequency = 0, missing_reports = 0, initial_window = 0, max_burst = 0, message_size = \"0B\", rto_initial = \"0s\", valid_cookie_life = \"0s\"";
    sctp_receive_window_too_small: "protocol = \"tcp\", min_rto = \"200ms\"" => "protocol = \"sctp\", receive_window = \"1kB\"";
    sctp_rto_min_above_rto_max: "protocol = \"tcp\", min_rto = \"200ms\"" => "protocol = \"sctp\", rto_min = \"2min\"";
    sctp_message_size_of_messages: "transport = { protocol = \"udp\" }\nmessage_size" => "transport = { protocol = \"sctp\", message_size = \"1kB\" }\nmessage_size";
    mss_above_mtu: "min_rto = \"200ms\"" => "mss = \"1460B\"";
    no_route: "to = \"phone\"" => "to = \"island\"";
    bulk_over_udp: "transport = { protocol = \"tcp\", min_rto = \"200ms\" }" => "transport = { protocol = \"udp\" }";
    both_ways_of_request_and_response: "application = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }" => "application = { kind = \"request_response\", request_size = \"100B\", response_size = \"100B\" }\nbidirectional = true";
    message_above_a_datagram: "message_size = \"200B\"" => "message_size = \"65540B\"";
    message_too_small: "message_size = \"200B\"" => "message_size = { distribution = \"uniform\", min = \"10B\", max = \"200B\" }";
    start_after_the_end: "start = \"0s\"" => "start = \"60s\"";
    loss_twice: "loss = { from = \"server\", model = \"bernoulli\", probability = 0.01 }" => "loss = [\n  { model = \"bernoulli\", probability = 0.01 },\n  { from = \"phone\", model = \"bernoulli\", probability = 0.02 },\n]";
    loss_list_without_list: "model = \"bernoulli\", probability = 0.01" => "model = \"list\", segments = 3";
    loss_list_not_of_numbers: "model = \"bernoulli\", probability = 0.01" => "model = \"list\", segments = [3, \"4\", -5, 6.5]";
    loss_list_from_zero: "model = \"bernoulli\", probability = 0.01" => "model = \"list\", segments = [0, 1]";
    loss_list_twice: "model = \"bernoulli\", probability = 0.01" => "model = \"list\", segments = [14, 18, 14]";
    loss_list_of_no_flow: "model = \"bernoulli\", probability = 0.01" => "model = \"list\", segments = [14], flow = \"fpt\"";
    piggyback_of_an_indication: "timeout = \"100ms\"" => "timeout = \"100ms\", mode = \"piggyback\"";
}

reports! {
    on WALK;
    cell_nobody_can_reach: "radius = \"200m\"" => "radius = \"5m\"";
    cell_of_no_radius: "radius = \"200m\"" => "radius = \"0m\"";
    cell_member_without_position: "name = \"east\"\nposition = { x = \"300m\", y = \"0m\" }" => "name = \"east\"";
    cell_station_unknown: "stations = [\"walker\"]\nrate = \"2Mb/s\"" => "stations = [\"wlaker\"]\nrate = \"2Mb/s\"";
    cell_station_with_a_wire: "between = [\"west\", \"east\"]" => "between = [\"west\", \"walker\"]";
    cell_base_station_in_its_own_cell: "base_station = \"east\"\nstations = [\"walker\"]" => "base_station = \"east\"\nstations = [\"walker\", \"east\"]";
    cell_without_stations: "stations = [\"walker\"]\nrate = \"2Mb/s\"" => "stations = []\nrate = \"2Mb/s\"";
    cell_table_out_of_order: "model = \"disc\", radius = \"200m\"" => "model = \"table\", points = [{ distance = \"100m\", error = 0.1 }, { distance = \"50m\", error = 0.2 }]";
    cell_table_without_points: "model = \"disc\", radius = \"200m\"" => "model = \"table\"";
    cell_table_of_no_file: "model = \"disc\", radius = \"200m\"" => "model = \"table\", file = \"nowhere.csv\"";
    cell_table_file_malformed: "model = \"disc\", radius = \"200m\"" => "model = \"table\", file = \"tests/files/malformed-errors.csv\"";
    beacons_too_often: "radius = \"200m\" }" => "radius = \"200m\" }\nadvertisement = { period = \"0s\", lifetime = 0 }";
    walk_leaves_the_area: "to = { x = \"290m\", y = \"0m\" }" => "to = { x = \"290m\", y = \"400m\" }";
    node_outside_of_the_area: "position = { x = \"300m\", y = \"0m\" }" => "position = { x = \"600m\", y = \"0m\" }";
    area_inside_out: "from = { x = \"-100m\", y = \"-100m\" }" => "from = { x = \"900m\", y = \"-100m\" }";
    speed_zero: "speed = \"5m/s\"" => "speed = \"0m/s\"";
    speed_negative: "speed = \"5m/s\"" => "speed = \"-5m/s\"";
    speed_without_unit: "speed = \"5m/s\"" => "speed = 5";
    speed_in_miles: "speed = \"5m/s\"" => "speed = \"5kph\"";
    walk_to_the_same_place: "to = { x = \"290m\", y = \"0m\" }" => "to = { x = \"10m\", y = \"0m\" }";
    motion_without_position: "position = { x = \"10m\", y = \"0m\" }\n" => "";
    coordinate_without_unit: "position = { x = \"10m\", y = \"0m\" }" => "position = { x = 10, y = \"0s\" }";
    hysteresis_of_no_station: "name = \"east\"\n" => "name = \"east\"\nhysteresis = \"5m\"\n";
    motion_of_no_file: "position = { x = \"10m\", y = \"0m\" }\nmotion = { kind = \"back_and_forth\", to = { x = \"290m\", y = \"0m\" }, speed = \"5m/s\" }" => "motion = { kind = \"setdest\", file = \"nowhere.tcl\", node = 0 }";
    motion_file_malformed: "position = { x = \"10m\", y = \"0m\" }\nmotion = { kind = \"back_and_forth\", to = { x = \"290m\", y = \"0m\" }, speed = \"5m/s\" }" => "motion = { kind = \"setdest\", file = \"tests/files/malformed.tcl\", node = 0 }";
    motion_file_without_the_node: "position = { x = \"10m\", y = \"0m\" }\nmotion = { kind = \"back_and_forth\", to = { x = \"290m\", y = \"0m\" }, speed = \"5m/s\" }" => "motion = { kind = \"bonnmotion\", file = \"tests/files/one.movements\", node = 3 }";
    motion_file_beside_a_position: "motion = { kind = \"back_and_forth\", to = { x = \"290m\", y = \"0m\" }, speed = \"5m/s\" }" => "motion = { kind = \"bonnmotion\", file = \"tests/files/one.movements\", node = 0 }";
}

/// A misspelt node of a link takes the route away, which is no mistake of the flow.
#[test]
fn a_link_to_no_node_is_one_mistake() {
    let told = refuse(&GOOD.replace("between = [\"server\", \"phone\"]", "between = [\"server\", \"fone\"]"));
    assert!(told.contains("there is no node \"fone\"") && !told.contains("no route"), "{told}");
}

#[test]
fn several_mistakes_are_reported_together() {
    let text = GOOD
        .replace("duration = \"60s\"", "duration = 60")
        .replace("rate = \"10Mb/s\"", "bandwith = \"10Mb/s\"")
        .replace("probability = 0.01", "probability = 2")
        .replace("protocol = \"udp\" }\nmessage_size", "protocol = \"dccp\" }\nmessage_size");
    insta::assert_snapshot!(refuse(&text));
}

/// Nodes that follow have names of their own, though the parser takes them for one behind a table that is not
/// closed.
#[test]
fn what_follows_an_unclosed_table_is_no_mistake() {
    insta::assert_snapshot!(refuse(&GOOD.replace("[scenario]", "[scenario")));
    // What stands twice before it is one.
    let twice = GOOD
        .replace("name = \"example\"", "name = \"example\"\nname = \"again\"")
        .replace("[[link]]", "[[link");
    let told = refuse(&twice);
    assert!(told.contains("`name` is set twice") && told.contains("no closing `]]`"), "{told}");
}

/// Nobody is told to write what would be refused next.
#[test]
fn numbers_in_quotation_marks_are_told_where_they_are_of_use() {
    for (probability, help) in [
        ("5%", "write 0.05"),
        ("0.05", "write 0.05 without quotation marks"),
        ("150%", ""),
        ("-5%", ""),
        ("1.5", ""),
    ] {
        let told = refuse(&GOOD.replace("probability = 0.01", &format!("probability = \"{probability}\"")));
        assert_eq!(told.contains("write"), !help.is_empty(), "{told}");
        assert!(told.contains(help), "{told}");
    }
    for (packets, help) in
        [("50", "write 50 without"), ("-5", ""), ("99999999999", ""), ("050", ""), ("0.5", "")]
    {
        let told = refuse(&GOOD.replace("packets = 100", &format!("packets = \"{packets}\"")));
        assert_eq!(told.contains("without quotation marks"), !help.is_empty(), "{told}");
        assert!(told.contains(help), "{told}");
    }
}

#[test]
fn two_places_far_apart_are_shown_without_what_is_between() {
    let text = GOOD.to_owned() + "\n[[node]]\nname = \"server\"\n";
    insta::assert_snapshot!(refuse(&text));
}

#[test]
fn an_override_is_shown_like_a_file() {
    let overrides = [
        ("link.pipe.bandwith".to_owned(), "1Mb/s".to_owned()),
        ("flow.ftp.transport.max_rto".to_owned(), "100ms".to_owned()),
    ];
    let one = Scenario::parse(GOOD, "scenario.toml", Format::Toml, &overrides[..1]).expect_err("no such key");
    let two =
        Scenario::parse(GOOD, "scenario.toml", Format::Toml, &overrides[1..]).expect_err("below min_rto");
    insta::assert_snapshot!(format!("{one}\n{two}"));
}

#[test]
fn json_has_paths_instead_of_lines() {
    let good = Scenario::parse(GOOD, "scenario.toml", Format::Toml, &[]).expect("a good scenario");
    let bad = good.canonical_json().replace("\"20ms\"", "20").replace("\"rate\"", "\"bandwith\"");
    let values = Scenario::parse(&bad, "scenario", Format::Json, &[]).expect_err("bad values");
    let syntax = Scenario::parse("{\"scenario\": {]", "scenario", Format::Json, &[]).expect_err("bad syntax");
    insta::assert_snapshot!(format!("{values}\n{syntax}"));
}

/// The problems of a good scenario with one text replaced: one, of this message.
fn check_refusals(scenario: &str, cases: &[(&str, &str, &str)]) {
    for &(good, bad, said) in cases {
        assert_eq!(scenario.matches(good).count(), 1, "{good}");
        let error = Scenario::parse(&scenario.replace(good, bad), "scenario.toml", Format::Toml, &[]);
        let error = error.map(|_| ()).expect_err(bad);
        let [problem] = error.problems() else { panic!("one problem, not {error}") };
        assert!(problem.message().contains(said), "{error}");
        assert!(!problem.key_path().is_empty(), "{error}");
    }
}

#[test]
fn what_would_have_no_effect_is_refused() {
    check_refusals(
        GOOD,
        &[
            (
                "start = \"0s\"",
                "start = { distribution = \"uniform\", min = \"50s\", max = \"1min\" }",
                "this may start after the run has ended, at 60s",
            ),
            (
                "start = \"0s\"",
                "start = { distribution = \"exponential\", mean = \"5s\" }, stop = \"50s\"",
                "an exponential or Pareto `start` may be later than any `stop`",
            ),
            (
                "start = \"0s\"",
                "start = { distribution = \"uniform\", min = \"5s\", max = \"1s\" }",
                "`min` is larger than `max`",
            ),
            (
                "probability = 0.01",
                "probability = 0.01, start = \"60s\"",
                "this starts after the run has ended, at 60s",
            ),
            (
                "delay = \"20ms\"",
                "delay = \"20ms\"\noutages = [{ start = \"2min\", duration = \"1s\" }]",
                "this starts after the run has ended, at 60s",
            ),
            (
                "min_rto = \"200ms\"",
                "variant = \"reno\", fast_convergence = false",
                "`fast_convergence = false` has no effect with variant = \"reno\"",
            ),
            (
                "min_rto = \"200ms\"",
                "variant = \"cubic\", vegas = { alpha = 1 }",
                "`vegas` has no effect with variant = \"cubic\"",
            ),
            (
                "min_rto = \"200ms\"",
                "variant = \"dctcp\", ecn = true, classic_queue = \"monitor\"",
                "`classic_queue` has no effect with variant = \"dctcp\"",
            ),
            (
                "min_rto = \"200ms\"",
                "variant = \"tahoe\", limited_transmit = true",
                "Tahoe is older than limited transmit and does without",
            ),
            (
                "min_rto = \"200ms\"",
                "variant = \"reno\", max_sack_blocks = 2",
                "there are no SACK blocks, because variant = \"reno\" offers SACK only with sack = true",
            ),
            (
                "min_rto = \"200ms\"",
                "delayed_ack = false, delayed_ack_timeout = \"100ms\"",
                "with `delayed_ack = false` no acknowledgement is delayed",
            ),
            (
                "protocol = \"tcp\", min_rto = \"200ms\"",
                "protocol = \"sctp\", sack_frequency = 1, sack_delay = \"100ms\"",
                "with `sack_frequency = 1` every packet is acknowledged at once",
            ),
            ("delay = \"20ms\"", "delay = \"20ms\"\nmtu = \"1B\"", "IPv6 needs an MTU of 1280 B or more"),
            (
                "packet_size = \"172B\"",
                "packet_size = { distribution = \"uniform\", min = \"0B\", max = \"100B\" }",
                "a size of 0 B sends nothing",
            ),
            (
                "packet_size = \"172B\"",
                "packet_size = { distribution = \"exponential\", mean = \"500B\", max = \"70kB\" }",
                "a UDP datagram carries at most 65527 B",
            ),
            (
                "transport = { protocol = \"udp\" }\napplication = { kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }",
                "transport = { protocol = \"tcp\" }\napplication = { kind = \"cbr\", packet_size = \"5GB\", interval = \"20ms\" }",
                "a message has 4 GiB at most",
            ),
            (
                "packets = 100",
                "packets = 99999999999999999999",
                "this is the number 100000000000000000000; a whole number from 0 to 4294967295 is needed",
            ),
            (
                "name = \"island\"",
                "name = \"island\"\npacket_processing_time = { distribution = \"uniform\", min = \"2ms\", max = \"1ms\" }",
                "`min` is larger than `max`",
            ),
            (
                "[[link]]\nname = \"pipe\"",
                "[[link]]\nname = \"spare\"\nbetween = [\"phone\", \"server\"]\nrate = \"1Mb/s\"\ndelay = \"1ms\"\n\n[[link]]\nname = \"pipe\"",
                "no packet takes \"pipe\", because an earlier \"spare\" joins the same two nodes",
            ),
            (
                "[[link]]\nname = \"pipe\"",
                "[[wifi]]\nname = \"air\"\naccess_point = \"server\"\nstations = [\"phone\"]\n\n[[link]]\nname = \"pipe\"",
                "no packet takes \"air\", because an earlier \"pipe\" joins the same two nodes",
            ),
        ],
    );
    check_refusals(
        GOOD,
        &[
            (
                "[[link]]\nname = \"pipe\"",
                "[[node]]\nname = \"hermit\"\n[[link]]\nname = \"pipe\"",
                "\"hermit\" has no link, and nothing is sent to it or from it",
            ),
            (
                "duration = \"60s\"",
                "duration = \"60s\"\narea = { from = { x = \"0m\", y = \"0m\" }, to = { x = \"1m\", y = \"1m\" } }",
                "no node has a place that could be outside of this area",
            ),
            (
                "model = \"bernoulli\", probability = 0.01",
                "model = \"list\", segments = [1], flow = \"voice\"",
                "no data of \"voice\" passes this link from \"server\": the list loses nothing",
            ),
            (
                "[[link]]\nname = \"pipe\"",
                "[[node]]\nname = \"tap\"\n[[link]]\nname = \"spur\"\nbetween = [\"phone\", \"tap\"]\nrate = \"1Mb/s\"\ndelay = \"1ms\"\nloss = { model = \"list\", segments = [1], flow = \"ftp\" }\n\n[[link]]\nname = \"pipe\"",
                "no data of \"ftp\" passes this link: the list loses nothing",
            ),
            (
                "[[link]]\nname = \"pipe\"",
                "[[node]]\nname = \"tap\"\n[[link]]\nname = \"spur\"\nbetween = [\"phone\", \"tap\"]\nrate = \"1Mb/s\"\ndelay = \"1ms\"\nloss = { model = \"list\", segments = [1] }\n\n[[link]]\nname = \"pipe\"",
                "no data passes this link: the list loses nothing",
            ),
            (
                "packet_size = \"172B\"",
                "packet_size = { distribution = \"exponential\", mean = \"0B\", max = \"1kB\" }",
                "the mean of 0 B lies outside of the sizes from 1 B to 1000 B",
            ),
            (
                "packet_size = \"172B\"",
                "packet_size = { distribution = \"exponential\", mean = \"2kB\", max = \"1kB\" }",
                "the mean of 2000 B lies outside of the sizes from 1 B to 1000 B",
            ),
        ],
    );
    check_refusals(
        WALK,
        &[(
            "name = \"server\"\n",
            "name = \"server\"\nposition = { x = \"0m\", y = \"0m\" }\nmotion = { kind = \"linear\", to = { x = \"9m\", y = \"0m\" }, speed = \"1m/s\" }\n",
            "\"server\" moves, but it is in no cell: nothing depends on its place",
        )],
    );
}

#[test]
fn readers_that_cannot_be_are_refused() {
    let reader = |reader: &str| {
        format!("application = {{ kind = \"bulk\", start = \"0s\" }}\nreader = {{ {reader} }}")
    };
    let cases = [
        ("read_rate = \"9Tb/s\", read_size = \"512B\"", "a read of 512 B takes no time at this rate"),
        ("stop = \"60s\"", "the reader never stops: the run ends after 60s"),
        (
            "stop = \"0s\"",
            "`stop` must be later than the `start` of the application, 0s: nothing has arrived by then",
        ),
        (
            "stop = \"5s\", pauses = [{ start = \"5s\", stop = \"6s\" }]",
            "this pause never begins: the reader stops at 5s",
        ),
        ("read_size = \"1kB\", stop = \"5s\"", "without `read_rate` a read takes whatever there is"),
    ];
    let good = "application = { kind = \"bulk\", start = \"0s\" }";
    for (bad, said) in cases {
        check_refusals(GOOD, &[(good, &reader(bad), said)]);
    }
    let whole = "application = { kind = \"bulk\", start = \"0s\" }";
    let both = format!("bidirectional = true\n{}", reader("stop = \"5s\""));
    check_refusals(
        GOOD,
        &[(whole, &both, "the end that closes has data of its own to send (`bidirectional`)")],
    );
    let answers = "application = { kind = \"request_response\", request_size = \"1B\", response_size = \"1B\" }\nreader = { stop = \"5s\" }";
    check_refusals(GOOD, &[(whole, answers, "a server that closes answers nobody any more")]);
    let late = "application = { kind = \"bulk\", start = { distribution = \"exponential\", mean = \"1s\" } }\nreader = { stop = \"5s\" }";
    check_refusals(
        GOOD,
        &[(whole, late, "an exponential or Pareto `start` of the application may be later than any `stop`")],
    );
    let voice = "kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }";
    let udp = format!("{voice}\nreader = {{ read_rate = \"1Mb/s\" }}");
    check_refusals(
        GOOD,
        &[(voice, &udp, "`reader` needs TCP: over UDP and SCTP whatever arrives is read at once here")],
    );
    // A read of a nanosecond is one.
    let text = GOOD.replace(good, &reader("read_rate = \"8Gb/s\", read_size = \"1B\""));
    assert!(Scenario::parse(&text, "scenario.toml", Format::Toml, &[]).is_ok());
}

#[test]
fn a_station_that_no_cell_ever_reaches_is_refused() {
    // Another one keeps the cells from being empty. "west cell" reaches 200 m.
    let with = |position: &str| {
        let sitter = format!("[[node]]\nname = \"sitter\"\n{position}\n[[link]]\nname = \"wire\"");
        let text = WALK.replace("[[link]]\nname = \"wire\"", &sitter);
        text.replace("\"west\"\nstations = [\"walker\"]", "\"west\"\nstations = [\"walker\", \"sitter\"]")
    };
    let report = refuse(&with("position = { x = \"201m\", y = \"0m\" }"));
    let said = "\"sitter\" is never in reach of its cells: \"west cell\" reaches";
    assert!(report.contains(said), "{report}");
    let accepted = |text: &str| {
        Scenario::parse(text, "walk", Format::Toml, &[]).map(|_| ()).map_err(|e| e.render(false))
    };
    assert_eq!(accepted(&with("position = { x = \"199m\", y = \"0m\" }")), Ok(()));
    // It walks towards the cell: 2 m in the 60 s of the run are enough, 0.6 m are not.
    let walk = |speed: &str| {
        let to = "to = { x = \"0m\", y = \"0m\" }";
        format!(
            "position = {{ x = \"201m\", y = \"0m\" }}\nmotion = {{ kind = \"linear\", {to}, speed = \"{speed}\" }}"
        )
    };
    assert!(refuse(&with(&walk("0.01m/s"))).contains(said));
    assert_eq!(accepted(&with(&walk("0.04m/s"))), Ok(()));
}

#[test]
fn a_station_that_leaves_all_its_cells_for_good_is_warned_of() {
    let walk = |speed: &str, duration: &str| {
        let sitter = format!(
            "[[node]]\nname = \"sitter\"\nposition = {{ x = \"150m\", y = \"0m\" }}\n\
             motion = {{ kind = \"linear\", to = {{ x = \"500m\", y = \"0m\" }}, speed = \"{speed}\" }}\n\
             [[link]]\nname = \"wire\""
        );
        let text = WALK.replace("[[link]]\nname = \"wire\"", &sitter);
        let text = text
            .replace("\"west\"\nstations = [\"walker\"]", "\"west\"\nstations = [\"walker\", \"sitter\"]");
        let set = [("scenario.duration".to_owned(), duration.to_owned())];
        Scenario::parse(&text, "walk", Format::Toml, &set).map(|scenario| scenario.warnings).expect("valid")
    };
    // "west cell" reaches 200 m: 50 m on the way are 33.333 s at 1.5 m/s.
    let warnings = walk("1.5m/s", "60s");
    assert_eq!(warnings.len(), 1);
    insta::assert_snapshot!(warnings[0]);
    // Whoever is still there at the end has left nothing.
    assert!(walk("0.5m/s", "60s").is_empty());
    assert!(walk("1.5m/s", "33s").is_empty());
}

#[test]
fn a_walk_that_comes_into_one_of_its_cells_alone_is_warned_of() {
    // In the cell in the east somebody else stands.
    let sitter =
        "[[node]]\nname = \"sitter\"\nposition = { x = \"300m\", y = \"10m\" }\n[[link]]\nname = \"wire\"";
    let text = WALK
        .replace("[[link]]\nname = \"wire\"", sitter)
        .replace("\"east\"\nstations = [\"walker\"]", "\"east\"\nstations = [\"walker\", \"sitter\"]");
    let told = |from: &str, to: &str| -> Vec<String> {
        assert!(text.contains(from), "{from}");
        let scenario = Scenario::parse(&text.replace(from, to), "walk", Format::Toml, &[]).unwrap_or_else(
            |diagnostics| {
                panic!("{}", diagnostics.render(false));
            },
        );
        scenario.warnings.iter().map(|told| told.to_string().replace("\n  │ ", " ")).collect()
    };
    // "east cell" reaches 180 m, to x = 120 m.
    let walk_to = |x: &str| told("to = { x = \"290m\"", &format!("to = {{ x = \"{x}\""));
    let warnings = walk_to("119m");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let message = "node.walker.motion: \"walker\" never comes into \"east cell\", which reaches 180m around \"east\": it never \
                   changes its cell";
    assert!(warnings[0].contains(message), "{warnings:?}");
    assert!(walk_to("121m").is_empty());
    // Nobody expects who stands to change it.
    let motion =
        "motion = { kind = \"back_and_forth\", to = { x = \"290m\", y = \"0m\" }, speed = \"5m/s\" }\n";
    assert!(told(motion, "").is_empty());
}

#[test]
fn one_link_is_not_kept_apart_from_others() {
    check_refusals(
        WALK,
        &[(
            "name = \"server\"\n",
            "name = \"server\"\nmultihomed = true\n",
            "\"server\" has one link, and so one address",
        )],
    );
}

#[test]
fn a_class_that_there_is_not_is_refused() {
    let good = "transport = { protocol = \"tcp\", min_rto = \"200ms\" }";
    let with = |value: &str| GOOD.replace(good, &format!("{good}\ndscp = {value}"));
    for (value, message, help) in [
        ("64", "64 is not a DSCP, which has six bits", "it may be a number from 0 to 63, \"ef\""),
        ("-1", "-1 is not a DSCP, which has six bits", "it may be a number from 0 to 63, \"ef\""),
        ("\"gold\"", "there is no class \"gold\"", "it may be a number from 0 to 63, \"ef\""),
        ("\"af44\"", "there is no class \"af44\"", "did you mean \"af4"),
        ("\"46\"", "there is no class \"46\"", "write a number without quotes: 46"),
        ("true", "a number from 0 to 63, or the name of a class such as \"ef\"", ""),
    ] {
        let report = refuse(&with(value));
        assert!(report.contains(message) && report.contains(help), "{report}");
        assert!(report.contains("[scenario.toml:25:8]"), "{report}");
    }
    for value in ["0", "63", "\"ef\"", "\"cs6\"", "\"le\""] {
        assert!(Scenario::parse(&with(value), "scenario.toml", Format::Toml, &[]).is_ok(), "{value}");
    }
}

#[test]
fn a_hysteresis_without_a_second_cell_is_refused() {
    let sitter = "[[node]]\nname = \"sitter\"\nposition = { x = \"5m\", y = \"0m\" }\nhysteresis = \"5m\"\n[[link]]\nname = \"wire\"";
    let text = WALK.replace("[[link]]\nname = \"wire\"", sitter);
    let text =
        text.replace("\"west\"\nstations = [\"walker\"]", "\"west\"\nstations = [\"walker\", \"sitter\"]");
    let report = refuse(&text);
    assert!(report.contains("\"sitter\" is a station of one cell, and changes to no other"), "{report}");
}

#[test]
fn a_name_that_stands_there_twice_is_offered_once() {
    let text =
        GOOD.replace("name = \"island\"", "name = \"server\"").replace("to = \"phone\"", "to = \"phome\"");
    let report = refuse(&text);
    assert!(report.contains("(the nodes: `server`, `phone` or `reef`)"), "{report}");
}

#[test]
fn a_scenario_in_which_nothing_happens_is_refused() {
    let (without, _) = GOOD.split_once("[[flow]]").expect("a flow");
    assert!(refuse(without).contains("nothing happens here: this scenario has no flow and no signalling"));
}

#[test]
fn a_text_that_ends_too_early_is_shown_where_it_begins() {
    let text = "[scenario]\nname = \"\"\"a\nbc\n\n";
    let error = Scenario::parse(text, "x.toml", Format::Toml, &[]).expect_err("no end").render(false);
    assert!(error.contains("[x.toml:2:8]") && error.contains("no closing `\"\"\"`"), "{error}");
}

#[test]
fn every_report_on_json_names_its_file() {
    // The last line of a text that ends with a line break, or with none; a text that is no table; numbers too
    // large.
    for text in
        ["{\"scenario\": {\n", "{\"scenario\": {", "", "\n", "[]", "null", "7", "{} {}", "{\"scenario\": 1}"]
    {
        let error = Scenario::parse(text, "walk.json", Format::Json, &[]).expect_err("no scenario");
        assert!(error.render(false).contains("walk.json"), "{text:?}\n{}", error.render(false));
    }
    let good = Scenario::parse(GOOD, "scenario.toml", Format::Toml, &[]).expect("a good scenario");
    let text = good.canonical_json().replace("\"packets\":100", "\"packets\":9999999999999999999");
    let error =
        Scenario::parse(&text, "walk.json", Format::Json, &[]).expect_err("beyond 63 bits").render(false);
    assert!(
        error.contains(
            "walk.json: link.pipe.queue.packets: this is the number 10000000000000000000; a whole number"
        ),
        "{error}"
    );
}

#[test]
fn color_is_only_there_when_asked_for() {
    let error =
        Scenario::parse("[scenario]", "scenario.toml", Format::Toml, &[]).expect_err("keys are missing");
    assert!(!error.render(false).contains('\u{1b}'));
    assert!(error.render(true).contains('\u{1b}'));
}

#[test]
fn problems_can_be_read_by_programs() {
    let error = Scenario::parse(&GOOD.replace("\"20ms\"\nqueue", "10\nqueue"), "s", Format::Toml, &[]);
    let error = error.expect_err("a unit is missing");
    let [problem] = error.problems() else { panic!("{error}") };
    assert_eq!(problem.key_path(), "link.pipe.delay");
    assert!(problem.message().contains("`10` has no unit"));
    assert!(problem.advice().is_some_and(|advice| advice.contains("\"10ms\"")));
}
