/** Tests of the contrast of all colours with the light and dark background: 4.5 for text, 3 for drawings. */

import assert from "node:assert/strict";
import { test } from "node:test";
import css from "../theme.css?raw";

function luminance(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(color, other) {
  const [low, high] = [luminance(color), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** Returns the colours of the light or the dark theme, by name. */
function palette(theme) {
  const at = { light: 2, dark: 3 }[theme];
  const pairs = css.matchAll(/--view-([\w-]+): light-dark\((#\w{6}), (#\w{6})\);/g);
  return Object.fromEntries([...pairs].map((pair) => [pair[1], pair[at]]));
}

const TEXTS = ["ink", "soft", "accent"];
const NOT_DRAWN = new Set([
  ...TEXTS,
  "paper",
  "raised",
  "rule",
  "shade",
  "on-fill",
  "on-tcp-ack",
  "on-accent",
]);
const FILLS = [
  "segment",
  "tcp-ack",
  "rts",
  "mac-ack",
  "block-ack",
  "block-ack-req",
  "cf-end",
  "collided",
  "corrupted",
];

test("every colour has a light and a dark form", () => {
  assert.equal(Object.keys(palette("light")).length, css.match(/--view-[\w-]+: /g).length);
});

for (const theme of ["light", "dark"]) {
  const colors = palette(theme);
  test(`${theme}: text is legible`, () => {
    for (const text of TEXTS) {
      for (const ground of ["paper", "raised"]) {
        const ratio = contrast(colors[text], colors[ground]);
        assert.ok(ratio >= 4.5, `${text} on ${ground}: ${ratio.toFixed(2)}`);
      }
    }
  });
  test(`${theme}: drawings have enough contrast`, () => {
    for (const [color, hex] of Object.entries(colors)) {
      if (NOT_DRAWN.has(color)) continue;
      const ratio = contrast(hex, colors.paper);
      assert.ok(ratio >= 3, `${color}: ${ratio.toFixed(2)}`);
    }
  });
  test(`${theme}: words in boxes are legible`, () => {
    for (const fill of FILLS) {
      const ratio = contrast(colors[fill], colors[`on-${fill}`] ?? colors["on-fill"]);
      assert.ok(ratio >= 4.5, `${fill}: ${ratio.toFixed(2)}`);
    }
  });
}
