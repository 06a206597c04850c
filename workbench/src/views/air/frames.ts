/** Recorded frames, and sums over an interval. */

import type { FrameKind, Frames } from "../../engine/answers";
import { firstIndex } from "../search";

/** Types of frames that have different colours. */
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

/** One row of a table that is stored as columns. */
type Row<Columns> = { [Name in keyof Columns]: Columns[Name] extends (infer Value)[] ? Value : never };

export interface Frame extends Omit<Row<Frames>, "duration_s"> {
  end_s: number;
  look: Look;
  /** Positions of lost MPDUs in the aggregate, if recorded. */
  lost: number[];
}

/** Two columns of the engine's output that `Frames` lacks: the sequence numbers of all MPDUs, and of the lost MPDUs. */
interface Numbered {
  sequence?: (number[] | null)[];
  lost?: (number[] | null)[];
}

/** Converts columns to frames, in the order of their start times. */
export function framesOf({ sequence, lost, ...columns }: Frames & Numbered): Frame[] {
  const order = columns.start_s.map((_, at) => at);
  order.sort((a, b) => columns.start_s[a]! - columns.start_s[b]! || a - b);
  return order.map((at): Frame => {
    const values = Object.entries(columns).map(([name, column]) => [name, column[at] ?? null]);
    const { duration_s, ...row } = Object.fromEntries(values) as Row<Frames>;
    const numbersLost = new Set(lost?.[at] ?? []);
    return {
      ...row,
      end_s: row.start_s + duration_s,
      look: lookOf(row.kind, row.packet),
      lost: (sequence?.[at] ?? []).flatMap((number, place) => (numbersLost.has(number) ? [place] : [])),
    };
  });
}

function lookOf(kind: FrameKind, packet: Frame["packet"]): Look {
  if (kind === "data") return packet === "ack" ? "tcp-ack" : "segment";
  if (kind === "ack") return "mac-ack";
  return kind === "cts" ? "rts" : kind;
}

/** Returns the index of the first frame that begins at `from_s` or later. */
export function firstFrom(frames: readonly Frame[], from_s: number): number {
  return firstIndex(frames, ({ start_s }) => start_s < from_s);
}

/** Numbers of frames, senders and failures in an interval, and the fraction of the interval that is busy. */
export interface Busy {
  frames: number;
  senders: number;
  collided: number;
  corrupted: number;
  /** Fraction of the interval in which at least one node sends. [-] */
  busy: number;
}

/**
 * Returns the numbers for an interval. A frame that begins before the interval is included if it ends in the interval.
 * `longest_s` is the duration of the longest frame, which limits how far the function looks back.
 */
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
