"""Closed forms that simulations are compared with, one module for each subject.

`mih_udp`: MIH transactions over UDP, exact for isolated transactions.
`mih_tcp`: a lower bound for the delay of an isolated MIH message over TCP.
`tcp`: the throughput of TCP under loss, the square-root law and the full model of Padhye et al., and Jain's index.
`dect`: subfields, packets, fragments and windows of the DECT user plane.
`dect_mac`: calls lost and bearers lost and restored in the DECT MAC.
`enumeration`: the same MIH transactions summed over every pattern of lost packets; it proves the closed forms and
gives the variances that a comparison with a run needs.

The MIH forms are derived in docs/models/mih-exact.md; how far the TCP models carry is in docs/models/tcp.md,
those of DECT in docs/models/dect.md and docs/models/dect-mac.md.
"""
