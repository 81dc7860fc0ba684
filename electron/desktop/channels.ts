/** Names on Electron's own IPC: only the hand-over of the port uses it. Everything else is the contract on that port. */
export const connectChannel = "tessera:connect";
export const portChannel = "tessera:port";
