/** The order of a login: which method to try next, what to ask a person, and what to say when nothing is left. */
import ssh2, {
  type AnyAuthMethod,
  type AuthenticationType,
  type ParsedKey,
  type SignCallback,
  type SigningRequestOptions,
  type Prompt as Ssh2Prompt,
} from "ssh2";
import type { PromptAnswer } from "../../../shared/api/contract.ts";
import type { AppError } from "../../../shared/errors.ts";
import { type Peer, sshError } from "./errors.ts";
import type { Identity, IdentityStore } from "./identities.ts";
import type { Question, SecretStore } from "./interfaces.ts";
import type { SshSettings } from "./settings.ts";

/** Answers are kept for reconnects in memory, and in the secret store where the operator asked for it. */
export class Answers {
  readonly #store: SecretStore;
  readonly #memory = new Map<string, string>();
  readonly #unlocking = new Map<string, Promise<ParsedKey | null>>();

  constructor(store: SecretStore) {
    this.#store = store;
  }

  async known(key: string): Promise<string | null> {
    return this.#memory.get(key) ?? (await this.#store.get(key));
  }

  async keep(key: string, value: string, remember: boolean): Promise<void> {
    this.#memory.set(key, value);
    if (remember) await this.#store.set(key, value);
  }

  async forget(key: string): Promise<void> {
    this.#memory.delete(key);
    await this.#store.delete(key);
  }

  /** All hosts that wait for the same key wait for the same questions. */
  unlockOnce(file: string, unlock: () => Promise<ParsedKey | null>): Promise<ParsedKey | null> {
    const pending = this.#unlocking.get(file);
    if (pending !== undefined) return pending;
    const unlocking = unlock().finally(() => this.#unlocking.delete(file));
    this.#unlocking.set(file, unlocking);
    return unlocking;
  }

  clear(): void {
    this.#memory.clear();
  }
}

export interface LoginContext {
  readonly settings: SshSettings;
  readonly peer: Peer;
  readonly identities: IdentityStore;
  readonly answers: Answers;
  readonly ask: (question: Question) => Promise<PromptAnswer>;
}

type Methods = readonly AuthenticationType[];

/** One login. ssh2 asks `next` after every refusal; `failure` says why in the end. */
export class Login {
  readonly #context: LoginContext;
  readonly #tried: string[] = [];
  #identities: Identity[] | null = null;
  #unusable: readonly string[] = [];
  /** What the server would still take; null until it has said so. */
  #offered: Methods | null = null;
  /** An agent signed: ssh2 hides whether that was a partial success, so the server is asked again. */
  #signed = false;
  #askedAgain = false;
  #passwordTries = 0;
  #keyboardTries = 0;
  #sentRemembered = false;
  #cancelled = false;
  passwordsAllowed = true;
  failure: AppError | null = null;

  constructor(context: LoginContext) {
    this.#context = context;
  }

