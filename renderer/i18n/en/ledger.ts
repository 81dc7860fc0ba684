/** Where a view of the ledger has nothing to show yet. */
export const ledger = {
  "ledger.noCluster": "No cluster is open",
  "ledger.noHost": "No control host",
  "ledger.noHostText":
    "Connect the cluster: its control host keeps tenants, limits, requests and the record of who changed them.",
  "ledger.connecting": "Reaching the control host",
  "ledger.failed": "The control host does not answer",
  "ledger.missing": "No ledger here yet",
  "ledger.missingText":
    "The ledger is a file on one host that records tenants, people, limits and who changed them. Without it everyone who is let in may do everything.",
  "ledger.missingAsk": "An administrator can make one.",
  "ledger.make": "Make {{host}} the control host",
  "ledger.engine": "Limits are kept by",
  "ledger.engine-auto": "What is there",
  "ledger.engine-local": "Embedded engine",
  "ledger.engine-slurm": "Slurm",
  "ledger.noRole": "You are in no project yet",
  "ledger.noRoleText": "Ask a lead of your team to add you to a project; this page then shows what is yours.",
} as const;
