/**
 * Questions that only a person can answer: host keys, passwords, codes. They stand in a corner and block nothing;
 * several hosts queue. Only a changed host key takes the screen, and there the default is to cancel.
 */
import { useEffect, useRef, useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import type { Prompt, PromptAnswer } from "../../shared/api/contract.ts";
import { toErrorData } from "../../shared/errors.ts";
import { client } from "../client/index.ts";
import { useText } from "../i18n/index.ts";
import styles from "./prompts.module.css";
import { withPrompt } from "./queue.ts";

type Of<Kind extends Prompt["kind"]> = Extract<Prompt, { kind: Kind }>;
type Answer = (answer: PromptAnswer) => void;

/** Takes the focus unless somebody is typing elsewhere. */
function useGentleFocus<T extends HTMLElement>() {
  const ref = useRef<T>(null);
  useEffect(() => {
    const active = document.activeElement;
    const typing = active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement;
    if (!typing) ref.current?.focus();
  }, []);
  return ref;
}

function UnknownKey({ prompt, answer }: { readonly prompt: Of<"host-key-unknown">; readonly answer: Answer }) {
  const t = useText();
  const first = useGentleFocus<HTMLButtonElement>();
  return (
    <>
      <p>{t("prompts.unknownText", { host: prompt.host })}</p>
      <dl className={styles.key}>
        <dt>{prompt.keyType}</dt>
        <dd>
          <code>{prompt.fingerprint}</code>
        </dd>
      </dl>
      <p className="muted">{t("prompts.unknownCompare")}</p>
      <div className={styles.actions}>
        <button ref={first} type="button" className="button" onClick={() => answer({ kind: "cancel" })}>
          {t("common.cancel")}
        </button>
        <button type="button" className="button" onClick={() => answer({ kind: "accept-host-key", remember: false })}>
          {t("prompts.acceptOnce")}
        </button>
        <button
          type="button"
          className="button primary"
          title={t("prompts.rememberIn", { file: prompt.knownHostsFile })}
          onClick={() => answer({ kind: "accept-host-key", remember: true })}
        >
          {t("prompts.acceptRemember")}
        </button>
      </div>
    </>
  );
}

interface Question {
  readonly text: string;
  readonly echo: boolean;
}

function Secrets({
  questions,
  note,
  canRemember,
  answer,
}: {
  readonly questions: readonly Question[];
  readonly note: string | null;
  readonly canRemember: boolean;
  readonly answer: Answer;
}) {
  const t = useText();
  const first = useGentleFocus<HTMLInputElement>();
  const [values, setValues] = useState<readonly string[]>(questions.map(() => ""));
  const [remember, setRemember] = useState(false);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        answer({ kind: "secrets", values: [...values], remember });
      }}
    >
      {note === null ? null : <p className={styles.note}>{note}</p>}
      {questions.map((question, index) => (
        // Questions come without a name, in an order that does not change.
        // biome-ignore lint/suspicious/noArrayIndexKey: the position identifies the question
        <label key={index} className={styles.question}>
          <span>{question.text}</span>
          <input
            ref={index === 0 ? first : undefined}
            className="field"
            type={question.echo ? "text" : "password"}
            autoComplete="off"
            spellCheck={false}
            value={values[index] ?? ""}
            onChange={(event) => setValues(values.with(index, event.target.value))}
          />
        </label>
      ))}
      {canRemember ? (
        <label className={styles.remember}>
          <input type="checkbox" checked={remember} onChange={(event) => setRemember(event.target.checked)} />
          {t("prompts.remember")}
        </label>
      ) : null}
      <div className={styles.actions}>
        <button type="button" className="button" onClick={() => answer({ kind: "cancel" })}>
          {t("common.cancel")}
        </button>
        <button type="submit" className="button primary">
          {t("prompts.send")}
        </button>
      </div>
    </form>
  );
}