  async next(methodsLeft: Methods | null, partialSuccess: boolean | null): Promise<AnyAuthMethod | false> {
    const { settings } = this.#context;
    const username = settings.user;
    if (methodsLeft !== null && methodsLeft !== undefined) this.#offered = methodsLeft;
    if (partialSuccess === true) this.#tried.push("accepted in part");
    if (this.#signed && !this.#askedAgain) {
      this.#askedAgain = true;
      return { type: "none", username };
    }
    if (this.#identities === null) {
      const { usable, unusable } = settings.methods.publicKey
        ? await this.#context.identities.for(settings)
        : { usable: [], unusable: [] };
      this.#identities = [...usable];
      this.#unusable = unusable;
      const keysFirst = settings.preferredAuthentications[0] === "publickey" && usable.length > 0;
      // `none` costs a round trip and is only asked where there is no key to begin with.
      if (!keysFirst) return { type: "none", username };
    }
    for (const method of settings.preferredAuthentications) {
      if (this.#cancelled) break;
      if (this.#offered !== null && !this.#offered.some((offered) => offered === method)) continue;
      if (method === "publickey") {
        const attempt = await this.#publicKey();
        if (attempt !== null) return attempt;
        if (this.#unusable.length > 0 && this.#offered !== null) return this.#fail();
      } else if (method === "keyboard-interactive" && this.#mayAsk(settings.methods.keyboardInteractive)) {
        if (this.#keyboardTries < settings.passwordPrompts) {
          this.#keyboardTries++;
          return { type: "keyboard-interactive", username, prompt: this.#keyboardPrompt };
        }
      } else if (method === "password" && this.#mayAsk(settings.methods.password)) {
        const attempt = await this.#password();
        if (attempt !== null) return attempt;
      }
    }
    return this.#fail();
  }

  /** Forgets a password that the server refused; one that was lost with the link may still be right. */
  async failed(error: AppError | null): Promise<void> {
    if (error?.code === "ssh-auth" && this.#sentRemembered) await this.#context.answers.forget(this.#passwordKey);
  }

  get #passwordKey(): string {
    const { user, hostName, port } = this.#context.settings;
    return `password ${user}@${hostName}:${port}`;
  }

  #mayAsk(allowed: boolean): boolean {
    return allowed && this.passwordsAllowed && !this.#context.settings.batchMode;
  }

  async #publicKey(): Promise<AnyAuthMethod | null> {
    const username = this.#context.settings.user;
    // After a key was accepted in part a server that still lists `publickey` wants another one.
    for (let identity = this.#identities?.shift(); identity !== undefined; identity = this.#identities?.shift()) {
      if (identity.kind === "key") {
        this.#tried.push(identity.label);
        return { type: "publickey", username, key: identity.key };
      }
      if (identity.kind === "agent") {
        this.#tried.push(identity.label);
        const onSigned = () => {
          this.#signed = true;
          this.#askedAgain = false;
        };
        return { type: "agent", username, agent: new OneKeyAgent(identity, onSigned) };
      }
      if (this.#context.settings.batchMode) continue;
      this.#tried.push(identity.label);
      const locked = identity;
      if (locked.publicKey !== null) {
        const wanted = () => this.#identities?.unshift({ ...locked, publicKey: null });
        return { type: "agent", username, agent: new ProbingAgent(locked.publicKey, wanted) };
      }
      const key = await this.#context.answers.unlockOnce(locked.file, () => this.#unlock(locked.file));
      if (key !== null) return { type: "publickey", username, key };
    }
    return null;
  }

  async #unlock(file: string): Promise<ParsedKey | null> {
    const { answers, identities, settings, ask } = this.#context;
    const secretKey = `passphrase ${file}`;
    const known = await answers.known(secretKey);
    if (known !== null) {
      const key = await identities.unlock(file, known);
      if (key !== null) return key;
      await answers.forget(secretKey);
    }
    for (let attempt = 1; attempt <= settings.passwordPrompts; attempt++) {
      const answer = await ask({ kind: "passphrase", host: settings.name, keyFile: file, attempt });
      if (answer.kind !== "secrets") return null;
      const passphrase = answer.values[0] ?? "";
      const key = await identities.unlock(file, passphrase);
      if (key !== null) {
        await answers.keep(secretKey, passphrase, answer.remember);
        return key;
      }
    }
    return null;
  }

  async #password(): Promise<AnyAuthMethod | null> {
    const { settings, answers, ask } = this.#context;
    const username = settings.user;
    if (this.#passwordTries === 0 && !this.#sentRemembered) {
      const known = await answers.known(this.#passwordKey);
      if (known !== null) {
        this.#sentRemembered = true;
        this.#tried.push("remembered password");
        return { type: "password", username, password: known };
      }
    }
    if (this.#passwordTries >= settings.passwordPrompts) return null;
    this.#passwordTries++;
    const answer = await ask({
      kind: "password",
      host: settings.name,
      user: settings.user,
      attempt: this.#passwordTries,
    });
    if (answer.kind !== "secrets") {
      this.#cancelled = true;
      return null;
    }
    const password = answer.values[0] ?? "";
    this.#tried.push("password");
    this.#sentRemembered = true;
    await answers.keep(this.#passwordKey, password, answer.remember);
    return { type: "password", username, password };
  }

  /** Arrow function: ssh2 calls it without `this`. */
  readonly #keyboardPrompt = (
    name: string,
    instructions: string,
    _language: string,
    prompts: Ssh2Prompt[],
    finish: (answers: string[]) => void,
  ): void => {
    this.#answerKeyboard(name, instructions, prompts).then(finish, () => finish([]));
  };

  async #answerKeyboard(name: string, instructions: string, prompts: readonly Ssh2Prompt[]): Promise<string[]> {
    const { settings, answers, ask } = this.#context;
    const [only] = prompts;
    const isPassword = prompts.length === 1 && only?.echo !== true && /password/i.test(only?.prompt ?? "");
    if (isPassword && !this.#sentRemembered) {
      const known = await answers.known(this.#passwordKey);
      if (known !== null) {
        this.#sentRemembered = true;
        this.#tried.push("keyboard-interactive with the remembered password");
        return [known];
      }
    }
    this.#tried.push("keyboard-interactive");
    const questions = prompts.map(({ prompt, echo }) => ({ text: prompt, echo: echo === true }));
    const answer = await ask({ kind: "keyboard-interactive", host: settings.name, name, instructions, questions });
    if (answer.kind !== "secrets") {
      this.#cancelled = true;
      return prompts.map(() => "");
    }
    if (isPassword) {
      this.#sentRemembered = true;
      // One-time codes are not kept: only an answer to a question for a password can be right twice.
      await answers.keep(this.#passwordKey, answer.values[0] ?? "", answer.remember);
    }
    return prompts.map((_, index) => answer.values[index] ?? "");
  }

  #fail(): false {
    this.failure = this.#reason();
    return false;
  }

  #reason(): AppError {
    const { peer, settings } = this.#context;
    const details = [
      `user: ${settings.user}`,
      `tried: ${this.#tried.length === 0 ? "nothing" : this.#tried.join(", ")}`,
      `the server takes: ${this.#offered?.join(", ") ?? "not said"}`,
      ...this.#unusable.map((what) => `cannot be used here: ${what}`),
    ].join("\n");
    const offered: readonly string[] = this.#offered ?? [];
    if (this.#cancelled) {
      return sshError(
        "ssh-auth",
        peer,
        `The login to ${peer.name} was cancelled.`,
        "Connect again to be asked again.",
        details,
      );
    }
    if (this.#unusable.length > 0 && offered.includes("publickey")) {
      return sshError(
        "ssh-unsupported",
        peer,
        `${peer.name} did not take a plain key, and this console cannot use ${this.#unusable.join(", ")}.`,
        "Certificates and FIDO keys are not supported: load a plain key into the agent or name one with IdentityFile; where a password is meant, set PubkeyAuthentication no for this host.",
        details,
      );
    }
    const workable = ["publickey", "password", "keyboard-interactive"];
    if (offered.length > 0 && !offered.some((method) => workable.includes(method))) {
      return sshError(
        "ssh-unsupported",
        peer,
        `${peer.name} takes only ${offered.join(", ")}, which this console cannot do.`,
        "Allow a public key, a password or keyboard-interactive on the server.",
        details,
      );
    }
    return sshError(
      "ssh-auth",
      peer,
      `${peer.name} refused every way to log in as ${settings.user}.`,
      offered.includes("publickey") && !offered.includes("password")
        ? "Check that the right key is in the agent or in IdentityFile, and in authorized_keys on the host."
        : "Check the user, the key and the password.",
      details,
    );
  }
}

/** An agent with one key, so that each is counted as the try that it is. */
class OneKeyAgent extends ssh2.BaseAgent<ParsedKey> {
  readonly #identity: Identity & { kind: "agent" };
  readonly #onSigned: () => void;

  constructor(identity: Identity & { kind: "agent" }, onSigned: () => void) {
    super();
    this.#identity = identity;
    this.#onSigned = onSigned;
  }

  override getIdentities(callback: (error: Error | null, keys?: ParsedKey[]) => void): void {
    callback(null, [this.#identity.publicKey]);
  }

  override sign(key: ParsedKey, data: Buffer, options: SigningRequestOptions | SignCallback, callback?: SignCallback) {
    const done = typeof options === "function" ? options : callback;
    const request = typeof options === "function" ? {} : options;
    this.#onSigned();
    new ssh2.OpenSSHAgent(this.#identity.agent).sign(key, data, request, done);
  }
}

/**
 * Asks the server whether it would take a key that is still encrypted, and declines to sign: only then is the
 * passphrase asked for, as OpenSSH does. ssh2 reports the refusal as an error of level `agent`, which is passed over.
 */
class ProbingAgent extends ssh2.BaseAgent<ParsedKey> {
  readonly #publicKey: ParsedKey;
  readonly #onWanted: () => void;

  constructor(publicKey: ParsedKey, onWanted: () => void) {
    super();
    this.#publicKey = publicKey;
    this.#onWanted = onWanted;
  }

  override getIdentities(callback: (error: Error | null, keys?: ParsedKey[]) => void): void {
    callback(null, [this.#publicKey]);
  }

  override sign(
    _key: ParsedKey,
    _data: Buffer,
    options: SigningRequestOptions | SignCallback,
    callback?: SignCallback,
  ) {
    const done = typeof options === "function" ? options : callback;
    this.#onWanted();
    done?.(new Error("the key is still encrypted"));
  }
}
