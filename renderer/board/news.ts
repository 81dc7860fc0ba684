/**
 * When news of the hosts is taken over: in the frame that shows it. While it pours in (a thousand hosts in parts at the
 * start) that is a few times a second: tiles painted for every part would hold up the parts that follow.
 */
export interface News {
  /** Something new is there. */
  came(): void;
  /** Whether to take it over in this frame. */
  isRipe(): boolean;
  /** It was taken over. */
  taken(): void;
  stop(): void;
}

const everyMs = 120;
/** The names of the hosts come first and their GPUs right after: one frame for both, where it can be. */
const gatherMs = 25;

/** `ask` wants a frame. */
export function createNews(ask: () => void): News {
  let timer = 0;
  let takenAt = Number.NEGATIVE_INFINITY;
  let state: "none" | "gathering" | "ripe" = "none";
  return {
    came: () => {
      if (state !== "none") return;
      state = "gathering";
      timer = window.setTimeout(
        () => {
          state = "ripe";
          ask();
        },
        Math.max(gatherMs, takenAt + everyMs - performance.now()),
      );
    },
    isRipe: () => state === "ripe",
    taken: () => {
      state = "none";
      takenAt = performance.now();
    },
    stop: () => window.clearTimeout(timer),
  };
}
