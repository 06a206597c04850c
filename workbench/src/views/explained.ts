/** Explanation of a result as sentences, with the most important sentence first. */

import type { Explanation } from "../engine/answers";
import { sentenceOf } from "./delay/calls";
import { short } from "./digits";

/** Largest number of causes that are shown. */
const MAX_CAUSES = 3;

const LIMITS: Record<Explanation["limits"][number]["by"], string> = {
  cwnd: "the congestion window",
  rwnd: "the receive window",
  application: "the application, which has nothing to send",
  air: "the air",
  line: "the line",
  acks: "the line of its ACKs,",
  losses: "losses in",
};

/** Types of limits of a flow that are shown with the link or queue that causes them. */
const PLACED = ["line", "acks", "losses"];

/** Returns sentences about bad calls, delays, the air, limits, and causes. */
export function sentencesOf({ calls, delays, limits, air, causes }: Explanation): string[] {
  const percent = (part: number) => `${Math.round(100 * part)} %`;
  const sentences = calls
    .filter(({ verdict }) => verdict !== "good")
    .map((call) => `The call of ${call.name}, ${call.direction}, is ${call.verdict}: ${sentenceOf(call)}.`);
  for (const { flow, total_s, parts } of delays.filter((delay) => !calls.some((call) => call.flows.includes(delay.flow) && call.verdict === "good")).slice(0, 2)) {
    const [longest] = [...parts].sort((a, b) => b.share - a.share);
    if (longest) sentences.push(`Packets of ${flow} take ${short(1e3 * total_s)} ms on average, ${percent(longest.share)} of it in ${longest.queue}.`);
  }
  if (air) {
    sentences.push(`Station ${air.station} uses ${percent(air.airtime_fraction)} of the air for ${percent(air.goodput_share)} of the goodput.`);
  }
  for (const { flows, all, by, where, fraction } of limits) {
    const [first] = flows;
    if (!first) continue;
    const more = all ? "All TCP flows" : `${first} and ${flows.length - 1} more`;
    const of = flows.length > 1 ? `${more} are` : `${first} is`;
    const time = fraction === undefined ? "" : `${percent(fraction)} of the time`;
    const isShared = by === "air" || by === "line" || by === "acks";
    const how = by === "losses" ? "" : time && (isShared ? `, which is busy ${time}` : ` for ${time}`);
    sentences.push(`${of} limited by ${LIMITS[by]}${PLACED.includes(by) && where ? ` ${where}` : ""}${how}.`);
  }
  return [...sentences, ...causes.slice(0, MAX_CAUSES).map(({ sentence }) => sentence)];
}
