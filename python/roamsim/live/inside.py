"""The part of `roamsim live` that runs inside the namespaces. `namespaces.py` starts it by its path; it needs only
the standard library.

One process enters a user namespace and a PID namespace and forks its init. Init forks a child for each node, which
enters a network namespace and a mount namespace of its own, makes the TUN device, sends its descriptor over the Unix
socket, waits, and becomes the command. Init says which child ended, and goes when the socket closes: then the kernel
kills whatever is left in its PID namespace. With the last process the namespaces and devices are gone. Nothing
outside of them is changed.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
import tempfile
import termios
from pathlib import Path
from typing import Any, NoReturn

# <linux/sched.h>, <sys/mount.h>, <linux/if_tun.h>, <linux/sockios.h>, <net/if.h>
_NEWNS, _NEWUTS, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x4000000, 0x10000000, 0x20000000, 0x40000000
_BIND, _REC, _PRIVATE = 4096, 16384, 1 << 18
_TUNSETIFF, _TUN, _NO_PI = 0x400454CA, 1, 0x1000
_SIOCADDRT, _SIOCSIFFLAGS, _SIOCSIFADDR, _SIOCSIFNETMASK, _SIOCSIFMTU, _SIOCGIFINDEX = (
    0x890B,
    0x8914,
    0x8916,
    0x891C,
    0x8922,
    0x8933,
)
_UP, _ROUTE_UP = 1, 1
# <linux/rtnetlink.h>, <linux/if_link.h>
_RTM_NEWLINK, _REQUEST_AND_ACK, _ERROR, _TXQLEN = 16, 5, 2, 13
_DEVICE = "sim0"
#: Packets that wait in a device until the simulation reads them. Chosen: 100 ms of full-sized ones at 1 Gb/s.
_DEVICE_QUEUE = 8192
#: What the kernel counts in a network namespace.
_COUNTERS = ("dev", "snmp", "snmp6")


def _call(name: str, *arguments: Any) -> None:
    """A function of the C library that says by -1 that it failed."""
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def _write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="ascii")


def _try_to_write(path: str, text: str) -> None:
    try:
        _write(path, text)
    except OSError:
        # Where the setting is missing, so is what it would turn off.
        return


def _up(control: socket.socket, device: str) -> None:
    fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", device.encode(), _UP))


def _address(text: str) -> bytes:
    """A `sockaddr_in`."""
    return struct.pack("H2x4s8x", socket.AF_INET, socket.inet_aton(text))


def _set_up_v4(control: socket.socket, addresses: list[str]) -> None:
    for number, address in enumerate(addresses):
        # A device has one address of IPv4 for each of its labels.
        label = (_DEVICE if number == 0 else f"{_DEVICE}:{number}").encode()
        fcntl.ioctl(control, _SIOCSIFADDR, struct.pack("16s16s", label, _address(address)))
        fcntl.ioctl(control, _SIOCSIFNETMASK, struct.pack("16s16s", label, _address("255.255.255.255")))
    _up(control, _DEVICE)
    # struct rtentry: the device's name by its address.
    name = ctypes.create_string_buffer(_DEVICE.encode())
    anywhere = _address("0.0.0.0")
    route = struct.pack(
        "@L16s16s16sHhLPhPLLH",
        *(0, anywhere, anywhere, anywhere, _ROUTE_UP, 0, 0, 0, 0, ctypes.addressof(name), 0, 0, 0),
    )
    fcntl.ioctl(control, _SIOCADDRT, route)


def _set_up_v6(addresses: list[str]) -> None:
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as control:
        asked = fcntl.ioctl(control, _SIOCGIFINDEX, struct.pack("16si20x", _DEVICE.encode(), 0))
        index = struct.unpack("16si20x", asked)[1]
        _up(control, _DEVICE)
        # The address added last is the one that the kernel would take first.
        for address in reversed(addresses):
            octets = socket.inet_pton(socket.AF_INET6, address)
            fcntl.ioctl(control, _SIOCSIFADDR, struct.pack("16sIi", octets, 128, index))
        # struct in6_rtmsg
        route = struct.pack("16s16s16sIHHILIi", bytes(16), bytes(16), bytes(16), 0, 0, 0, 1, 0, _ROUTE_UP, index)
        fcntl.ioctl(control, _SIOCADDRT, route)


def _lengthen_queue() -> None:
    """By a message of rtnetlink: the ioctl is for the first user namespace alone."""
    index = socket.if_nametoindex(_DEVICE)
    # struct nlmsghdr, struct ifinfomsg, struct rtattr
    message = struct.pack(
        "IHHII BxHiII HHI", 40, _RTM_NEWLINK, _REQUEST_AND_ACK, 1, 0, 0, 0, index, 0, 0, 8, _TXQLEN, _DEVICE_QUEUE
    )
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as control:
        control.send(message)
        _, kind, _, _, _, code = struct.unpack_from("IHHIIi", control.recv(4096))
    if kind != _ERROR or code:
        raise OSError(-code, f"queue of the device: {os.strerror(-code)}")


def _device(node: dict[str, Any], *, is_v4: bool) -> int:
    """Makes the device of a node, in the network namespace that it is in: its descriptor."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", _DEVICE.encode(), _TUN | _NO_PI))
    _lengthen_queue()
    # No advertisements and no addresses of its own: nothing but what programs send goes over the network.
    _try_to_write(f"/proc/sys/net/ipv6/conf/{_DEVICE}/accept_ra", "0")
    _try_to_write(f"/proc/sys/net/ipv6/conf/{_DEVICE}/addr_gen_mode", "1")
    _try_to_write(f"/proc/sys/net/ipv6/conf/{_DEVICE}/disable_ipv6", "1" if is_v4 else "0")
    # Programs of any user may send echo requests.
    _try_to_write("/proc/sys/net/ipv4/ping_group_range", "0 0")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        _up(control, "lo")
        fcntl.ioctl(control, _SIOCSIFMTU, struct.pack("16si12x", _DEVICE.encode(), node["mtu"]))
        if is_v4:
            _set_up_v4(control, node["addresses"])
    if not is_v4:
        _set_up_v6(node["addresses"])
    return device


