/**
 * What the control host answers about tenants, quotas, requests and the audit: the shapes of those commands. Their
 * names and who may call them stand in contract.ts.
 *
 * `version` of an object is what an edit names as `basedOn`; an edit of another version is refused as `conflict`, with
 * what was changed meanwhile. Times are ISO 8601 in UTC with milliseconds.
 */
export * from "./control/allocations.ts";
export * from "./control/audit.ts";
export * from "./control/engine.ts";
export * from "./control/fields.ts";
export * from "./control/follow.ts";
export * from "./control/leases.ts";
export * from "./control/organisation.ts";
export * from "./control/quotas.ts";
export * from "./control/requests.ts";
