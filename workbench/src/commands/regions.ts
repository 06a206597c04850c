/** Draws a stability chart: the cells of the grid, the boundary of the stable region, and the present parameters. */

import { type Segment, strokeLines } from "../views/chart/canvas";
import { inkOf } from "../views/chart/ink.svelte";
import type { Painter } from "./courses";
import { boundariesOf, type Chart, presentOf, sortOf } from "./stable";

const COLORS = { stable: "3", unstable: "2", none: "shade" };

export function painterOf(chart: Chart): Painter {
  return (plot) => {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    const x = (place: number) => plot.valToPos(place, "x", true);
    const y = (place: number) => plot.valToPos(place, "y", true);
    const unstable = new Path2D();
    ctx.save();
    chart.rightmost_root_real.forEach((roots, row) =>
      roots.forEach((root, column) => {
        const sort = sortOf(root);
        const left = x(column - 0.5);
        const top = y(row + 0.5);
        // Cells overlap by one pixel, so that no gaps are visible between them.
        const box = [left, top, x(column + 0.5) - left + 1, y(row - 0.5) - top + 1] as const;
        ctx.fillStyle = inkOf(COLORS[sort]);
        ctx.fillRect(...box);
        if (sort === "unstable") unstable.rect(...box);
      }),
    );
    ctx.save();
    ctx.clip(unstable);
    const diagonals: Segment[] = [];
    for (let from = bbox.left - bbox.height; from < bbox.left + bbox.width; from += 9 * ratio) {
      diagonals.push([from, bbox.top + bbox.height, from + bbox.height, bbox.top]);
    }
    strokeLines(ctx, inkOf("paper"), diagonals, 1.5 * ratio);
    ctx.restore();
    const both = (width: number) => {
      for (const [color, more] of [["paper", 4], ["ink", 0]] as const) {
        ctx.strokeStyle = inkOf(color);
        ctx.lineWidth = (width + more) * ratio;
        ctx.stroke();
      }
    };
    ctx.beginPath();
    for (const stretch of boundariesOf(chart)) {
      stretch.forEach(([across, up], at) => ctx[at ? "lineTo" : "moveTo"](x(across), y(up)));
    }
    both(2);
    const here = presentOf(chart);
    if (here) {
      ctx.beginPath();
      ctx.arc(x(here.across), y(here.up), 4 * ratio, 0, 7);
      both(4);
    }
    ctx.restore();
  };
}
