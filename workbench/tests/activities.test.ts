/** Tests that the form reads, changes and writes the activities of stations, and loses nothing else. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { activitiesOf, freePath, PRESETS } from "../src/scenario/activities";
import { edited, treeOf, type Tree, valueAt, withTable } from "../src/scenario/edit";
import { type Field, formOf } from "../src/scenario/fields";
import { quantityOf } from "../src/scenario/quantity";
import { Schema } from "../src/scenario/schema";
import { editedTable, groupsOf, withGroup } from "../src/scenario/shorthand";

const schema = new Schema(JSON.parse(readFileSync("../crates/engine/tests/frozen/schema.json", "utf8")));
const EXAMPLES = (readdirSync("../examples", { recursive: true }) as string[]).filter((name) => name.endsWith(".toml"));

const GROUPS = `[station.laptop]   # in the study
rate = "54 Mbps"

[station.laptop.download.video] # chunks
size = "2 MB"  # 4 Mb/s
every = "4 s"

[station.laptop.upload]
connections = 2
congestion = "bbr"
bbr.hz = 250

[station.phone]
download = 4 # busy
ping = "200 ms"
`;

function activities(text: string, station: string) {
  return activitiesOf(schema, treeOf(text) as Tree, null, station);
}

function fields(text: string): Field[] {
  const tree = treeOf(text) as Tree;
  return formOf(schema, tree, null).flatMap(({ station, fields: own }) => [
    ...own,
    ...(station ? activitiesOf(schema, tree, null, station).flatMap((each) => [...each.fields, ...each.more]) : []),
  ]);
}

function added(text: string, title: string, station: string): string | null {
  const preset = PRESETS.find((each) => each.title === title);
  assert.ok(preset);
  const path = freePath(treeOf(text) as Tree, ["station", station, preset.key], preset.name);
  return preset.name ? withGroup(text, path, preset.keys) : withTable(text, path, preset.keys);
}

/** Returns another value of a field as TOML, or null if the field has only one value. */
function otherOf({ widget, value }: Field): string | null {
  if (widget.kind === "number" || (widget.kind === "call" && typeof value !== "string")) return value === 1 ? "2" : "1";
  if (widget.kind === "quantity") return JSON.stringify(`7 ${quantityOf(String(value))?.unit ?? widget.units[0]}`);
  if (widget.kind === "choice") return JSON.stringify(widget.words.find((word) => word !== value));
  return widget.kind === "yes" ? String(value !== true) : null;
}

test("every example has its fields changed and restored without any other change", () => {
  assert.ok(EXAMPLES.length > 20 && EXAMPLES.includes("applications.toml") && EXAMPLES.includes("ping-load.toml"));
  let count = 0;
  for (const name of EXAMPLES) {
    const text = readFileSync(join("../examples", name), "utf8");
    for (const field of fields(text)) {
      const [path, other] = [field.path, otherOf(field)];
      if (field.widget.kind === "discipline" || other === null) continue;
      const where = `${name}: ${path.join(".")}`;
      const changed = editedTable(text, path, other);
      assert.ok(changed, where);
      const shown = fields(changed).find((each) => each.path.join(".") === path.join("."));
      assert.equal(JSON.stringify(shown?.value ?? valueAt(treeOf(changed) as Tree, path)), other, where);
      if (field.value === undefined) {
        const without = edited(changed, path, null);
        for (const [own, value] of leaves(treeOf(text) as Tree)) {
          const bare = own === path.slice(0, -1).join(".");
          if (!bare) assert.deepEqual(valueAt(treeOf(without ?? "") as Tree, own.split(".")), value, `${where}: ${own}`);
        }
        for (const line of text.split("\n").filter((each) => each.startsWith("#"))) assert.ok(without?.includes(line), where);
      } else assert.equal(edited(changed, path, JSON.stringify(field.value)), text, where);
      count += 1;
    }
  }
  assert.ok(count > 300, String(count));
});

/** Returns the key paths and values of a tree that are not tables. */
function leaves(tree: Tree, prefix = ""): [string, unknown][] {
  return Object.entries(tree).flatMap(([key, value]): [string, unknown][] =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? leaves(value as Tree, `${prefix}${key}.`)
      : [[prefix + key, value]],
  );
}

