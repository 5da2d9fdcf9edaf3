"""Presets of TCP, for `roamsim explain --preset`."""

from roamsim._roamsim import tcp_stacks
from roamsim.errors import UsageError


def lines(name: str) -> list[str]:
    """What a preset is, and its settings with their sources, aligned."""
    text = dict(tcp_stacks()).get(name)
    if text is None:
        known = ", ".join(stack for stack, _ in tcp_stacks())
        raise UsageError(f"there is no preset {name!r}; there are {known}")
    about = [line[2:] for line in text.splitlines() if line.startswith("#")]
    settings = [line.partition("#") for line in text.splitlines() if not line.startswith("#")]
    width = max(len(setting.strip()) for setting, _, _ in settings)
    return [*about, "", *(f"{setting.strip():{width}}  {source.strip()}" for setting, _, source in settings)]
