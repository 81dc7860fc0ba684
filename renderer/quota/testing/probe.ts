/**
 * Measures the view of quotas from inside its page. The benchmark puts this there before any of the page's own code runs;
 * no build of the console contains it. Answers come over a bridge, as in the desktop window, each from its text.
 */
import type { ControlState } from "../../../shared/api/contract.ts";
import type {} from "../../testing/probe-page.ts";

const probe = {
  /** Milliseconds that the texts of answers took to parse since the last `open`. */
  parseMs: 0,
  /** Whether the texts are here. */
  ready: false,

  /** Milliseconds from the click on the view's entry in the rail to the end of the frame with rows and bars. */
  async open(): Promise<number> {
    const entry = document.querySelector<HTMLButtonElement>('.rail button[aria-label="Quotas"]');
    if (entry === null) throw new Error("no entry of quotas");
    probe.parseMs = 0;
    const began = performance.now();
    const painted = paintedWhen(() => document.querySelector('[data-quota-table] [role="gridcell"] i') !== null);
    entry.click();
    return (await painted) - began;
  },

  /** Milliseconds from the next Enter to the end of the frame in which the draft has the edit and its impact. */
  async impact(): Promise<number> {
    const changes = () => document.querySelector('[aria-labelledby="quota-draft"] ul')?.textContent ?? "";
    const before = changes();
    const began = await new Promise<number>((resolve) => {
      const hear = (event: KeyboardEvent) => {
        if (event.key !== "Enter") return;
        window.removeEventListener("keydown", hear, true);
        resolve(performance.now());
      };
      window.addEventListener("keydown", hear, true);
    });
    const painted = await paintedWhen(() => {
      const impact = document.querySelector('[aria-labelledby="quota-draft"] section[aria-busy]');
      return changes() !== before && impact?.getAttribute("aria-busy") === "false";
    });
    return painted - began;
  },
};

/** The time at the end of the frame in which something stands that the page is changed to. */
function paintedWhen(stands: () => boolean): Promise<number> {
  return new Promise((resolve) => {
    const look = (): boolean => {
      if (!stands()) return false;
      observer.disconnect();
      void window.probePage.endOfFrame().then(resolve);
      return true;
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    look();
  });
}

declare global {
  interface Window {
    quotaProbe: typeof probe;
  }
}
window.quotaProbe = probe;

const { say } = window.probePage;

const me: ControlState["me"] = {
  ...{ uid: 0, user: "root", role: "administrator", leads: [], projects: [], open: false },
  ...{ ledger: true, rolesRevision: 1, rolesConfirmedAt: null, engine: "slurm" },
};
const control: ControlState = {
  ...{ controlHostId: "c1", state: "ready", me, error: null, ledgerRevision: 1, usageRevision: 1, rolesBehind: [] },
};
const enforced = { kind: "slurm", version: "25.11.7", enforcement: [], findings: [] };
const answers: Readonly<Record<string, unknown>> = {
  "app.info": { version: "0.1.0", platform: "linux", desktop: true, secrets: "memory", demo: false },
  "settings.get": { language: "en", theme: "system" },
  "clusters.list": [{ id: "synthetic", name: "synthetic", kind: "ssh", hostCount: 8, connected: true }],
  "requests.list": { requests: [], grants: [] },
  "engine.status": enforced,
  "engine.drift": [],
  "quota.set": { outcomes: [], commands: [["sacctmgr", "-i", "modify", "account", "where", "name=t0000"]] },
};

let texts: Promise<Readonly<Record<string, string>>> | null = null;

async function textOf(name: string): Promise<string | undefined> {
  texts ??= fetch("./answers.json").then((answer) => answer.json());
  const all = await texts;
  probe.ready = true;
  return all[name];
}

async function answer(id: number, name: string): Promise<void> {
  const text = await textOf(name);
  if (text === undefined) {
    if (Object.hasOwn(answers, name)) say({ kind: "end", id, ok: true, value: answers[name] });
    return;
  }
  const began = performance.now();
  const value: unknown = JSON.parse(text);
  probe.parseMs += performance.now() - began;
  say({ kind: "end", id, ok: true, value });
}

async function sendSnapshot(id: number): Promise<void> {
  const parts: string[] = await (await fetch("./snapshot-events.json")).json();
  for (const [seq, part] of parts.entries()) say({ kind: "event", id, seq, event: JSON.parse(part) });
}

window.probePage.bridge(({ id, name }) => {
  if (name === "snapshot") void sendSnapshot(id);
  else if (name === "control.state") queueMicrotask(() => say({ kind: "event", id, seq: 0, event: control }));
  else void answer(id, name);
});
