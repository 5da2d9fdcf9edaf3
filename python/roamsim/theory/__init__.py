"""Closed forms that the simulator is held to, one module a subject.

`mih_udp`: MIH transactions over UDP, exact for isolated transactions.
`mih_tcp`: a lower bound for the delay of an isolated MIH message over TCP.
`enumeration`: the same MIH transactions summed over every pattern of lost packets; it proves the closed forms and
gives the variances that a comparison with a run needs.

The derivations are in docs/models/mih-exact.md.
"""
