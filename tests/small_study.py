"""A study of a few short runs, as files of a folder, for the tests of the framework."""

from pathlib import Path

import pytest
from roamsim import study
from roamsim.errors import UsageError

SCENARIO = """
[scenario]
name = "Two nodes"
duration = "120s"
[[node]]
name = "mn"
[[node]]
name = "pos"
[[link]]
name = "path"
between = ["mn", "pos"]
rate = "100Mb/s"
delay = "20ms"
loss = { model = "bernoulli", probability = 0.0, start = "5s" }
[[signalling]]
name = "mih"
kind = "indication"
from = "mn"
to = "pos"
transport = { protocol = "udp" }
message_size = "200B"
interval = "500ms"
start = "5s"
stop = "105s"
"""

STUDY = """
[study]
title = "A small study"
published_as = "Nobody, 2009"
question = "Does loss lose messages?"
answer = '''
{{ "Yes" if verdict("2") == "differs" else "No" }}: {{ mean("lossy", "success_rate", scale=100, kind="indication", loss=0.5) }} %
arrive at a loss of one half. {{ count("agrees") }} of {{ statements }} statements agree.
'''
checks = "checks"
headline = "success-indication"
parts = { all = "Everything" }

[dimension.kind.choice]
indication = {}
request = { "signalling.mih.kind" = "request" }

[dimension]
loss = { path = "link.path.loss.probability", quick = "0,0.5", full = "0,0.5" }
size_bytes = { function = "size", quick = "100", full = "100,200" }

[[experiment]]
id = "lossy"
title = "Messages over a lossy wire"
scenario = "two-nodes.toml"
dimensions = ["kind", "size_bytes", "loss"]
tables = ["links"]
quick = { replications = 2, set = { "signalling.mih.stop" = "55s" } }
full = { replications = 3 }

[[sequence]]
each = { kind = ["indication", "request"] }
id = "flow-{kind}"
title = "One {kind}"
part = "all"
scenario = "two-nodes.toml"
function = "flow"
nodes = { mn = "MN", pos = "PoS" }
since_s = 5.0
until_s = 5.4

[[table]]
id = "messages"
title = "Messages by loss"
part = "all"
function = "messages"

[[drawing]]
id = "sent"
title = "Packets on the path"
part = "all"
function = "sent"

[[drawing]]
each = { kind = ["indication", "request"] }
id = "one-{kind}"
title = "One run"
part = "all"
scenario = "two-nodes.toml"
settings = "flow"
trace = ["queue"]
function = "run"

[[parameter]]
name = "Traffic"
value = "until {signalling.mih.stop}, over {link.path.delay}"
experiment = "lossy"
source = "chosen"
"""

FIGURES = """
[[figure]]
each = { kind = ["indication", "request"] }
id = "success-{kind}"
title = "Success of {kind}s"
part = "all"
experiments = ["lossy"]
where = { kind = "{kind}" }
x = "loss"
x_scale = 100
x_title = "Loss (%)"
y = [{ column = "success_rate", scale = 100 }]
y_title = "Success (%)"
closed_form = "success"
clauses = ["2"]
"""

STATEMENTS = """
[[statement]]
id = "1"
published = "Without loss everything arrives."
rule = "Success is at least 0.98."
function = "all_arrive"

[[statement]]
id = "2"
published = "With loss everything arrives."
rule = "Success is at least 0.98."
function = "all_arrive_all_the_same"
if_differs = "what is lost is lost"
rests_on = "messages of 100 B"
"""

COVERAGE = """
[[covered]]
published = "What arrives"
place = "page 1"
statements = ["1", "2"]
exhibits = ["success-*", "messages"]

[[covered]]
published = "How it is sent"
exhibits = ["flow-*", "sent", "one-*"]

[[covered]]
published = "What it costs"
left_out = "nobody asked"
"""

CODE = """
from roamsim.study import Check

def size(value, labels):
    assert set(labels) == {"kind"}
    return {"signalling.mih.message_size": f"{value}B"}

def flow(values):
    return {"signalling.mih.kind": values["kind"]}

def success(row, column, data):
    return (1 - row["loss"]) ** (2 if row["kind"] == "request" else 1)

def checks(data):
    estimate = data.estimate("lossy", "success_rate", kind="indication", loss=0.0)
    return [Check("success without loss", estimate.mean, 1.0, 0.0)]
"""

EXHIBITS = """
from matplotlib.figure import Figure

def messages(data):
    return [
        {"loss": loss, "messages": data.estimate("lossy", "messages", kind="indication", loss=loss).mean}
        for loss in data.labels("lossy", "loss")
    ]

def sent(data):
    figure = Figure()
    # Each run has a row for each direction of its link.
    packets = [row["sent_packets"] for row in data.rows_of("lossy", "links", kind="indication", loss=0.0)]
    figure.add_subplot().set_title(f"{len(packets)} rows: {sorted(set(packets))}")
    return figure

def run(result, kind):
    figure = Figure()
    figure.add_subplot().set_title(f"{kind} of {result.signalling['messages'][0]} messages")
    return figure
"""

MEASUREMENTS = """
from roamsim.study.judging import within

def all_arrive(data):
    return within(data.estimate("lossy", "success_rate", loss=0.0), 0.98, 1.0, "success")

def all_arrive_all_the_same(data):
    return within(data.estimate("lossy", "success_rate", loss=0.5), 0.98, 1.0, "success")
"""

FILES = {
    "two-nodes.toml": SCENARIO,
    "study.toml": STUDY,
    "figures.toml": FIGURES,
    "statements.toml": STATEMENTS,
    "coverage.toml": COVERAGE,
    "study.py": CODE,
    "statements.py": MEASUREMENTS,
    "exhibits.py": EXHIBITS,
}


def change(folder: Path, file: str, old: str, new: str) -> None:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))


def refused(folder: Path, file: str, old: str, new: str, message: str) -> None:
    """A definition with a text replaced is refused with a message that matches."""
    change(folder, file, old, new)
    with pytest.raises(UsageError, match=message):
        study.load(folder)
