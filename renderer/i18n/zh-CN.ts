/** 简体中文。 */
export const zhCN = {
  app: {
    title: "Tessera",
    board: "面板",
    table: "表格",
    clusters: "集群",
    troubleshooting: "故障排查",
    settings: "设置",
    help: "快捷键与帮助",
    views: "视图",
  },
  board: {},
  topology: {},
} as const;
