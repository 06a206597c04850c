/** Tabs for the commands of Python, with their keys in links. */

export const PYTHON_TABS = [
  { key: "predict", title: "Models" },
  { key: "sweep", title: "Sweep" },
  { key: "tune", title: "Tune" },
  { key: "chart", title: "Stability chart" },
] as const;
