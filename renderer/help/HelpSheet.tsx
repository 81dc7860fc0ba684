/** `?`: every key that does something in the view that is open. */
import { useEffect, useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { registeredKeys, registerKey } from "../app/keys.ts";
import { useRoute } from "../app/views.ts";
import { Key } from "../design/controls.tsx";
import { useText } from "../i18n/index.ts";
import { useMayPartition } from "../partition/may-partition.ts";
import styles from "./help.module.css";
import { keyLabels } from "./key-labels.ts";
import { type KeyGroup, keyGroups } from "./lines.ts";

function Group({ title, lines }: KeyGroup) {
  const t = useText();
  return (
    <section>
      <h3>{t(title)}</h3>
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
  const view = useRoute((route) => route.view);
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
  const [first, ...others] = open ? keyGroups(view, registeredKeys(), may) : [];
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
            <div>{first === undefined ? null : <Group {...first} />}</div>
            <div>
              {others.map((group) => (
                <Group key={group.title} {...group} />
              ))}
            </div>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
