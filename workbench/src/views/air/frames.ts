/** Recorded frames one by one, and those of the stretches that are here. */

import type { FrameKind, Frames } from "../../engine/answers";

/** What frames are told apart by. */
export type Look =
  "segment" | "tcp-ack" | "rts" | "mac-ack" | "block-ack" | "block-ack-req" | "cf-end";

export const LOOKS: Record<Look, string> = {
  segment: "data",
  "tcp-ack": "TCP ACK",
  rts: "RTS, CTS",
  "mac-ack": "MAC ACK",
  "block-ack": "BlockAck",
  "block-ack-req": "BlockAckReq",
  "cf-end": "CF-End",
};

export interface Frame {
  start_s: number;
  end_s: number;
  sender: string;
  receiver: string | null;
  kind: FrameKind;
  look: Look;
  packet: Frames["packet"][number];
  flow: string | null;
  bytes: number;
  rate_bps: number;
  mcs: number | null;
  attempt: number;
  fate: Frames["fate"][number];
  discarded: boolean;
  backoff_slots: number | null;
  mpdus: number | null;
  mpdus_lost: number | null;
  /** Places in the aggregate of MPDUs that were lost, where that was recorded. */
  lost: number[];
}

/** Columns that the engine gives beside those of `Frames`: numbers of MPDUs, and of those lost. */
interface Numbered {
  sequence?: (number[] | null)[];
  lost?: (number[] | null)[];
}

/** Frames of columns, in order of their starts. */
export function framesOf(columns: Frames & Numbered): Frame[] {
  const order = columns.start_s.map((_, at) => at);
  order.sort((a, b) => columns.start_s[a]! - columns.start_s[b]! || a - b);
  return order.map((at): Frame => {
    const start_s = columns.start_s[at]!;
    const lost = new Set(columns.lost?.[at] ?? []);
    const numbers = columns.sequence?.[at] ?? [];
    return {
      start_s,
      end_s: start_s + columns.duration_s[at]!,
      sender: columns.sender[at]!,
      receiver: columns.receiver[at] ?? null,
      kind: columns.kind[at]!,
      look: lookOf(columns.kind[at]!, columns.packet[at] ?? null),
      packet: columns.packet[at] ?? null,
      flow: columns.flow[at] ?? null,
      bytes: columns.bytes[at]!,
      rate_bps: columns.rate_bps[at]!,
      mcs: columns.mcs[at] ?? null,
      attempt: columns.attempt[at]!,
      fate: columns.fate[at]!,
      discarded: columns.discarded[at]!,
      backoff_slots: columns.backoff_slots[at] ?? null,
      mpdus: columns.mpdus[at] ?? null,
      mpdus_lost: columns.mpdus_lost[at] ?? null,
      lost: numbers.flatMap((number, place) => (lost.has(number) ? [place] : [])),
    };
  });
}

function lookOf(kind: FrameKind, packet: Frame["packet"]): Look {
  if (kind === "data") return packet === "ack" ? "tcp-ack" : "segment";
  if (kind === "ack") return "mac-ack";
  return kind === "cts" ? "rts" : kind;
}

/** Index of the first frame that begins at `from_s` or later. */
export function firstFrom(frames: readonly Frame[], from_s: number): number {
  let [low, high] = [0, frames.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (frames[middle]!.start_s < from_s) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What is seen of a stretch. */
export interface Busy {
  frames: number;
  senders: number;
  collided: number;
  corrupted: number;
  /** Part of the stretch in which somebody sends. [-] */
  busy: number;
}

/** Counts frames of a stretch; `longest_s` is the longest frame that may reach into it. */
export function busyOf(
  frames: readonly Frame[],
  from_s: number,
  to_s: number,
  longest_s: number,
): Busy {
  const senders = new Set<string>();
  const counts = { frames: 0, collided: 0, corrupted: 0 };
  let busy_s = 0;
  let until_s = from_s;
  for (let at = firstFrom(frames, from_s - longest_s); at < frames.length; at += 1) {
    const frame = frames[at]!;
    if (frame.start_s >= to_s) break;
    if (frame.end_s <= from_s) continue;
    counts.frames += 1;
    if (frame.fate !== "delivered") counts[frame.fate] += 1;
    senders.add(frame.sender);
    const begin_s = Math.max(until_s, frame.start_s);
    const end_s = Math.min(to_s, frame.end_s);
    if (end_s > begin_s) {
      busy_s += end_s - begin_s;
      until_s = end_s;
    }
  }
  return { ...counts, senders: senders.size, busy: busy_s / (to_s - from_s) };
}
