/** Tenants, their projects and people, as far as the operator may see and change them. */
import { useState } from "react";
import type { Me, Organisation, TenantView } from "../../shared/protocol/control.ts";
import { TenantSwatch } from "../board/Swatch.tsx";
import { client } from "../client/index.ts";
import { Notice } from "../design/controls.tsx";
import { PlusIcon } from "../design/icons.tsx";
import { useText } from "../i18n/index.ts";
import { LedgerGate, ViewNotice } from "../ledger/LedgerGate.tsx";
import { tenantMark } from "../stores/colouring.ts";
import { useOrganisation } from "../stores/control.ts";
import { useClusterId } from "./change.tsx";
import { findAcross, peopleOf } from "./model.ts";
import { NameField } from "./Name.tsx";
import { RolesBehind } from "./RolesBehind.tsx";
import { Holders, TenantTree, usePersonName } from "./TenantTree.tsx";
import styles from "./tenants.module.css";

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
            <strong title={tenant.displayName}>{tenant.displayName}</strong>
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
        <RolesBehind />
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
  return <LedgerGate>{({ me }) => <Known me={me} />}</LedgerGate>;
}

function Known({ me }: { readonly me: Me }) {
  const t = useText();
  const organisation = useOrganisation();
  if (organisation === null) return <ViewNotice title={t("tenants.loading")} />;
  return <Tenants me={me} organisation={organisation} />;
}
