//! Tests of TCP settings that conflict with settings of another table.

use super::{complaints, toml};

/// If two settings of different tables conflict, the setting of the inner table is refused: the
/// outer table may be right for all other flows.
#[test]
fn conflicts_of_two_tables_name_the_inner_one() {
    let network = "duration = \"10 s\"\nlink.l = { from = \"a\", to = \"b\", rate = \"1 Mbps\" }\n\
                   flow.others = { from = \"a\", to = \"b\" }\n";
    for (tcp, flow, expected) in [
        (
            "sack = false",
            r#"congestion = "bbr""#,
            "`flow.one.congestion`: \"bbr\" conflicts with `tcp.sack = false`, which contradicts the congestion \
             control \"bbr\", which requires SACK, RACK-TLP and pacing; expected sack = true in `flow.one`, \
             or another value here",
        ),
        (
            "pacing = false",
            r#"congestion = "bbr""#,
            "`flow.one.congestion`: \"bbr\" conflicts with `tcp.pacing = false`, which contradicts the congestion \
             control \"bbr\", which requires SACK, RACK-TLP and pacing; expected pacing = true in `flow.one`, or another \
             value here",
        ),
        (
            "ecn = true\nabe = true",
            r#"congestion = "bbr""#,
            "`flow.one.congestion`: \"bbr\" conflicts with `tcp.abe = true`, which requires a congestion control for \
             which RFC 8511 has a factor; expected abe = false in `flow.one`, or another \
             value here",
        ),
        (
            "ecn = true\nabe = true",
            "ecn = false",
            "`flow.one.ecn`: false conflicts with `tcp.abe = true`, which requires ECN marks; expected abe = false in \
             `flow.one`, or another \
             value here",
        ),
        (
            "pacing = true\ntso = true",
            "pacing = false",
            "`flow.one.pacing`: false conflicts with `tcp.tso = true`, which requires pacing; expected \
             tso = false in `flow.one`, or another \
             value here",
        ),
        (
            "tso = true",
            r#"congestion = "bbr""#,
            "`tcp.tso`: true requires pacing, which connections of `flow.others` do not \
             have; expected false, or pacing = true",
        ),
        (
            "hystart = true",
            r#"congestion = "bbr""#,
            "`flow.one.congestion`: \"bbr\" conflicts with `tcp.hystart = true`, which adds HyStart++ to the \
             congestion control \"bbr\", which has no slow start; expected hystart = false in `flow.one`, or another \
             value here",
        ),
        (
            "sack = true",
            r#"congestion = "tahoe""#,
            "`flow.one.congestion`: \"tahoe\" conflicts with `tcp.sack = true`, which contradicts the congestion \
             control \"tahoe\", which sends everything again after a loss; expected sack = false in `flow.one`, or another \
             value here",
        ),
        (
            "sack = true\nprr = true",
            "sack = false",
            "`flow.one.sack`: false conflicts with `tcp.prr = true`, which requires selective acknowledgements; \
             expected prr = false in `flow.one`, or another \
             value here",
        ),
        (
            "ecn = false",
            r#"congestion = "dctcp""#,
            "`flow.one.congestion`: \"dctcp\" conflicts with `tcp.ecn = false`, which contradicts the congestion \
             control \"dctcp\", which reacts to marks; expected ecn = true in `flow.one`, or another \
             value here",
        ),
        (
            r#"congestion = "bbr""#,
            "pacing = false",
            "`flow.one.pacing`: false contradicts the congestion control \"bbr\", which requires SACK, RACK-TLP \
             and pacing; expected true",
        ),
    ] {
        let text =
            format!("{network}flow.one = {{ from = \"a\", to = \"b\", {flow} }}\n[tcp]\n{tcp}\n");
        let said = complaints(toml(&text, &[]));
        assert!(said.contains(expected), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
