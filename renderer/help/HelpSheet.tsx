/** `?`: every key that does something now. */
import { useEffect, useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { type KeyCommand, registeredKeys, registerKey } from "../app/keys.ts";
import { Key } from "../design/controls.tsx";
import { type MessageKey, useText } from "../i18n/index.ts";
import { useMayPartition } from "../partition/may-partition.ts";
import styles from "./help.module.css";
import { keyLabels } from "./key-labels.ts";

interface Line {
  readonly keys: readonly string[];
  readonly title: MessageKey;
}

/** Keys of the draft that hold only while something is picked up or focused, so that nobody registers them. */
const held: readonly Line[] = [
  { keys: ["arrowleft", "arrowright"], title: "keys.aim" },
  { keys: ["arrowup", "arrowdown"], title: "keys.aimGpu" },
  { keys: ["enter"], title: "keys.drop" },
  { keys: ["escape"], title: "keys.putBack" },
];
/** Registered only while there is a plan. */
const onPlan: readonly Line[] = [{ keys: ["ctrl+enter"], title: "keys.apply" }];
const onInstance: readonly Line[] = [
  { keys: ["enter"], title: "keys.menu" },
  { keys: ["delete"], title: "keys.delete" },
];

/** Commands with the same title are one line with several keys. */
function linesOf(commands: readonly KeyCommand[]): readonly Line[] {
  const byTitle = new Map<MessageKey, string[]>();
  for (const { keys, title } of commands) byTitle.set(title, [...(byTitle.get(title) ?? []), keys]);
  return [...byTitle].map(([title, keys]) => ({ keys, title }));
}

function Group({ title, lines }: { readonly title: string; readonly lines: readonly Line[] }) {
  const t = useText();
  if (lines.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <dl className={styles.lines}>
        {lines.map((line) => (
          <div key={line.title}>
            <dt>{t(line.title)}</dt>
            <dd>
              {line.keys.map((keys) => (
                <span key={keys} className={styles.combination}>
                  {keyLabels(keys).map((label) => (
                    <Key key={label}>{label}</Key>
                  ))}
                </span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function HelpSheet() {
  const t = useText();
  const may = useMayPartition();
  const [open, setOpen] = useState(false);
  useEffect(
    () =>
      registerKey({
        keys: "?",
        title: "keys.help",
        run: () => {
          setOpen(true);
          return true;
        },
      }),
    [],
  );
  const lines = open ? linesOf(registeredKeys()) : [];
  const registered = lines.filter(({ title }) => title.startsWith("keys.") && title !== "keys.help");
  const changes = [...registered, ...onPlan.filter(({ title }) => registered.every((line) => line.title !== title))];
  const others = lines.filter((line) => !registered.includes(line));
  return (
    <ModalOverlay className={styles.overlay ?? ""} isOpen={open} isDismissable onOpenChange={setOpen}>
      <Modal className={styles.modal ?? ""}>
        <Dialog className={styles.sheet ?? ""}>
          <div className={styles.head}>
            <Heading slot="title">{t("keys.title")}</Heading>
            <button type="button" className="button quiet" onClick={() => setOpen(false)}>
              {t("keys.close")}
            </button>
          </div>
          <div className={styles.groups}>
            <div>
              <Group title={t("keys.group-go")} lines={others} />
            </div>
            {may ? (
              <div>
                <Group title={t("keys.group-change")} lines={[...changes, ...onInstance]} />
                <Group title={t("keys.group-held")} lines={held} />
              </div>
            ) : null}
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
