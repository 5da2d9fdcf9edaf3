"""Packets as messages: one row each, from where to where, when, what it carried, and what became of it.

Read from the table `packets`. It does not name the destination of a packet that did not arrive. It is known where its
last link led to a node that forwards nothing; where it answers a message of MIH that one node alone had sent; and
where the scenario has one node to which such packets go from its sender. Else it stays open: it is never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars

from roamsim.reports.inspector.peers import DATA, ends, peers

#: What a packet carries, by its words, in the order in which they are tried. An acknowledgement of MIH counts as one
#: where no other message rides with it.
CARRIES = (
    ("ACK", "MIH", polars.col("description").str.contains("ACK of MIH_", literal=True)
        & ~polars.col("description").str.replace_all("ACK of MIH_", "", literal=True).str.contains("MIH_")),
    ("message", "MIH", polars.col("description").str.contains("MIH_", literal=True)),
    ("message", "Mobile IP", polars.col("description").str.contains("^(registration re|agent solicitation)")),
    ("agent advertisement", "Mobile IP", polars.col("description").str.starts_with("agent advertisement")),
    ("message", "redirection", polars.col("description") == "redirect"),
    ("ACK", "redirection", polars.col("description") == "redirect acknowledged"),
    ("ACK", "SCTP addresses", polars.col("description").str.contains("ASCONF ACK", literal=True)),
    ("message", "SCTP addresses", polars.col("description").str.contains("ASCONF", literal=True)),
)  # fmt: skip

#: Messages of MIH after which a transaction ID comes again (IEEE Std 802.21-2008, 8.4.1: 12 bits, 0 is not used).
IDS = 4095


#: A message of MIH in words, without what rides with it.
MESSAGE = r"MIH_\w+\.\w+ tid \d+"


def packets(table: polars.DataFrame, canonical: Mapping[str, Any]) -> polars.DataFrame:
    """The packets of one run in the order of sending.

    Args:
        table: rows of `packets` of one run.
        canonical: its scenario.

    Returns:
        `packet_id`, `t` (sent, s), `until` (delivered or dropped, s; none where it was on its way at the end),
        `from`, `to` (empty where it is not known), `outcome`, `reason`, `lost on`, `about` (MIH, Mobile IP, data),
        `carries` (message, ACK, ...), `kind` (`carries`, or `repetition`, `lost`, `lost ACK`, `unheard`), `repeated`,
        `protocol`, `description`, `size_bytes`.
    """
    sent = table.filter(polars.col("event") == "sent").select(
        "packet_id",
        polars.col("time_s").alias("t"),
        polars.col("node").alias("from"),
        "protocol",
        "description",
        "size_bytes",
    )
    ends = table.filter(polars.col("event").is_in(["delivered", "dropped"]))
    # A broadcast has an end for each who is there: it is delivered when anybody heard it.
    ended = (
        ends.sort(polars.col("event") == "dropped", maintain_order=True)
        .unique("packet_id", keep="first", maintain_order=True)
        .select(
            "packet_id",
            polars.col("time_s").alias("until"),
            polars.col("event").alias("outcome"),
            polars.when(polars.col("event") == "delivered").then("node").alias("to"),
            polars.when(polars.col("event") == "dropped").then("reason").alias("reason"),
            polars.when(polars.col("event") == "dropped")
            .then(polars.when(polars.col("name") != "").then(polars.col("name")).otherwise(polars.col("node")))
            .alias("lost on"),
        )
    )
    found = sent.unique("packet_id", keep="first", maintain_order=True).join(
        ended, on="packet_id", how="left", maintain_order="left"
    )
    found = found.with_columns(polars.col("outcome").fill_null("on its way"))
    found = found.with_columns(_first(1).alias("about"), _first(0).alias("carries"))
    found = _destinations(found, table, canonical)
    again = _repeated(found)
    lost = polars.col("outcome") == "dropped"
    return found.with_columns(
        # An advertisement is for whoever hears it.
        polars.when(lost & (polars.col("carries") == "agent advertisement"))
        .then(polars.lit("unheard"))
        .when(lost & (polars.col("carries") == "ACK"))
        .then(polars.lit("lost ACK"))
        .when(lost)
        .then(polars.lit("lost"))
        .when(again)
        .then(polars.lit("repetition"))
        .otherwise(polars.col("carries"))
        .alias("kind"),
        again.alias("repeated"),
    ).sort("t", "packet_id")


def _destinations(found: polars.DataFrame, table: polars.DataFrame, canonical: Mapping[str, Any]) -> polars.DataFrame:
    """Fills in where packets went that did not arrive, as far as it is known."""
    # An advertisement is for whoever hears it.
    open_ = found.filter(polars.col("to").is_null() & (polars.col("carries") != "agent advertisement")).drop("to")
    arrived = found.filter(polars.col("to").is_not_null())
    told = polars.concat(
        [_last_link(open_, table, canonical), _asked(open_, arrived), _only_peer(open_, arrived, canonical)]
    )
    first = told.unique("packet_id", keep="first", maintain_order=True)
    found = found.join(first, on="packet_id", how="left", suffix="_told", maintain_order="left")
    return found.with_columns(polars.coalesce("to", "to_told", polars.lit("")).alias("to")).drop("to_told")


def _last_link(open_: polars.DataFrame, table: polars.DataFrame, canonical: Mapping[str, Any]) -> polars.DataFrame:
    """Packets whose last link led to a node that forwards nothing."""
    steps = table.join(open_.select("packet_id"), on="packet_id", how="semi").select("packet_id", "to")
    last = steps.unique("packet_id", keep="last", maintain_order=True)
    return last.filter(polars.col("to").is_in(sorted(ends(canonical))))


def _asked(open_: polars.DataFrame, arrived: polars.DataFrame) -> polars.DataFrame:
    """Responses and acknowledgements of MIH to what one node alone had sent in these words.

    Over UDP, where each packet has its messages whole. Sessions number their transactions each for itself, so that
    two nodes may have sent the same words; then it is not known which one is answered.
    """
    words = polars.col("description")
    response = (
        words.str.extract(r"(MIH_\w+)\.response tid") + ".request tid " + words.str.extract(r"\.response tid (\d+)")
    )
    answers = open_.filter(protocol="udp").select(
        "packet_id", "t", "from", polars.coalesce(words.str.extract(f"ACK of ({MESSAGE})"), response).alias("words")
    )
    asked = arrived.filter(protocol="udp").select(
        polars.col("to").alias("from"),
        polars.col("from").alias("to"),
        "until",
        words.str.replace_all(f"ACK of {MESSAGE}", "").str.extract_all(MESSAGE).alias("words"),
    )
    return (
        answers.join(asked.explode("words"), on=["from", "words"])
        .filter(polars.col("until") <= polars.col("t"))
        .group_by("packet_id", maintain_order=True)
        .agg(polars.col("to").first(), polars.col("to").n_unique().alias("nodes"))
        .filter(polars.col("nodes") == 1)
        .select("packet_id", "to")
    )


def _only_peer(open_: polars.DataFrame, arrived: polars.DataFrame, canonical: Mapping[str, Any]) -> polars.DataFrame:
    """Packets of a kind that their sender sends to one node alone."""
    kind = ["from", "protocol", "about"]
    known = polars.DataFrame(
        sorted(peers(canonical)),
        schema=dict.fromkeys(("from", "to", "protocol", "about"), polars.String),
        orient="row",
    )
    only = known.group_by(kind).agg(polars.col("to").first(), polars.col("to").n_unique().alias("nodes"))
    # One that got any, though the scenario does not have it, would say that there are others.
    others = arrived.select(*kind, "to").unique().join(known, on=[*kind, "to"], how="anti")
    only = only.filter(polars.col("nodes") == 1).join(others, on=kind, how="anti")
    return open_.join(only, on=kind).select("packet_id", "to")


def _first(part: int) -> polars.Expr:
    """What the first words that fit say of a packet."""
    told = polars.lit(DATA)
    for row in reversed(CARRIES):
        told = polars.when(row[2]).then(polars.lit(row[part])).otherwise(told)
    return told


def _repeated(found: polars.DataFrame) -> polars.Series:
    """Whether a message was sent before, from one node to another in the same words.

    Messages of MIH and of SCTP addresses have a number in their words, and it may not have come round since; of
    others a second one may be another one. Where it is not known to whom one went, neither is whether it repeats one.
    """
    about = polars.col("about").is_in(["MIH", "SCTP addresses"])
    known = polars.col("to") != ""
    numbered = found.filter(about & known & (polars.col("carries") == "message")).with_columns(
        polars.int_range(polars.len()).over("from", "to").alias("place")
    )
    # What a segment acknowledges may have changed since.
    words = polars.col("description").str.replace_all(r"ack \d+, win \d+|SACK up to [^;]*; ", "")
    since = polars.col("place") - polars.col("place").shift(1).over("from", "to", words)
    return found["packet_id"].is_in(numbered.filter(since < IDS)["packet_id"].implode())
