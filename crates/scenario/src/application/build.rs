//! From the keys of an application to what generates its data.

use super::model::{Application, Pace};
use super::{transfers, video};
use crate::build::distribution::{size_distribution, time_distribution};
use roamsim_engine::Time;
use roamsim_network::Distribution;
use roamsim_network::application::{Activity, Bulk, Client, Messages, OnOff, Server, Source, Transfer};

/// The source of a flow, and the server that answers it where one does.
pub(crate) fn application(
    model: &Application,
    reliable: bool,
    activity: Activity,
) -> (Source, Option<Server>) {
    let source = match model {
        Application::Bulk(bulk) => {
            // Without a stop the connection is not dropped at the end of the run.
            Source::Bulk(Bulk::new(Activity { stop: bulk.stop.unwrap_or(Time::MAX), ..activity }))
        }
        Application::Transfer(transfer) => {
            Source::Transfer(Transfer::new(activity.start, transfer.size_bytes))
        }
        Application::Cbr(cbr) => match cbr.pace() {
            Pace::Interval(interval) => {
                let interval = Distribution::Constant(interval.as_ns());
                Source::Messages(Box::new(Messages::new(
                    activity,
                    interval,
                    size_distribution(&cbr.packet_size),
                )))
            }
            // A rate rarely gives whole nanoseconds: one "on" period without end derives every slot by itself.
            Pace::RateBps(rate_bps) => Source::OnOff(Box::new(OnOff::new(
                activity,
                size_distribution(&cbr.packet_size),
                rate_bps,
                Distribution::Constant(u64::MAX),
                Distribution::Constant(0),
            ))),
        },
        Application::Poisson(poisson) => {
            // The load stays what `mean_interval` says: batches are rarer the larger they are.
            let batch = poisson.mean_batch_packets;
            let interval = Distribution::Exponential { mean: poisson.mean_interval.as_ns() * batch };
            let size = size_distribution(&poisson.packet_size);
            let messages = Messages::new(activity, interval, size);
            Source::Messages(Box::new(messages.in_batches(Distribution::Geometric { mean: batch })))
        }
        Application::OnOff(on_off) => Source::OnOff(Box::new(OnOff::new(
            activity,
            size_distribution(&on_off.packet_size),
            on_off.rate_bps,
            time_distribution(&on_off.on),
            time_distribution(&on_off.off),
        ))),
        Application::Transfers(model) => {
            Source::Transfers(Box::new(transfers::build::source(model, activity)))
        }
        Application::Video(model) => Source::Video(Box::new(video::build::source(model, activity))),
        Application::RequestResponse(model) => {
            let server = Server::new(
                size_distribution(&model.response_size),
                time_distribution(&model.processing_time),
            );
            // TCP and SCTP deliver in the end; a datagram may be lost, so its request is given up some time.
            let timeout = if reliable { model.timeout } else { Some(model.timeout()) };
            let request = size_distribution(&model.request_size);
            let client = Client::new(activity, request, time_distribution(&model.think_time), timeout);
            return (Source::Client(Box::new(client)), Some(server));
        }
    };
    (source, None)
}
