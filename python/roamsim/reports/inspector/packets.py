"""Packets as messages: one row each, with sender, receiver, time, contents and fate.

Read from the table `packets`.
"""

from __future__ import annotations

import polars

#: What packets carry that is no signalling.
DATA = "data"

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


def packets(table: polars.DataFrame) -> polars.DataFrame:
    """The packets of one run in the order of sending.

    Args:
        table: rows of `packets` of one run.

    Returns:
        `packet_id`, `t` (sent, s), `until` (delivered or dropped, s; none where it was on its way at the end),
        `from`, `to` (empty of what is for all who hear it and reached nobody), `flow`, `outcome`, `reason`, `lost
        on`, `about` (MIH, Mobile IP, data),
        `carries` (message, ACK, ...), `kind` (`carries`, or `repetition`, `lost`, `lost ACK`, `unheard`), `repeated`,
        `protocol`, `description`, `size_bytes`.
    """
    # Results of earlier versions do not name them.
    missing = [polars.lit("").alias(name) for name in ("destination", "flow") if name not in table.columns]
    table = table.with_columns(missing)
    sent = table.filter(polars.col("event") == "sent").select(
        "packet_id",
        polars.col("time_s").alias("t"),
        polars.col("node").alias("from"),
        "destination",
        "flow",
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
    # What is for all is for whoever heard it first.
    named = polars.when(polars.col("destination") != "").then("destination")
    found = found.with_columns(polars.coalesce(named, "to", polars.lit("")).alias("to")).drop("destination")
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


def _first(part: int) -> polars.Expr:
    """What the first words that fit say of a packet."""
    told = polars.lit(DATA)
    for row in reversed(CARRIES):
        told = polars.when(row[2]).then(polars.lit(row[part])).otherwise(told)
    return told


def _repeated(found: polars.DataFrame) -> polars.Series:
    """Whether a message was sent before, from one node to another in the same words.

    Messages of MIH and of SCTP addresses have a number in their words, and it may not have come round since; of
    others a second one may be another one.
    """
    about = polars.col("about").is_in(["MIH", "SCTP addresses"])
    numbered = found.filter(about & (polars.col("carries") == "message")).with_columns(
        polars.int_range(polars.len()).over("from", "to").alias("place")
    )
    # What a segment acknowledges may have changed since.
    words = polars.col("description").str.replace_all(r"ack \d+, win \d+|SACK up to [^;]*; ", "")
    since = polars.col("place") - polars.col("place").shift(1).over("from", "to", words)
    return found["packet_id"].is_in(numbered.filter(since < IDS)["packet_id"].implode())