def _put_in_place(path: str, text: str) -> None:
    """Another file in place of one that is there, in this mount namespace alone."""
    with tempfile.NamedTemporaryFile("w", prefix="roamsim-", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fchmod(file.fileno(), 0o644)
        _call("mount", file.name.encode(), path.encode(), None, _BIND, None)


def _names(own: str, hosts: str) -> None:
    """Names of nodes, the own one among them. All others fail at once: no resolver can be reached."""
    _call("sethostname", own.encode(), len(own.encode()))
    _put_in_place("/etc/hosts", hosts)
    if Path("/etc/resolv.conf").exists():
        _put_in_place("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")


def _control(terminal: int) -> None:
    """Begins a session that controls a terminal, and reads from it and writes to it."""
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for standard in range(3):
        os.dup2(terminal, standard)


def _become(plan: dict[str, Any], number: int, outside: socket.socket, go: socket.socket) -> NoReturn:
    """The child of a node, up to its command."""
    node = plan["nodes"][number]
    try:
        _call("unshare", _NEWNET | _NEWNS | _NEWUTS)
        _call("mount", b"none", b"/", None, _REC | _PRIVATE, None)
        device = _device(node, is_v4=plan["is_v4"])
        _names(node["host"], plan["hosts"])
        counters = [os.open(f"/proc/self/net/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in _COUNTERS]
        socket.send_fds(outside, [json.dumps({"device": number}).encode()], [device, *counters])
        for descriptor in (device, *counters):
            os.close(descriptor)
        # Nothing comes where the others could not be set up.
        if go.recv(1) != b"g":
            os._exit(0)
        # A node without a command ends with the run, whatever signals come.
        while not node["command"]:
            signal.pause()
        for handled in (signal.SIGINT, signal.SIGPIPE):
            signal.signal(handled, signal.SIG_DFL)
        if node["terminal"] is not None:
            _control(node["terminal"])
        try:
            os.execvp(node["command"][0], node["command"])
        except OSError as error:
            outside.send(json.dumps({"unstarted": number, "why": error.strerror}).encode())
            os._exit(126 if error.errno == errno.EACCES else 127)
    except OSError as error:
        outside.send(json.dumps({"failed": f"{node['name']}: {error.strerror or error}"}).encode())
    os._exit(1)


def _init(plan: dict[str, Any], outside: socket.socket) -> NoReturn:
    """The first process of the PID namespace: all others end with it."""
    begun, go = socket.socketpair()
    children = {}
    for number in range(len(plan["nodes"])):
        child = os.fork()
        if child == 0:
            go.close()
            _become(plan, number, outside, begun)
        children[child] = number
    begun.close()
    # SIGCHLD ends the wait for the socket.
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        _tend(children, outside, go, woken)
    except OSError:
        # Whoever runs the simulation has gone, perhaps without having read all that was said.
        os._exit(0)


def _tend(children: dict[int, int], outside: socket.socket, go: socket.socket, woken: int) -> NoReturn:
    """Lets the programs begin, and says which have ended, until the socket closes."""
    while True:
        ready, _, _ = select.select([outside.fileno(), woken], [], [], 1)
        if outside.fileno() in ready:
            said = outside.recv(100)
            if said != b"go":
                os._exit(0)
            go.send(b"g" * len(children))
        if woken in ready:
            os.read(woken, 1000)
        while True:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if child == 0:
                break
            # Orphans of the commands come here too.
            if child in children:
                ended = {"ended": children[child], "status": os.waitstatus_to_exitcode(status)}
                outside.send(json.dumps(ended).encode())


def main() -> None:
    """Reads the plan from the socket whose descriptor is the only argument."""
    outside = socket.socket(fileno=int(sys.argv[1]))
    # Which follows in one message of this kind of socket.
    plan = json.loads(outside.recv(1 << 20))
    # No command gets them; the one with a terminal gets copies.
    terminals = [node["terminal"] for node in plan["nodes"] if node["terminal"] is not None]
    for descriptor in (outside.fileno(), *terminals):
        os.set_inheritable(descriptor, False)
    # Whoever runs the simulation hears of an interrupt, and ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    user, group = os.getuid(), os.getgid()
    try:
        _call("unshare", _NEWUSER | _NEWPID)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"0 {user} 1")
        _write("/proc/self/gid_map", f"0 {group} 1")
    except OSError as error:
        outside.send(json.dumps({"refused": error.strerror or str(error)}).encode())
        return
    init = os.fork()
    if init == 0:
        _init(plan, outside)
    outside.close()
    os.waitpid(init, 0)


if __name__ == "__main__":
    main()
