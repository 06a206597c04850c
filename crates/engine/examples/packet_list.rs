//! Sends a list of packets through the first link of a scenario, with its queue, and prints when
//! each packet leaves the link: `cargo run --release --example packet_list -- SCENARIO.json`.
//!
//! Each line of the standard input has the time of arrival [ns], the index of the flow and the
//! length of the IP packet [bytes], in the order of time. Each line of the output has the word
//! `sent` or `dropped`, the index of a packet in this list, and the time at which the packet has
//! left the link or has been dropped [ns].

use std::error::Error;
use std::io::{self, BufWriter};

use lasthop_engine::kernel::streams::Streams;
use lasthop_engine::kernel::time::Time;
use lasthop_engine::link::Link;
use lasthop_engine::notation::Format;
use lasthop_engine::packet::{Packet, PacketKind};
use lasthop_engine::scenario::{Scenario, parse};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("no scenario")?;
    let text = std::fs::read_to_string(&path)?;
    let scenario = parse(&text, Format::Json, &path, &[]).map_err(|all| format!("{all:?}"))?;
    let mut link = link(&scenario)?;
    let mut out = BufWriter::new(io::stdout().lock());
    for (line, number) in io::stdin().lines().zip(0..) {
        let line = line?;
        let mut fields = line.split_whitespace();
        let mut next = || fields.next().ok_or("expected three numbers");
        let (now, flow, bytes) = (Time(next()?.parse()?), next()?.parse()?, next()?.parse()?);
        serve(&mut link, now, &mut out)?;
        let mut packet = Packet::new(now, flow, PacketKind::Datagram, bytes);
        packet.number = number;
        link.enter(now, now, &mut packet);
        print_dropped(&mut link, now, &mut out)?;
    }
    serve(&mut link, Time::ZERO + scenario.duration, &mut out)?;
    Ok(())
}

/// Returns the first link of the scenario.
fn link(scenario: &Scenario) -> Result<Link, Box<dyn Error>> {
    let settings = scenario.links.first().ok_or("no link")?;
    let streams = Streams::new(scenario.seed, 0);
    let measured = Time::ZERO..Time::ZERO + scenario.duration;
    let mut link = Link::new(settings, &streams, measured, None);
    link.set_flows(&scenario.flows, scenario.stations.len());
    Ok(link)
}

/// Sends all packets whose transmission ends by `now`.
fn serve(link: &mut Link, now: Time, out: &mut impl io::Write) -> io::Result<()> {
    while link.deadline() <= now {
        let at = link.deadline();
        if let Some((_, packet)) = link.depart(at) {
            writeln!(out, "sent {} {}", packet.number, at.0)?;
        }
        print_dropped(link, at, out)?;
    }
    Ok(())
}

/// Prints the packets that the queue has dropped at `now`.
fn print_dropped(link: &mut Link, now: Time, out: &mut impl io::Write) -> io::Result<()> {
    while let Some(packet) = link.settle(now) {
        writeln!(out, "dropped {} {}", packet.number, now.0)?;
    }
    Ok(())
}
