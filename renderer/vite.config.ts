import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Served from `app://` in the desktop window and from loopback in a browser, both under a strict CSP: nothing is inlined. */
export default defineConfig({
  base: "./",
  plugins: [react()],
  build: {
    target: "es2024",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    chunkSizeWarningLimit: 1_200,
  },
});
