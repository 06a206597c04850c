/** Scenarios that show one finding each. Every number in an entry is a result of its scenario. */

import { edited, type Written } from "../scenario/edit";
import aggregates from "./aggregates.toml?raw";
import middle from "./middle.toml?raw";
import priority from "./priority.toml?raw";
import shares from "./shares.toml?raw";
import swing from "./swing.toml?raw";
import uploader from "./uploader.toml?raw";

/** A change that shows more: values by key path; null takes a key out. */
export interface Trial {
  label: string;
  edits: readonly (readonly [path: string, value: Written])[];
}

export interface Entry {
  /** Its name in addresses. */
  id: string;
  title: string;
  /** What is looked at first. */
  view: "shares" | "queue";
  see: string;
  why: string;
  trials: readonly Trial[];
  /** The paper it is from. */
  source: string;
  text: string;
}

export const GALLERY: readonly Entry[] = [
  {
    id: "uploader",
    title: "Why the uploader wins",
    view: "shares",
    see:
      "One station uploads over six connections and gets 3.4 of 5.2 Mb/s. Each of the four stations that download " +
      "gets 0.4 Mb/s.",
    why:
      "All downloads share the queue of the access point. The access point contends for the channel like a single " +
      "station, and loses packets when this queue is full. The uploader has a queue of its own, which is long " +
      "enough for all its TCP windows.",
    trials: [
      { label: "Add a virtual shared bottleneck: each station gets 1.0 Mb/s", edits: [["vsb", "{}"]] },
      { label: "Use only one upload connection: the uploader still gets 2.4 Mb/s", edits: [["station.uploader.upload", "1"]] },
    ],
    source: "Detti et al., Per-Station Throughput Fairness in a WLAN Hot-Spot with TCP traffic",
    text: uploader,
  },
  {
    id: "middle",
    title: "Why the middle link starves",
    view: "shares",
    see: "Three networks are in a row. The two outer networks get 3.5 Mb/s each, and the middle one gets 0.4 Mb/s.",
    why:
      "The middle network hears both neighbours, but they do not hear each other. Their frames overlap at random. " +
      "The middle network can count down its backoff only while both neighbours are silent.",
    trials: [
      {
        label:
          "Use adaptive access, which follows the queues and opens more connections for longer delays: the networks " +
          "get 2.1, 1.4 and 2.1 Mb/s",
        edits: [["csma.access", '"adaptive"'], ["csma.queue", "1000"]],
      },
    ],
    source: "Chen, TCP Reno over Adaptive CSMA",
    text: middle,
  },
  {
    id: "swing",
    title: "Why a queue with RED oscillates",
    view: "queue",
    see:
      "Sixty flows have a round-trip time of 200 ms. The queue jumps between 0 and about 240 packets, and 80 of " +
      "100 Mb/s arrive.",
    why:
      "RED drops packets according to an average that follows the queue with a delay. The senders notice the drops " +
      "one round trip later. By then the queue has changed, so all windows shrink and grow at the same time.",
    trials: [
      {
        label: "Set the round-trip time to 20 ms: the queue stays at 80 packets, and 97 Mb/s arrive",
        edits: [["dumbbell.rtt", '"20 ms"']],
      },
      {
        label: "Remove the averaging: the queue has at most 96 packets, and 86 Mb/s arrive",
        edits: [["queue.red.weight", "1"]],
      },
      {
        label: "Use Illinois instead of Compound: the queue has up to 520 packets, and 59 Mb/s arrive",
        edits: [["tcp.congestion", '"illinois"']],
      },
      {
        label: "Replace RED by a threshold of 15 packets: 83 Mb/s arrive, and 4 packets wait",
        edits: [["queue", "{ threshold = 15 }"]],
      },
    ],
    source: "Manjunath and Raina, Compound TCP with Random Early Detection",
    text: swing,
  },
  {
    id: "priority",
    title: "An access point with priority access",
    view: "shares",
    see:
      "Seven stations download over 802.11b and get 4.97 Mb/s in total. Less than one packet waits at the access " +
      "point on average.",
    why:
      "With AIFSN 1 and no backoff, the access point sends first whenever it has a packet. Stations answer each " +
      "packet with a TCP ACK, so they get their turn too. No time is lost with counting backoff slots.",
    trials: [
      {
        label: "Let the access point contend like the stations: they get 4.45 Mb/s, and 27 packets wait",
        edits: [["cell.ap.aifsn", "2"], ["cell.ap.cwmin", "31"], ["cell.ap.cwmax", "1023"]],
      },
      { label: "Let stations send four frames in a row: they get 5.24 Mb/s", edits: [["station.sta.txop_packets", "4"]] },
    ],
    source: "Yu, Choi and Qiao, Analytical Study of TCP Performance over IEEE 802.11e WLANs",
    text: priority,
  },
  {
    id: "shares",
    title: "A queue with a share for each class",
    view: "shares",
    see:
      "Five stations are near the access point, and five are far away and lose three of ten frames. The two classes " +
      "get 2.8 and 2.7 Mb/s, and all commands to a sensor arrive.",
    why:
      "Connections that lose packets have fewer packets in the queue, and a class is served in proportion to its " +
      "packets in the queue. Virtual buffer sharing prevents a full queue, and keeps each class at its share.",
    trials: [
      {
        label: "Remove the shares: the classes get 3.6 and 2.1 Mb/s, and 12 of 100 commands are lost",
        edits: [["cell.ap_queue.vbs", null]],
      },
    ],
    source: "Pokhrel and Williamson, Modeling Compound TCP over WiFi for IoT",
    text: shares,
  },
  {
    id: "aggregates",
    title: "Why frames are aggregated",
    view: "shares",
    see: "An 802.11ax cell carries about 250 Mb/s. The access point sends about 70 packets in one transmission.",
    why:
      "Contention, preamble and ACK take about as long for one packet as for many. A station that sends one packet at " +
      "a time spends most of its air time on them.",
    trials: [
      { label: "Send one packet at a time: the cell carries about 50 Mb/s", edits: [["cell.aggregation.mpdus", "1"]] },
      {
        label: "Move the far station near the access point: the cell carries about 360 Mb/s",
        edits: [["station.attic.snr", '"30 dB"']],
      },
    ],
    source: "IEEE 802.11ax",
    text: aggregates,
  },
];

/** The text of an entry after one of its trials; null if it cannot be edited so. */
export function afterTrial(entry: Entry, trial: Trial): string | null {
  let text: string | null = entry.text;
  for (const [path, value] of trial.edits) text = text && edited(text, path.split("."), value);
  return text;
}

/** The entry whose text, or whose text after a trial, this is; null for any other text, of which no entry says anything. */
export function entryOf(text: string): Entry | null {
  entries ??= new Map(GALLERY.flatMap((entry) => [entry.text, ...entry.trials.map((trial) => afterTrial(entry, trial))].map((known) => [known, entry])));
  return entries.get(text) ?? null;
}

let entries: Map<string | null, Entry> | undefined;

/** The one that a page begins with. */
export const FIRST = GALLERY[0] as Entry;
