"""Why results differ from a peer's by more than 10 %: mechanisms, seen in traces of both on the same losses."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """A mechanism and the results that it moves. An empty tuple: all of them."""

    letter: str
    peer: str
    parts: tuple[str, ...]
    variants: tuple[str, ...]
    because: str
    quantities: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()  # one of the labels of the case

    def fits(self, part: str, variant: str, labels: tuple[str, ...], quantity: str, peer: str) -> bool:
        """Whether it explains this result."""
        return (
            peer == self.peer
            and part in self.parts
            and variant in self.variants
            and (not self.quantities or quantity in self.quantities)
            and (not self.cases or bool(set(self.cases) & set(labels)))
        )


EXPLANATIONS: list[Explanation] = []
