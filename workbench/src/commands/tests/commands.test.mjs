/** Tests that the page shows the results of Python's commands. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Schema } from "../../scenario/schema";
import { refusalFrom } from "../api";
import { halfWidthsOf, percentOf, rowsOf, tableOf as tableOfRows } from "../differences";
import { offersOf, pathsOf } from "../paths";
import { settingsFrom } from "../settings";
import { boundariesOf, parametersOf, placeOf, presentOf, rangeAround, sentence, sortOf, tableOf as tableOfChart } from "../stable";
import { choicesOf, coursesOf, firstOf, labelsOf, limitsOf, placesOf, tableOf as tableOfSweep } from "../swept";
import { confirmedOf, hasBetter, notesOf, searchOf, tableOf as tableOfTuning } from "../tuned";

const value = (mean, ci95 = null) => ({ mean, ci95 });

test("a refusal has the server's message without the name of the file", () => {
  const body = { error: "scenario.toml:3: `a`: wrong\nscenario.toml: `b`: missing", hint: "did you mean `c`?" };
  const { message, hint } = refusalFrom(body, 200);
  assert.equal(message, "line 3: `a`: wrong\n`b`: missing");
  assert.equal(hint, "did you mean `c`?");
  assert.match(refusalFrom(null, 502).message, /no answer \(HTTP status 502\)/);
});

test("settings of an answer have the form of the command line", () => {
  assert.deepEqual(settingsFrom({ "a.b": 7, c: "5 ms", d: true }), ["a.b=7", "c=5 ms", "d=true"]);
});

test("predicted and simulated values have differences in per cent and in half widths", () => {
  const predicted = {
    flows: [{ name: "a/1", goodput_bps: value(1) }],
    stations: [{ name: "a", goodput_bps: value(2e6), only_predicted: value(1) }, { name: "gone", goodput_bps: value(1) }],
    cells: [{ name: "cell", jain: value(0), goodput_bps: value(4e6) }],
    queues: [{ name: "a", bps: value(2e6) }],
  };
  const simulated = {
    flows: [{ name: "a/1", goodput_bps: value(1) }],
    stations: [{ name: "a", goodput_bps: value(1.9e6, 5e4) }],
    cells: [{ name: "cell", jain: value(0.5), goodput_bps: value(4e6, 0) }],
    queues: [{ name: "a", bps: value(1.9e6, 5e4) }],
  };
  const rows = rowsOf(predicted, simulated);
  assert.deepEqual(rows.map(({ name, quantity }) => [name, quantity]), [
    ["cell", "jain"], ["cell", "goodput_bps"], ["a", "bps"],
  ]);
  const [jain, , a] = rows;
  assert.equal(percentOf(jain), null);
  assert.equal(percentOf(a).toFixed(6), "-5.000000");
  assert.equal(halfWidthsOf(a), -2);
  const table = tableOfRows(rows);
  assert.deepEqual(table.rows[1], ["cell", "goodput [Mb/s]", "4.000", "4.000", "0.0", "-"]);
  assert.deepEqual(table.rows[2].slice(-2), ["−5.0", "−2.0"]);
});

test("without sums flows are compared", () => {
  const answer = { flows: [{ name: "left", goodput_bps: value(1e6) }] };
  assert.equal(rowsOf(answer, answer).length, 1);
});

const SWEEP = {
  points: ["7", "15"].map((cwmin, at) => ({
    settings: { "cell.ap.cwmin": cwmin },
    result: {
      cells: [{ name: "cell", jain: value(0.5, 0.1) }],
      stations: [
        { name: "<img src=x>", goodput_bps: value((at + 1) * 1e6, 1e5) },
        ...(at ? [] : [{ name: "b", goodput_bps: value(3e6, 9e6) }]),
      ],
    },
  })),
};

test("a sweep has the quantities of its points, the goodput of stations first", () => {
  const choices = choicesOf(SWEEP);
  assert.deepEqual(choices.map(({ key }) => key), ["cells.jain", "stations.goodput_bps"]);
  assert.equal(firstOf(choices, SWEEP).key, "stations.goodput_bps");
  assert.equal(firstOf(choices.slice(0, 1), SWEEP).key, "cells.jain");
  assert.deepEqual(labelsOf(SWEEP), ["7", "15"]);
});

test("with many flows and no stations the queue is shown first", () => {
  const flows = Array.from({ length: 13 }, (_, at) => ({ name: `flow/${at}`, goodput_bps: value(1) }));
  const sweep = (count) => ({
    points: [{ settings: {}, result: { flows: flows.slice(0, count), queues: [{ name: "q", occupancy_packets: value(3) }] } }],
  });
  const first = (count) => firstOf(choicesOf(sweep(count)), sweep(count)).key;
  assert.equal(first(13), "queues.occupancy_packets");
  assert.equal(first(12), "flows.goodput_bps");
});

test("numbers are at their values, on a logarithmic axis beyond a decade, and words at equal distances", () => {
  assert.deepEqual(placesOf(["7", "15", "63"]), { at: [7, 15, 63], unit: "", isLog: false, areNumbers: true });
  assert.deepEqual(placesOf(["1 ms", "20 ms"]), { at: [1, 20], unit: "ms", isLog: true, areNumbers: true });
  assert.ok(!placesOf(["0", "20"]).isLog);
  for (const labels of [["1 ms", "2 s"], ["a", "b"], ["2", "1"], ["3", ""]]) {
    assert.deepEqual(placesOf(labels), { at: [0, 1], unit: "", isLog: false, areNumbers: false });
  }
});

test("each item has a curve over all points, with gaps where it is missing", () => {
  const { measure, courses } = coursesOf(SWEEP, firstOf(choicesOf(SWEEP), SWEEP));
  assert.equal(measure.unit, "Mb/s");
  assert.deepEqual(courses.map(({ name }) => name), ["<img src=x>", "b"]);
  assert.deepEqual(courses[0].values.map(({ mean }) => mean), [1, 2]);
  assert.deepEqual(courses[1].values, [value(3, 9), null]);
  const [least, most] = limitsOf(courses);
  assert.equal(least, 0);
  assert.ok(most > 6 && most < 7, "an interval above twice its mean leaves room for the others");
  const table = tableOfSweep(SWEEP, firstOf(choicesOf(SWEEP), SWEEP));
  assert.deepEqual(table.columns.map(({ title }) => title), ["cell.ap.cwmin", "<img src=x>", "b"]);
  assert.equal(table.rows[1][2], "-");
});

const candidate = (name, settings, goodput) => ({
  name, settings, simulated: goodput ? { goodput_bps: value(goodput, 1e4), rtt_s: value(0.1), sojourn_s: value(0.02) } : null,
});
const TUNING = {
  objective: "delay",
  candidates: [candidate("as it is", {}, 4e6), candidate("7 / 7", { "cell.cwmin": 7 }, 0), candidate("1 / 3", { "cell.cwmin": 3 }, 5e6), candidate("1 / 1", { "cell.cwmin": 1 }, 6e6)],
  chosen: { name: "1 / 1", settings: { "cell.cwmin": 1 } },
  costs: [],
  ruled_out: [{ what: ["a", "b"] }],
};

test("the present setting comes first, then the one that is recommended", () => {
  assert.deepEqual(confirmedOf(TUNING).map(({ name }) => name), ["as it is", "1 / 1", "1 / 3"]);
  const table = tableOfTuning(TUNING);
  assert.deepEqual(table.rows.map(([name]) => name), ["as it is", "1 / 1, recommended", "1 / 3"]);
  assert.deepEqual(table.columns.map(({ title }) => title), ["CWmin of AP / stations", "sojourn", "goodput", "RTT"]);
  assert.equal(table.rows[1][2], "6.000 ± 0.010");
});

test("where the present setting is best nothing is recommended", () => {
  const present = { ...TUNING, chosen: { name: "as it is", settings: {} } };
  assert.equal(hasBetter(present), false);
  assert.ok(tableOfTuning(present).rows.every(([name]) => !name.includes("recommended")));
  assert.equal(hasBetter({ ...TUNING, chosen: null }), false);
});

test("notes name the queue that matters, the calls, the costs and the stations that lose", () => {
  const notes = {
    elsewhere: { text: "a/up/1: 120 of 137 ms are spent in wire/up" },
    call_delays: [{ text: "146 ms up" }, { text: "47 ms down" }],
    costs: ["RTT 2 ms instead of 1"],
    losers: [{ station: "a", now_bps: 2e6, then_bps: 1e6 }],
  };
  assert.deepEqual(notesOf({ ...TUNING, ...notes }), [
    "The longest delay does not occur at the access point: a/up/1: 120 of 137 ms are spent in wire/up.",
    'The delay of the calls is 146 ms up and 47 ms down. Choose the aim "calls" to tune for them.',
    "Costs of the recommended setting: RTT 2 ms instead of 1.",
    "Stations that get less: a 1.000 instead of 2.000 Mb/s.",
  ]);
  assert.deepEqual(notesOf({ ...TUNING, elsewhere: null, call_delays: [], costs: [], losers: [] }), []);
});

test("the search is described by counts", () => {
  assert.equal(searchOf(TUNING), "3 settings were tried, 2 were ruled out, and 2 were confirmed by full simulations.");
});

const CHART = {
  parameters: { rtt: 0.2, flows: 20, drop: "gentle", max_p: 0.1, gamma: 0 },
  x: { parameter: "rtt", values: [0.1, 0.2, 0.4] },
  y: { parameter: "flows", values: [10, 20] },
  rightmost_root_real: [[-1, 2, null], [-1, -2, 3]],
  hopf_curves: [{ x: [0.1, 0.2, 0.3, 0.4], y: [10, 20, 20, 20], boundary: [true, true, false, true] }],
};

test("a point is stable if the rightmost root is left of zero", () => {
  assert.deepEqual([-1, 0, 1, null].map(sortOf), ["stable", "unstable", "unstable", "none"]);
  assert.equal(sentence(CHART), "3 of 6 points are stable. The point nearest to the present setting is stable.");
  assert.deepEqual(tableOfChart(CHART).rows, [["20", "2", "1", "0"], ["10", "1", "1", "1"]]);
});

test("values have places among those of an axis, and none outside", () => {
  assert.equal(placeOf(0.2, CHART.x.values), 1);
  assert.equal(placeOf(0.15, CHART.x.values).toFixed(9), "0.500000000");
  assert.equal(placeOf(0.1, CHART.x.values), 0);
  assert.equal(placeOf(0.05, CHART.x.values), null);
  assert.equal(placeOf(0.5, CHART.x.values), null);
  assert.deepEqual(presentOf(CHART), { across: 1, up: 1 });
  assert.equal(presentOf({ ...CHART, parameters: { rtt: 9, flows: 20 } }), null);
});

test("parts of curves that bound nothing are left out", () => {
  assert.deepEqual(boundariesOf(CHART), [[[0, 0], [1, 1]]]);
});

test("ranges around the present values are written as the command line reads them", () => {
  assert.equal(rangeAround("rtt", 0.2), "50ms..800ms");
  assert.equal(rangeAround("flows", 60), "15..240");
  assert.equal(rangeAround("beta", 0.5), "0.385..0.65");
  assert.equal(rangeAround("buffer", 0), "");
  assert.equal(rangeAround("drop", "gentle"), "");
  assert.deepEqual(parametersOf(CHART.parameters), ["rtt", "flows", "max_p"]);
  assert.deepEqual(parametersOf(undefined), []);
});

const number = { type: "integer" };
const SCHEMA = new Schema({
  type: "object",
  properties: {
    seed: number,
    cell: { oneOf: [{ type: "string" }, { type: "object", properties: { cwmin: number } }] },
    station: { type: "object", additionalProperties: { $ref: "#/$defs/station" } },
    deep: { $ref: "#/$defs/deep" },
  },
  $defs: { station: { type: "object", properties: { count: number } }, deep: { type: "object", properties: { deep: { $ref: "#/$defs/deep" }, leaf: number } } },
});

test("paths are those of the schema, with the names of the text", () => {
  const paths = pathsOf(SCHEMA, '[station.near]\ncount = 2\n[station."a b"]\n');
  assert.deepEqual(paths.slice(0, 4), ["seed", "cell", "cell.cwmin", "station.near.count"]);
  assert.ok(paths.includes("deep.leaf") && !paths.some((each) => each.includes("a b")));
  assert.ok(paths.length < 20, "a schema that contains itself ends");
  assert.ok(pathsOf(SCHEMA, "half = [").includes("seed"));
});

test("suggestions apply to the text", () => {
  const offered = (text) => offersOf(text).map(({ path }) => path);
  assert.deepEqual(offered('cell = { phy = "802.11b", ap_queue = 75 }\n[station.near]\ncount = 2'), [
    "cell.ap.cwmin", "cell.ap_queue", "station.near.count",
  ]);
  assert.ok(!offered("[cell.ap_queue]\nlimit = 5").includes("cell.ap_queue"), "a table is not replaced by a number");
  assert.deepEqual(offered("dumbbell = { flows = 6 }\nqueue = { red = { min_th = 5 } }\ntcp = {}"), [
    "dumbbell.flows", "queue.red.max_p", "tcp.window",
  ]);
  assert.deepEqual(offered("no = [ toml"), []);
});
