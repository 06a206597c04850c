/** Draws the result of a sweep: points, intervals, and the selected value. */

import type uPlot from "uplot";
import { inkOf } from "../views/chart/ink.svelte";
import type { Line } from "../views/chart/lines";
import type { Course } from "./swept";

export type Painter = (plot: uPlot) => void;

/** Returns a function that draws the points and the confidence intervals of the visible lines on a plot. */
export function painterOf(courses: readonly Course[], lines: readonly Line[], places: readonly number[], chosen: number): Painter {
  return (plot) => {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    const x = (at: number) => plot.valToPos(places[at] ?? 0, "x", true);
    const y = (value: number) => Math.max(bbox.top, Math.min(bbox.top + bbox.height, plot.valToPos(value, "y", true)));
    ctx.save();
    ctx.lineWidth = 1.5 * ratio;
    ctx.strokeStyle = inkOf("edge");
    ctx.setLineDash([4 * ratio, 4 * ratio]);
    ctx.strokeRect(x(chosen), bbox.top, 0, bbox.height);
    ctx.setLineDash([]);
    lines.forEach(({ shown, color }, k) => {
      if (!shown) return;
      ctx.strokeStyle = ctx.fillStyle = inkOf(color);
      courses[k]?.values.forEach((value, at) => {
        if (value?.mean == null) return;
        ctx.beginPath();
        ctx.arc(x(at), y(value.mean), 3.5 * ratio, 0, 7);
        ctx.fill();
        if (!value.ci95) return;
        const [high, low] = [y(value.mean + value.ci95), y(value.mean - value.ci95)];
        ctx.strokeRect(x(at), high, 0, low - high);
        for (const end of [high, low]) ctx.strokeRect(x(at) - 4 * ratio, end, 8 * ratio, 0);
      });
    });
    ctx.restore();
  };
}
