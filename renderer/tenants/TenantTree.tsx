/** The selected tenant: who leads it, its projects and who is in each. */
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { personSubject } from "../../shared/organisation/subject.ts";
import type { MemberView, PersonName, ProjectView, TenantView } from "../../shared/protocol/control.ts";
import { client } from "../client/index.ts";
import { IconButton } from "../design/controls.tsx";
import { BinIcon, PlusIcon, RenameIcon } from "../design/icons.tsx";
import { useText } from "../i18n/index.ts";
import { useClusterId } from "./change.tsx";
import { NameField } from "./Name.tsx";
import { PeoplePicker } from "./PeoplePicker.tsx";
import { type Removal, RemoveDialog } from "./RemoveDialog.tsx";
import styles from "./tenants.module.css";

export function usePersonName(): (person: PersonName) => string {
  const t = useText();
  return ({ user, uid }) => user ?? t("tenants.account", { uid });
}

/** Arrows, Home and End walk the rows; F2 renames, Delete asks before it removes. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  if (!(event.target instanceof HTMLElement) || event.target.getAttribute("role") !== "treeitem") return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="treeitem"]')];
  const at = rows.indexOf(event.target);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  rows[to]?.focus();
}

export function Row({
  level,
  label,
  children,
  tools,
  expanded,
  onToggle,
  onRename,
  onRemove,
}: {
  readonly level: number;
  readonly label: string;
  readonly children: ReactNode;
  readonly tools?: ReactNode;
  readonly expanded?: boolean;
  readonly onToggle?: (open: boolean) => void;
  readonly onRename?: (() => void) | undefined;
  readonly onRemove?: (() => void) | undefined;
}) {
  const t = useText();
  return (
    <div
      className={styles.row}
      role="treeitem"
      tabIndex={0}
      aria-level={level}
      aria-expanded={expanded}
      onKeyDown={(event) => {
        if (event.target !== event.currentTarget) return;
        const { key } = event;
        if (key === "F2" && onRename !== undefined) onRename();
        else if (key === "Delete" && onRemove !== undefined) onRemove();
        else if (key === "Enter" && onToggle !== undefined) onToggle(expanded !== true);
        else if (key === "ArrowRight" && expanded === false) onToggle?.(true);
        else if (key === "ArrowLeft" && expanded === true) onToggle?.(false);
        else return;
        event.preventDefault();
      }}
    >
      {children}
      <span className={styles.tools}>
        {tools}
        {onRename === undefined ? null : (
          <IconButton label={t("tenants.rename", { name: label })} onPress={onRename}>
            <RenameIcon />
          </IconButton>
        )}
        {onRemove === undefined ? null : (
          <IconButton label={t("tenants.remove", { name: label })} onPress={onRemove}>
            <BinIcon />
          </IconButton>
        )}
      </span>
    </div>
  );
}

function Project({
  project,
  manages,
  askRemoval,
}: {
  readonly project: ProjectView;
  readonly manages: boolean;
  readonly askRemoval: (removal: Removal) => void;
}) {
  const t = useText();
  const clusterId = useClusterId();
  const nameOf = usePersonName();
  const [open, setOpen] = useState(true);
  const [doing, setDoing] = useState<"rename" | "add" | null>(null);
  const { id, displayName, version, members } = project;
  const remove = () =>
    askRemoval({
      name: displayName,
      subject: id,
      basedOn: version,
      cancels: true,
      send: (basedOn, cancelAllocations) =>
        client().request("project.remove", { clusterId, input: { projectId: id, basedOn, cancelAllocations } }),
    });
  const removeMember = (member: MemberView) =>
    askRemoval({
      name: nameOf(member),
      subject: personSubject(id, member.uid),
      basedOn: member.version,
      cancels: true,
      send: (basedOn, cancelAllocations) =>
        client().request("member.remove", {
          clusterId,
          input: { projectId: id, uid: member.uid, basedOn, cancelAllocations },
        }),
    });
  return (
    <>
      {doing === "rename" ? (
        <NameField
          label={t("tenants.rename", { name: displayName })}
          initial={displayName}
          subject={id}
          version={version}
          send={(name, basedOn) =>
            client().request("project.rename", { clusterId, input: { projectId: id, basedOn, displayName: name } })
          }
          onClose={() => setDoing(null)}
        />
      ) : (
        <Row
          level={1}
          label={displayName}
          expanded={open}
          onToggle={setOpen}
          onRename={manages ? () => setDoing("rename") : undefined}
          onRemove={manages ? remove : undefined}
          tools={
            manages ? (
              <IconButton label={t("tenants.addPeople", { name: displayName })} onPress={() => setDoing("add")}>
                <PlusIcon />
              </IconButton>
            ) : null
          }
        >
          <strong>{displayName}</strong>
          <span className={`muted ${styles.grow}`}>{t("tenants.people", { count: members.length })}</span>
        </Row>
      )}
      {doing === "add" ? (
        <div className={styles.inset}>
          <PeoplePicker
            label={t("tenants.addPeople", { name: displayName })}
            subject={id}
            present={new Set(members.map(({ uid }) => uid))}
            add={(uid) => client().request("member.add", { clusterId, input: { projectId: id, uid } })}
            onClose={() => setDoing(null)}
          />
        </div>
      ) : null}
      {open && members.length === 0 ? <p className={`muted ${styles.inset}`}>{t("tenants.noMembers")}</p> : null}
      {open
        ? members.map((member) => (
            <Row
              key={member.uid}
              level={2}
              label={nameOf(member)}
              onRemove={manages ? () => removeMember(member) : undefined}
            >
              <span>{nameOf(member)}</span>
              <span className={`muted ${styles.grow}`}>{t("tenants.uid", { uid: member.uid })}</span>
            </Row>
          ))
        : null}
    </>
  );
}

/** Leads, or administrators: people with a right of their own. */
export function Holders({
  title,
  none,
  people,
  may,
  adding,
  subject,
  add,
  remove,
}: {
  readonly title: string;
  readonly none: string;
  readonly people: readonly MemberView[];
  readonly may: boolean;
  readonly adding: string;
  readonly subject: string;
  readonly add: (uid: number) => Promise<unknown>;
  readonly remove: (uid: number) => Promise<unknown>;
}) {
  const t = useText();
  const nameOf = usePersonName();
  const [picking, setPicking] = useState(false);
  const [removal, setRemoval] = useState<Removal | null>(null);
  const ask = (person: MemberView) =>
    setRemoval({
      name: nameOf(person),
      subject: null,
      basedOn: person.version,
      cancels: false,
      send: () => remove(person.uid),
    });
  return (
    <section>
      <div className={styles.row}>
        <h3 className={styles.grow}>{title}</h3>
        {may ? (
          <button type="button" className="button quiet" onClick={() => setPicking(true)}>
            <PlusIcon /> {adding}
          </button>
        ) : null}
      </div>
      {picking ? (
        <PeoplePicker
          label={adding}
          subject={subject}
          present={new Set(people.map(({ uid }) => uid))}
          add={add}
          onClose={() => setPicking(false)}
        />
      ) : null}
      {people.length === 0 ? (
        <p className={`muted ${styles.inset}`}>{none}</p>
      ) : (
        <div role="tree" aria-label={title} tabIndex={-1} onKeyDown={walk}>
          {people.map((person) => (
            <Row key={person.uid} level={1} label={nameOf(person)} onRemove={may ? () => ask(person) : undefined}>
              <span>{nameOf(person)}</span>
              <span className={`muted ${styles.grow}`}>{t("tenants.uid", { uid: person.uid })}</span>
            </Row>
          ))}
        </div>
      )}
      {removal === null ? null : <RemoveDialog removal={removal} onClose={() => setRemoval(null)} />}
    </section>
  );
}

