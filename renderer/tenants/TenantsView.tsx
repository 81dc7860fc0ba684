/** Tenants, their projects and people, as far as the operator may see and change them. */
import { useState } from "react";
import type { Me, Organisation, TenantView } from "../../shared/protocol/control.ts";
import { TenantSwatch } from "../board/Swatch.tsx";
import { client } from "../client/index.ts";
import { Notice, Segments } from "../design/controls.tsx";
import { PlusIcon } from "../design/icons.tsx";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import { tenantMark } from "../stores/colouring.ts";
import { useControl, useControlStore, useOrganisation } from "../stores/control.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { ChangeTrouble, useChange, useClusterId } from "./change.tsx";
import { findAcross, peopleOf } from "./model.ts";
import { NameField } from "./Name.tsx";
import { Holders, TenantTree, usePersonName } from "./TenantTree.tsx";
import styles from "./tenants.module.css";

type Engine = "auto" | "local" | "slurm";

function NoLedger({ me, hostId }: { readonly me: Me | null; readonly hostId: string | null }) {
  const t = useText();
  const clusterId = useClusterId();
  const host = useSnapshot((state) => (hostId === null ? undefined : state.hosts.get(hostId))?.name);
  const change = useChange();
  const [engine, setEngine] = useState<Engine>("auto");
  const mayMake = me?.role === "administrator" && hostId !== null;
  const make = () => change.run(() => client().request("ledger.create", { clusterId, input: { engine } }));
  return (
    <Notice
      title={t("tenants.noLedger")}
      action={
        mayMake ? (
          <div>
            <Segments<Engine>
              label={t("tenants.engine")}
              value={engine}
              segments={(["auto", "local", "slurm"] as const).map((value) => ({
                value,
                label: t(`tenants.engine-${value}`),
              }))}
              onChange={setEngine}
            />{" "}
            <button type="button" className="button primary" disabled={change.busy} onClick={() => void make()}>
              {t("tenants.makeControl", { host: host ?? hostId })}
            </button>
          </div>
        ) : undefined
      }
    >
      <p>{t("tenants.noLedgerText")}</p>
      {mayMake ? null : <p>{t("tenants.noLedgerAsk")}</p>}
      <ChangeTrouble change={change} />
    </Notice>
  );
}

function FoundList({
  organisation,
  text,
  onOpen,
}: {
  readonly organisation: Organisation;
  readonly text: string;
  readonly onOpen: (tenantId: string) => void;
}) {
  const t = useText();
  const nameOf = usePersonName();
  const found = findAcross(organisation, text);
  if (found.length === 0) return <p className={styles.quiet}>{t("tenants.nothingFound")}</p>;
  return (
    <ul aria-label={t("tenants.find")}>
      {found.slice(0, 200).map(({ tenantId, tenant, project, person }) => (
        <li key={`${tenantId} ${project} ${person?.uid}`}>
          <button type="button" className={styles.tenant} onClick={() => onOpen(tenantId)}>
            <TenantSwatch mark={tenantMark(tenant)} />
            <span>{person === null ? project : nameOf(person)}</span>
            <span>{person === null ? tenant : `${tenant} / ${project ?? t("tenants.leads")}`}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function TenantList({
  tenants,
  current,
  onOpen,
}: {
  readonly tenants: readonly TenantView[];
  readonly current: string | null;
  readonly onOpen: (tenantId: string) => void;
}) {
  const t = useText();
  return (
    <ul
      aria-label={t("tenants.title")}
      onKeyDown={(event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        const buttons = [...event.currentTarget.querySelectorAll("button")];
        const to = buttons[buttons.findIndex((one) => one.matches(":focus")) + step];
        to?.focus();
      }}
    >
      {tenants.map((tenant) => (
        <li key={tenant.id}>
          <button
            type="button"
            className={styles.tenant}
            aria-current={tenant.id === current ? "true" : undefined}
            onClick={() => onOpen(tenant.id)}
          >
            <TenantSwatch mark={tenantMark(tenant.displayName)} />
            <strong>{tenant.displayName}</strong>
            <span>
              {t("tenants.projects", { count: tenant.projects.length })}
              {t("common.separator")}
              {t("tenants.people", { count: peopleOf(tenant) })}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Tenants({ me, organisation }: { readonly me: Me; readonly organisation: Organisation }) {
  const t = useText();
  const clusterId = useClusterId();
  const [chosen, setChosen] = useState<string | null>(null);
  const [text, setText] = useState("");
  const [creating, setCreating] = useState(false);
  const administers = me.role === "administrator";
  const named = organisation.tenants.toSorted((a, b) => a.displayName.localeCompare(b.displayName));
  const tenant = named.find(({ id }) => id === chosen) ?? named[0];
  const create = async (displayName: string) => {
    const created = await client().request("tenant.create", { clusterId, input: { displayName } });
    setChosen(created.id);
  };
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <h2>{t("tenants.title")}</h2>
        <input
          className="field"
          type="search"
          aria-label={t("tenants.find")}
          placeholder={t("tenants.find")}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {administers ? (
          <button type="button" className="button" onClick={() => setCreating(true)}>
            <PlusIcon /> {t("tenants.new")}
          </button>
        ) : null}
        {me.open ? <p className={styles.banner}>{t("tenants.open")}</p> : null}
      </div>
      <div className={styles.side}>
        {text.trim() === "" ? (
          <TenantList tenants={named} current={tenant?.id ?? null} onOpen={setChosen} />
        ) : (
          <FoundList organisation={organisation} text={text} onOpen={setChosen} />
        )}
      </div>
      <div className={styles.main}>
        {creating ? (
          <NameField
            label={t("tenants.new")}
            initial=""
            subject=""
            version={0}
            send={create}
            onClose={() => setCreating(false)}
          />
        ) : null}
        {tenant === undefined ? (
          <Notice title={t("tenants.none")}>{t("tenants.noneText")}</Notice>
        ) : (
          <TenantTree
            key={tenant.id}
            tenant={tenant}
            administers={administers}
            manages={administers || me.leads.includes(tenant.id)}
          />
        )}
        {administers ? (
          <div className={styles.foot}>
            <Holders
              title={t("tenants.administrators")}
              none={t("tenants.open")}
              people={organisation.administrators}
              may
              adding={t("tenants.addAdministrators")}
              subject="cluster"
              add={(uid) => client().request("administrator.add", { clusterId, input: { uid } })}
              remove={(uid) => client().request("administrator.remove", { clusterId, input: { uid } })}
            />
          </div>
        ) : null}
      </div>
    </div>
  );
}

export function TenantsView() {
  const t = useText();
  const control = useControl();
  const organisation = useOrganisation();
  const error = useControlStore((state) => state.error);
  const me = control?.me ?? null;
  if (control?.state === "no-ledger") return <NoLedger me={me} hostId={control.controlHostId} />;
  if (control?.state === "none") return <Notice title={t("tenants.noHost")}>{t("tenants.noHostText")}</Notice>;
  if (me?.role === "none") return <Notice title={t("tenants.stranger")}>{t("tenants.strangerText")}</Notice>;
  const trouble = control?.state === "failed" ? (control.error ?? error) : error;
  if (organisation === null || me === null) {
    if (trouble === null) return <Notice title={t("tenants.connecting")} />;
    return (
      <Notice title={t("tenants.failed")} tone="bad">
        <ErrorText error={trouble} />
      </Notice>
    );
  }
  return (
    <>
      {trouble === null ? null : <ErrorText error={trouble} />}
      <Tenants me={me} organisation={organisation} />
    </>
  );
}
