/** Mounts a report, which shows the data in its file with the views of the workbench. */

import { mount } from "svelte";
import "../app.css";
import { dataOf } from "./data";
import Report from "./Report.svelte";

const target = document.getElementById("app");
const data = document.getElementById("data")?.textContent ?? "";
if (target)
  dataOf(data)
    .then((report) => mount(Report, { target, props: { report } }))
    .catch((error: unknown) => {
      target.textContent = `This report cannot be read: ${error instanceof Error ? error.message : String(error)}.`;
    });