export function TenantTree({
  tenant,
  administers,
  manages,
}: {
  readonly tenant: TenantView;
  readonly administers: boolean;
  /** An administrator, or a lead of this tenant. */
  readonly manages: boolean;
}) {
  const t = useText();
  const clusterId = useClusterId();
  const [doing, setDoing] = useState<"rename" | "project" | null>(null);
  const [removal, setRemoval] = useState<Removal | null>(null);
  const { id, displayName, version } = tenant;
  const remove = () =>
    setRemoval({
      name: displayName,
      subject: id,
      basedOn: version,
      cancels: false,
      send: (basedOn) => client().request("tenant.remove", { clusterId, input: { tenantId: id, basedOn } }),
    });
  return (
    <>
      <div className={styles.row}>
        {doing === "rename" ? (
          <NameField
            label={t("tenants.rename", { name: displayName })}
            initial={displayName}
            subject={id}
            version={version}
            send={(name, basedOn) =>
              client().request("tenant.rename", { clusterId, input: { tenantId: id, basedOn, displayName: name } })
            }
            onClose={() => setDoing(null)}
          />
        ) : (
          <>
            <h2 className={styles.grow}>{displayName}</h2>
            {manages ? (
              <button type="button" className="button" onClick={() => setDoing("project")}>
                <PlusIcon /> {t("tenants.newProject")}
              </button>
            ) : null}
            {administers ? (
              <>
                <IconButton label={t("tenants.rename", { name: displayName })} onPress={() => setDoing("rename")}>
                  <RenameIcon />
                </IconButton>
                <IconButton label={t("tenants.remove", { name: displayName })} onPress={remove}>
                  <BinIcon />
                </IconButton>
              </>
            ) : null}
          </>
        )}
      </div>
      {doing === "project" ? (
        <NameField
          label={t("tenants.newProject")}
          initial=""
          subject=""
          version={0}
          send={(name) => client().request("project.add", { clusterId, input: { tenantId: id, displayName: name } })}
          onClose={() => setDoing(null)}
        />
      ) : null}
      <Holders
        title={t("tenants.leads")}
        none={t("tenants.noLeads")}
        people={tenant.leads}
        may={administers}
        adding={t("tenants.addLead")}
        subject={id}
        add={(uid) => client().request("lead.add", { clusterId, input: { tenantId: id, uid } })}
        remove={(uid) => client().request("lead.remove", { clusterId, input: { tenantId: id, uid } })}
      />
      {tenant.projects.length === 0 ? null : (
        <div role="tree" aria-label={t("tenants.tree", { name: displayName })} tabIndex={-1} onKeyDown={walk}>
          {tenant.projects.map((project) => (
            <Project key={project.id} project={project} manages={manages} askRemoval={setRemoval} />
          ))}
        </div>
      )}
      {removal === null ? null : <RemoveDialog removal={removal} onClose={() => setRemoval(null)} />}
    </>
  );
}