function Body({ prompt, answer }: { readonly prompt: Prompt; readonly answer: Answer }) {
  const t = useText();
  switch (prompt.kind) {
    case "host-key-unknown":
      return <UnknownKey prompt={prompt} answer={answer} />;
    case "host-key-changed":
      return null;
    case "password":
      return (
        <Secrets
          questions={[{ text: t("prompts.passwordOf", { user: prompt.user, host: prompt.host }), echo: false }]}
          note={prompt.attempt > 1 ? t("prompts.wrong", { count: prompt.attempt - 1 }) : null}
          canRemember
          answer={answer}
        />
      );
    case "passphrase":
      return (
        <Secrets
          questions={[{ text: t("prompts.passphraseOf", { file: prompt.keyFile }), echo: false }]}
          note={prompt.attempt > 1 ? t("prompts.wrong", { count: prompt.attempt - 1 }) : null}
          canRemember
          answer={answer}
        />
      );
    case "keyboard-interactive":
      return (
        <Secrets
          questions={prompt.questions}
          note={[prompt.name, prompt.instructions].filter((part) => part !== "").join(" - ") || null}
          canRemember={false}
          answer={answer}
        />
      );
  }
}

function ChangedKey({ prompt, answer }: { readonly prompt: Of<"host-key-changed">; readonly answer: Answer }) {
  const t = useText();
  const cancel = () => answer({ kind: "cancel" });
  return (
    <ModalOverlay
      className={styles.overlay ?? ""}
      isOpen
      onOpenChange={(open) => {
        if (!open) cancel();
      }}
    >
      <Modal className={styles.modal ?? ""}>
        <Dialog role="alertdialog" className={styles.changed ?? ""}>
          <Heading slot="title">{t("prompts.changedTitle", { host: prompt.host })}</Heading>
          <p>{t("prompts.changedText")}</p>
          <dl className={styles.key}>
            <dt>{t("prompts.shown", { type: prompt.keyType })}</dt>
            <dd>
              <code>{prompt.fingerprint}</code>
            </dd>
            <dt>{t("prompts.onFile")}</dt>
            {prompt.knownFingerprints.map((fingerprint) => (
              <dd key={fingerprint}>
                <code>{fingerprint}</code>
              </dd>
            ))}
          </dl>
          <p>{t("prompts.changedHow", { file: prompt.knownHostsFile, line: prompt.line })}</p>
          <pre className={styles.command}>{`ssh-keygen -R ${prompt.host} -f ${prompt.knownHostsFile}`}</pre>
          <div className={styles.actions}>
            <button
              type="button"
              className="button primary"
              // biome-ignore lint/a11y/noAutofocus: cancelling is the safe answer
              autoFocus
              onClick={cancel}
            >
              {t("common.cancel")}
            </button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function titleKey(prompt: Prompt) {
  switch (prompt.kind) {
    case "host-key-unknown":
      return "prompts.unknownTitle";
    case "host-key-changed":
      return "prompts.changedTitle";
    default:
      return "prompts.loginTitle";
  }
}

export function PromptHost() {
  const t = useText();
  const [queue, setQueue] = useState<readonly Prompt[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => client().subscribe("prompts", {}, (event) => setQueue((before) => withPrompt(before, event))), []);

  const answerTo = (prompt: Prompt) => async (answer: PromptAnswer) => {
    setFailure(null);
    setQueue((before) => withPrompt(before, { kind: "gone", promptId: prompt.id }));
    try {
      await client().request("prompts.answer", { promptId: prompt.id, answer });
    } catch (error) {
      setFailure(toErrorData(error).message);
    }
  };
  const changed = queue.find((prompt) => prompt.kind === "host-key-changed");
  const quiet = queue.filter((prompt) => prompt.kind !== "host-key-changed");
  const first = quiet[0];
  return (
    <>
      {changed === undefined ? null : (
        <ChangedKey key={changed.id} prompt={changed} answer={(answer) => void answerTo(changed)(answer)} />
      )}
      {first === undefined ? null : (
        <section key={first.id} className={styles.card} role="dialog" aria-labelledby="prompt-title">
          <div className={styles.head}>
            <h2 id="prompt-title">{t(titleKey(first), { host: first.host })}</h2>
            {quiet.length > 1 ? (
              <span className="muted" title={quiet.map(({ host }) => host).join(", ")}>
                {t("prompts.more", { count: quiet.length - 1 })}
              </span>
            ) : null}
          </div>
          <Body prompt={first} answer={(answer) => void answerTo(first)(answer)} />
        </section>
      )}
      <div className="visually-hidden" role="status">
        {first === undefined ? failure : t(titleKey(first), { host: first.host })}
      </div>
    </>
  );
}