test("a group, a table with keys and a bare value are activities", () => {
  const laptop = activities(GROUPS, "laptop");
  assert.deepEqual(laptop.filter(({ isPresent }) => isPresent).map(({ title }) => title), ["Download video", "Uploads"]);
  const paths = (of: Field[] | undefined) => of?.map(({ path }) => path.slice(2).join("."));
  assert.deepEqual(paths(laptop[0]?.fields), ["download.video.connections", "download.video.size", "download.video.every", "download.video.rate"]);
  assert.equal(laptop[0]?.fields[1]?.label, "Size of a chunk");
  assert.equal(laptop[1]?.fields[0]?.value, 2);
  assert.ok(paths(laptop[1]?.more)?.includes("upload.bbr.hz") && !paths(laptop[0]?.more)?.includes("download.video.bbr.hz"));
  const phone = activities(GROUPS, "phone");
  assert.deepEqual(phone.map(({ isPresent }) => isPresent), [true, false, false, true]);
  assert.deepEqual(phone[3]?.fields.map(({ path, value }) => [path.join("."), value]), [["station.phone.ping", "200 ms"]]);
  assert.ok(paths(phone[3]?.more)?.includes("ping.size"));
});

test("parameters of TCP are not groups", () => {
  assert.deepEqual(groupsOf({ bbr: { hz: 250 } }), []);
  assert.deepEqual(groupsOf({}), []);
  assert.deepEqual(groupsOf({ video: {}, music: { rate: "1 Mbps" } }), ["video", "music"]);
});

test("a bare value becomes a table when a second key is set", () => {
  const every = 'ping = { every = "200 ms", size = "100 B" }';
  assert.equal(editedTable(GROUPS, ["station", "phone", "ping", "size"], '"100 B"'), GROUPS.replace('ping = "200 ms"', every));
  const ecn = "download = { connections = 4, ecn = true } # busy";
  assert.equal(editedTable(GROUPS, ["station", "phone", "download", "ecn"], "true"), GROUPS.replace("download = 4 # busy", ecn));
  assert.equal(editedTable(GROUPS, ["station", "phone", "ping", "size"], null), GROUPS);
});

test("an activity is added below the tables of its station", () => {
  const pages = '[station.laptop.upload]';
  const block = '[station.laptop.download.pages]\nsize = "1.5 MB"\nevery = "10 s"\narrivals = "poisson"\n\n';
  assert.equal(added(GROUPS, "pages, at random times", "laptop"), GROUPS.replace(pages, block + pages));
  assert.ok(added(GROUPS, "video, in chunks", "laptop")?.includes("[station.laptop.download.video-2]"));
  const camera = added(GROUPS, "camera, an upload at a rate", "laptop");
  // connections without a group get one; the other lines stay
  assert.ok(camera?.includes('[station.laptop.upload.bulk]\nconnections = 2\ncongestion = "bbr"\nbbr.hz = 250\n\n[station.laptop.upload.camera]'));
  assert.ok(camera?.includes("[station.laptop.download.video] # chunks"));
});

test("connections without a group become the group bulk", () => {
  const phone = added(GROUPS, "video, in chunks", "phone");
  assert.ok(phone?.includes('download = { bulk = { connections = 4 }, video = { size = "2 MB", every = "4 s" } } # busy'), phone ?? "");
  const inline = 'station.a = { download = { connections = 2, ecn = true }, upload = 0 }\n';
  const video = 'station.a = { download = { bulk = { connections = 2, ecn = true }, video = { size = "2 MB", every = "4 s" } }, upload = 0 }\n';
  assert.equal(added(inline, "video, in chunks", "a"), video);
  const dotted = '[station.a]\ndownload.connections = 3\n';
  const download = valueAt(treeOf(added(dotted, "video, in chunks", "a") ?? "") as Tree, ["station", "a", "download"]);
  assert.deepEqual(JSON.parse(JSON.stringify(download)), { bulk: { connections: 3 }, video: { size: "2 MB", every: "4 s" } });
  assert.deepEqual(treeOf(added(inline, "upload with pauses", "a") ?? ""), treeOf(inline.replace("upload = 0", 'upload.work = { on = "2 s", off = "8 s" }')));
});

test("every activity can be added to every station of the examples", () => {
  for (const name of EXAMPLES) {
    const text = readFileSync(join("../examples", name), "utf8");
    const before = treeOf(text) as { station?: Record<string, Tree> };
    for (const station of Object.keys(before.station ?? {})) {
      for (const { title, key } of PRESETS) {
        if (before.station?.[station]?.[key] !== undefined && key === "ping") continue;
        const after = added(text, title, station);
        assert.ok(after, `${name}: ${station}: ${title}`);
        for (const line of text.split("\n").filter((each) => each.startsWith("#"))) assert.ok(after.includes(line), name);
      }
    }
  }
});

test("activities are added to JSON", () => {
  const json = '{"station": {"a": {"download": 2}}}';
  assert.deepEqual(JSON.parse(added(json, "video, in chunks", "a") ?? ""), {
    station: { a: { download: { bulk: { connections: 2 }, video: { size: "2 MB", every: "4 s" } } } },
  });
});
