/** From a socket to a client that is logged in: the host's key is decided before anything of the login is sent. */
import type { Duplex } from "node:stream";
import ssh2, { type Client, type ServerHostKeyAlgorithm } from "ssh2";
import type { PromptAnswer } from "../../../shared/api/contract.ts";
import type { ConnectPhase } from "../../../shared/api/snapshot.ts";
import { AppError } from "../../../shared/errors.ts";
import { algorithmsFor, hostKeyOrder } from "./algorithms.ts";
import { type Answers, Login } from "./authentication.ts";
import { connectError, isPassing, type Peer, sshError } from "./errors.ts";
import type { HostKeys } from "./host-keys.ts";
import type { IdentityStore } from "./identities.ts";
import type { Prompter, Question } from "./interfaces.ts";
import type { SshSettings } from "./settings.ts";

export interface HandshakeContext {
  readonly hostKeys: HostKeys;
  readonly identities: IdentityStore;
  readonly answers: Answers;
  readonly prompter: Prompter;
  readonly signal: AbortSignal;
  readonly onPhase: (phase: ConnectPhase) => void;
  /** A person is being asked: whatever was reserved for a quick handshake may go to the next host. */
  readonly onAsking: () => void;
  /** What a ProxyCommand wrote to its standard error. */
  readonly proxyWords: () => string;
}

/** Cause of the error where the host hung up before it said anything: what sshd does above MaxStartups. */
export const hungUp = Symbol("the host hung up before its greeting");

/** The host key algorithms to offer. Comes before the socket, which must not be left without listeners. */
export async function offeredHostKeys(
  settings: SshSettings,
  hostKeys: HostKeys,
): Promise<readonly ServerHostKeyAlgorithm[]> {
  const order = hostKeyOrder(await hostKeys.knownTypes(settings), settings.hostKeyAlgorithms);
  if (order.length === 0) {
    const peer = { name: settings.name, hostName: settings.hostName, port: settings.port };
    throw sshError(
      "ssh-unsupported",
      peer,
      `HostKeyAlgorithms leaves no host key type for ${peer.name} that can be checked here.`,
      "Allow ssh-ed25519, ecdsa-sha2-nistp256 or rsa-sha2-512.",
      settings.hostKeyAlgorithms?.join(","),
    );
  }
  return order;
}

export async function handshake(
  settings: SshSettings,
  socket: Duplex,
  order: readonly ServerHostKeyAlgorithm[],
  context: HandshakeContext,
): Promise<Client> {
  const peer: Peer = { name: settings.name, hostName: settings.hostName, port: settings.port };

  const client = new ssh2.Client();
  const { promise, resolve, reject } = Promise.withResolvers<Client>();
  const asking = new AbortController();
  const signal = AbortSignal.any([context.signal, asking.signal]);
  let failure: AppError | null = null;
  let acceptedKey: Buffer | null = null;
  let sawKey = false;

  const fail = (error: unknown) => {
    failure ??= withCause(connectError(error, peer, context.proxyWords()), error, sawKey);
    asking.abort();
    reject(failure);
    client.destroy();
    socket.destroy();
  };
  // ssh2 has one time limit for everything; ours stops while a person is being asked.
  let timer: NodeJS.Timeout | undefined;
  const startTimer = () => {
    timer = setTimeout(() => {
      fail(
        sshError(
          "ssh-unreachable",
          peer,
          `${peer.name} did not finish its handshake in ${settings.connectTimeoutMs / 1_000} s.`,
          "Check the network, VPN and firewall, or raise ConnectTimeout.",
        ),
      );
    }, settings.connectTimeoutMs);
  };
  const ask = async (question: Question): Promise<PromptAnswer> => {
    clearTimeout(timer);
    context.onAsking();
    try {
      return await context.prompter.ask(question, signal);
    } finally {
      if (!signal.aborted) startTimer();
    }
  };

  const login = new Login({
    settings,
    peer,
    identities: context.identities,
    answers: context.answers,
    ask,
  });
  const onAbort = () => {
    fail(new AppError({ code: "cancelled", message: `Connecting to ${peer.name} was cancelled.`, remedy: "" }));
  };
  context.signal.addEventListener("abort", onAbort, { once: true });

  const onError = (error: Error) => {
    if (!isPassing(error)) fail(login.failure ?? error);
  };
  const onClose = () => fail(login.failure ?? new Error("Connection ended by the other party"));
  client.on("error", onError);
  client.on("close", onClose);
  client.on("handshake", () => context.onPhase("authenticating"));
  client.on("ready", () => resolve(client));
  startTimer();
  context.onPhase("handshake");
  if (context.signal.aborted) onAbort();
  try {
    client.connect({
      sock: socket,
      username: settings.user,
      readyTimeout: 0,
      keepaliveInterval: settings.keepaliveIntervalMs,
      // ssh2 gives up one interval after the last that counts; the peer is to be missed after exactly that many.
      keepaliveCountMax: Math.max(0, settings.keepaliveCountMax - 1),
      algorithms: algorithmsFor(order),
      hostVerifier: (key: Buffer, decided: (accepted: boolean) => void) => {
        sawKey = true;
        if (acceptedKey !== null) {
          // A later exchange of keys must show the same one.
          decided(acceptedKey.equals(key));
          return;
        }
        context.hostKeys.decide(settings, key, ask).then(
          ({ passwordsAllowed }) => {
            login.passwordsAllowed = passwordsAllowed;
            acceptedKey = Buffer.from(key);
            if (failure === null) decided(true);
          },
          (error: unknown) => {
            fail(error);
            decided(false);
          },
        );
      },
      authHandler: (methodsLeft, partialSuccess, next) => {
        login.next(methodsLeft, partialSuccess).then(
          (method) => {
            // The types forget that `false` ends the login.
            if (failure === null) Reflect.apply(next, undefined, [method]);
          },
          (error: unknown) => fail(error),
        );
      },
    });
    const ready = await promise;
    return ready;
  } catch (error) {
    fail(error);
    await login.failed(failure);
    throw failure ?? error;
  } finally {
    clearTimeout(timer);
    context.signal.removeEventListener("abort", onAbort);
    // What else may come from this client after it failed must not end the process.
    client.on("error", () => {});
    client.off("error", onError);
    client.off("close", onClose);
  }
}

function withCause(error: AppError, original: unknown, sawKey: boolean): AppError {
  const words = original instanceof Error ? original.message : "";
  if (sawKey || !/before handshake|ECONNRESET|EPIPE/.test(words)) return error;
  return new AppError(error.toData(), { cause: hungUp });
}
