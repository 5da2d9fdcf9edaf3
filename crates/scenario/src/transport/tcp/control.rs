//! The key `congestion_control`: a built-in window in place of the variant's, or a class in Python.
//!
//! A built-in one chooses the variant that has it. A class is named as [`digested`] says.

use roamsim_protocols::tcp::congestion::Kind;

use super::model::{Tcp, TcpVariant};
use crate::digested;
use crate::report::{Report, Step, join};
use crate::suggest::{alternatives, nearest};
use crate::tree::{Node, Tree};

/// The variants whose window a built-in one may replace.
const REPLACEABLE: [TcpVariant; 2] = [TcpVariant::SACK, TcpVariant::CUBIC];

/// The built-in ones: those of the variants that repair by SACK.
fn built_in() -> impl Iterator<Item = TcpVariant> {
    TcpVariant::ALL.into_iter().filter(|variant| variant.permits_sack())
}

/// The variant that has this built-in one.
fn variant_with(control: &str) -> Option<TcpVariant> {
    built_in().find(|variant| variant.congestion_control() == control)
}

/// Chooses the variants that have the built-in ones that transports name.
pub(crate) fn apply(tree: &mut Tree) {
    let sections =
        tree.root().inner().filter(|entry| matches!(entry.key(), "flow" | "signalling" | "handover"));
    let transports: Vec<_> = sections
        .filter_map(Node::list)
        .flatten()
        .flat_map(Node::inner)
        .filter(|entry| matches!(entry.key(), "transport" | "transport_between_pos"))
        .filter_map(|transport| {
            let table = transport.table()?;
            let named = table.get("congestion_control")?.text()?;
            let chosen = variant_with(named)?;
            let variant = table.get("variant")?;
            let from = REPLACEABLE.iter().find(|from| Some(from.name()) == variant.text())?;
            (*from != chosen).then(|| (variant.number(), chosen.name()))
        })
        .collect();
    for (variant, chosen) in transports {
        let chosen = tree.text(chosen);
        tree.set_value(variant, chosen);
    }
}

/// The class of a transport, with its digest.
pub(crate) fn law(tcp: &Tcp) -> Option<&str> {
    tcp.congestion_control.as_deref().filter(|named| digested::class(named).is_some())
}

/// The variants that repair by SACK and go with a key, for a help.
pub(super) fn repairing_by_sack(key: &str) -> String {
    let refuses =
        |variant: &TcpVariant| variant.congestion().refuses().iter().any(|refusal| refusal.key == key);
    alternatives(built_in().filter(|variant| !refuses(variant)).map(TcpVariant::name))
}

/// The controls whose window falls by the share of marks, newest first, for a help.
pub(crate) fn counting_marks() -> String {
    let counting = Kind::ALL.iter().rev().filter(|kind| kind.counts_marks());
    counting.map(|kind| format!("\"{}\"", kind.name())).collect::<Vec<_>>().join(" or ")
}

/// Its name without the digest.
pub(crate) fn class(law: &str) -> &str {
    law.split_once('@').map_or(law, |(class, _)| class)
}

/// Checks it.
pub(super) fn check(at: &[Step], tcp: &Tcp, report: &mut Report<'_>) {
    let Some(named) = &tcp.congestion_control else { return };
    let steps = join(at, ["congestion_control"]);
    if law(tcp).is_some() {
        return check_class(at, tcp, report);
    }
    if digested::is_file(named) {
        return refuse_file(&steps, named, report);
    }
    if TcpVariant::NAMES.contains(&named.as_str()) && variant_with(named).is_none() {
        let message = format!("`{named}` is a variant with its own loss recovery");
        return report.add(&steps, message, format!("write variant = \"{named}\" instead"));
    }
    if variant_with(named).is_none() {
        let names = || built_in().map(TcpVariant::congestion_control);
        let meant =
            nearest(named, names()).map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
        let list: String = names().map(|name| format!("`{name}`, ")).collect();
        let help = format!("{meant}There are {list}and classes in Python by FILE.py:CLASS");
        return report.add(&steps, format!("there is no congestion control `{named}`"), help);
    }
    if tcp.variant.congestion_control() != named {
        let message = format!("`{named}` does not go with variant = \"{}\"", tcp.variant);
        let repair = if named == TcpVariant::RENO.congestion_control() { "cubic" } else { "sack" };
        let help = format!("write variant = \"{repair}\": `{named}` takes the place of its window");
        report.add(&steps, message, help);
    }
}

/// Refuses a class that a scenario names by its file.
pub(crate) fn refuse_file(steps: &[Step], named: &str, report: &mut Report<'_>) {
    let message = "a scenario alone runs no program, and this one names a class in Python";
    let help = format!(
        "leave it out, and name the class when you run it: --set flow.NAME.transport.congestion_control={named}, or in \
         Python set={{\"flow.NAME.transport.congestion_control\": CLASS}}"
    );
    report.add(steps, message, help);
}

/// What has no effect on a class, and the variants whose repair does without their own window.
fn check_class(at: &[Step], tcp: &Tcp, report: &mut Report<'_>) {
    let fits = [TcpVariant::RENO, TcpVariant::NEW_RENO, TcpVariant::SACK, TcpVariant::CUBIC];
    if !fits.contains(&tcp.variant) {
        let message = format!("a class in Python does not go with variant = \"{}\"", tcp.variant);
        let help = "choose the repair of losses by variant = \"sack\", \"newreno\" or \"reno\"";
        report.add(&join(at, ["congestion_control"]), message, help);
    }
    let defaults = Tcp::default();
    for (key, set, why) in [
        ("abe", tcp.abe, "the class decides what a mark does, in `on_ecn`"),
        ("prr_for_ecn", tcp.prr_for_ecn, "the class decides what a mark does, in `on_ecn`"),
        (
            "byte_counting_limit",
            tcp.byte_counting_limit != defaults.byte_counting_limit,
            "the class decides what an acknowledgement counts, in `on_ack`",
        ),
        (
            "growth_rules",
            tcp.growth_rules != defaults.growth_rules,
            "the class decides what an acknowledgement counts, in `on_ack`",
        ),
    ] {
        if set {
            report.add(&join(at, [key]), format!("`{key}` has no effect: {why}"), "leave it out");
        }
    }
}
