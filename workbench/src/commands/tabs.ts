/** Tabs for the commands of Python. `key` is the name of the tab in links to the page. */

export const PYTHON_TABS = [
  { key: "predict", title: "Models" },
  { key: "sweep", title: "Sweep" },
  { key: "tune", title: "Tune" },
  { key: "chart", title: "Stability chart" },
] as const;
