/** An explanation in sentences, the most important first. */

import type { Explanation } from "../engine/answers";
import { sentenceOf } from "./delay/calls";
import { short } from "./digits";

/** Causes that are told: those that follow are less likely. */
const MOST_CAUSES = 3;

const LIMITS: Record<Explanation["limits"][number]["by"], string> = {
  cwnd: "the congestion window",
  rwnd: "the receive window",
  application: "the application, which has nothing to send",
  air: "the air",
  line: "the line",
};

/** Calls that are not good, waits, air, limits, and then the causes. */
export function sentencesOf({ calls, delays, limits, air, causes }: Explanation): string[] {
  const percent = (part: number) => `${Math.round(100 * part)} %`;
  const found = calls
    .filter(({ verdict }) => verdict !== "good")
    .map((call) => `The call of ${call.name}, ${call.direction}, is ${call.verdict}: ${sentenceOf(call)}.`);
  for (const { flow, total_s, parts } of delays.filter((delay) => !calls.some((call) => call.flows.includes(delay.flow) && call.verdict === "good")).slice(0, 2)) {
    const [longest] = [...parts].sort((a, b) => b.share - a.share);
    if (longest) found.push(`Packets of ${flow} take ${short(1e3 * total_s)} ms on average, ${percent(longest.share)} of it in ${longest.queue}.`);
  }
  if (air) {
    found.push(`Station ${air.station} uses ${percent(air.airtime_fraction)} of the air for ${percent(air.goodput_share)} of the goodput.`);
  }
  for (const { flows, all, by, where, fraction } of limits) {
    const [first] = flows;
    if (!first) continue;
    const more = all ? "All TCP flows" : `${first} and ${flows.length - 1} more`;
    const of = flows.length > 1 ? `${more} are` : `${first} is`;
    const time = fraction === undefined ? "" : `${percent(fraction)} of the time`;
    const isShared = by === "air" || by === "line";
    const how = time && (isShared ? `, which is busy ${time}` : ` for ${time}`);
    found.push(`${of} limited by ${LIMITS[by]}${by === "line" && where ? ` ${where}` : ""}${how}.`);
  }
  return [...found, ...causes.slice(0, MOST_CAUSES).map(({ sentence }) => sentence)];
}
