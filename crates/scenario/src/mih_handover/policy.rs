//! From the policies of a handover to those of its users.

use super::model::{
    ActOn as ActOnModel, Choice as ChoiceModel, MessageKind, NetworkEntry as EntryModel,
    NoAnswer as NoAnswerModel, OldLink as OldLinkModel, Then as ThenModel,
};
use roamsim_engine::Span;
use roamsim_protocols::mih::MessageId;
use roamsim_protocols::mih::handover::policy::{ActOn, Choice, Entry, NoAnswer, OldLink, Policy, Then};

pub(super) fn policy(
    (act_on, act_ahead): (ActOnModel, Option<Span>),
    choose: ChoiceModel,
    entry: EntryModel,
    old_link: OldLinkModel,
    no_answer: Option<NoAnswerModel>,
) -> Policy {
    Policy {
        act_on: match act_on {
            ActOnModel::LinkDetected => ActOn::Detected,
            ActOnModel::LinkGoingDown => ActOn::GoingDown { ahead: act_ahead },
            ActOnModel::LinkParametersReport => ActOn::Crossed,
            ActOnModel::LinkDown => ActOn::Down,
        },
        choice: match choose {
            ChoiceModel::Order => Choice::Order,
            ChoiceModel::Signal => Choice::Signal,
            ChoiceModel::FreeCapacity => Choice::FreeCapacity,
        },
        entry: match entry {
            EntryModel::Before => Entry::Before,
            EntryModel::AfterCommitment => Entry::AfterCommitment,
        },
        old_link: match old_link {
            OldLinkModel::Kept => OldLink::Kept,
            OldLinkModel::UntilCompleted => OldLink::UntilCompleted,
            OldLinkModel::UntilRedirected => OldLink::UntilRedirected,
            OldLinkModel::UntilCommitted => OldLink::UntilCommitted,
        },
        no_answer: no_answer.map(|NoAnswerModel { after, then }| NoAnswer {
            after,
            then: match then {
                ThenModel::Repeat => Then::Repeat,
                ThenModel::Abort => Then::Abort,
                ThenModel::OtherInterface => Then::OtherInterface,
            },
        }),
    }
}

pub(super) fn message_id(message: MessageKind) -> MessageId {
    match message {
        MessageKind::LinkGoingDownIndication => MessageId::LINK_GOING_DOWN_INDICATION,
        MessageKind::LinkParametersReportIndication => MessageId::LINK_PARAMETERS_REPORT_INDICATION,
        MessageKind::MnHoCandidateQueryRequest => MessageId::MN_HO_CANDIDATE_QUERY_REQUEST,
        MessageKind::MnHoCandidateQueryResponse => MessageId::MN_HO_CANDIDATE_QUERY_RESPONSE,
        MessageKind::NetHoCandidateQueryRequest => MessageId::NET_HO_CANDIDATE_QUERY_REQUEST,
        MessageKind::NetHoCandidateQueryResponse => MessageId::NET_HO_CANDIDATE_QUERY_RESPONSE,
        MessageKind::N2nHoQueryResourcesRequest => MessageId::N2N_HO_QUERY_RESOURCES_REQUEST,
        MessageKind::N2nHoQueryResourcesResponse => MessageId::N2N_HO_QUERY_RESOURCES_RESPONSE,
        MessageKind::MnHoCommitRequest => MessageId::MN_HO_COMMIT_REQUEST,
        MessageKind::MnHoCommitResponse => MessageId::MN_HO_COMMIT_RESPONSE,
        MessageKind::NetHoCommitRequest => MessageId::NET_HO_COMMIT_REQUEST,
        MessageKind::NetHoCommitResponse => MessageId::NET_HO_COMMIT_RESPONSE,
        MessageKind::N2nHoCommitRequest => MessageId::N2N_HO_COMMIT_REQUEST,
        MessageKind::N2nHoCommitResponse => MessageId::N2N_HO_COMMIT_RESPONSE,
        MessageKind::MnHoCompleteRequest => MessageId::MN_HO_COMPLETE_REQUEST,
        MessageKind::MnHoCompleteResponse => MessageId::MN_HO_COMPLETE_RESPONSE,
        MessageKind::N2nHoCompleteRequest => MessageId::N2N_HO_COMPLETE_REQUEST,
        MessageKind::N2nHoCompleteResponse => MessageId::N2N_HO_COMPLETE_RESPONSE,
    }
}
