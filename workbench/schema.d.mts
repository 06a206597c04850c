export function schema(): import("vite").Plugin;
export function simulations(root: unknown): unknown;
