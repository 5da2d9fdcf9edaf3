"""Packets of IPv4 (RFC 791) made by hand."""

from __future__ import annotations

import struct

#: The addresses of the first node of a scenario, and of the second.
SERVER, PHONE = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])


def checksum(octets: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    octets += bytes(len(octets) % 2)
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def packet(protocol: int, source: bytes, destination: bytes, carried: bytes) -> bytes:
    """A packet that may not be fragmented."""
    size = 20 + len(carried)
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, size, 1, 0x4000, 64, protocol, 0, source, destination)
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + carried
