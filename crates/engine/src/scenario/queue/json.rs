//! A queue's discipline in the normalised scenario.

use serde_json::{Value, json};

use super::*;

impl QueueSetting {
    /// Name and parameters of the discipline; the limit stands beside it.
    pub(in super::super) fn to_json(self) -> Value {
        match self.discipline {
            Discipline::DropTail => json!({"discipline": "drop_tail"}),
            Discipline::Threshold { packets } => json!({
                "discipline": "threshold",
                "threshold_packets": packets,
                "limit_packets": self.limit_packets,
            }),
            Discipline::Red(red) => json!({
                "discipline": "red",
                "form": red.form.name(),
                "min_th_packets": red.min_th,
                "max_th_packets": red.max_th,
                "max_p": red.max_p,
                "weight": match red.weight {
                    RedWeight::Auto => json!("auto"),
                    RedWeight::PerSecond => json!(0.0),
                    RedWeight::Given(weight) => json!(weight),
                },
                "gentle": red.gentle,
                "wait": red.wait,
                "bytes": red.bytes,
                "mean_packet_bytes": red.mean_packet_bytes,
                "ecn": red.ecn,
            }),
            Discipline::Proportional(proportional) => json!({
                "discipline": "proportional",
                "slope": proportional.slope,
                "ecn": proportional.ecn,
            }),
            Discipline::CoDel(codel) => json!({
                "discipline": "codel",
                "target_s": codel.target.seconds(),
                "interval_s": codel.interval.seconds(),
                "ecn": codel.ecn,
            }),
            Discipline::Pie(pie) => json!({
                "discipline": "pie",
                "target_s": pie.target.seconds(),
                "update_s": pie.update.seconds(),
                "alpha_per_s": pie.alpha,
                "beta_per_s": pie.beta,
                "max_burst_s": pie.max_burst.seconds(),
                "ecn": pie.ecn,
            }),
            Discipline::FqCoDel(fq) => json!({
                "discipline": "fq_codel",
                "target_s": fq.codel.target.seconds(),
                "interval_s": fq.codel.interval.seconds(),
                "ecn": fq.codel.ecn,
                "quantum_bytes": fq.quantum_bytes,
                "queues": fq.queues,
            }),
            Discipline::Vbs(vbs) => json!({
                "discipline": "vbs",
                "limit_packets": self.limit_packets,
                "occupancy": vbs.occupancy,
                "tol_packets2": vbs.tol,
                "share_of": match vbs.share_of {
                    ShareOf::Queue => "queue",
                    ShareOf::Service => "service",
                },
                "algorithm": match vbs.law {
                    Law::Corrected => "corrected",
                    Law::Printed => "printed",
                    Law::Regulated => "regulated",
                },
                "update_s": vbs.update.map(Span::seconds),
            }),
        }
    }
}

impl RedForm {
    /// Its name in files.
    pub(super) fn name(self) -> &'static str {
        match self {
            RedForm::Ns2 => "ns-2",
            RedForm::Published => "published",
        }
    }
}
