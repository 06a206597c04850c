export function terms(): import("vite").Plugin;
