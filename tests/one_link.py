"""The scenario of many tests: a flow from `a` to `b` over one link."""


def one_link(link: str, flow: str, *, duration: str, ip: str = "ipv6") -> str:
    """A scenario in TOML.

    Args:
        link: the other keys of the link's table.
        flow: the other keys of the flow's table.
        duration: of the run, with its unit.
        ip: the network's headers.
    """
    return f"""
[scenario]
name = "one link"
duration = "{duration}"
ip = "{ip}"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
between = ["a", "b"]
{link}
[[flow]]
from = "a"
to = "b"
{flow}
"""
