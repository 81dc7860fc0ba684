/** The requests of one cluster on the screen: what was answered, and asking, deciding, withdrawing and ending. */
import { createStore, type StoreApi } from "zustand/vanilla";
import type { ApiInput } from "../../shared/api/contract.ts";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { QuotaAnswer, RequestsAnswer, RequestView } from "../../shared/protocol/control.ts";
import type { Client } from "../client/index.ts";

export interface RequestsState {
  readonly answer: RequestsAnswer | null;
  /** Limits and usage, for what a request would come to; null until a view asked for them. */
  readonly quotas: QuotaAnswer | null;
  /** Why the last look failed; the answers before stay. */
  readonly error: AppErrorData | null;
  /** While something is being sent: nothing else is then. */
  readonly isSending: boolean;
  /** Why the last sending was refused, and about what (`new` for a request not yet made). */
  readonly refused: { readonly about: string; readonly error: AppErrorData } | null;
}

type Input<N extends "request.ask" | "request.decide" | "request.withdraw" | "grant.cut"> = ApiInput<N>["input"];

export interface RequestsStore extends StoreApi<RequestsState> {
  /** Looks again. A later look wins over one that is under way. */
  load(): Promise<void>;
  loadQuotas(): Promise<void>;
  /** The new request; null where it was refused. */
  ask(input: Input<"request.ask">): Promise<RequestView | null>;
  /** Whether it was done. On a conflict, what stands now is looked at before the answer. */
  decide(input: Input<"request.decide">): Promise<boolean>;
  withdraw(input: Input<"request.withdraw">): Promise<boolean>;
  cut(input: Input<"grant.cut">): Promise<boolean>;
  /** What was refused has been read. */
  dismiss(): void;
}

const start: RequestsState = { answer: null, quotas: null, error: null, isSending: false, refused: null };

export function createRequestsStore(client: Pick<Client, "request">, clusterId: string): RequestsStore {
  const store = createStore<RequestsState>(() => start);
  const { getState: state, setState: set } = store;
  const looking = <Answer>(look: () => Promise<Answer>, take: (answer: Answer) => Partial<RequestsState>) => {
    let latest = 0;
    let failure: AppErrorData | null = null;
    return async (): Promise<void> => {
      latest += 1;
      const mine = latest;
      try {
        const answer = await look();
        // Why the other look failed goes on standing.
        if (mine === latest) set({ ...take(answer), ...(state().error === failure ? { error: null } : {}) });
      } catch (error) {
        if (mine !== latest) return;
        failure = toErrorData(error);
        set({ error: failure });
      }
    };
  };
  const load = looking(
    () => client.request("requests.list", { clusterId, input: {} }),
    (answer) => ({ answer }),
  );
  const loadQuotas = looking(
    () => client.request("quota.get", { clusterId, input: {} }),
    (quotas) => ({ quotas }),
  );
  const send = async <Answer>(about: string, request: () => Promise<Answer>): Promise<Answer | undefined> => {
    if (state().isSending) return undefined;
    set({ isSending: true, refused: null });
    try {
      const answer = await request();
      await load();
      return answer;
    } catch (thrown) {
      const error = toErrorData(thrown);
      // What somebody else did meanwhile stands on the screen when the refusal does.
      if (error.code === "conflict" || error.code === "not-found") await load();
      set({ refused: { about, error } });
      return undefined;
    } finally {
      set({ isSending: false });
    }
  };
  return {
    ...store,
    load,
    loadQuotas,
    ask: async (input) => (await send("new", () => client.request("request.ask", { clusterId, input }))) ?? null,
    decide: async (input) =>
      (await send(input.requestId, () => client.request("request.decide", { clusterId, input }))) !== undefined,
    withdraw: async (input) =>
      (await send(input.requestId, () => client.request("request.withdraw", { clusterId, input }))) !== undefined,
    cut: async (input) =>
      (await send(input.grantId, () => client.request("grant.cut", { clusterId, input }))) !== undefined,
    dismiss: () => set({ refused: null }),
  };
}
