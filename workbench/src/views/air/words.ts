/** Descriptions of frames. */

import { plain, short } from "../digits";
import type { Frame } from "./frames";
import type { Countdown } from "./idle";

const KINDS: Record<Frame["kind"], string> = {
  data: "data",
  ack: "MAC ACK",
  rts: "RTS",
  cts: "CTS",
  "cf-end": "CF-End",
  "block-ack": "BlockAck",
  "block-ack-req": "BlockAckReq",
};

const PACKETS: Record<NonNullable<Frame["packet"]>, string> = {
  segment: "TCP segment",
  datagram: "UDP datagram",
  syn: "TCP SYN",
  ack: "TCP ACK",
  "syn-ack": "TCP SYN-ACK",
};

/** Short names of frame types. A type that is not listed has its name in capitals as its short name. */
const SHORT: Record<string, string> = {
  data: "data",
  segment: "data",
  datagram: "UDP",
  "cf-end": "CF",
  "block-ack": "BA",
  "block-ack-req": "BAR",
};

/** Returns the type of a frame in one or two words. */
export function kindOf(frame: Frame): string {
  return frame.packet ? PACKETS[frame.packet] : KINDS[frame.kind];
}

/** Returns the type of a frame as a short text for its rectangle. */
export function shortKindOf(frame: Frame): string {
  if ((frame.mpdus ?? 0) > 1) return `×${frame.mpdus}`;
  const word = frame.packet ?? frame.kind;
  return SHORT[word] ?? word.toUpperCase();
}

export const FATES: Record<Frame["fate"], string> = {
  delivered: "delivered",
  collided: "collided",
  corrupted: "lost to channel errors",
};

export function fateOf(frame: Frame): string {
  const lost =
    frame.fate === "delivered" && frame.mpdus_lost ? ` except for ${frame.mpdus_lost} MPDUs` : "";
  return `${FATES[frame.fate]}${lost}${frame.discarded ? ", discarded" : ""}`;
}

export function backoffOf(frame: Frame, countdown: Countdown | null): string | null {
  if (frame.backoff_slots === null) return null;
  const slots = frame.backoff_slots === 1 ? "1 slot" : `${frame.backoff_slots} slots`;
  if (!countdown || frame.backoff_slots === 0) return slots;
  if (countdown.missing > 0)
    return `${slots}, which began before the recording`;
  const parts = countdown.stretches.length;
  return parts > 1 ? `${slots} in ${parts} parts, because it froze while others sent` : slots;
}

/** Returns whether a frame has a number of attempts. Responses have none, because they are not retransmitted. */
function hasAttempts({ kind }: Frame): boolean {
  return kind === "data" || kind === "rts";
}

/** Returns all recorded fields of a frame, each as title and text. */
export function fieldsOf(frame: Frame, countdown: Countdown | null): [string, string][] {
  const fields: [string, string | null][] = [
    ["start", `${frame.start_s.toFixed(6)} s`],
    ["duration", `${plain((frame.end_s - frame.start_s) * 1e6)} µs`],
    ["sender", frame.sender],
    ["receiver", frame.receiver ?? "all"],
    ["kind", frame.packet ? `${KINDS[frame.kind]}, ${PACKETS[frame.packet]}` : KINDS[frame.kind]],
    ["flow", frame.flow],
    ["outcome", fateOf(frame)],
    ["attempt", hasAttempts(frame) ? String(frame.attempt) : null],
    ["backoff", backoffOf(frame, countdown)],
    ["length", `${frame.bytes} bytes`],
    [
      "rate",
      `${short(frame.rate_bps / 1e6)} Mb/s${frame.mcs === null ? "" : `, MCS ${frame.mcs}`}`,
    ],
    [
      "MPDUs",
      frame.mpdus === null
        ? null
        : `${frame.mpdus}${frame.mpdus_lost ? `, ${frame.mpdus_lost} lost` : ""}`,
    ],
  ];
  return fields.filter((field): field is [string, string] => field[1] !== null);
}

/** Returns a sentence about a frame for screen readers. */
export function tellFrame(frame: Frame, countdown: Countdown | null): string {
  const backoff = backoffOf(frame, countdown);
  const aggregate = (frame.mpdus ?? 0) > 1 ? ` with ${frame.mpdus} MPDUs` : "";
  const after = backoff ? ` after a backoff of ${backoff}` : "";
  const attempt = hasAttempts(frame) ? `, attempt ${frame.attempt}` : "";
  return `${frame.start_s.toFixed(6)} s: ${frame.sender} sends ${kindOf(frame)}${aggregate} to ${frame.receiver ?? "all"}${after}${attempt}: ${fateOf(frame)}.`;
}
