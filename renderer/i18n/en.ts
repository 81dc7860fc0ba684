/** English texts, by area. Plurals end in `_one` and `_other`; values stand in `{{braces}}`. */
export const en = {
  app: {
    title: "Tessera",
    board: "Board",
    table: "Table",
    clusters: "Clusters",
    troubleshooting: "Troubleshooting",
    settings: "Settings",
    help: "Keys and help",
    views: "Views",
  },
  board: {},
  topology: {},
} as const;
