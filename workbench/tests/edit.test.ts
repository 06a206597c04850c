/** Tests that an edit changes one value only. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { edited, withTable } from "../src/scenario/edit";

const FILE = `# who gets what
name = "a, b = {c}"  # odd
cell = { phy = "802.11b", ap_queue = 75 } # the cell
queue.red = { min_th = 5, max_th = 15 }

[tcp]   # all connections
window = 42    # segments

[station.up]
upload = 6
"odd name" = 1

[station.down]
count = 4
`;

function after(path: string, value: string | null, text = FILE): string | null {
  return edited(text, path.split("."), value);
}

test("a value is replaced, and nothing else", () => {
  assert.equal(after("cell.ap_queue", "100"), FILE.replace("= 75", "= 100"));
  assert.equal(after("tcp.window", "7"), FILE.replace("window = 42", "window = 7"));
  assert.equal(after("queue.red.max_th", "90"), FILE.replace("max_th = 15", "max_th = 90"));
  assert.equal(after("name", '"x"'), FILE.replace('"a, b = {c}"', '"x"'));
});

test("a key is put into the table it belongs to", () => {
  assert.equal(after("cell.rate", '"2 Mbps"'), FILE.replace("= 75 }", '= 75, rate = "2 Mbps" }'));
  assert.equal(after("cell.ap.cwmin", "7"), FILE.replace("= 75 }", "= 75, ap.cwmin = 7 }"));
  assert.equal(after("station.down.upload", "1"), `${FILE}upload = 1\n`);
  assert.equal(
    after("tcp.congestion", '"reno"'),
    FILE.replace("# segments", '# segments\ncongestion = "reno"'),
  );
  assert.equal(after("queue.limit", "20"), FILE.replace("= 15 }", "= 15 }\nqueue.limit = 20"));
  assert.equal(after("seed", "3"), FILE.replace("= 15 }", "= 15 }\nseed = 3"));
});

test("a table is begun where there is none", () => {
  assert.equal(after("wire.delay", '"5 ms"'), FILE.replace("= 15 }", '= 15 }\nwire.delay = "5 ms"'));
  assert.equal(after("a", "1", ""), "a = 1\n");
  assert.equal(after("cell.phy", '"x"', "cell = {}\n"), 'cell = { phy = "x" }\n');
  const below = '[cell.ap]\ncwmin = 3\n';
  assert.equal(after("cell.phy", '"x"', below), 'cell.phy = "x"\n[cell.ap]\ncwmin = 3\n');
});

test("a key is taken out with its comma or its line", () => {
  assert.equal(after("cell.ap_queue", null), FILE.replace(", ap_queue = 75", ""));
  assert.equal(after("cell.phy", null), FILE.replace('phy = "802.11b", ', ""));
  assert.equal(after("tcp.window", null), FILE.replace("window = 42    # segments\n", ""));
  assert.equal(after("queue.red", null), FILE.replace(/queue.red.*\n/, ""));
  assert.equal(after("station.up", null), FILE.replace(/\[station.up\][^[]*/, ""));
});

test("an edit that is not possible returns null", () => {
  assert.equal(after("cell.ap_queue.limit", "3"), null);
  assert.equal(after("tcp.window", "7", "tcp = {"), null);
  assert.equal(after("nowhere", null), null);
});

test("strings, lists and line ends of all kinds are skipped", () => {
  const odd = `a = """x = 1\n[y]\n"""\r\nb = ['z = {', "q\\"]"] # c\r\nd = [{ e = 1 }, { e = 2 }]\r\ne = 3\r\n`;
  assert.equal(after("e", "4", odd), odd.replace("e = 3", "e = 4"));
});

test("comments are not keys", () => {
  const commented = "[a]\n# [b]\n# x = 1\nx = 2 # x = 3\n";
  assert.equal(after("a.x", "7", commented), commented.replace("x = 2", "x = 7"));
  const list = "a = [ # 1 ]\n  2,\n]\nx = 3\n";
  assert.equal(after("x", "4", list), list.replace("x = 3", "x = 4"));
});

test("JSON is written again with the value", () => {
  assert.equal(after("b.c", "2", '{"a": 1}'), '{\n  "a": 1,\n  "b": {\n    "c": 2\n  }\n}\n');
});

test("a value replaces a table of several lines", () => {
  assert.equal(after("queue", "{ fq_codel = {} }"), FILE.replace("queue.red = { min_th = 5, max_th = 15 }\n", "queue = { fq_codel = {} }\n"));
  const lines = "[wire]\nrate = 1\nqueue.limit = 5 # short\nqueue.pie = {}\n";
  assert.equal(after("wire.queue", "{ codel = {} }", lines), "[wire]\nrate = 1\nqueue = { codel = {} }\n");
});

test("a station is added in the form of the others", () => {
  const tv = { snr: '"30 dB"', download: "1" };
  assert.equal(withTable(FILE, ["station", "tv"], tv), `${FILE}\n[station.tv]\nsnr = "30 dB"\ndownload = 1\n`);
  const inline = "station.a = { upload = 1 } # up\nseed = 1\n";
  assert.equal(withTable(inline, ["station", "tv"], tv), inline.replace("# up\n", '# up\nstation.tv = { snr = "30 dB", download = 1 }\n'));
  const below = "[station]\na = {}\n[tcp]\nwindow = 3\n";
  assert.equal(withTable(below, ["station", "tv"], { download: "1" }), below.replace("a = {}", "a = {}\ntv = { download = 1 }"));
  assert.equal(withTable("cell = {}\n", ["station", "tv"], { download: "1" }), "cell = {}\n\n[station.tv]\ndownload = 1\n");
  assert.equal(withTable(FILE, ["station", "up"], tv), null);
});
