//! Complete runs of a DCF cell.

use std::ops::ControlFlow;

use crate::support::*;
use lasthop_engine::run;
use lasthop_engine::scenario::*;
use serde_json::Value;

fn summary(scenario: &Scenario) -> Value {
    match run(scenario, 1, &|_| ControlFlow::Continue(())) {
        Ok(result) => result.summary().clone(),
        Err(error) => panic!("{error}"),
    }
}

fn cell_goodput_bps(scenario: &Scenario) -> f64 {
    let summary = summary(scenario);
    summary["cells"][0]["goodput_bps"]["mean"]
        .as_f64()
        .expect("a mean")
}

/// Paper 003, Fig. 5a, gives a goodput of 4.46 Mb/s at CWmin 31. An independent simulation gives 4.45 Mb/s at CWmin 31,
/// and 4.50 Mb/s at CWmin 15.
#[test]
fn seven_downloads_with_window_four() {
    for (cwmin, expected_mbps) in [(31, 4.45), (15, 4.50)] {
        let mut scenario = downloads(7, 4, 200);
        scenario.bss[0].cell.ap.best_effort.cwmin = cwmin;
        scenario
            .stations
            .iter_mut()
            .for_each(|station| station.node.best_effort.cwmin = cwmin);
        let mbps = cell_goodput_bps(&scenario) / 1e6;
        println!("CWmin {cwmin}: {mbps} Mb/s");
        assert!(
            (mbps / expected_mbps - 1.0).abs() < 0.01,
            "CWmin {cwmin}: {mbps}"
        );
    }
}
