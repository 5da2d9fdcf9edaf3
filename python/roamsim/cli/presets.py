"""Presets of TCP, for `roamsim explain --preset`."""

from roamsim._roamsim import tcp_stack_exceptions, tcp_stacks
from roamsim.errors import UsageError, there_are


def lines(name: str) -> list[str]:
    """What a preset is, its settings with their sources, aligned, and what other congestion controls change."""
    text = dict(tcp_stacks()).get(name)
    if text is None:
        known = [stack for stack, _ in tcp_stacks()]
        raise UsageError(f"there is no preset {name!r}; {there_are(name, known)}")
    about = [line[2:] for line in text.splitlines() if line.startswith("#")]
    settings = [line.partition("#") for line in text.splitlines() if not line.startswith("#")]
    width = max(len(setting.strip()) for setting, _, _ in settings)
    exceptions = []
    for variant, keys, instead in tcp_stack_exceptions(name):
        without = ", ".join(key for key in keys if key not in instead)
        exceptions.append(f"{variant:8}  {f'{instead}; ' if instead else ''}without {without}")
    return [
        *about,
        "",
        *(f"{setting.strip():{width}}  {source.strip()}" for setting, _, source in settings),
        "",
        "Beside another `variant`:",
        *exceptions,
    ]
