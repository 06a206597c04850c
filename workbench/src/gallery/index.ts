/** Scenarios that show one finding each. Every number here is what the scenario beside it yields. */

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
    see: "One station uploads over six connections and gets 3.4 of 5.2 Mb/s; each of four that download gets 0.4.",
    why:
      "Downloads share one queue, the access point's, which contends for the air as one station does and loses " +
      "packets when it is full. The uploader has a queue of its own, in which its windows simply wait.",
    trials: [
      { label: "a virtual shared bottleneck: 1.0 Mb/s each", edits: [["vsb", "{}"]] },
      { label: "one upload alone: it still gets 2.4 Mb/s", edits: [["station.uploader.upload", "1"]] },
    ],
    source: "Detti et al., Per-Station Throughput Fairness in a WLAN Hot-Spot with TCP traffic",
    text: uploader,
  },
  {
    id: "middle",
    title: "Why the middle link starves",
    view: "shares",
    see: "Three networks in a row: those at the ends get 3.5 Mb/s each, the one between them 0.4.",
    why:
      "The middle one hears both neighbours, which do not hear each other: their frames overlap at random, and " +
      "it may count its backoff down only in the gaps that both leave.",
    trials: [
      {
        label: "access that follows queues, with more connections for who waits: 2.1, 1.4, 2.1 Mb/s",
        edits: [["csma.access", '"adaptive"'], ["csma.queue", "1000"]],
      },
    ],
    source: "Chen, TCP Reno over Adaptive CSMA",
    text: middle,
  },
  {
    id: "swing",
    title: "RED that swings",
    view: "queue",
    see: "Sixty flows 200 ms away: the queue jumps between empty and some 240 packets, and 80 of 100 Mb/s arrive.",
    why:
      "RED answers an average that lags behind, and senders hear of it a round trip later. By then the queue is " +
      "somewhere else, so that all windows are cut and grow in step.",
    trials: [
      { label: "20 ms away: the queue holds still at 80 packets, 97 Mb/s", edits: [["dumbbell.rtt", '"20 ms"']] },
      { label: "without the average: at most 96 packets, 86 Mb/s", edits: [["queue.red.weight", "1"]] },
      { label: "Illinois: up to 520 packets, 59 Mb/s", edits: [["tcp.congestion", '"illinois"']] },
      { label: "a threshold of 15 packets: 83 Mb/s, 4 packets wait", edits: [["queue", "{ threshold = 15 }"]] },
    ],
    source: "Manjunath and Raina, Compound TCP with Random Early Detection",
    text: swing,
  },
  {
    id: "priority",
    title: "An access point that need not contend",
    view: "shares",
    see: "Seven downloads of 802.11b get 4.97 Mb/s together, and less than one packet waits at the access point.",
    why:
      "With AIFSN 1 and no backoff it goes first whenever it has a packet. Stations answer each packet with an " +
      "ACK, so that its priority is their turn, too, and no time is lost with counting slots.",
    trials: [
      {
        label: "it contends as stations do: 4.45 Mb/s, 27 packets wait",
        edits: [["cell.ap.aifsn", "2"], ["cell.ap.cwmin", "31"], ["cell.ap.cwmax", "1023"]],
      },
      { label: "stations send four frames in a row: 5.24 Mb/s", edits: [["station.sta.txop_packets", "4"]] },
    ],
    source: "Yu, Choi and Qiao, Analytical Study of TCP Performance over IEEE 802.11e WLANs",
    text: priority,
  },
  {
    id: "shares",
    title: "A queue with shares",
    view: "shares",
    see:
      "Five downloads are near, five lose three of ten frames; the classes get 2.8 and 2.7 Mb/s, and all commands to a " +
      "sensor arrive.",
    why:
      "Connections that lose packets hold fewer in the queue, and what is sent follows what is queued. Virtual " +
      "buffer sharing keeps the queue from being full, and each class at its share of it.",
    trials: [
      {
        label: "without shares: 3.6 against 2.1 Mb/s, 12 of 100 commands are lost",
        edits: [["cell.ap_queue.vbs", null]],
      },
    ],
    source: "Pokhrel and Williamson, Modeling Compound TCP over WiFi for IoT",
    text: shares,
  },
  {
    id: "aggregates",
    title: "What aggregates are for",
    view: "shares",
    see: "An 802.11ax cell carries about 250 Mb/s, with some 70 packets in a transmission of the access point.",
    why:
      "Contention, preamble and ACK take about as long for one packet as for many: who sends one at a time spends " +
      "the air on them.",
    trials: [
      { label: "one packet at a time: about 50 Mb/s", edits: [["cell.aggregation.mpdus", "1"]] },
      {
        label: "the far station comes near: about 360 Mb/s for all",
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
