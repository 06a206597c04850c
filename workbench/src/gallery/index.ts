/** Gallery of scenarios, each of which shows one finding. Every number in a description is a result of the scenario. */

import { edited, type Written } from "../scenario/edit";

/** A change that the user can try: values by key path, where null removes a key. */
export interface Trial {
  label: string;
  edits: readonly (readonly [path: string, value: Written])[];
}

/** Groups of entries, in the order of the menu. */
export const GROUPS = { home: "At home", papers: "From papers", classroom: "In the classroom" } as const;

export interface Entry {
  group: keyof typeof GROUPS;
  /** Name of the entry in addresses. */
  id: string;
  title: string;
  /** View that is shown first. */
  view: "delay" | "shares" | "queue";
  see: string;
  why: string;
  trials: readonly Trial[];
  /** Paper, standard or example on which the entry is based. */
  source: string;
  text: string;
}

const ENTRIES: readonly Omit<Entry, "text">[] = [
  {
    group: "home",
    id: "home-call",
    title: "Why the call stutters",
    view: "delay",
    see:
      "A laptop uploads during a call. In the uplink of the call, 99 % of the packets arrive within about 0.4 s. A good " +
      "call needs 150 ms.",
    why:
      "The upload fills the queue in front of the uplink of 20 Mb/s, which has room for 1,000 packets. The packets of " +
      "the call wait behind those of the upload.",
    trials: [
      {
        label: "Use fq_codel at the line: packets of the call arrive within 20 ms",
        edits: [["wire.queue", "{ fq_codel = {} }"]],
      },
      { label: "Shorten the queue to 100 packets: they arrive within 35 ms", edits: [["wire.queue", "100"]] },
      { label: "Stop the upload: the uplink of the call is good", edits: [["station.laptop.upload", "0"]] },
    ],
    source: "limits of a good call: ITU-T G.114; queues: RFC 8290",
  },
  {
    group: "home",
    id: "slow-laptop",
    title: "One slow laptop slows down everyone",
    view: "shares",
    see: "Two new laptops get about 60 Mb/s each. An old one, two walls away, gets 15 Mb/s and uses two thirds of the air time.",
    why:
      "Each packet to the old laptop takes much longer than a packet to a new one. The access point sends packets in the " +
      "order of arrival, so everyone waits for the slow ones.",
    trials: [
      {
        label: "Let the stations take turns by air time, as Linux does: the new laptops get 130 Mb/s each, the old one 7 Mb/s",
        edits: [["cell.ap_queue", "{ mac80211 = {} }"]],
      },
      { label: "Move the old laptop near the access point: the new ones get about 80 Mb/s each, the old one 66 Mb/s", edits: [["station.old.snr", '"30 dB"']] },
    ],
    source: "Heusse et al., Performance Anomaly of 802.11b; Høiland-Jørgensen et al., Ending the Anomaly",
  },
  {
    group: "home",
    id: "guest",
    title: "One guest takes everything",
    view: "shares",
    see: "A guest downloads over twenty connections and gets 42 of 49 Mb/s. Each of three others gets about 2 Mb/s.",
    why:
      "A queue shares a line by connections, not by people: a guest with twenty connections gets twenty shares. A queue for " +
      "each connection, such as fq_codel, does not change this.",
    trials: [
      {
        label: "Add a virtual shared bottleneck of 48 Mb/s, which shares by station: everyone gets about 11.5 Mb/s",
        edits: [["vsb", "{}"], ["vsb.rate", '"48 Mbps"']],
      },
      { label: "Use fq_codel at the line: the guest still gets 42 Mb/s", edits: [["wire.queue", "{ fq_codel = {} }"]] },
    ],
    source: "Detti et al., Per-Station Throughput Fairness in a WLAN Hot-Spot with TCP traffic",
  },
  {
    group: "home",
    id: "line",
    title: "Does the Wi-Fi waste a line of 300 Mb/s?",
    view: "shares",
    see: "The line has 300 Mb/s, but the laptop gets 64 Mb/s. The air is busy 98 % of the time.",
    why:
      "With 802.11n in a channel of 20 MHz, and one wall in between, frames are sent at about 100 Mb/s. Preambles, " +
      "backoffs and acknowledgements take the rest of the time.",
    trials: [
      {
        label: "Use 802.11ax in a channel of 80 MHz: the laptop gets 292 Mb/s",
        edits: [["cell.phy", '"802.11ax"'], ["cell.width", '"80 MHz"']],
      },
      { label: "Put the laptop next to the access point: it gets about 105 Mb/s", edits: [["station.laptop.snr", '"35 dB"']] },
    ],
    source: "IEEE 802.11n and 802.11ax",
  },
  {
    group: "home",
    id: "voice",
    title: "A call as voice traffic",
    view: "delay",
    see:
      "Four laptops download and fill the queue of the access point. In the downlink of the call, 99 % of the packets " +
      "arrive within 205 ms.",
    why:
      "The packets of the call are in the same queue as the downloads. In the access category voice they have a queue of " +
      "their own, and shorter backoffs.",
    trials: [
      {
        label: "Send the call as voice: its packets arrive within 25 ms",
        edits: [["station.phone.udp_up.category", '"voice"'], ["station.phone.udp_down.category", '"voice"']],
      },
    ],
    source: "IEEE 802.11e (EDCA)",
  },
  {
    group: "home",
    id: "backup",
    title: "A backup slows down a download",
    view: "shares",
    see: "While a computer uploads a backup, a download gets about 13 of the line's 50 Mb/s.",
    why:
      "The acknowledgements of the download wait in the full queue of the uplink. Their delay of 0.2 s slows down the " +
      "sender, and lost acknowledgements slow it down further.",
    trials: [
      { label: "Use fq_codel at the line: the download gets 47 Mb/s, and the backup 4.2 of 4.5 Mb/s", edits: [["wire.queue", "{ fq_codel = {} }"]] },
    ],
    source: "RFC 3449, TCP over asymmetric lines",
  },
  {
    group: "home",
    id: "game",
    title: "A game and a download",
    view: "delay",
    see: "A download keeps the queue of the line full. 99 % of the packets to the console arrive within 126 ms.",
    why: "The window of CUBIC grows until a packet is lost, so the queue of 500 packets is never empty. L4S marks packets while the queue is short.",
    trials: [
      {
        label: "Use L4S, with DualPI2 at the line and Prague: packets arrive within 11 ms, and the download gets 41 Mb/s",
        edits: [["wire.queue", "{ dualpi2 = {} }"], ["tcp.congestion", '"prague"']],
      },
      { label: "Use fq_codel at the line: packets arrive within 9 ms, and the download gets 48 Mb/s", edits: [["wire.queue", "{ fq_codel = {} }"]] },
    ],
    source: "RFC 9330 to 9332 (L4S)",
  },
  {
    group: "home",
    id: "party",
    title: "A party with thirty guests",
    view: "shares",
    see: "Thirty guests upload photos and get 216 Mb/s in total. About half of their transmissions collide.",
    why:
      "Each station draws its backoff from 16 slots. With thirty stations, two often draw the same slot, and both " +
      "transmissions are lost.",
    trials: [
      { label: "Draw from 128 slots: they get 307 Mb/s", edits: [["cell.cwmin", "127"]] },
      { label: "Invite five guests: they get 286 Mb/s", edits: [["station.guest.count", "5"]] },
    ],
    source: "Bianchi, Performance Analysis of the IEEE 802.11 DCF",
  },
  {
    group: "papers",
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
  },
  {
    group: "papers",
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
  },
  {
    group: "papers",
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
  },
  {
    group: "papers",
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
  },
  {
    group: "papers",
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
  },
  {
    group: "papers",
    id: "aggregates",
    title: "Why frames are aggregated",
    view: "shares",
    see: "An 802.11ax cell carries about 260 Mb/s. The access point sends about 70 packets in one transmission.",
    why:
      "Contention, preamble and ACK take about as long for one packet as for many. A station that sends one packet at " +
      "a time spends most of its air time on them.",
    trials: [
      { label: "Send one packet at a time: the cell carries about 50 Mb/s", edits: [["cell.aggregation.mpdus", "1"]] },
      {
        label: "Move the far station near the access point: the cell carries about 370 Mb/s",
        edits: [["station.attic.snr", '"30 dB"']],
      },
    ],
    source: "IEEE 802.11ax",
  },
  {
    group: "classroom",
    id: "window",
    title: "Window and bandwidth-delay product",
    view: "shares",
    see: "One connection gets 4.6 of 20 Mb/s, and the queue is empty.",
    why:
      "The sender may have 20 packets in flight, and each needs 51 ms for its round trip: 20 packets in 51 ms are 4.6 Mb/s. " +
      "The bandwidth-delay product of the path is 85 packets.",
    trials: [
      { label: "Double the window to 40: 9.1 Mb/s", edits: [["tcp.window", "40"]] },
      { label: "Set the window to 87: 19.5 Mb/s, and the queue has 3 packets", edits: [["tcp.window", "87"]] },
      { label: "Set the window to 300: 19.5 Mb/s, and the queue has about 50 packets", edits: [["tcp.window", "300"]] },
    ],
    source: "RFC 6349, section 1.2",
  },
  {
    group: "classroom",
    id: "fairness",
    title: "The nearer connection gets more",
    view: "shares",
    see: "Two connections share 10 Mb/s. The one with a round-trip time of 20 ms gets 6.6 Mb/s, the one with 100 ms gets 3.2 Mb/s.",
    why: "Reno adds one packet per round trip, so a window grows faster where round trips are shorter.",
    trials: [
      { label: "Use CUBIC, which grows with time: 5.8 and 3.9 Mb/s", edits: [["tcp.congestion", '"cubic"']] },
      { label: "Give each connection its own queue with fq_codel: 5.5 and 3.8 Mb/s", edits: [["queue", "{ fq_codel = {} }"]] },
    ],
    source: "Jain, Chiu and Hawe, A Quantitative Measure of Fairness; RFC 9438 (CUBIC)",
  },
  {
    group: "classroom",
    id: "hidden",
    title: "A hidden sender",
    view: "shares",
    see: "Station a could send 4 Mb/s to its access point. It gets 2.1 Mb/s, because a distant sender destroys frames.",
    why: "Station a does not hear c, so it sends at the same time. The frames of c reach the access point, where both overlap.",
    trials: [
      { label: "Let a hear c: it waits for c, and gets 3.0 Mb/s", edits: [["csma.sensing_range", '"1300 m"']] },
      { label: "Keep frames of c away from the access point: a gets 3.9 Mb/s", edits: [["csma.interference_range", '"0 m"']] },
    ],
    source: "Tobagi and Kleinrock, Packet Switching in Radio Channels: Part II",
  },
  {
    group: "classroom",
    id: "rts",
    title: "Collisions and RTS",
    view: "shares",
    see: "Twenty stations always have packets to send. Two of five transmissions collide, and 5.4 Mb/s arrive.",
    why: "A collision lasts as long as a frame. RTS makes collisions short, but at 11 Mb/s its own frames cost more than it saves.",
    trials: [
      { label: "Use RTS for all frames: 4.9 Mb/s", edits: [["cell.rts_threshold", '"0 B"']] },
      { label: "Draw backoffs from 256 slots: one of nine transmissions collides, and 6.2 Mb/s arrive", edits: [["cell.cwmin", "255"]] },
    ],
    source: "Bianchi, Performance Analysis of the IEEE 802.11 DCF",
  },
  {
    group: "classroom",
    id: "little",
    title: "Little's law and bufferbloat",
    view: "queue",
    see: "Four connections share 10 Mb/s. On average 353 packets wait for 424 ms.",
    why:
      "Little's law: the mean wait is the mean queue divided by the rate of packets. 353 packets of 1,500 bytes take 424 ms " +
      "at 10 Mb/s. A longer queue adds delay, and no goodput.",
    trials: [
      { label: "Shorten the queue to 50 packets: 42 packets wait for 50 ms, and 9.7 Mb/s arrive", edits: [["queue", "50"]] },
      { label: "Use CoDel: 8 packets wait for 9 ms, and 9.7 Mb/s arrive", edits: [["queue", "{ codel = {} }"]] },
    ],
    source: "Little, A Proof for the Queuing Formula L = λW; RFC 8289 (CoDel)",
  },
];

const TEXTS = import.meta.glob<string>("./*.toml", { eager: true, query: "?raw", import: "default" });

export const GALLERY: readonly Entry[] = ENTRIES.map((entry) => ({ ...entry, text: TEXTS[`./${entry.id}.toml`] as string }));

/** Returns the text of an entry after one of its trials, or null if the text cannot be edited. */
export function afterTrial(entry: Entry, trial: Trial): string | null {
  let text: string | null = entry.text;
  for (const [path, value] of trial.edits) text = text && edited(text, path.split("."), value);
  return text;
}

/** Returns the entry with this scenario text, before or after a trial. Returns null for any other text. */
export function entryOf(text: string): Entry | null {
  entries ??= new Map(GALLERY.flatMap((entry) => [entry.text, ...entry.trials.map((trial) => afterTrial(entry, trial))].map((known) => [known, entry])));
  return entries.get(text) ?? null;
}

let entries: Map<string | null, Entry> | undefined;

/** Entry that the page shows first. */
export const FIRST = GALLERY[0] as Entry;
