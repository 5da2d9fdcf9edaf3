//! From the keys of an application to what generates its data.

use super::model::{Application, Pace};
use super::{transfers, video};
use crate::distribution::build::{size_distribution, time_distribution};
use crate::distribution::model::SizeDistribution;
use roamsim_engine::{Stream, Time};
use roamsim_network::Distribution;
use roamsim_network::application::{
    Activity, Bulk, Client, Drawing, Messages, OnOff, Server, Source, Transfer,
};
use roamsim_protocols::Machine;

/// The source of a flow, with the stream that it draws from, and the server that answers it where one does.
pub(crate) fn application(
    model: &Application,
    reliable: bool,
    activity: Activity,
    random: Stream,
) -> (Source, Option<Server>) {
    let source = match model {
        // Validation lets no other sender of datagrams be greedy.
        Application::Bulk(_) if !reliable => Source::Messages(drawing(Messages::outside(activity), random)),
        Application::Bulk(bulk) => {
            // Without a stop the connection is not dropped at the end of the run.
            Source::Bulk(Bulk::new(Activity { stop: bulk.stop.unwrap_or(Time::MAX), ..activity }))
        }
        Application::Transfer(transfer) => {
            Source::Transfer(Transfer::new(activity.start, transfer.size_bytes))
        }
        Application::Cbr(cbr) => {
            let size = size_distribution(&cbr.packet_size);
            match cbr.pace() {
                Pace::Interval(interval) => {
                    let interval = Distribution::Constant(interval.as_ns());
                    Source::Messages(drawing(Messages::new(activity, interval, size), random))
                }
                // A rate rarely gives whole nanoseconds: one "on" period without end derives every slot by
                // itself.
                Pace::RateBps(rate_bps) => {
                    let (on, off) = (Distribution::Constant(u64::MAX), Distribution::Constant(0));
                    Source::OnOff(drawing(OnOff::new(activity, size, rate_bps, on, off), random))
                }
            }
        }
        Application::Poisson(poisson) => {
            // The load stays what `mean_interval` says: batches are rarer the larger they are.
            let batch = poisson.mean_batch_packets;
            let interval = Distribution::Exponential { mean: poisson.mean_interval.as_ns() * batch };
            let size = size_distribution(&poisson.packet_size);
            let messages = Messages::new(activity, interval, size);
            Source::Messages(drawing(messages.in_batches(Distribution::Geometric { mean: batch }), random))
        }
        Application::OnOff(model) => {
            let size = size_distribution(&model.packet_size);
            let (on, off) = (time_distribution(&model.on), time_distribution(&model.off));
            Source::OnOff(drawing(OnOff::new(activity, size, model.rate_bps, on, off), random))
        }
        Application::Transfers(model) => {
            Source::Transfers(drawing(transfers::build::source(model, activity), random))
        }
        Application::Video(model) => Source::Video(drawing(video::build::source(model, activity), random)),
        Application::RequestResponse(model) => {
            // A program outside has a size of its own, and nothing is drawn for it.
            let size = |size: &Option<SizeDistribution>| {
                size.as_ref().map_or(Distribution::Constant(0), size_distribution)
            };
            let server = Server::new(size(&model.response_size), time_distribution(&model.processing_time));
            // TCP and SCTP deliver in the end; a datagram may be lost, so its request is given up some time.
            let timeout = if reliable { model.timeout } else { Some(model.timeout()) };
            let request = size(&model.request_size);
            let mut client = Client::new(activity, request, time_distribution(&model.think_time), timeout);
            if let Some(path) = &model.path {
                client.ask_for(path);
            }
            return (Source::Client(drawing(client, random)), Some(server));
        }
    };
    (source, None)
}

fn drawing<M: Machine>(machine: M, random: Stream) -> Box<Drawing<M>> {
    Box::new(Drawing::new(machine, random))
}
